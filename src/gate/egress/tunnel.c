#include "gate/egress/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/egress/egress.h"
#include "sys/tcp.h"

enum { BUCKETS = 256, HOST_MAX = 255, SLOWEST = 512 * 1024 /* bytes a second that a paced tunnel always has */ };

enum state {
	DIALLING,
	TELL_UP,     /* connected: the relay is to get the socket */
	TELL_FAILED,
	UP,
	CUT	     /* the relay was not told yet that it is over: it sees the end itself */
};

struct tunnel {
	struct tunnel *next, *prev; /* all */
	struct tunnel *same;	    /* of its bucket */
	struct tunnels *all;
	uint64_t id;
	enum state state;
	uint16_t port;
	struct dial *dial;
	int fd;
	struct dial_places places;
	enum gate_failure why;
	char *text; /* for TELL_FAILED */
	struct tcp_counts counted; /* out: granted, or seen without that */
	bool behind;		   /* not all that was granted has gone out yet */
	bool last;		   /* it has one more look to do so */
	bool asked;		   /* and the answer, granted, did not fit into the socket yet */
	uint32_t granted;
	char host[];
};

struct tunnels {
	struct egress *egress;
	struct tunnel *first;
	struct tunnel *buckets[BUCKETS];
	uint32_t n, n_up, n_to_tell; /* n_to_tell: with those that were asked for bytes */
	struct loop_timer look;
};

struct tunnels *tunnels_new(struct egress *e)
{
	struct tunnels *t = calloc(1, sizeof(*t));

	if (t)
		t->egress = e;
	return t;
}

static struct tunnel **place(struct tunnels *all, uint64_t id)
{
	struct tunnel **at = &all->buckets[id % BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->same;
	return at;
}

static void look_at(struct tunnel *t)
{
	struct quota *q = &t->all->egress->quota;
	struct tcp_counts now;

	if (t->fd < 0 || t->state != UP || tcp_counts(t->fd, &now) < 0)
		return;
	t->behind = now.out < t->counted.out;
	if (now.out > t->counted.out) {
		egress_count_out(t->all->egress, now.out - t->counted.out);
		t->counted.out = now.out;
	}
	if (now.in > t->counted.in)
		q->in += now.in - t->counted.in;
	t->counted.in = now.in;
}

static void drop(struct tunnel *t)
{
	struct tunnels *all = t->all;

	look_at(t);
	*place(all, t->id) = t->same;
	if (t->next)
		t->next->prev = t->prev;
	if (t->prev)
		t->prev->next = t->next;
	else
		all->first = t->next;
	all->n--;
	all->n_up -= t->state == UP;
	all->n_to_tell -= t->state == TELL_UP || t->state == TELL_FAILED || t->asked;
	dial_cancel(t->dial);
	if (t->fd >= 0)
		(void)close(t->fd);
	free(t->text);
	free(t);
}

void tunnels_free(struct tunnels *t)
{
	if (!t)
		return;
	while (t->first)
		drop(t->first);
	loop_timer_cancel(&t->look);
	free(t);
}

static void set_state(struct tunnel *t, enum state state)
{
	struct tunnels *all = t->all;

	all->n_up += (state == UP) - (t->state == UP);
	all->n_to_tell += (state == TELL_UP || state == TELL_FAILED) - (t->state == TELL_UP || t->state == TELL_FAILED);
	t->state = state;
}

static void say(struct tunnel *t, bool denied, struct sv rule, const char *detail)
{
	AUTO_BUF subject = {0};

	buf_init(&subject, 512);
	(void)buf_printf(&subject, strchr(t->host, ':') ? "[%s]:%u" : "%s:%u", t->host, t->port);
	t->all->egress->denied += denied;
	events_tell(t->all->egress->events, DOMAIN_NETWORK, !denied, buf_view(&subject), rule, sv_of(detail));
}

static void pace(struct tunnel *t)
{
	const struct quota *q = &t->all->egress->quota;
	uint64_t share;

	if (!q->limited || t->fd < 0)
		return;
	/* two looks at this rate use up half of what is left */
	share = quota_left(q) / (t->all->n_up + 1) * (1000 / TUNNELS_LOOK) / 4;
	(void)tcp_pace(t->fd, share > SLOWEST ? share : SLOWEST);
}

/* Both directions end, for the relay's copy of the socket too. */
static void cut(struct tunnel *t, struct sv rule, const char *why)
{
	look_at(t);
	say(t, true, rule, why);
	(void)shutdown(t->fd, SHUT_RDWR);
	(void)close(fd_take(&t->fd));
	t->all->n_to_tell -= t->asked;
	t->asked = false;
	set_state(t, CUT);
}

static void cut_by_quota(struct tunnel *t)
{
	cut(t, sv_of("network.max_bytes_out"), "cut: the run has sent all that it may");
}

static void on_look(void *arg);

/* One that is due stays due, however many tunnels come up in between. */
static void look_soon(struct tunnels *all)
{
	if (all->n_up && all->egress->quota.limited && !loop_timer_armed(&all->look))
		loop_timer_set(all->egress->loop, &all->look, TUNNELS_LOOK, on_look, all);
}

static void on_look(void *arg)
{
	struct tunnels *all = arg;
	struct tunnel *t;

	tunnels_count(all);
	for (t = all->first; t; t = t->next) {
		if (t->state != UP)
			continue;
		if (quota_used_up(&all->egress->quota) && (!t->behind || t->last))
			cut_by_quota(t);
		else
			pace(t);
		t->last = t->behind;
	}
	look_soon(all);
}

/* False: the relay does not take it now. */
static bool tell(struct tunnel *t)
{
	struct egress *e = t->all->egress;
	bool up = t->state == TELL_UP;
	AUTO_BUF body = {0};
	int r;

	buf_init(&body, 1024);
	wire_put_u64(&body, t->id);
	if (!up) {
		wire_put_u32(&body, t->why);
		wire_put_sv(&body, sv_of(t->text ? t->text : ""));
	}
	r = wire_send(e->calls, up ? GATE_TUNNEL_UP : GATE_TUNNEL_FAILED, buf_view(&body), &t->fd, up);
	if (r == -EAGAIN)
		return false;
	if (r < 0)
		egress_stop(e, 0);
	if (!up) {
		drop(t);
		return true;
	}
	set_state(t, UP);
	look_at(t); /* what the proxy was told */
	if (e->quota.limited)
		pace(t);
	look_soon(t->all);
	return true;
}

/* False: the relay does not take it now. */
static bool tell_granted(struct tunnel *t)
{
	struct egress *e = t->all->egress;
	AUTO_BUF body = {0};
	int r;

	buf_init(&body, 16);
	wire_put_u64(&body, t->id);
	wire_put_u32(&body, t->granted);
	r = wire_send(e->calls, GATE_TUNNEL_GRANT, buf_view(&body), NULL, 0);
	if (r == -EAGAIN)
		return false;
	if (r < 0)
		egress_stop(e, 0);
	t->asked = false;
	t->all->n_to_tell--;
	if (t->granted == 0)
		cut_by_quota(t);
	return true;
}

void tunnels_writable(struct tunnels *all)
{
	struct tunnel *t, *next;

	for (t = all->first; t && all->n_to_tell; t = next) {
		bool failed = t->state == TELL_FAILED; /* then it is gone when that was told */

		next = t->next;
		if ((failed || t->state == TELL_UP) && !tell(t))
			return;
		if (!failed && t->asked && !tell_granted(t))
			return;
	}
}

static void fail(struct tunnel *t, enum gate_failure why, const char *text)
{
	dial_cancel(t->dial);
	t->dial = NULL;
	t->why = why;
	free(t->text);
	t->text = strdup(text ? text : gate_failure_facts(why)->phrase);
	set_state(t, TELL_FAILED);
	(void)tell(t);
}

static struct net_request question(const struct tunnel *t)
{
	return (struct net_request){.host = sv_of(t->host), .port = t->port};
}

/* By where it leads. NULL: it may; else the place that it may not go to. */
static const struct address *judge_places(const struct tunnel *t, const struct net_request *q, struct net_verdict *ret)
{
	unsigned i;

	for (i = 0; i < t->places.n; i++) {
		net_rules_address(t->all->egress->now->rules, &t->places.v[i].address, q, t->places.v[i].fixed, ret);
		if (!ret->allow)
			return &t->places.v[i].address;
	}
	return NULL;
}

/* By the name, and by where it leads; false: it was told why not. */
static bool judge(const struct tunnel *t, struct reason *ret, struct net_where *where)
{
	const struct generation *g = t->all->egress->now;
	struct net_request q = question(t);
	const struct address *no = NULL;
	struct net_verdict v;

	net_rules_name(g->rules, q.host, q.port, &v);
	if (v.allow && v.way == NET_INSPECT) {
		*ret = (struct reason){
			.text = "this is looked into, by a rule or for a credential that was sent there in "
				"this run: it cannot be a tunnel"};
	} else {
		no = v.allow ? judge_places(t, &q, &v) : NULL;
		if (v.allow)
			return true;
		net_rules_reason(g->rules, &q, no, &v, ret);
	}
	(void)net_rules_where(g->rules, &v, where);
	return false;
}

/* "network.deny 10.0.0.0/8 (policy.yaml:7)" */
static void put_rule(struct buf *out, const struct reason *r, const struct net_where *where)
{
	(void)buf_str(out, r->rule);
	if (r->rule[0] && where->s[0])
		(void)buf_printf(out, " (%s)", where->s);
}

static enum gate_failure on_check(void *arg, const struct address *a, bool fixed)
{
	struct tunnel *t = arg;
	const struct generation *g = t->all->egress->now;
	struct net_request q = question(t);
	struct net_verdict v;

	net_rules_address(g->rules, a, &q, fixed, &v);
	if (v.allow)
		return GATE_FAILURE_NONE;
	return v.why == WHY_DENIED ? GATE_FAILURE_RANGE : GATE_FAILURE_ADDRESS;
}

static bool denied(struct tunnel *t)
{
	struct egress *e = t->all->egress;
	struct net_where where = {{0}};
	struct reason why;
	AUTO_BUF rule = {0};

	if (!quota_is_open(&e->quota)) {
		say(t, true, sv_of("network.max_bytes_out"), "the run has sent all that it may");
		fail(t, GATE_FAILURE_QUOTA, "network.max_bytes_out is used up");
		return true;
	}
	if (judge(t, &why, &where))
		return false;
	buf_init(&rule, 1024);
	put_rule(&rule, &why, &where);
	say(t, true, buf_view(&rule), why.text);
	fail(t, GATE_FAILURE_POLICY, why.text);
	return true;
}

static void on_dialled(void *arg, const struct dial_result *r)
{
	struct tunnel *t = arg;

	t->dial = NULL;
	if (r->fd < 0) {
		if (r->why == GATE_FAILURE_QUOTA)
			say(t, true, sv_of("network.max_bytes_out"),
			    "the run may not send as much as it takes to look up the name");
		else
			say(t, gate_failure_facts(r->why)->status == 403, sv_n("", 0),
			    gate_failure_facts(r->why)->phrase);
		fail(t, r->why, NULL);
		return;
	}
	t->fd = r->fd;
	t->places = r->places;
	/* the policy may be another than the one that it was dialled by */
	if (denied(t))
		return;
	set_state(t, TELL_UP);
	(void)tell(t);
}

static int begin(struct tunnels *all, struct sv body)
{
	struct gate_tunnel g;
	struct tunnel *t;

	if (gate_get_tunnel(body, &g) < 0 || g.host.n > HOST_MAX || memchr(g.host.p, '\0', g.host.n) ||
	    *place(all, g.id) || all->n == 2 * TUNNELS_MAX)
		return -EPROTO;
	t = calloc(1, sizeof(*t) + g.host.n + 1);
	if (!t)
		return -ENOMEM;
	*t = (struct tunnel){
		.all = all, .id = g.id, .state = DIALLING, .port = (uint16_t)g.port, .fd = -1, .next = all->first};
	memcpy(t->host, g.host.p, g.host.n);
	if (t->next)
		t->next->prev = t;
	all->first = t;
	*place(all, t->id) = t;
	all->n++;
	if (denied(t))
		return 0;
	if (all->n <= TUNNELS_MAX)
		t->dial = dial_start(&all->egress->dialer, &(struct dial_request){.host = sv_of(t->host),
										  .port = t->port,
										  .connect = true,
										  .check = on_check,
										  .done = on_dialled,
										  .arg = t});
	if (!t->dial)
		fail(t, GATE_FAILURE_INTERNAL, NULL);
	return 0;
}

static int end(struct tunnels *all, struct sv body)
{
	struct wire_in in;
	struct tunnel *t;
	uint64_t id;

	wire_in_init(&in, body);
	id = wire_get_u64(&in);
	if (!wire_ok(&in))
		return -EPROTO;
	/* none of that id: it failed while the relay gave it up */
	t = *place(all, id);
	if (t)
		drop(t);
	return 0;
}

static int want(struct tunnels *all, struct sv body)
{
	struct quota *q = &all->egress->quota;
	struct wire_in in;
	struct tunnel *t;
	uint32_t n;
	uint64_t id;

	wire_in_init(&in, body);
	id = wire_get_u64(&in);
	n = wire_get_u32(&in);
	if (!wire_ok(&in) || n == 0)
		return -EPROTO;
	t = *place(all, id);
	if (!t || t->state == CUT)
		return 0; /* it was cut meanwhile, which the relay sees itself */
	if (t->state != UP || t->asked)
		return -EPROTO;
	look_at(t); /* what was sent unasked is not what is granted now */
	t->granted = quota_fits(q, n) ? n : (uint32_t)quota_left(q);
	t->counted.out += t->granted;
	t->asked = true;
	all->n_to_tell++;
	(void)egress_may_send(all->egress, t->granted);
	(void)tell_granted(t);
	return 0;
}

int tunnels_message(struct tunnels *t, const struct wire_message *m)
{
	if (m->n_fds)
		return -EPROTO;
	if (m->type == GATE_TUNNEL)
		return begin(t, buf_view(&m->body));
	if (m->type == GATE_TUNNEL_WANT)
		return want(t, buf_view(&m->body));
	return m->type == GATE_TUNNEL_OVER ? end(t, buf_view(&m->body)) : -EPROTO;
}

void tunnels_count(struct tunnels *all)
{
	struct tunnel *t;

	for (t = all->first; t; t = t->next)
		look_at(t);
}

void tunnels_review(struct tunnels *all)
{
	struct net_where where = {{0}};
	struct tunnel *t, *next;
	struct reason why;

	for (t = all->first; t; t = next) {
		AUTO_BUF rule = {0};

		next = t->next;
		if ((t->state == DIALLING || t->state == TELL_UP) && denied(t))
			continue;
		if (t->state != UP)
			continue;
		if (!judge(t, &why, &where)) {
			buf_init(&rule, 1024);
			put_rule(&rule, &why, &where);
			cut(t, buf_view(&rule), "cut: the policy no longer allows it");
		}
	}
	look_soon(all);
}

#include "gate/egress/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/egress/dial_proxy.h"
#include "http/target.h"
#include "sys/own_address.h"

struct attempt {
	struct dial *dial;
	struct loop_watch watch;
	int fd; /* -1: not begun, or over */
};

struct dial {
	const struct dialer *dialer;
	struct dial_request request;
	char host[256];
	bool by_proxy;
	struct resolve_query query;
	struct resolve_answer to; /* those that passed the check */
	unsigned next, running;
	enum gate_failure why; /* of those that failed so far */
	struct loop_timer stagger, limit;
	struct loop_task finish;
	struct dial_result result;
	struct dial_proxy *talk;
	struct attempt attempts[RESOLVE_MAX];
};

int dialer_set_proxy(struct dialer *d, struct sv url)
{
	struct http_authority a;

	d->proxy[0] = '\0';
	if (url.n == 0)
		return 0;
	if (!sv_starts(url, "http://"))
		return -EINVAL;
	url.p += 7;
	url.n -= 7;
	if (sv_ends(url, "/"))
		url.n--;
	if (http_authority(url, &a) || a.port == 0)
		return -EINVAL;
	memcpy(d->proxy, a.host, a.n);
	d->proxy[a.n] = '\0';
	d->proxy_port = a.port;
	return 0;
}

bool dialer_uses_proxy(const struct dialer *d, struct sv host)
{
	struct address a;

	if (d->proxy[0] == '\0' || sv_is(host, "localhost") || sv_ends(host, ".localhost"))
		return false;
	/* where it leads is the operator's word, which the proxy has not heard */
	if (d->resolver && resolver_has_pin(d->resolver, host))
		return false;
	return !address_parse(host, &a) || address_floor(&a) == FLOOR_NONE;
}

static void close_attempts(struct dial *d)
{
	unsigned i;

	for (i = 0; i < d->next; i++) {
		loop_watch_remove(&d->attempts[i].watch);
		if (d->attempts[i].fd >= 0)
			(void)close(d->attempts[i].fd);
		d->attempts[i].fd = -1;
	}
}

void dial_cancel(struct dial *d)
{
	if (!d)
		return;
	resolve_cancel(&d->query);
	loop_timer_cancel(&d->stagger);
	loop_timer_cancel(&d->limit);
	loop_task_cancel(&d->finish);
	close_attempts(d);
	dial_proxy_free(d->talk);
	if (d->result.fd >= 0)
		(void)close(d->result.fd);
	free(d);
}

static void on_finish(void *arg)
{
	struct dial *d = arg;
	struct dial_result result = d->result;
	dial_fn *done = d->request.done;
	void *to = d->request.arg;

	d->result.fd = -1;
	dial_cancel(d);
	done(to, &result);
}

/* The answer leaves at the end of the iteration: nothing of this dial is on the stack by then. */
static void finish(struct dial *d, int fd, enum gate_failure why)
{
	resolve_cancel(&d->query);
	loop_timer_cancel(&d->stagger);
	loop_timer_cancel(&d->limit);
	close_attempts(d);
	d->result.fd = fd;
	d->result.why = why;
	loop_task_post(d->dialer->loop, &d->finish, on_finish, d);
}

static enum gate_failure failure_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
	case ECONNRESET:
		return GATE_FAILURE_REFUSED;
	case ETIMEDOUT:
		return GATE_FAILURE_TIMEOUT;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
		return GATE_FAILURE_INTERNAL;
	default:
		return GATE_FAILURE_UNREACHABLE;
	}
}

/* Of several reasons the one that says most: "unreachable" is what IPv6 always says where there is none. */
static void blame(struct dial *d, int error)
{
	enum gate_failure why = failure_of(error);

	if (d->why == GATE_FAILURE_NONE || d->why == GATE_FAILURE_UNREACHABLE)
		d->why = why;
}

static void on_talked(void *arg, enum gate_failure why)
{
	struct dial *d = arg;
	int fd = dial_proxy_take(d->talk);

	if (why != GATE_FAILURE_NONE) {
		(void)close(fd);
		fd = -1;
	}
	finish(d, fd, why);
}

static void add_place(struct dial_places *p, const struct address *a, bool fixed)
{
	p->v[p->n++] = (struct dial_place){*a, fixed};
}

static void connected(struct dial *d, struct attempt *a)
{
	int fd = fd_take(&a->fd), on = 1;

	loop_watch_remove(&a->watch);
	loop_timer_cancel(&d->stagger);
	close_attempts(d);
	d->running = 0;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	if (!d->by_proxy)
		add_place(&d->result.places, &d->to.v[a - d->attempts], d->to.fixed);
	if (!d->by_proxy || !d->request.connect) {
		finish(d, fd, GATE_FAILURE_NONE);
		return;
	}
	d->talk = dial_proxy_start(d->dialer->loop, fd, sv_of(d->host), d->request.port, on_talked, d);
	if (!d->talk)
		finish(d, -1, GATE_FAILURE_INTERNAL);
}

static void go_on(void *arg);

static void on_attempt(void *arg, unsigned events)
{
	struct attempt *a = arg;
	struct dial *d = a->dial;
	socklen_t n = sizeof(int);
	int error = 0;

	if (!(events & LOOP_WRITE))
		return;
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
		error = errno;
	if (error == 0) {
		connected(d, a);
		return;
	}
	loop_watch_remove(&a->watch);
	(void)close(fd_take(&a->fd));
	blame(d, error);
	d->running--;
	go_on(d);
}

union any {
	struct sockaddr a;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static union any sockaddr_of(const struct address *a, uint16_t port)
{
	union any r = {.in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};

	if (a->is4) {
		r = (union any){.in = {.sin_family = AF_INET, .sin_port = htons(port)}};
		memcpy(&r.in.sin_addr, a->b + 12, 4);
	} else {
		memcpy(&r.in6.sin6_addr, a->b, 16);
	}
	return r;
}

/* Also where that cannot be found out: such a one is not for everybody. */
static bool is_own(const struct address *a)
{
	union any to = sockaddr_of(a, 0);
	int own = own_address(&to.a);

	return own != 0 && own != -EAFNOSUPPORT;
}

/* With the mark of this machine's own, which a translator may bring it back to, too. */
static struct address marked(const struct address *a)
{
	struct address r = *a, carried[ADDRESS_CARRIED];
	unsigned i, n;

	if (address_floor(a) != FLOOR_NONE)
		return r;
	r.own = is_own(a);
	n = address_carried(a, carried);
	for (i = 0; i < n && !r.own; i++)
		r.own = is_own(&carried[i]);
	return r;
}

static int dial_address(struct attempt *a, const struct address *to, uint16_t port)
{
	union any at = sockaddr_of(to, port);
	int r;

	a->fd = socket(to->is4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return -errno;
	if (connect(a->fd, &at.a, to->is4 ? sizeof(at.in) : sizeof(at.in6)) < 0 && errno != EINPROGRESS)
		r = -errno;
	else
		r = loop_watch_add(a->dial->dialer->loop, &a->watch, a->fd, LOOP_WRITE, on_attempt, a);
	if (r < 0)
		(void)close(fd_take(&a->fd));
	return r;
}

/* The next address; those that fail at once are passed over. */
static void go_on(void *arg)
{
	struct dial *d = arg;
	uint16_t port = d->by_proxy ? d->dialer->proxy_port : d->request.port;
	struct attempt *a;
	int r = -1;

	while (r < 0 && d->next < d->to.n) {
		a = &d->attempts[d->next];
		*a = (struct attempt){.dial = d, .fd = -1};
		r = dial_address(a, &d->to.v[d->next++], port);
		if (r < 0)
			blame(d, -r);
	}
	if (r == 0)
		d->running++;
	if (d->next < d->to.n)
		loop_timer_set(d->dialer->loop, &d->stagger, DIAL_STAGGER, go_on, d);
	else if (d->running == 0)
		finish(d, -1, d->why);
}

static void on_resolved(void *arg, enum gate_failure why, const struct resolve_answer *answer)
{
	struct dial *d = arg;
	unsigned i;

	if (why != GATE_FAILURE_NONE) {
		finish(d, -1, why);
		return;
	}
	d->to.fixed = answer->fixed;
	for (i = 0; i < answer->n; i++) {
		struct address a = d->by_proxy ? answer->v[i] : marked(&answer->v[i]);
		enum gate_failure no =
			d->by_proxy ? GATE_FAILURE_NONE : d->request.check(d->request.arg, &a, answer->fixed);

		if (no == GATE_FAILURE_NONE)
			d->to.v[d->to.n++] = a;
		else
			d->why = no;
	}
	if (d->to.n == 0) {
		finish(d, -1, d->why);
		return;
	}
	d->why = GATE_FAILURE_NONE;
	loop_timer_cancel(&d->stagger);
	go_on(d);
}

static void find_proxy(void *arg)
{
	struct dial *d = arg;

	resolve_cancel(&d->query);
	loop_timer_cancel(&d->stagger);
	resolve_start(d->dialer->resolver, &d->query, sv_of(d->dialer->proxy), on_resolved, d);
}

/*
 * An address that a translator (DNS64) made of one of IPv4 is as good as that, unless it is denied itself, or this
 * machine's. Other forms that carry one (6to4, ISATAP) are places of their own.
 */
static enum gate_failure screen(struct dial *d, const struct address *address)
{
	const struct dial_request *r = &d->request;
	struct address a = marked(address), of;
	enum gate_failure no = r->check(r->arg, &a, false);

	if (no == GATE_FAILURE_NONE) {
		add_place(&d->result.places, &a, false);
		return no;
	}
	if (!address_translates(&a, &of) || is_own(&a) || r->check(r->arg, &a, true) != GATE_FAILURE_NONE)
		return no;
	of = marked(&of);
	if (r->check(r->arg, &of, false) != GATE_FAILURE_NONE)
		return no;
	add_place(&d->result.places, &a, true);
	add_place(&d->result.places, &of, false);
	return GATE_FAILURE_NONE;
}

/*
 * Where the name leads as this machine sees it: the proxy may take any of the addresses. What cannot be found out here
 * is the proxy's to decide; there are networks in which nobody else resolves names.
 */
static void on_screened(void *arg, enum gate_failure why, const struct resolve_answer *answer)
{
	struct dial *d = arg;
	enum gate_failure no = why == GATE_FAILURE_QUOTA ? why : GATE_FAILURE_NONE;
	unsigned i;

	for (i = 0; why == GATE_FAILURE_NONE && no == GATE_FAILURE_NONE && i < answer->n; i++)
		no = screen(d, &answer->v[i]);
	if (no != GATE_FAILURE_NONE)
		finish(d, -1, no);
	else
		find_proxy(d);
}

static void on_limit(void *arg)
{
	struct dial *d = arg;

	finish(d, -1, GATE_FAILURE_TIMEOUT);
}

struct dial *dial_start(const struct dialer *dialer, const struct dial_request *r)
{
	struct dial *d;

	if (r->host.n == 0 || r->host.n >= sizeof(d->host))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->dialer = dialer;
	d->request = *r;
	memcpy(d->host, r->host.p, r->host.n);
	d->result.fd = -1;
	d->by_proxy = d->result.by_proxy = dialer_uses_proxy(dialer, r->host);
	loop_timer_set(dialer->loop, &d->limit, DIAL_TIMEOUT, on_limit, d);
	if (d->by_proxy)
		loop_timer_set(dialer->loop, &d->stagger, DIAL_SCREEN, find_proxy, d);
	resolve_start(dialer->resolver, &d->query, sv_of(d->host), d->by_proxy ? on_screened : on_resolved, d);
	return d;
}

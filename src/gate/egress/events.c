#include "gate/egress/events.h"

#include <stdlib.h>

#include "base/text.h"
#include "model/gate.h"
#include "wire/wire.h"

enum { TICK = 1000 };

/* One kind. text: subject, rule and detail, escaped. */
struct kind {
	bool used;
	bool allowed;
	enum event_domain domain;
	uint32_t waiting; /* how many were not told yet */
	size_t subject, rule, detail; /* their lengths */
	char *text;
};

struct events {
	struct loop *loop;
	int fd;
	struct loop_timer tick;
	unsigned burst; /* how many more may be told before the next tick */
	uint32_t others[2][2]; /* of others than models, of models: denied, allowed */
	struct kind kinds[EVENTS_KINDS];
};

static void on_tick(void *arg);

struct events *events_new(struct loop *loop, int fd)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->loop = loop;
	e->fd = fd;
	e->burst = EVENTS_BURST;
	return e;
}

void events_free(struct events *e)
{
	size_t i;

	if (!e)
		return;
	loop_timer_cancel(&e->tick);
	for (i = 0; i < EVENTS_KINDS; i++)
		free(e->kinds[i].text);
	free(e);
}

static bool send_event(struct events *e, const struct gate_event *g)
{
	AUTO_BUF body = {0};

	buf_init(&body, WIRE_MAX_BODY);
	gate_put_event(&body, g);
	return !buf_failed(&body) && wire_send(e->fd, GATE_EVENT, buf_view(&body), NULL, 0) == 0;
}

static void tell_kind(struct events *e, struct kind *k)
{
	const struct gate_event g = {.domain = k->domain,
				     .verdict = k->allowed,
				     .count = k->waiting,
				     .subject = sv_n(k->text, k->subject),
				     .rule = sv_n(k->text + k->subject, k->rule),
				     .detail = sv_n(k->text + k->subject + k->rule, k->detail)};

	if (send_event(e, &g))
		k->waiting = 0;
}

static void tell_others(struct events *e, bool model, bool allowed)
{
	const struct gate_event g = {.domain = model ? DOMAIN_INFERENCE : DOMAIN_NETWORK,
				     .verdict = allowed,
				     .count = e->others[model][allowed],
				     .subject = sv_of("(others)"),
				     .rule = sv_n("", 0),
				     .detail = sv_of("too many different events at once")};

	if (g.count && send_event(e, &g))
		e->others[model][allowed] = 0;
}

/* Whether anything is left to remember. */
static bool tell_all(struct events *e)
{
	bool left = false;
	size_t i;

	for (i = 0; i < EVENTS_KINDS; i++) {
		struct kind *k = &e->kinds[i];

		if (!k->used)
			continue;
		if (k->waiting == 0) { /* a second without another one */
			free(k->text);
			*k = (struct kind){0};
			continue;
		}
		tell_kind(e, k);
		left = true;
	}
	for (i = 0; i < 4; i++) {
		tell_others(e, i / 2, i % 2);
		left = left || e->others[i / 2][i % 2];
	}
	return left;
}

static void on_tick(void *arg)
{
	struct events *e = arg;

	e->burst = EVENTS_BURST;
	if (tell_all(e))
		loop_timer_set(e->loop, &e->tick, TICK, on_tick, e);
}

void events_flush(struct events *e)
{
	(void)tell_all(e);
}

static struct kind *find(struct events *e, enum event_domain domain, bool allowed, struct sv text, size_t subject,
			 size_t rule)
{
	struct kind *free_one = NULL;
	size_t i;

	for (i = 0; i < EVENTS_KINDS; i++) {
		struct kind *k = &e->kinds[i];

		if (!k->used)
			free_one = free_one ? free_one : k;
		else if (k->domain == domain && k->allowed == allowed && k->subject == subject && k->rule == rule &&
			 sv_eq(sv_n(k->text, k->subject + k->rule + k->detail), text))
			return k;
	}
	return free_one;
}

void events_tell(struct events *e, enum event_domain domain, bool allowed, struct sv subject, struct sv rule,
		 struct sv detail)
{
	size_t n_subject, n_rule;
	AUTO_BUF text = {0};
	struct kind *k;

	buf_init(&text, 16 * EVENTS_TEXT);
	text_escape(&text, subject, EVENTS_TEXT);
	n_subject = text.n;
	text_escape(&text, rule, EVENTS_TEXT);
	n_rule = text.n - n_subject;
	text_escape(&text, detail, EVENTS_TEXT);
	if (!loop_timer_armed(&e->tick))
		loop_timer_set(e->loop, &e->tick, TICK, on_tick, e);
	k = buf_failed(&text) ? NULL : find(e, domain, allowed, buf_view(&text), n_subject, n_rule);
	if (!k) {
		e->others[domain == DOMAIN_INFERENCE][allowed]++;
		return;
	}
	k->waiting++;
	if (k->used)
		return;
	*k = (struct kind){.used = true,
			   .allowed = allowed,
			   .domain = domain,
			   .waiting = 1,
			   .subject = n_subject,
			   .rule = n_rule,
			   .detail = text.n - n_subject - n_rule,
			   .text = buf_take(&text)};
	if (e->burst == 0)
		return;
	e->burst--;
	tell_kind(e, k);
}

void events_subject(struct buf *out, const struct http_request *r)
{
	const char *mark = r->target.n ? memchr(r->target.p, '?', r->target.n) : NULL;
	bool v6 = r->host.n && memchr(r->host.p, ':', r->host.n);

	(void)buf_sv(out, r->method);
	(void)buf_str(out, r->tls ? " https://" : " http://");
	(void)buf_str(out, v6 ? "[" : "");
	(void)buf_sv(out, r->host);
	(void)buf_str(out, v6 ? "]" : "");
	if (r->port != (r->tls ? 443 : 80))
		(void)buf_printf(out, ":%u", r->port);
	(void)buf_sv(out, mark ? sv_n(r->target.p, (size_t)(mark - r->target.p)) : r->target);
}

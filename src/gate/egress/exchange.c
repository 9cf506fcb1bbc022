#include "gate/egress/exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "base/secret_memory.h"
#include "gate/egress/exchange_parts.h"
#include "gate/egress/form_watch.h"
#include "http/fields.h"

static void on_limit(void *arg)
{
	exchange_fail(arg, GATE_FAILURE_TIMEOUT, sv_n("", 0), NULL);
}

void exchange_touch(struct exchange *x)
{
	if (!x->over)
		loop_timer_set(x->egress->loop, &x->timer, x->websocket ? EXCHANGE_WEBSOCKET : EXCHANGE_SILENCE,
			       on_limit, x);
}

static bool quota_is_used_up(struct exchange *x)
{
	exchange_fail(x, GATE_FAILURE_QUOTA, sv_of("network.max_bytes_out"), "network.max_bytes_out is used up");
	return false;
}

bool exchange_reserve(struct exchange *x)
{
	struct quota *q = &x->egress->quota;
	size_t waits = x->call.body.n - x->call.body_at;

	if (waits > x->reserved && !quota_reserve(q, waits - x->reserved))
		return quota_is_used_up(x);
	if (waits < x->reserved)
		quota_release(q, x->reserved - waits);
	x->reserved = waits;
	return true;
}

void exchange_drop_body(struct exchange *x)
{
	buf_done(&x->call.body);
	x->call.body_at = 0;
	quota_release(&x->egress->quota, x->reserved);
	x->egress->collected -= x->counted;
	x->reserved = x->counted = 0;
}

/* Nothing of it moves after this; its memory stays until the link lets go of it. */
static void stop(struct exchange *x)
{
	x->over = true;
	loop_timer_cancel(&x->timer);
	loop_timer_cancel(&x->idle);
	pool_unclaim(&x->claim);
	upstream_leave(&x->call);
	exchange_drop_body(x);
	exchange_answer_done(x);
	form_watch_free(x->form);
	x->form = NULL;
	buf_done(&x->kept);
}

static bool is_denial(enum gate_failure why)
{
	return gate_failure_facts(why)->status == 403 || why == GATE_FAILURE_QUOTA;
}

void exchange_fail(struct exchange *x, enum gate_failure why, struct sv rule, const char *text)
{
	struct egress *e = x->egress;
	AUTO_BUF subject = {0};

	if (x->over)
		return;
	if (!text)
		text = gate_failure_facts(why)->phrase;
	buf_init(&subject, HTTP_MAX_HEAD);
	events_subject(&subject, &x->request);
	events_tell(e->events, x->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK, !is_denial(why), buf_view(&subject),
		    rule, sv_of(text));
	e->denied += is_denial(why);
	egress_changed(e);
	stop(x);
	(void)link_fail(x->link, why, sv_of(text));
}

static struct arena *take_arena(struct egress *e)
{
	return e->n_spare ? e->spare[--e->n_spare] : arena_new();
}

static void give_arena(struct egress *e, struct arena *a)
{
	if (e->n_spare == EGRESS_SPARE) {
		arena_free(a);
		return;
	}
	arena_reset(a);
	e->spare[e->n_spare++] = a;
}

static void free_exchange(struct exchange *x)
{
	stop(x);
	if (x->next)
		x->next->prev = x->prev;
	if (x->prev)
		x->prev->next = x->next;
	else
		x->egress->exchanges = x->next;
	if (x->raw.p)
		secret_wipe(x->raw.p, x->raw.cap); /* not scrubbed yet */
	buf_done(&x->raw);
	buf_done(&x->late);
	give_arena(x->egress, x->arena);
	free(x);
}

static enum gate_failure on_check(struct claim *c, const struct address *a, bool fixed)
{
	return exchange_check_address((struct exchange *)((char *)c - offsetof(struct exchange, claim)), a, fixed);
}

static void on_claim_failed(struct claim *c, enum gate_failure why)
{
	exchange_fail((struct exchange *)((char *)c - offsetof(struct exchange, claim)), why, sv_n("", 0),
		      why == GATE_FAILURE_CREDENTIAL ? exchange_in_clear : NULL);
}

static const struct claim_events claim_events = {.check = on_check, .ready = exchange_ready, .failed = on_claim_failed};

static struct exchange *exchange_new(struct egress *e, struct link_exchange *link)
{
	struct exchange *x = malloc(sizeof(*x));

	if (!x)
		return NULL;
	*x = (struct exchange){.egress = e,
			       .link = link,
			       .arena = take_arena(e),
			       .claim.events = &claim_events,
			       .call.events = &exchange_call_events};
	if (!x->arena) {
		free(x);
		return NULL;
	}
	buf_init(&x->call.body, EXCHANGE_COLLECT);
	buf_init(&x->raw, UPSTREAM_WINDOW + EGRESS_SCRATCH);
	buf_init(&x->late, SCRUB_HOLD_MAX + 4 * UPSTREAM_WINDOW);
	x->next = e->exchanges;
	if (x->next)
		x->next->prev = x;
	e->exchanges = x;
	link_set_user(link, x);
	return x;
}

static bool copy_request(struct exchange *x, const struct http_request *r)
{
	struct http_request *to = &x->request;

	*to = *r;
	to->method = sv_n(arena_str(x->arena, r->method), r->method.n);
	to->host = sv_n(arena_str(x->arena, r->host), r->host.n);
	to->target = sv_n(arena_str(x->arena, r->target), r->target.n);
	return exchange_copy_fields(x->arena, &r->fields, &to->fields) == 0 && !arena_failed(x->arena);
}

static void on_request(void *user, struct link_exchange *link, const struct link_request *r)
{
	struct egress *e = user;
	struct exchange *x = exchange_new(e, link);

	if (!x) {
		(void)link_fail(link, GATE_FAILURE_INTERNAL, sv_n("", 0));
		return;
	}
	e->requests++;
	egress_changed(e);
	x->inference = r->inference;
	if (!copy_request(x, &r->head)) {
		x->request = (struct http_request){0};
		exchange_fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL);
		return;
	}
	x->left = r->head.length > 0 ? (uint64_t)r->head.length : 0;
	x->ended = !r->head.body && !r->head.websocket;
	if (!exchange_check(x, r) || !exchange_judge(x, false))
		return;
	exchange_touch(x);
	if (!x->collect || x->ended)
		exchange_claim(x);
}

static bool fits_length(struct exchange *x, size_t n)
{
	if (x->request.length == HTTP_LENGTH_UNKNOWN || x->request.websocket)
		return true;
	if (n > x->left)
		return false;
	x->left -= n;
	return true;
}

/* What was sent is at the front: it need not stay. */
static void compact(struct call *c)
{
	if (c->body_at == 0 || c->body_at < c->body.n / 2)
		return;
	memmove(c->body.p, c->body.p + c->body_at, c->body.n - c->body_at);
	c->body.n -= c->body_at;
	c->body_at = 0;
}

/* One that is to be seen whole. They share their memory: a body of each that may be open would be too much. */
static bool may_collect(struct exchange *x, size_t n)
{
	struct egress *e = x->egress;

	if (!x->collect)
		return true;
	if (n > EXCHANGE_COLLECTED_MAX - e->collected) {
		exchange_fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0),
			      "too many requests whose bodies must be read as a whole at once");
		return false;
	}
	e->collected += n;
	x->counted += n;
	return true;
}

static void on_data(void *user, struct link_exchange *link, struct sv bytes)
{
	struct exchange *x = link_user(link);
	struct call *c = x ? &x->call : NULL;

	(void)user;
	if (!c || x->over || x->discard) {
		link_consume(link, bytes.n);
		return;
	}
	exchange_touch(x);
	if (!fits_length(x, bytes.n)) {
		exchange_fail(x, GATE_FAILURE_PROTOCOL, sv_n("", 0), "the request's body is longer than it said");
		return;
	}
	if ((x->form && !exchange_judge_form(x, bytes)) || !may_collect(x, bytes.n))
		return;
	compact(c);
	if (buf_sv(&c->body, bytes) < 0) {
		exchange_fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0), "the request's body is too long to be judged");
		return;
	}
	if (!exchange_reserve(x))
		return;
	if (x->collect)
		link_consume(link, bytes.n);
	else
		upstream_push(c);
}

static bool trailers_are_fine(const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (!http_is_lower_token(f->v[i].name) || !http_is_value(f->v[i].value) ||
		    !http_field_may_trail(f->v[i].name))
			return false;
	return true;
}

static void on_end(void *user, struct link_exchange *link, const struct http_fields *trailers)
{
	struct exchange *x = link_user(link);

	(void)user;
	if (!x || x->over || x->ended)
		return;
	x->ended = true;
	if (x->discard)
		return;
	if (x->left > 0 || (trailers && !trailers_are_fine(trailers))) {
		exchange_fail(x, GATE_FAILURE_PROTOCOL, sv_n("", 0),
			      "the request's body is shorter than it said, or its trailers are malformed");
		return;
	}
	if (trailers && !x->inference && exchange_copy_fields(x->arena, trailers, &x->call.trailers) < 0) {
		exchange_fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL);
		return;
	}
	/* first the body, where it is judged: only then is it known which credential is put in, and which trailer would
	 * stand for it */
	if (x->collect && !exchange_judge(x, true))
		return;
	if (x->call.trailers.n && !exchange_still_allowed(x))
		return;
	x->call.body_ended = true;
	if (x->collect)
		exchange_claim(x);
	else
		upstream_push(&x->call);
}

static void on_room(void *user, struct link_exchange *link)
{
	struct exchange *x = link_user(link);

	(void)user;
	if (x && !x->over)
		exchange_room(x);
}

static void on_closed(void *user, struct link_exchange *link, bool reset)
{
	struct exchange *x = link_user(link);

	(void)user;
	(void)reset;
	if (x)
		free_exchange(x);
}

static void on_gone(void *user)
{
	egress_stop(user, 0);
}

const struct link_events exchange_events = {
	.request = on_request,
	.data = on_data,
	.end = on_end,
	.room = on_room,
	.closed = on_closed,
	.gone = on_gone,
};

void exchanges_review(struct egress *e)
{
	bool used_up = quota_used_up(&e->quota);
	struct exchange *x, *next;

	for (x = e->exchanges; x; x = next) {
		next = x->next;
		if (x->over)
			continue;
		if (used_up && !x->ended)
			(void)quota_is_used_up(x);
		else
			(void)exchange_still_allowed(x);
	}
}

void exchanges_renew(struct egress *e)
{
	struct exchange *x, *next;

	for (x = e->exchanges; x; x = next) {
		next = x->next;
		if (!x->over)
			exchange_renew(x);
	}
}

void exchanges_granted(struct egress *e)
{
	struct exchange *x, *next;

	for (x = e->exchanges; x; x = next) {
		next = x->next;
		if (x->waits && !x->over)
			exchange_claim(x);
	}
}

void exchanges_free(struct egress *e)
{
	while (e->exchanges)
		free_exchange(e->exchanges);
	while (e->n_spare)
		arena_free(e->spare[--e->n_spare]);
}

#include <errno.h>

#include "base/secret_memory.h"
#include "gate/egress/exchange_parts.h"
#include "http/fields.h"

static const char compressed[] =
	"the answer's messages are compressed, or encoded in pieces, and cannot be looked into";

static struct exchange *exchange_of(struct call *c)
{
	return (struct exchange *)((char *)c - offsetof(struct exchange, call));
}

static void fail(struct exchange *x, enum gate_failure why, const char *text)
{
	exchange_fail(x, why, sv_n("", 0), text);
}

/* An array of our own, which may be changed. Its texts are the answer's own still: they live as long as the head is
 * looked at. */
static int own_fields(struct exchange *x, struct http_fields *f)
{
	struct http_field *v = arena_array(x->arena, f->n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	if (f->n)
		memcpy(v, f->v, f->n * sizeof(*v));
	f->v = v;
	return 0;
}

/* Reason and fields; what changes is copied first. Negative: no memory. */
static int scrub_head(struct exchange *x, struct http_response *r)
{
	char *reason = arena_str(x->arena, r->reason);

	if (!reason)
		return -ENOMEM;
	r->reason = sv_n(reason, r->reason.n);
	if (scrub_text(x->scrub, reason, r->reason.n) < 0)
		return -ENOMEM;
	return scrub_fields(x->scrub, &r->fields, x->arena);
}

static void drop_field(struct http_fields *f, const char *name)
{
	uint32_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (!sv_is(f->v[i].name, name))
			f->v[n++] = f->v[i];
	f->n = n;
}

/* The body comes to the workload unfolded; the field that says otherwise goes. */
static void drop_coding(struct http_response *r)
{
	drop_field(&r->fields, "content-encoding");
	r->length = HTTP_LENGTH_UNKNOWN;
}

static bool is_stream_of_events(const struct http_response *r)
{
	const struct sv *type = http_field(&r->fields, "content-type");

	return type && type->n >= 17 && http_eq_nocase(sv_n(type->p, 17), "text/event-stream");
}

/* What the body must go through. False: it was ended. */
static bool prepare_body(struct exchange *x, struct http_response *r)
{
	const struct sv *coding = http_field(&r->fields, "content-encoding");
	const struct provider *p = NULL;
	uint32_t i, n = 0;
	int result;

	for (i = 0; i < r->fields.n; i++)
		n += sv_is(r->fields.v[i].name, "content-encoding");
	result = n > 1 ? -EOPNOTSUPP : inflater_new(coding ? *coding : sv_n("", 0), &x->inflater);
	if (result < 0) {
		fail(x, result == -ENOMEM ? GATE_FAILURE_INTERNAL : GATE_FAILURE_PROTOCOL,
		     "the answer is compressed in a way that cannot be looked into");
		return false;
	}
	if (x->inflater)
		drop_coding(r);
	if (x->scrubbing && !legible_codings(&r->fields)) {
		fail(x, GATE_FAILURE_PROTOCOL, compressed);
		return false;
	}
	if (x->scrubbing && !legible_charset(&r->fields)) {
		fail(x, GATE_FAILURE_PROTOCOL, "the answer is in a character set that cannot be looked into");
		return false;
	}
	if (x->scrubbing && !legible_whole(r->status, &r->fields)) {
		fail(x, GATE_FAILURE_PROTOCOL,
		     "the answer is a part of a page, which was not asked for: it may end amid a credential");
		return false;
	}
	x->flagged = x->scrubbing && !r->websocket && legible_has_messages(&r->fields, &x->flags);
	if (x->scrubbing && r->websocket)
		x->frames = scrub_frames_new(x->scrub);
	else if (x->scrubbing)
		x->scrubber = scrub_stream_new(x->scrub);
	if (x->scrubbing && !x->frames && !x->scrubber) {
		fail(x, GATE_FAILURE_INTERNAL, NULL);
		return false;
	}
	for (i = 0; x->counting && i < x->egress->now->policy->inference.n_providers; i++)
		if (strcmp(x->egress->now->policy->inference.providers[i].name, x->provider) == 0)
			p = &x->egress->now->policy->inference.providers[i];
	if (x->counting)
		usage_init(&x->usage, p ? (enum provider_kind)p->kind.v : PROVIDER_OPENAI, is_stream_of_events(r));
	return true;
}

/* One more interim answer. */
static bool is_flooded(struct exchange *x)
{
	int64_t now = loop_now(x->egress->loop), passed = (now - x->interim_at) / 1000;

	x->interims -= passed < (int64_t)x->interims ? (unsigned)passed : x->interims;
	x->interim_at = passed || x->interims == 0 ? now : x->interim_at;
	return ++x->interims > EXCHANGE_INTERIMS;
}

static void on_response(struct call *c, const struct http_response *r)
{
	struct exchange *x = exchange_of(c);
	struct http_response changed = *r;
	bool interim = r->status < 200 && !r->websocket;

	exchange_touch(x);
	if (x->scrubbing && r->websocket && http_field(&r->fields, "sec-websocket-extensions")) {
		fail(x, GATE_FAILURE_PROTOCOL, "the server wants an extension of websockets that was not offered");
		return;
	}
	if (interim && is_flooded(x)) {
		fail(x, GATE_FAILURE_PROTOCOL, "the server gives interim answers without end");
		return;
	}
	if (x->scrubbing || x->counting) {
		if (own_fields(x, &changed.fields) < 0 || (x->scrubbing && scrub_head(x, &changed) < 0)) {
			fail(x, GATE_FAILURE_INTERNAL, NULL);
			return;
		}
		if (x->scrubbing) /* no part of it can be asked for */
			drop_field(&changed.fields, "accept-ranges");
		if (!interim && (r->body || r->websocket) && !prepare_body(x, &changed))
			return;
	}
	if (!interim) {
		x->answered = true;
		x->erred = r->status >= 300;
		x->body = r->body || r->websocket;
		x->websocket = r->websocket;
	}
	if (link_respond(x->link, &changed) < 0)
		fail(x, GATE_FAILURE_PROTOCOL, NULL);
	else if (!interim)
		exchange_touch(x);
}

/* To the link, or behind what waits for it. */
static void pass_on(struct exchange *x, struct sv bytes)
{
	ssize_t n = 0;

	if (bytes.n == 0)
		return;
	if (x->counting)
		usage_feed(&x->usage, bytes);
	if (x->late.n == x->late_at)
		n = link_data(x->link, bytes);
	if (n >= 0 && (size_t)n < bytes.n)
		n = buf_add(&x->late, bytes.p + n, bytes.n - (size_t)n);
	if (n < 0)
		fail(x, GATE_FAILURE_INTERNAL, NULL);
}

/* What the scrubber gave, where it gave something. */
static void pass_scrubbed(struct exchange *x, int result, struct sv out)
{
	if (result == -EPROTO)
		fail(x, GATE_FAILURE_PROTOCOL, "the server sends what is no frame of a websocket");
	else if (result < 0)
		fail(x, GATE_FAILURE_INTERNAL, NULL);
	else
		pass_on(x, out);
}

static void scrub_and_pass(struct exchange *x, char *p, size_t n)
{
	struct sv out = sv_n(p, n);
	int result = 0;

	if (x->flagged && !legible_messages_feed(&x->flags, out)) {
		fail(x, GATE_FAILURE_PROTOCOL, compressed);
		return;
	}
	if (x->frames)
		result = scrub_frames_feed(x->frames, p, n, &out);
	else if (x->scrubber)
		result = scrub_stream_feed(x->scrubber, p, n, &out);
	pass_scrubbed(x, result, out);
}

static bool scrubber_waits(const struct exchange *x)
{
	return x->frames ? scrub_frames_waits(x->frames) : x->scrubber && scrub_stream_waits(x->scrubber);
}

static bool link_is_full(const struct exchange *x)
{
	return x->late.n != x->late_at || x->raw.n != x->raw_at;
}

static void on_idle(void *arg)
{
	struct exchange *x = arg;
	struct sv out = {0};
	int result = 0;

	if (!upstream_is_heard(&x->call)) {
		loop_timer_set(x->egress->loop, &x->idle, SCRUB_MESSAGE_MS, on_idle, x);
		return;
	}
	if (x->frames)
		result = scrub_frames_release(x->frames, &out);
	else
		scrub_stream_release(x->scrubber, &out);
	pass_scrubbed(x, result, out);
}

/* Whoever got a message may have to answer it before the next comes. Who has a part of one has nothing to answer yet.
 */
static bool is_between_messages(const struct exchange *x)
{
	return x->frames ? scrub_frames_are_between(x->frames) : x->flagged && legible_messages_are_between(&x->flags);
}

/*
 * The scrubber's pause, from the last new bytes on: behind a whole message, and nowhere else. A workload has more ways
 * to stop a server amid an answer than can be counted (it leaves another answer unread, or its own request unfinished),
 * and would get the first half of what is to be replaced. For the same reason one that does not read makes no pause.
 */
static void watch_idle(struct exchange *x, bool moved)
{
	if (x->scrubbed || x->over)
		return;
	if (link_is_full(x) || !scrubber_waits(x) || !is_between_messages(x))
		loop_timer_cancel(&x->idle);
	else if (moved || !loop_timer_armed(&x->idle))
		loop_timer_set(x->egress->loop, &x->idle, SCRUB_MESSAGE_MS, on_idle, x);
}

/* The stream looks for the credentials of x->scrub from now on. */
static int renew_stream(struct exchange *x)
{
	if (x->scrubbed)
		return 0;
	if (x->frames)
		return scrub_frames_renew(x->frames, x->scrub);
	return x->scrubber ? scrub_stream_renew(x->scrubber, x->scrub) : 0;
}

void exchange_renew(struct exchange *x)
{
	struct scrub *scrub;
	int result;

	if (x->told || (!x->call.up && !x->came))
		return; /* nothing of it comes any more, or was asked for yet */
	result = grants_scrub_for(&x->egress->grants, x->request.host, &scrub);
	if (result == 0 && !scrub)
		return;
	if (result == 0 && !x->scrubbing) {
		scrub_unref(scrub);
		/* it was asked for, and may have begun, in forms that cannot be looked into */
		if (!x->came)
			fail(x, GATE_FAILURE_POLICY,
			     "a credential is bound to its host now: answers from before are not looked into, and end");
		return;
	}
	if (result == 0) {
		scrub_unref(x->scrub);
		x->scrub = scrub;
		result = renew_stream(x);
	}
	if (result < 0)
		fail(x, GATE_FAILURE_INTERNAL, NULL);
}

/* True: the link has taken all that waited for it. */
static bool flush_late(struct exchange *x)
{
	ssize_t n;

	if (x->late.n == x->late_at)
		return true;
	n = link_data(x->link, sv_n(x->late.p + x->late_at, x->late.n - x->late_at));
	if (n > 0)
		x->late_at += (size_t)n;
	if (x->late_at < x->late.n)
		return false;
	buf_clear(&x->late);
	x->late_at = 0;
	return true;
}

/* Takes from the front of *in as much as the link has room for. */
static void cook(struct exchange *x, struct sv *in)
{
	char *room = x->egress->cooked;
	ssize_t n;

	while (!x->over && x->late.n == x->late_at && (in->n || (x->inflater && inflater_has_more(x->inflater)))) {
		if (!x->scrubber && !x->frames && !x->inflater) {
			n = link_data(x->link, *in);
			if (n < 0) {
				fail(x, GATE_FAILURE_INTERNAL, NULL);
				return;
			}
			if (x->counting)
				usage_feed(&x->usage, sv_n(in->p, (size_t)n));
			in->p += n;
			in->n -= (size_t)n;
			if (in->n)
				return; /* `room` will come */
			continue;
		}
		if (x->inflater) {
			n = inflater_run(x->inflater, in, room, EGRESS_SCRATCH);
			if (n < 0) {
				fail(x, GATE_FAILURE_PROTOCOL, "the answer's compression is broken");
				return;
			}
		} else {
			n = (ssize_t)(in->n < EGRESS_SCRATCH ? in->n : EGRESS_SCRATCH);
			memcpy(room, in->p, (size_t)n);
			in->p += n;
			in->n -= (size_t)n;
		}
		scrub_and_pass(x, room, (size_t)n);
	}
}

/* Behind what waits already; what was taken from its front makes room. */
static int keep_raw(struct exchange *x, struct sv bytes)
{
	if (x->raw_at) {
		x->raw.n -= x->raw_at;
		memmove(x->raw.p, x->raw.p + x->raw_at, x->raw.n);
		x->raw_at = 0;
	}
	return buf_sv(&x->raw, bytes);
}

static void on_data(struct call *c, struct sv bytes)
{
	struct exchange *x = exchange_of(c);
	size_t given = bytes.n;

	exchange_touch(x);
	if (x->raw.n == x->raw_at)
		cook(x, &bytes);
	if (x->over)
		return;
	if (bytes.n && keep_raw(x, bytes) < 0) {
		fail(x, GATE_FAILURE_INTERNAL, NULL);
		return;
	}
	watch_idle(x, true);
	if (bytes.n < given)
		upstream_consume(c, given - bytes.n);
}

/*
 * What the answer has used. Without one it counts from the moment on in which the server can have all of the request:
 * what it does then costs, whoever gives up. What is free is what the server did not serve, by its own doing and before
 * a byte of an answer: it refused the request or hung up, or the answer is an error, as no server writes for one; the
 * fields by which a client could ask for an error instead of an answer are not sent (endpoint.h).
 */
static void settle(struct exchange *x)
{
	struct usage_tokens tokens;

	if (!x->admitted)
		return;
	x->admitted = false;
	if (!x->unserved && (x->answered || x->sent >= (uint64_t)x->request.length)) {
		usage_end(&x->usage, x->erred ? 0 : x->ticket.reserved, x->told, &tokens);
		budget_count(x->egress->budget, &x->ticket, &tokens);
		egress_changed(x->egress);
	}
	budget_over(x->egress->budget, &x->ticket);
}

/* The last of what the scrubber holds. */
static void end_scrubbing(struct exchange *x)
{
	struct sv out = {0};
	int result = 0;
	uint64_t hits;

	x->scrubbed = true;
	if (x->frames) {
		result = scrub_frames_end(x->frames, &out);
		hits = scrub_frames_hits(x->frames);
	} else {
		scrub_stream_end(x->scrubber, &out);
		hits = scrub_stream_hits(x->scrubber);
	}
	if (hits)
		events_tell(x->egress->events, x->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK, true, x->request.host,
			    sv_n("", 0), sv_of("sent a credential back: it was replaced"));
	loop_timer_cancel(&x->idle);
	pass_scrubbed(x, result, out);
}

/* All came, and all that can be was passed on: the end. */
static void finish(struct exchange *x)
{
	if (x->told || !x->came || x->raw.n != x->raw_at || !flush_late(x) ||
	    (x->inflater && inflater_has_more(x->inflater)))
		return;
	if (x->inflater && !inflater_is_complete(x->inflater)) {
		fail(x, GATE_FAILURE_CUT, NULL);
		return;
	}
	if ((x->scrubber || x->frames) && !x->scrubbed) {
		end_scrubbing(x);
		if (x->over || !flush_late(x))
			return;
	}
	x->told = true;
	if (x->scrubbing && x->trailers.n && scrub_fields(x->scrub, &x->trailers, x->arena) < 0) {
		fail(x, GATE_FAILURE_INTERNAL, NULL);
		return;
	}
	loop_timer_cancel(&x->timer);
	settle(x); /* before the client knows, who may ask again */
	if (x->body)
		(void)link_end(x->link, x->trailers.n ? &x->trailers : NULL);
}

void exchange_room(struct exchange *x)
{
	struct sv in;
	size_t before;

	if (!flush_late(x))
		return;
	exchange_touch(x);
	in = sv_n(x->raw.p ? x->raw.p + x->raw_at : "", x->raw.n - x->raw_at);
	before = in.n;
	cook(x, &in);
	if (x->over)
		return;
	x->raw_at += before - in.n;
	if (x->raw_at == x->raw.n) {
		buf_clear(&x->raw);
		x->raw_at = 0;
	}
	watch_idle(x, before != in.n);
	if (before != in.n)
		upstream_consume(&x->call, before - in.n);
	finish(x);
}

/* The rest of a request that was answered already is taken and dropped. */
static void drop_request(struct exchange *x)
{
	size_t waiting = x->call.body.n - x->call.body_at;

	x->discard = true;
	exchange_drop_body(x);
	if (waiting)
		link_consume(x->link, waiting);
}

static void on_end(struct call *c, const struct http_fields *trailers)
{
	struct exchange *x = exchange_of(c);

	if (!x->answered) {
		fail(x, GATE_FAILURE_PROTOCOL, NULL);
		return;
	}
	if (trailers && trailers->n && exchange_copy_fields(x->arena, trailers, &x->trailers) < 0) {
		fail(x, GATE_FAILURE_INTERNAL, NULL);
		return;
	}
	x->came = true;
	drop_request(x);
	finish(x);
}

static void on_sent(struct call *c, size_t n, bool went)
{
	struct exchange *x = exchange_of(c);

	exchange_touch(x);
	x->sent += n;
	x->reserved -= n;
	if (went)
		egress_spend(x->egress, n);
	else
		quota_release(&x->egress->quota, n);
	if (c->body_at == c->body.n && x->counted) {
		exchange_drop_body(x);
	} else if (c->body_at == c->body.n) {
		buf_clear(&c->body);
		c->body_at = 0;
	}
	link_consume(x->link, n);
}

static bool is_idempotent(struct sv method)
{
	static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (sv_is(method, methods[i]))
			return true;
	return false;
}

static void on_failed(struct call *c, enum gate_failure why, bool untouched)
{
	struct exchange *x = exchange_of(c);

	if (x->over)
		return;
	if (untouched && !x->retried && !x->answered && x->sent == 0 &&
	    ((x->request.body && !(x->ended && x->call.body.n == 0)) || is_idempotent(x->request.method))) {
		x->retried = true;
		exchange_claim(x);
		return;
	}
	x->unserved = !x->answered && !c->began && (untouched || why == GATE_FAILURE_CUT);
	fail(x, why, NULL);
}

const struct call_events exchange_call_events = {
	.response = on_response,
	.data = on_data,
	.end = on_end,
	.sent = on_sent,
	.failed = on_failed,
};

void exchange_answer_done(struct exchange *x)
{
	settle(x);
	scrub_stream_free(x->scrubber);
	x->scrubber = NULL;
	scrub_frames_free(x->frames);
	x->frames = NULL;
	scrub_unref(x->scrub);
	x->scrub = NULL;
	inflater_free(x->inflater);
	x->inflater = NULL;
}

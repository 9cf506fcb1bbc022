#include "gate/relay/exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "gate/relay/events.h"
#include "gate/relay/frames.h"
#include "gate/relay/http.h"
#include "gate/relay/inference.h"
#include "gate/relay/placeholders.h"
#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "vault/placeholder_set.h"

void http_exchange_init(struct http_exchange *x, struct relay *r, const struct http_origin *o,
			const struct exchange_client *client)
{
	*x = (struct http_exchange){.relay = r, .origin = o, .client = client};
	buf_init(&x->body, 0);
}

static void drop_body(struct http_exchange *x)
{
	x->relay->http->collected -= x->counted;
	x->counted = x->body_at = 0;
	buf_done(&x->body);
}

/* Ends it on our side: nothing of the link is heard any more. */
static void over(struct http_exchange *x)
{
	if (x->link) {
		link_set_user(x->link, NULL);
		link_reset(x->link);
	}
	drop_body(x);
	x->relay->http->heads_open -= x->head;
	relay_events_bytes(x->relay->events, x->bytes_out, x->bytes_in);
	if (x->kind)
		relay_events_settle(x->relay->events, x->origin->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK,
				    sv_of(x->kind), x->refused);
	free(x->kind);
	free(x->model);
	placeholder_scan_free(x->scan);
	frames_free(x->frames);
	free(x->form);
	inference_answer_done(x);
	http_exchange_init(x, x->relay, x->origin, x->client);
}

void http_exchange_abort(struct http_exchange *x)
{
	if (!http_exchange_active(x))
		return;
	over(x);
}

int http_exchange_refuse(struct http_exchange *x, const struct denial *d)
{
	bool answered = x->answered;

	over(x);
	if (answered)
		x->client->cut(x);
	else
		x->client->refuse(x, d);
	return -1;
}

int http_exchange_answer(struct http_exchange *x, const struct http_response *r)
{
	if (x->client->head(x, r) < 0 || !http_exchange_active(x))
		return -1;
	over(x);
	x->client->end(x, NULL);
	return -1;
}

int http_exchange_refuse_full(struct http_exchange *x, const char *what)
{
	struct denial d;

	denial_set(&d, 503, "gateway_busy", "try again later", "%s", what);
	return http_exchange_refuse(x, &d);
}

static int refuse_large(struct http_exchange *x, size_t max)
{
	struct denial d;

	denial_set(&d, 413, "body_too_large", "send less at a time",
		   "the body has more than %zu bytes, and must be read as a whole to be judged", max);
	tell_denied(x, "", d.detail);
	return http_exchange_refuse(x, &d);
}

static int refuse_placeholder(struct http_exchange *x, int found)
{
	if (found == -ENOMEM)
		return http_exchange_refuse_full(x, "out of memory");
	return placeholders_refuse(x, x->frames ? "messages" : "body");
}

static size_t head_size(const struct http_request *req)
{
	size_t n = req->target.n + req->fields.n * EXCHANGE_FIELD;
	uint32_t i;

	for (i = 0; i < req->fields.n; i++)
		n += req->fields.v[i].name.n + req->fields.v[i].value.n;
	return n;
}

void http_exchange_begin(struct http_exchange *x, const struct http_request *req)
{
	struct relay_http *http = x->relay->http;

	x->request = req;
	x->state = EXCHANGE_COLLECT; /* nothing of it is on the link */
	x->head = head_size(req);
	http->heads_open += x->head;
	if (http->heads_open > EXCHANGE_HEADS_MAX)
		(void)http_exchange_refuse_full(x, "too many requests with large heads at once");
	else if (!relay_takes_new(x->relay))
		(void)http_exchange_refuse_full(x, "nothing can be logged now, so nothing is served");
	else if (x->origin->inference)
		(void)inference_judge(x);
	else
		(void)http_exchange_judge_network(x);
}

/* The client that waits for it may go on: what can be judged by its head is. */
static void say_continue(struct http_exchange *x)
{
	static const struct http_response go_on = {.status = 100, .reason = {"Continue", 8}};

	if (x->request->expect_continue && x->request->body)
		(void)x->client->head(x, &go_on);
}

int http_exchange_collect(struct http_exchange *x, size_t max)
{
	if (x->request->length > (int64_t)max)
		return refuse_large(x, max);
	buf_init(&x->body, max + 4096); /* what is judged may grow by an edit */
	x->collect_max = max;
	x->state = EXCHANGE_COLLECT;
	say_continue(x);
	return 0;
}

/* The body. */

static void move_on(struct http_exchange *x, size_t n)
{
	if (n && !x->collected)
		x->client->moved(x, n);
}

/* As HTTP/1.1 writes them: what can leave in names and values. */
static uint64_t size_of_fields(const struct http_fields *f)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < f->n; i++)
		n += f->v[i].name.n + f->v[i].value.n + strlen(": \r\n");
	return n;
}

static uint64_t size_of_head(const struct http_request *r)
{
	return r->method.n + r->target.n + strlen("  HTTP/1.1\r\n") + r->host.n + strlen("host: \r\n") +
	       size_of_fields(&r->fields) + strlen("\r\n");
}

static void end_if_sent(struct http_exchange *x)
{
	if (!x->all_given || x->all_sent || x->body_at < x->body.n)
		return;
	x->all_sent = true;
	if (x->trailers)
		x->bytes_out += size_of_fields(x->trailers);
	if (x->request->body || x->request->websocket)
		(void)link_end(x->link, x->trailers);
}

/* As much of what waits as may go and the link takes. */
static void send_waiting(struct http_exchange *x)
{
	size_t n = x->body.n - x->body_at - x->held;
	ssize_t took = n ? link_data(x->link, sv_n(x->body.p + x->body_at, n)) : 0;

	if (took > 0) {
		x->body_at += (size_t)took;
		x->bytes_out += (size_t)took;
	}
	if (x->body_at == x->body.n)
		drop_body(x);
	end_if_sent(x);
	if (took > 0)
		move_on(x, (size_t)took);
}

static int keep_waiting(struct http_exchange *x, struct sv bytes)
{
	if (x->body_at) {
		memmove(x->body.p, x->body.p + x->body_at, x->body.n - x->body_at);
		x->body.n -= x->body_at;
		x->body_at = 0;
	}
	return buf_sv(&x->body, bytes);
}

static void pass(struct http_exchange *x, struct sv bytes)
{
	int found;
	ssize_t took = 0;

	if (x->form && http_exchange_judge_form(x, bytes) < 0)
		return;
	found = x->scan     ? placeholder_scan_feed(x->scan, bytes)
		: x->frames ? frames_feed(x->frames, bytes)
			    : PLACEHOLDER_NONE;
	if (found != PLACEHOLDER_NONE) {
		(void)refuse_placeholder(x, found);
		return;
	}
	x->held = x->scan ? placeholder_scan_held(x->scan) : 0;
	/* the usual case goes without a copy */
	if (x->body.n == 0 && x->held == 0) {
		took = link_data(x->link, bytes);
		took = took > 0 ? took : 0;
		x->bytes_out += (size_t)took;
	}
	if ((size_t)took < bytes.n && keep_waiting(x, sv_n(bytes.p + took, bytes.n - (size_t)took)) < 0) {
		(void)http_exchange_refuse_full(x, "out of memory");
		return;
	}
	if (took > 0)
		move_on(x, (size_t)took);
	if (x->state == EXCHANGE_PASS && x->body.n)
		send_waiting(x);
}

static void collect(struct http_exchange *x, struct sv bytes)
{
	struct relay_http *http = x->relay->http;

	if (bytes.n > x->collect_max - x->body.n) {
		(void)refuse_large(x, x->collect_max);
		return;
	}
	if (http->collected + bytes.n > EXCHANGE_COLLECTED_MAX || buf_sv(&x->body, bytes) < 0) {
		(void)http_exchange_refuse_full(x, "too many requests with large bodies at once");
		return;
	}
	http->collected += bytes.n;
	x->counted += bytes.n;
	move_on(x, bytes.n);
}

void http_exchange_data(struct http_exchange *x, struct sv bytes)
{
	if (x->state == EXCHANGE_COLLECT)
		collect(x, bytes);
	else if (x->state == EXCHANGE_PASS && !x->all_given)
		pass(x, bytes);
}

bool http_exchange_ready(const struct http_exchange *x)
{
	return x->state != EXCHANGE_PASS || x->body.n - x->body_at == x->held;
}

void http_exchange_end(struct http_exchange *x, const struct http_fields *trailers)
{
	int found;

	if (!http_exchange_active(x))
		return;
	x->all_given = true;
	/* a model's server needs none, and might take them for fields of the head, which were judged */
	if (trailers && trailers->n && !x->origin->inference) {
		x->trailers = trailers;
		if (placeholders_in_fields(x, trailers)) {
			(void)placeholders_refuse(x, "trailers");
			return;
		}
	}
	if (x->state == EXCHANGE_COLLECT) {
		x->collected = true;
		(void)(x->origin->inference ? inference_judge(x) : http_exchange_judge_network(x));
		return;
	}
	if (x->trailers && !x->origin->inference && http_exchange_judge_trailers(x) < 0)
		return;
	found = x->scan ? placeholder_scan_end(x->scan) : PLACEHOLDER_NONE;
	if (found != PLACEHOLDER_NONE) {
		(void)refuse_placeholder(x, found);
		return;
	}
	x->held = 0;
	send_waiting(x);
}

/* Over the link. */

static int refuse_link(struct http_exchange *x, int error)
{
	struct denial d;

	if (error == -EINVAL) {
		denial_set(&d, 431, "head_too_large", NULL, "the request's head is too large");
		tell_denied(x, "", d.detail);
	} else {
		denial_from_failure(&d, GATE_FAILURE_INTERNAL, sv_n("", 0));
	}
	return http_exchange_refuse(x, &d);
}

int http_exchange_send(struct http_exchange *x, const struct http_request *head, uint32_t provider)
{
	struct link_request r = {.head = *head,
				 .inference = x->origin->inference,
				 .provider = provider,
				 .generation = x->relay->now->number};
	int e;

	r.head.expect_continue = false; /* answered here */
	if (x->collected) {
		r.head.body = x->body.n > 0 || x->request->body;
		r.head.length = (int64_t)x->body.n;
	}
	e = link_request(x->relay->link, &r, x, &x->link);
	if (e < 0)
		return refuse_link(x, e);
	relay_events_request(x->relay->events, false);
	x->head_out = size_of_head(&r.head);
	x->bytes_out += x->head_out;
	x->state = EXCHANGE_PASS;
	if (x->collected) {
		send_waiting(x);
		return 0;
	}
	buf_init(&x->body, 4 * LINK_WINDOW);
	if (x->request->websocket && x->relay->placeholders) {
		x->frames = frames_new(x->relay->placeholders);
		if (!x->frames)
			return http_exchange_refuse_full(x, "out of memory");
	}
	if (x->request->body && x->relay->placeholders) {
		x->scan = placeholder_scan_new(x->relay->placeholders);
		if (!x->scan)
			return http_exchange_refuse_full(x, "out of memory");
	}
	say_continue(x);
	/* what was said to the client may have ended it */
	return http_exchange_active(x) ? 0 : -1;
}

void http_exchange_consumed(struct http_exchange *x, size_t n)
{
	if (x->link)
		link_consume(x->link, n);
}

void http_exchange_judge_again(struct http_exchange *x)
{
	struct denial d;

	/* what is being collected is judged when it is complete, by the policy of that moment */
	if (x->state != EXCHANGE_PASS || http_exchange_allowed_still(x))
		return;
	denial_set(&d, 403, "policy_denied", "ask the operator to allow it in the policy that is in force now",
		   "the policy changed and no longer allows this");
	d.domain = x->origin->inference ? "inference" : "network";
	(void)http_exchange_refuse(x, &d);
}

/* What egress says. */

static void fail(struct http_exchange *x, enum gate_failure why, struct sv text)
{
	struct denial d;

	denial_from_failure(&d, why, text);
	/* egress denied it by its head: nothing went out */
	if ((d.status == 403 || d.status == 429) && x->bytes_out == x->head_out)
		x->bytes_out = 0;
	d.domain = d.status == 403 || d.status == 429 ? (x->origin->inference ? "inference" : "network") : NULL;
	x->refused = d.domain && !x->answered;
	if (x->origin->inference && d.status == 429)
		inference_as_provider(x, &d);
	(void)http_exchange_refuse(x, &d);
}

static void on_response(void *user, struct link_exchange *link, const struct http_response *r)
{
	struct http_exchange *x = link_user(link);
	struct http_response shown = *r;
	int sent;

	(void)user;
	if (!x || (r->status == 100 && !r->websocket))
		return;
	if (r->websocket && !x->request->websocket) {
		fail(x, GATE_FAILURE_PROTOCOL, sv_n("", 0));
		return;
	}
	if (r->status >= 200 || r->websocket)
		x->raw = r->websocket;
	if (inference_answer_begin(x, &shown) < 0) {
		fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0));
		return;
	}
	sent = x->client->head(x, &shown);
	if (link_user(link) != x)
		return; /* the client is gone */
	if (sent < 0) {
		fail(x, GATE_FAILURE_PROTOCOL, sv_n("", 0));
		return;
	}
	x->answered = r->status >= 200 || r->websocket;
	/* no websocket after all: there is nothing more to send */
	if (x->answered && x->request->websocket && !r->websocket && !x->all_sent) {
		x->all_given = x->all_sent = true;
		(void)link_end(link, NULL);
	}
}

static void on_failed(void *user, struct link_exchange *link, enum gate_failure why, struct sv text)
{
	struct http_exchange *x = link_user(link);

	(void)user;
	if (x)
		fail(x, why, text);
}

static void on_data(void *user, struct link_exchange *link, struct sv bytes)
{
	struct http_exchange *x = link_user(link);

	(void)user;
	if (!x)
		return;
	x->bytes_in += bytes.n;
	if (!x->strip)
		x->client->data(x, bytes);
	else if (inference_answer_give(x, bytes, false) < 0)
		fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0));
}

static void on_end(void *user, struct link_exchange *link, const struct http_fields *trailers)
{
	struct http_exchange *x = link_user(link);

	(void)user;
	if (x && x->strip && inference_answer_give(x, sv_n("", 0), true) < 0) {
		fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0));
		return;
	}
	if (!x || link_user(link) != x)
		return; /* the client is gone */
	x->ended = true;
	/* complete on both sides: over before the client is told, who may begin the next one */
	if (x->all_sent || !x->request->body) {
		link_set_user(link, NULL);
		if (!x->all_sent && x->raw)
			link_reset(link);
		x->link = NULL;
		over(x);
	}
	x->client->end(x, trailers);
}

static void on_room(void *user, struct link_exchange *link)
{
	struct http_exchange *x = link_user(link);

	(void)user;
	if (x)
		send_waiting(x);
}

static void on_closed(void *user, struct link_exchange *link, bool reset)
{
	struct http_exchange *x = link_user(link);

	(void)user;
	(void)reset;
	if (!x)
		return;
	x->link = NULL;
	if (x->ended)
		over(x); /* the request was complete after its answer */
	else
		fail(x, GATE_FAILURE_CUT, sv_n("", 0));
}

static void on_gone(void *user)
{
	http_lost_link(user);
}

const struct link_events http_link_events = {
	.response = on_response,
	.failed = on_failed,
	.data = on_data,
	.end = on_end,
	.room = on_room,
	.closed = on_closed,
	.gone = on_gone,
};

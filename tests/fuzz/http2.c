/*
 * Bytes into both sides of h2.h. The first byte chooses the side and how its caller behaves, the second how the bytes
 * are cut; the rest come from the peer. Whatever comes: events are in order, every stream that was told of is closed
 * once, no window is overrun, and only what message.h promises is handed out.
 */
#include "http/h2.h"

#include <stdlib.h>

#include "fuzz.h"
#include "http/fields.h"

enum {
	CLIENT = 1,
	RAW = 2,    /* no preface and settings of our own before the input */
	HOLD = 4,   /* never consumes */
	ANSWER = 8, /* responds at once, with a body */
	RESET = 16, /* resets each stream with its first data */
	DEAF = 32,  /* never sends */
	WEBSOCKET = 64,
	REQUESTS = 3,
	OPEN_MAX = H2_MAX_STREAMS + 1, /* refused ones are told of while they are being closed */
};

struct stream {
	bool head, end, refused;
	size_t held;
};

struct caller {
	unsigned flags;
	int open;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_fields(const struct http_fields *f)
{
	uint32_t i;

	must(f->n <= HTTP_MAX_FIELDS);
	for (i = 0; i < f->n; i++) {
		enum http_field_class class = http_field_class(f->v[i].name);

		must(http_is_lower_token(f->v[i].name) && http_is_value(f->v[i].value));
		must(class == FIELD_PLAIN || (class == FIELD_TE && sv_is(f->v[i].value, "trailers")));
	}
}

static struct stream *stream_of(struct caller *c, struct h2_stream *s)
{
	struct stream *mine = h2_stream_user(s);

	if (mine)
		return mine;
	mine = calloc(1, sizeof(*mine));
	must(mine);
	h2_stream_set_user(s, mine);
	must(++c->open <= OPEN_MAX);
	return mine;
}

static void on_request(void *user, struct h2_stream *s, const struct http_request *r)
{
	struct caller *c = user;
	struct stream *mine = stream_of(c, s);
	struct http_response answer = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct http_field trailer = {sv_of("grpc-status"), sv_of("0")};
	struct http_fields trailers = {&trailer, 1};

	must(!mine->head && !mine->end && !mine->refused);
	mine->head = true;
	must(http_is_token(r->method) && !sv_is(r->method, "CONNECT") && r->tls && sv_is(r->host, "example.com") &&
	     r->port == 443);
	must(r->target.n && (r->target.p[0] == '/' || sv_is(r->target, "*")) && !memchr(r->target.p, '#', r->target.n));
	must(!r->websocket || c->flags & WEBSOCKET);
	check_fields(&r->fields);
	if (c->flags & ANSWER) {
		must(h2_respond(s, &answer) == 0 && h2_offer(s, sv_of("body")) == 0);
		must(h2_end(s, h2_stream_id(s) & 2 ? &trailers : NULL) == 0);
	}
}

static void on_response(void *user, struct h2_stream *s, const struct http_response *r)
{
	struct stream *mine = stream_of(user, s);

	must(!mine->head && !mine->end && !mine->refused && r->status >= 100 && r->status < 600);
	mine->head = r->status >= 200 || r->websocket;
	check_fields(&r->fields);
}

static void on_data(void *user, struct h2_stream *s, struct sv bytes)
{
	struct caller *c = user;
	struct stream *mine = stream_of(c, s);

	must(mine->head && !mine->end && !mine->refused);
	mine->held += bytes.n;
	must(mine->held <= H2_WINDOW);
	if (!(c->flags & HOLD)) {
		h2_consume(s, mine->held);
		mine->held = 0;
	}
	if (c->flags & RESET) {
		h2_reset(s, H2_CANCEL);
		mine->refused = true;
	}
}

static void on_end(void *user, struct h2_stream *s, const struct http_fields *trailers)
{
	struct stream *mine = stream_of(user, s);

	must(mine->head && !mine->end && !mine->refused);
	mine->end = true;
	check_fields(trailers);
}

static void on_refused(void *user, struct h2_stream *s, uint16_t status, const char *why)
{
	struct caller *c = user;
	struct stream *mine = stream_of(c, s);
	struct http_response answer = {.status = status, .length = HTTP_LENGTH_UNKNOWN};

	must(!mine->end && !mine->refused && why);
	mine->refused = true;
	if (c->flags & ANSWER && status && !(c->flags & CLIENT))
		must(h2_respond(s, &answer) == 0);
}

static void on_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct caller *c = user;
	struct stream *mine = stream_of(c, s);

	(void)code;
	c->open--;
	free(mine);
}

static const struct h2_events events = {.request = on_request,
					.response = on_response,
					.data = on_data,
					.end = on_end,
					.refused = on_refused,
					.closed = on_closed};

static void start_requests(struct h2 *h)
{
	struct http_request r = {.tls = true,
				 .host = sv_of("example.com"),
				 .port = 443,
				 .target = sv_of("/"),
				 .length = HTTP_LENGTH_UNKNOWN};
	static const char *const methods[REQUESTS] = {"GET", "HEAD", "POST"};
	struct h2_stream *s;
	size_t i;

	for (i = 0; i < REQUESTS; i++) {
		r.method = sv_of(methods[i]);
		r.body = i == 2;
		must(h2_request(h, &r, NULL, &s) == 0);
		if (r.body)
			must(h2_offer(s, sv_of("body")) == 0);
	}
}

static void drain(struct h2 *h)
{
	char out[H2_OUTPUT_MIN];

	while (h2_output(h, out, sizeof(out)) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0";
	struct caller c = {.flags = n ? bytes[0] : 0};
	struct h2_config config = {.server = !(c.flags & CLIENT),
				   .tls = true,
				   .host = sv_of("example.com"),
				   .port = 443,
				   .websocket = c.flags & WEBSOCKET};
	size_t skip = config.server ? 0 : 24, step, at;
	struct h2 *h;

	if (n < 2)
		return 0;
	h = h2_new(&config, &events, &c);
	must(h);
	if (!config.server)
		start_requests(h);
	drain(h);
	if (!(c.flags & RAW))
		(void)h2_input(h, sv_n(start + skip, sizeof(start) - 1 - skip), 0);
	step = bytes[1] ? bytes[1] : n;
	for (at = 2; at < n; at += step) {
		if (h2_input(h, sv_n((const char *)bytes + at, n - at < step ? n - at : step), (int64_t)at) < 0)
			break;
		if (!(c.flags & DEAF))
			drain(h);
	}
	drain(h);
	h2_free(h);
	must(c.open == 0);
	return 0;
}

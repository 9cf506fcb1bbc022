/*
 * relay_h2_client: a client of HTTP/2 for relay_rig.h, over the same socket. It writes down what it gets.
 */
#ifndef CORDON_TESTS_RELAY_H2_CLIENT_H
#define CORDON_TESTS_RELAY_H2_CLIENT_H

#include "http/h2.h"
#include "relay_rig.h"

struct h2_client {
	struct rig *g;
	struct h2 *h2;
	struct h2_stream *stream; /* the last */
	struct buf log;
	size_t fed; /* of g->got */
	bool hold;
};

static inline void client_response(void *user, struct h2_stream *s, const struct http_response *r)
{
	struct h2_client *c = user;
	uint32_t i;

	(void)s;
	(void)buf_printf(&c->log, "%u%s", r->status, r->websocket ? " websocket" : "");
	for (i = 0; i < r->fields.n; i++)
		(void)buf_printf(&c->log, " %.*s=%.*s", (int)r->fields.v[i].name.n, r->fields.v[i].name.p,
				 (int)r->fields.v[i].value.n, r->fields.v[i].value.p);
	(void)buf_str(&c->log, "\n");
}

static inline void client_data(void *user, struct h2_stream *s, struct sv bytes)
{
	struct h2_client *c = user;

	(void)buf_sv(&c->log, bytes);
	if (!c->hold)
		h2_consume(s, bytes.n);
}

static inline void client_end(void *user, struct h2_stream *s, const struct http_fields *trailers)
{
	(void)s;
	(void)buf_printf(&((struct h2_client *)user)->log, "\nend %u\n", trailers->n);
}

static inline void client_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct h2_client *c = user;

	if (c->stream == s)
		c->stream = NULL;
	if (code)
		(void)buf_printf(&c->log, "closed %u\n", code);
}

static const struct h2_events client_events = {
	.response = client_response, .data = client_data, .end = client_end, .closed = client_closed};

static inline void client_run(struct h2_client *c)
{
	char room[16384];
	ssize_t n;
	int i;

	for (i = 0; i < 6; i++) {
		while ((n = h2_output(c->h2, room, sizeof(room))) > 0)
			rig_send(c->g, sv_n(room, (size_t)n));
		rig_run(c->g);
		if (c->fed < c->g->got.n)
			(void)h2_input(c->h2, sv_n(c->g->got.p + c->fed, c->g->got.n - c->fed), 0);
		c->fed = c->g->got.n;
	}
}

static inline void client_open(struct h2_client *c, struct rig *g, const struct http_origin *o)
{
	struct h2_config config = {0};

	*c = (struct h2_client){.g = g};
	buf_init(&c->log, 64 << 20);
	c->h2 = h2_new(&config, &client_events, c);
	rig_connect(g, o);
	client_run(c);
}

static inline void client_close(struct h2_client *c)
{
	h2_free(c->h2);
	buf_done(&c->log);
}

static inline const char *client_ask(struct h2_client *c, const char *method, const char *host, const char *target,
				     const char *body)
{
	struct http_request r = {.method = sv_of(method),
				 .host = sv_of(host),
				 .port = 80,
				 .target = sv_of(target),
				 .body = body != NULL,
				 .length = HTTP_LENGTH_UNKNOWN};

	r.length = body ? HTTP_LENGTH_UNKNOWN : 0;
	buf_clear(&c->log);
	buf_clear(&c->g->seen);
	buf_clear(&c->g->body);
	CHECK(h2_request(c->h2, &r, NULL, &c->stream) == 0);
	if (body) {
		CHECK(h2_offer(c->stream, sv_of(body)) == 0);
		CHECK(h2_end(c->stream, NULL) == 0);
	}
	client_run(c);
	return c->log.p ? c->log.p : "";
}

#endif

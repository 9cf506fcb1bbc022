#include "http/h2.h"

#include <stddef.h>
#include <stdlib.h>

#include "http/h2_session.h"

/*
 * The budgets. A frame costs one token of `frames`; data and heads give back more than they cost, and so does data that
 * was sent, since windows are opened in return. What is left for keep-alive pings and the like is FRAMES_MAX at once
 * and 100 a second. A stream that ends before it was answered costs one token of `resets`, one that is answered gives
 * one back: a client that cancels is served, one that only cancels is not.
 */
enum {
	FRAMES_MAX = 1000,
	FRAMES_INTERVAL = 10,
	RESETS_MAX = 200,
	RESETS_INTERVAL = 50,
	HEAD_GIVES = 8,
	DATA_GIVES = 2,
	QUEUE_MAX = 2000, /* frames that wait to be sent */
	BLOCK_MAX = 2 * HTTP_MAX_HEAD,
};

static void bucket_fill(struct h2_bucket *b, int64_t now)
{
	int64_t n = (now - b->filled) / b->interval;

	if (n <= 0)
		return;
	b->filled += n * b->interval;
	h2_bucket_give(b, n < b->max ? (uint32_t)n : b->max);
}

void h2_bucket_give(struct h2_bucket *b, uint32_t n)
{
	b->tokens = n < b->max - b->tokens ? b->tokens + n : b->max;
}

static void bucket_take(struct h2 *h, struct h2_bucket *b)
{
	if (b->tokens)
		b->tokens--;
	else
		h2_cut(h, H2_ENHANCE_YOUR_CALM);
}

void h2_cut(struct h2 *h, uint32_t code)
{
	if (h->cut)
		return;
	h->cut = true;
	(void)nghttp2_session_terminate_session(h->session, code);
}

struct h2_stream *h2_stream_new(struct h2 *h)
{
	struct h2_stream *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	/* All but the head, which knows itself what of it is in use. */
	memset(s, 0, offsetof(struct h2_stream, head));
	h2_head_init(&s->head);
	s->h = h;
	s->next = h->streams;
	if (s->next)
		s->next->prev = s;
	h->streams = s;
	h->n_streams++;
	return s;
}

void h2_stream_close(struct h2_stream *s, uint32_t code)
{
	struct h2 *h = s->h;

	s->deaf = s->reset = true;
	s->due = false;
	if (h->events->closed)
		h->events->closed(h->user, s, code);
	/* Bytes that nobody will consume any more must not keep the connection's window closed. */
	if (s->unconsumed && h->config.server)
		(void)nghttp2_session_consume_connection(h->session, s->unconsumed);
	h2_stream_drop(s);
}

void h2_stream_drop(struct h2_stream *s)
{
	struct h2 *h = s->h;

	if (s->prev)
		s->prev->next = s->next;
	else
		h->streams = s->next;
	if (s->next)
		s->next->prev = s->prev;
	h->n_streams--;
	h2_head_done(&s->head);
	if (s->late)
		h2_head_done(s->late);
	free(s->late);
	free(s->out_trailers.v);
	free(s);
}

static void refuse(struct h2_stream *s, uint16_t status, const char *why)
{
	struct h2 *h = s->h;

	if (s->deaf || h->cut)
		return;
	s->deaf = true;
	/* A client's own client is told of a bad gateway; a request's trailers come too late for an answer. */
	if (!h->config.server)
		status = 502;
	else if (s->told)
		status = 0;
	if (h->events->refused)
		h->events->refused(h->user, s, status, why);
	if (!s->answered || s->told || !h->config.server)
		(void)nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_PROTOCOL_ERROR);
}

static struct h2_stream *stream_of(struct h2 *h, int32_t id)
{
	return nghttp2_session_get_stream_user_data(h->session, id);
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user)
{
	struct h2 *h = user;

	(void)hd;
	bucket_take(h, &h->frames);
	if (nghttp2_session_get_outbound_queue_size(session) > QUEUE_MAX)
		h2_cut(h, H2_ENHANCE_YOUR_CALM);
	return 0;
}

/* Where the fields of the block that comes now go. */
static struct h2_head *head_of(struct h2_stream *s)
{
	return s->told ? s->late : &s->head;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s;

	h->block = 0;
	if (h->cut)
		return 0;
	if (frame->hd.type != NGHTTP2_HEADERS) {
		h2_cut(h, H2_PROTOCOL_ERROR); /* a push, which we never allow */
		return 0;
	}
	if (h->config.server && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		/* GOAWAY, which may still be queued, calls it undone: so it must be. */
		if (h->leaving)
			return 0;
		s = h2_stream_new(h);
		if (!s)
			return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
		s->id = frame->hd.stream_id;
		return nghttp2_session_set_stream_user_data(session, s->id, s);
	}
	s = stream_of(h, frame->hd.stream_id);
	if (!s)
		return 0;
	if (!s->told) { /* a response after an interim one */
		h2_head_done(&s->head);
		return 0;
	}
	if (!s->late)
		s->late = malloc(sizeof(*s->late));
	else
		h2_head_done(s->late);
	if (!s->late)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	h2_head_init(s->late);
	return 0;
}

/*
 * A block that was refused is decoded to its end all the same, or the next could not be. One byte of it may stand for a
 * field of thousands, so that has an end, too: not 0 where the connection does not go on.
 */
static int count_field(struct h2 *h, nghttp2_rcbuf *name, nghttp2_rcbuf *value)
{
	h->block += nghttp2_rcbuf_get_buf(name).len + nghttp2_rcbuf_get_buf(value).len;
	if (h->block <= BLOCK_MAX)
		return 0;
	h2_cut(h, H2_ENHANCE_YOUR_CALM);
	return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name, nghttp2_rcbuf *value,
		     uint8_t flags, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = stream_of(h, frame->hd.stream_id);

	(void)session;
	(void)flags;
	if (s && !s->deaf && !h->cut)
		h2_head_field(head_of(s), name, value);
	return count_field(h, name, value);
}

/* A field that nghttp2 would only pass over. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
			     nghttp2_rcbuf *value, uint8_t flags, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = stream_of(h, frame->hd.stream_id);

	(void)session;
	(void)flags;
	if (s && !s->deaf && !h->cut)
		h2_head_refuse(head_of(s), 400, "malformed field");
	return count_field(h, name, value);
}

static void told_end(struct h2_stream *s)
{
	struct h2 *h = s->h;

	s->ended = true;
	if (!s->deaf && !h->cut && h->events->end)
		h->events->end(h->user, s, &s->trailers);
}

static void on_request(struct h2_stream *s, bool body)
{
	struct h2 *h = s->h;

	if (h2_head_request(&s->head, &h->config, body, &s->message.request) < 0) {
		refuse(s, s->head.bad.status, s->head.bad.why);
		return;
	}
	s->told = true;
	s->websocket = s->message.request.websocket;
	h2_bucket_give(&h->frames, HEAD_GIVES);
	if (h->events->request)
		h->events->request(h->user, s, &s->message.request);
}

static void on_response(struct h2_stream *s, bool body)
{
	struct h2 *h = s->h;

	if (h2_head_response(&s->head, s->websocket, body, &s->message.response) < 0) {
		refuse(s, s->head.bad.status, s->head.bad.why);
		return;
	}
	s->told = s->message.response.status >= 200 || s->message.response.websocket;
	if (s->told)
		h2_bucket_give(&h->frames, HEAD_GIVES);
	if (h->events->response)
		h->events->response(h->user, s, &s->message.response);
}

static void on_head(struct h2_stream *s, bool body)
{
	if (s->deaf || s->h->cut)
		return;
	if (s->told) {
		if (h2_head_trailers(s->late, &s->trailers) < 0)
			refuse(s, s->late->bad.status, s->late->bad.why);
	} else if (s->h->config.server) {
		on_request(s, body);
	} else {
		on_response(s, body);
	}
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s;
	bool last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY) {
		h->goaway = true;
		if (!h->cut && h->events->goaway)
			h->events->goaway(h->user, frame->goaway.last_stream_id, frame->goaway.error_code);
		return 0;
	}
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	s = stream_of(h, frame->hd.stream_id);
	if (!s)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS)
		on_head(s, !last);
	if (last)
		told_end(s);
	return 0;
}

/* nghttp2 found a message malformed, and has reset the stream. After its end there is none to refuse any more: `closed`
 * says enough. */
static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int code, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = stream_of(h, frame->hd.stream_id);

	(void)session;
	(void)code;
	if (!s || s->deaf || h->cut)
		return 0;
	s->deaf = true;
	if (!s->ended && h->events->refused)
		h->events->refused(h->user, s, 0, "malformed message");
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = stream_of(h, id);

	(void)flags;
	/* nghttp2 resets a stream that overran its window, but gives out the frame that did. */
	if (!s || s->deaf || h->cut || s->unconsumed + n > h->config.window)
		return nghttp2_session_consume(session, id, n) == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
	s->unconsumed += n;
	/* one answer that nobody reads must not stop the others, amid what they say */
	if (!h->config.server && nghttp2_session_consume_connection(session, n) == NGHTTP2_ERR_NOMEM)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	h2_bucket_give(&h->frames, DATA_GIVES);
	if (h->events->data)
		h->events->data(h->user, s, sv_n((const char *)p, n));
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = stream_of(h, id);

	(void)session;
	if (!s)
		return 0;
	if (h->config.server && !s->reset && !h->cut) {
		/* Whatever the code says: a reset may well call itself no error. */
		if (s->answered)
			h2_bucket_give(&h->resets, 1);
		else
			bucket_take(h, &h->resets);
	}
	h2_stream_close(s, code);
	return 0;
}

static nghttp2_session_callbacks *make_callbacks(void)
{
	nghttp2_session_callbacks *c;

	if (nghttp2_session_callbacks_new(&c) != 0)
		return NULL;
	nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback2(c, on_header);
	nghttp2_session_callbacks_set_on_invalid_header_callback2(c, on_invalid_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame_recv);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, on_invalid_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, h2_on_frame_send);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(c, h2_on_frame_not_send);
	nghttp2_session_callbacks_set_send_data_callback(c, h2_on_send_data);
	nghttp2_session_callbacks_set_data_source_read_length_callback(c, h2_on_read_length);
	return c;
}

static nghttp2_option *make_options(bool server)
{
	nghttp2_option *o;

	if (nghttp2_option_new(&o) != 0)
		return NULL;
	nghttp2_option_set_no_auto_window_update(o, 1);
	nghttp2_option_set_no_closed_streams(o, 1);
	/* The peer's own number comes with its first frame; until then no more than we would take. */
	nghttp2_option_set_peer_max_concurrent_streams(o, H2_MAX_STREAMS);
	/* nghttp2 counts cancelled streams that were served, too; the budget above does not, and is what shall decide.
	 */
	nghttp2_option_set_stream_reset_rate_limit(o, 100 * RESETS_MAX, RESETS_MAX);
	if (!server)
		nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(o, 1);
	return o;
}

static int open_session(struct h2 *h)
{
	nghttp2_session_callbacks *c = make_callbacks();
	nghttp2_option *o = make_options(h->config.server);
	int r = -1;

	if (c && o)
		r = h->config.server ? nghttp2_session_server_new2(&h->session, c, h, o)
				     : nghttp2_session_client_new2(&h->session, c, h, o);
	nghttp2_option_del(o);
	nghttp2_session_callbacks_del(c);
	return r;
}

static int send_settings(struct h2 *h)
{
	uint32_t window = h->config.window;
	nghttp2_settings_entry common[] = {
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_MAX_HEAD},
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, h->config.server ? H2_MAX_STREAMS : 0},
		{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
		{h->config.server ? NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL : NGHTTP2_SETTINGS_ENABLE_PUSH,
		 h->config.server && h->config.websocket},
	};
	size_t n = sizeof(common) / sizeof(common[0]);

	if (nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, common, n) != 0)
		return -1;
	return nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, (int32_t)(window * H2_WINDOWS));
}

struct h2 *h2_new(const struct h2_config *config, const struct h2_events *events, void *user)
{
	struct h2 *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->config = *config;
	if (h->config.window < H2_WINDOW_MIN)
		h->config.window = h->config.window ? H2_WINDOW_MIN : H2_WINDOW;
	h->events = events;
	h->user = user;
	h->frames = (struct h2_bucket){FRAMES_MAX, FRAMES_MAX, 0, FRAMES_INTERVAL};
	h->resets = (struct h2_bucket){RESETS_MAX, RESETS_MAX, 0, RESETS_INTERVAL};
	if (open_session(h) != 0 || send_settings(h) != 0) {
		h2_free(h);
		return NULL;
	}
	return h;
}

void h2_free(struct h2 *h)
{
	if (!h)
		return;
	h->cut = true;
	while (h->streams)
		h2_stream_close(h->streams, H2_CANCEL);
	nghttp2_session_del(h->session);
	free(h);
}

int h2_input(struct h2 *h, struct sv bytes, int64_t now)
{
	ssize_t n;

	if (h->cut)
		return -1;
	if (!h->started) {
		h->started = true;
		h->frames.filled = h->resets.filled = now;
	}
	bucket_fill(&h->frames, now);
	bucket_fill(&h->resets, now);
	n = nghttp2_session_mem_recv(h->session, (const uint8_t *)bytes.p, bytes.n);
	if (n < 0)
		h2_cut(h, n == NGHTTP2_ERR_FLOODED ? H2_ENHANCE_YOUR_CALM
			  : n == NGHTTP2_ERR_NOMEM ? H2_INTERNAL_ERROR
						   : H2_PROTOCOL_ERROR);
	return h->cut ? -1 : 0;
}

bool h2_over(const struct h2 *h)
{
	return !h->rest.n && !nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session);
}

void h2_shutdown(struct h2 *h)
{
	if (!h->leaving && !h->cut)
		(void)nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE,
					    nghttp2_session_get_last_proc_stream_id(h->session), H2_NO_ERROR, NULL, 0);
	h->leaving = true;
}

int32_t h2_stream_id(const struct h2_stream *s)
{
	return s->id;
}

void *h2_stream_user(const struct h2_stream *s)
{
	return s->user;
}

void h2_stream_set_user(struct h2_stream *s, void *user)
{
	s->user = user;
}

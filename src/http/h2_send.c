#include <errno.h>
#include <stdlib.h>

#include "http/h2_session.h"

enum {
	FRAME_HEADER = 9,
	FRAME_MAX = 16 * 1024, /* what every peer takes, and what nghttp2 has room for without growing */
	ROOM_MIN = 1024,       /* in less than that no frame is begun: data would go out in crumbs */
	SENT_GIVES = 4,	       /* tokens for the window updates that data is answered with */
};

/* Asked when the body's turn has come: how much, and is it the last? The bytes themselves are asked for by
 * h2_on_send_data(), right after. */
static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t max, uint32_t *flags,
		       nghttp2_data_source *source, void *user)
{
	struct h2_stream *s = source->ptr;
	struct h2_nva nva __attribute__((uninitialized)); /* as long as its n says */

	(void)buf;
	(void)user;
	if (s->offered.n == 0 && !s->ending) {
		s->asleep = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (s->offered.n > max)
		return (ssize_t)max;
	if (s->ending) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		s->due = false;
	}
	if (s->ending && s->out_trailers.n) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		if (h2_nva_trailers(&nva, &s->out_trailers) < 0 ||
		    nghttp2_submit_trailer(session, id, nva.v, nva.n) != 0)
			return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	return (ssize_t)s->offered.n;
}

ssize_t h2_on_read_length(nghttp2_session *session, uint8_t type, int32_t id, int32_t session_window,
			  int32_t stream_window, uint32_t max_frame, void *user)
{
	const struct h2 *h = user;
	size_t n = h->room - FRAME_HEADER;

	(void)session;
	(void)type;
	(void)id;
	(void)session_window; /* nghttp2 cuts it down to the windows itself */
	(void)stream_window;
	(void)max_frame;
	return (ssize_t)(n < FRAME_MAX ? n : FRAME_MAX);
}

static void put(struct h2 *h, const void *p, size_t n)
{
	memcpy(h->out, p, n);
	h->out += n;
	h->room -= n;
}

int h2_on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *header, size_t n,
		    nghttp2_data_source *source, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s = source->ptr;

	(void)session;
	(void)frame;
	put(h, header, FRAME_HEADER);
	if (n) {
		put(h, s->offered.p, n);
		s->offered = sv_n(s->offered.p + n, s->offered.n - n);
		if (h->events->taken)
			h->events->taken(h->user, s, n);
	}
	return h->room < ROOM_MIN ? NGHTTP2_ERR_PAUSE : 0;
}

ssize_t h2_output(struct h2 *h, char *out, size_t max)
{
	const uint8_t *p;
	ssize_t n;

	h->out = out;
	h->room = max;
	for (;;) {
		size_t fits = h->rest.n < h->room ? h->rest.n : h->room;

		if (fits) {
			put(h, h->rest.p, fits);
			h->rest = sv_n(h->rest.p + fits, h->rest.n - fits);
		}
		if (h->rest.n || h->room < ROOM_MIN)
			break;
		n = nghttp2_session_mem_send(h->session, &p);
		if (n < 0)
			return -1;
		/* Where data filled the buffer there may be more; the next call asks. */
		if (n == 0)
			break;
		h->rest = sv_n((const char *)p, (size_t)n);
	}
	return (ssize_t)(max - h->room);
}

/* A response that is complete before its request leaves nothing to send for: RFC 9113, 8.1. */
int h2_on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s;

	if (frame->hd.type == NGHTTP2_DATA)
		h2_bucket_give(&h->frames, SENT_GIVES);
	if (!h->config.server || (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (s && !s->ended && !s->lingers)
		(void)nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, H2_NO_ERROR);
	return 0;
}

/* A request that was queued and then could not be sent: nghttp2 has no stream for it and will say nothing more. */
int h2_on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int code, void *user)
{
	struct h2 *h = user;
	struct h2_stream *s;

	(void)code;
	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST ||
	    nghttp2_session_find_stream(session, frame->hd.stream_id))
		return 0;
	for (s = h->streams; s && s->id != frame->hd.stream_id; s = s->next)
		;
	if (s)
		h2_stream_close(s, s->reset ? H2_CANCEL : H2_REFUSED_STREAM);
	return 0;
}

uint32_t h2_room(const struct h2 *h)
{
	uint32_t max = nghttp2_session_get_remote_settings(h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

	/* Servers that set no limit still get one: what a peer on our side can have open. */
	if (max > H2_MAX_STREAMS)
		max = H2_MAX_STREAMS;
	if (h->cut || h->goaway || h->leaving || !nghttp2_session_check_request_allowed(h->session) ||
	    h->n_streams >= max)
		return 0;
	return max - h->n_streams;
}

bool h2_takes_websocket(const struct h2 *h)
{
	return nghttp2_session_get_remote_settings(h->session, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1;
}

int h2_request(struct h2 *h, const struct http_request *r, void *stream_user, struct h2_stream **ret)
{
	nghttp2_data_provider body = {.read_callback = on_read};
	struct h2_stream *s;
	struct h2_nva nva __attribute__((uninitialized)); /* as long as its n says */

	if (!h2_room(h))
		return -EAGAIN;
	if (r->websocket && !h2_takes_websocket(h))
		return -EOPNOTSUPP;
	if (h2_nva_request(&nva, r) < 0)
		return -EINVAL;
	s = h2_stream_new(h);
	if (!s)
		return -ENOMEM;
	s->user = stream_user;
	s->websocket = r->websocket;
	s->due = r->body || r->websocket;
	body.source.ptr = s;
	s->id = nghttp2_submit_request(h->session, NULL, nva.v, nva.n, s->due ? &body : NULL, s);
	if (s->id < 0) {
		h2_stream_drop(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

int h2_respond(struct h2_stream *s, const struct http_response *r)
{
	nghttp2_data_provider body = {.source.ptr = s, .read_callback = on_read};
	bool follows = r->body || r->websocket;
	struct h2_nva nva __attribute__((uninitialized)); /* as long as its n says */
	int e;

	if (s->answered || s->reset || s->h->cut || !s->h->config.server || (r->websocket && !s->websocket))
		return -EINVAL;
	if (h2_nva_response(&nva, r) < 0)
		return -EINVAL;
	if (r->status < 200 && !r->websocket) {
		e = nghttp2_submit_headers(s->h->session, NGHTTP2_FLAG_NONE, s->id, NULL, nva.v, nva.n, NULL);
		return e == 0 ? 0 : -ENOMEM;
	}
	if (nghttp2_submit_response(s->h->session, s->id, nva.v, nva.n, follows ? &body : NULL) != 0)
		return -ENOMEM;
	s->answered = true;
	s->due = follows;
	return 0;
}

static void wake(struct h2_stream *s)
{
	if (!s->asleep)
		return;
	s->asleep = false;
	(void)nghttp2_session_resume_data(s->h->session, s->id);
}

int h2_offer(struct h2_stream *s, struct sv bytes)
{
	if (!s->due || s->ending)
		return -EINVAL;
	s->offered = bytes;
	if (bytes.n)
		wake(s);
	return 0;
}

static char *copy_sv(char *at, struct sv *s)
{
	if (s->n)
		memcpy(at, s->p, s->n);
	s->p = at;
	return at + s->n;
}

/* Pairs and their bytes in one block. */
static int copy_fields(const struct http_fields *from, struct http_fields *ret)
{
	size_t n = from->n * sizeof(from->v[0]);
	struct http_field *v;
	uint32_t i;
	char *at;

	for (i = 0; i < from->n; i++)
		n += from->v[i].name.n + from->v[i].value.n;
	v = malloc(n);
	if (!v)
		return -ENOMEM;
	memcpy(v, from->v, from->n * sizeof(from->v[0]));
	at = (char *)(v + from->n);
	for (i = 0; i < from->n; i++) {
		at = copy_sv(at, &v[i].name);
		at = copy_sv(at, &v[i].value);
	}
	*ret = (struct http_fields){v, from->n};
	return 0;
}

int h2_end(struct h2_stream *s, const struct http_fields *trailers)
{
	struct h2_nva nva __attribute__((uninitialized)); /* as long as its n says */

	if (!s->due || s->ending)
		return -EINVAL;
	if (trailers && trailers->n) {
		if (h2_nva_trailers(&nva, trailers) < 0)
			return -EINVAL;
		if (copy_fields(trailers, &s->out_trailers) < 0)
			return -ENOMEM;
	}
	s->ending = true;
	wake(s);
	return 0;
}

void h2_consume(struct h2_stream *s, size_t n)
{
	struct h2 *h = s->h;
	int r = 0;

	if (n > s->unconsumed)
		n = s->unconsumed;
	s->unconsumed -= n;
	if (n)
		r = h->config.server ? nghttp2_session_consume(h->session, s->id, n)
				     : nghttp2_session_consume_stream(h->session, s->id, n);
	if (r == NGHTTP2_ERR_NOMEM)
		h2_cut(h, H2_INTERNAL_ERROR);
}

void h2_linger(struct h2_stream *s)
{
	s->lingers = true;
}

void h2_reset(struct h2_stream *s, uint32_t code)
{
	if (s->reset)
		return;
	s->reset = s->deaf = true;
	s->due = false;
	if (nghttp2_submit_rst_stream(s->h->session, NGHTTP2_FLAG_NONE, s->id, code) != 0)
		h2_cut(s->h, H2_INTERNAL_ERROR);
}

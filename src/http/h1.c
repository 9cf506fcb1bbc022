#include "http/h1.h"

#include <stdlib.h>

#include "http/fields.h"
#include "http/h1_check.h"
#include "http/h1_chunk.h"
#include "http/h1_head.h"
#include "http/h1_recent.h"

enum {
	START_LINE_ROOM = 64, /* for method, version and blanks beside the target */
	INTERIM_MAX = 1000,   /* heads with 1xx before the one that counts; who reads them knows how long that took */
};

enum { SEEN = 512 }; /* bytes of a refused start line that h1_seen() gives as they came */

enum state { HEAD, BODY_LENGTH, BODY_CHUNKED, BODY_CLOSE, TRAILERS, ENDING, INTERIM, OVER, FAILED };

struct h1 {
	bool is_request;
	uint16_t interim;
	enum state state;
	struct h1_context context;
	struct h1_asked asked;
	struct h1_limits limits;
	struct h1_fault fault;
	struct h1_recent *recent; /* NULL: every head is read */

	/* The message. */
	struct h1_lines head, tail;
	char *target; /* its canonical form, where that has no room in its own place */
	size_t target_cap;
	struct h1_reading read;
	struct http_fields trailers;
	struct h1_chunk chunk;
	int64_t left;  /* of a body whose length is known */
	int64_t total; /* of a body whose length is not */
};

static struct h1 *new_reader(const struct h1_limits *limits)
{
	static const struct h1_limits usual = {
		.head = HTTP_MAX_HEAD, .target = HTTP_MAX_TARGET, .fields = HTTP_MAX_FIELDS};
	struct h1 *h = calloc(1, sizeof(*h));

	if (h)
		h->limits = limits ? *limits : usual;
	return h;
}

struct h1 *h1_new_request(const struct h1_context *context, const struct h1_limits *limits)
{
	struct h1 *h = new_reader(limits);

	if (h) {
		h->is_request = true;
		h->context = *context;
	}
	return h;
}

struct h1 *h1_new_response(const struct h1_limits *limits)
{
	return new_reader(limits);
}

static void forget(struct h1 *h)
{
	h1_lines_done(&h->head);
	h1_lines_done(&h->tail);
	free(h->target);
	h->target = NULL;
	h->target_cap = 0;
	free(h->read.fields.v);
	free(h->trailers.v);
	h->read.fields = h->trailers = (struct http_fields){0};
	h->chunk = (struct h1_chunk){0};
	h->total = 0;
}

void h1_free(struct h1 *h)
{
	if (!h)
		return;
	forget(h);
	free(h);
}

void h1_remember(struct h1 *h, struct h1_recent *recent)
{
	h->recent = recent;
}

void h1_expect(struct h1 *h, struct h1_asked asked)
{
	h->asked = asked;
}

void h1_next(struct h1 *h)
{
	if (h->state == FAILED)
		return;
	forget(h);
	h->interim = 0;
	h->asked = (struct h1_asked){0};
	h->state = HEAD;
}

static enum h1_event fail(struct h1 *h)
{
	h->state = FAILED;
	/* What an upstream sent is no fault of the client's. */
	if (!h->is_request && h->fault.status != 500)
		h->fault.status = 502;
	return H1_ERROR;
}

static enum h1_event refuse(struct h1 *h, uint16_t status, const char *reason)
{
	h->fault = (struct h1_fault){status, reason};
	return fail(h);
}

/* Room for a field per line, and the lines cut into it. */
static int cut(struct h1_lines *l, size_t from, uint32_t lines, struct http_fields *ret, struct h1_fault *fault)
{
	if (lines == 0)
		return 0;
	ret->v = malloc(lines * sizeof(*ret->v));
	if (!ret->v)
		return h1_refuse(fault, 500, "out of memory");
	return h1_fields_cut(l->p + from, l->n - 2 - from, ret, fault);
}

/* Our own reading comes first, since its reasons say more; then llhttp must have read the same. */
static int check_head(struct h1 *h, struct sv line)
{
	struct h1_fault other = {0};
	struct h1_opinion opinion = {0};
	int r, second;

	/* The target is made canonical in place, as most are without growing, so llhttp has to go first. */
	second = h1_second_opinion(h->is_request, sv_n(h->head.p, h->head.n), &h->read.start, &h->read.fields, &opinion,
				   &other);
	if (h->is_request)
		r = h1_check_request(&h->context, &h->read.start,
				     h->target ? h->target : h->head.p + (h->read.start.target.p - line.p),
				     &h->read.fields, &h->read.host, &h->read.request, &h->read.framing, &h->fault);
	else
		r = h1_check_response(h->asked, &h->read.start, &h->read.fields, &h->read.response, &h->read.framing,
				      &h->fault);
	if (r < 0)
		return -1;
	if (second < 0) {
		h->fault = other;
		return -1;
	}
	if (opinion.chunked != h->read.framing.chunked || opinion.has_length != h->read.framing.has_length ||
	    (opinion.has_length && opinion.length != (uint64_t)h->read.framing.length))
		return h1_refuse(&h->fault, 400, "ambiguous framing");
	return 0;
}

/* ret: the start line with its CRLF. The views are good until more of the head comes, which may move it. */
static int parse_start(struct h1 *h, struct sv *ret)
{
	const char *lf = memchr(h->head.p, '\n', h->head.n);
	struct sv line = sv_n(h->head.p, (size_t)(lf - h->head.p) - 1);
	size_t grows;
	int r;

	h->read.start = (struct h1_start){0};
	r = h->is_request ? h1_start_request(line, &h->read.start, &h->fault)
			  : h1_start_response(line, &h->read.start, &h->fault);
	if (r < 0)
		return r;
	grows = http_target_growth(h->read.start.target);
	if (h->read.start.target.n + grows > h->limits.target)
		return h1_refuse(&h->fault, 414, "request target too long");
	if (grows && !h->target) {
		h->target = malloc(h->read.start.target.n + grows);
		if (!h->target)
			return h1_refuse(&h->fault, 500, "out of memory");
		h->target_cap = h->read.start.target.n + grows;
	}
	*ret = sv_n(line.p, line.n + 2);
	return 0;
}

static int parse_head(struct h1 *h)
{
	char seen[SEEN];
	struct sv line;
	size_t n;

	/* Once more, since the bytes may have moved. */
	if (parse_start(h, &line) < 0 || cut(&h->head, line.n, h->head.count - 1, &h->read.fields, &h->fault) < 0)
		return -1;
	n = line.n < SEEN ? line.n : SEEN;
	memcpy(seen, line.p, n);
	if (check_head(h, line) == 0)
		return 0;
	/* the target may be half in its canonical form: the log is to have it as it came */
	memcpy(h->head.p, seen, n);
	return -1;
}

/* What comes behind the head. */
static enum state body_state(struct h1 *h)
{
	bool body = h->is_request ? h->read.request.body : h->read.response.body;

	if (!h->is_request && h->read.start.status < 200 && h->read.start.status != 101)
		return INTERIM;
	if (!body)
		return ENDING;
	h->left = h->read.framing.length;
	return h->read.framing.chunked ? BODY_CHUNKED : h->read.framing.until_close ? BODY_CLOSE : BODY_LENGTH;
}

static struct h1_situation situation(const struct h1 *h)
{
	return (struct h1_situation){
		.is_request = h->is_request, .context = &h->context, .asked = h->asked, .limits = &h->limits};
}

/* A head that came as a whole, and that was read before. */
static bool is_known(struct h1 *h, struct sv *in)
{
	struct h1_situation s;

	if (!h->recent || h->head.n)
		return false;
	s = situation(h);
	return h1_recent_find(h->recent, &s, in, &h->head, &h->read);
}

/* One that is new. */
static int learn_head(struct h1 *h)
{
	struct h1_situation s = situation(h);
	bool keep = h->recent && h1_recent_begin(h->recent, &s, sv_n(h->head.p, h->head.n));

	if (parse_head(h) < 0)
		return -1;
	if (keep && !h->target) /* else it has a text that is not in the head's place */
		h1_recent_keep(h->recent, &h->head, &h->read);
	return 0;
}

/* H1_HEAD: it is here, and was read. */
static enum h1_event take_head(struct h1 *h, struct sv *in)
{
	size_t first_max = (size_t)h->limits.target + START_LINE_ROOM;
	struct sv line;

	if (is_known(h, in))
		return H1_HEAD;
	switch (h1_lines_take(&h->head, in, &h->limits, first_max, &h->fault)) {
	case H1_LINES_MORE:
		return H1_MORE;
	case H1_LINES_START:
		return parse_start(h, &line) < 0 ? fail(h) : H1_MORE;
	case H1_LINES_ERROR:
		return fail(h);
	case H1_LINES_END:
		break;
	}
	return learn_head(h) < 0 ? fail(h) : H1_HEAD;
}

static enum h1_event read_head(struct h1 *h, struct sv *in)
{
	enum h1_event e = take_head(h, in);

	if (e != H1_HEAD)
		return e;
	h->state = body_state(h);
	if (h->state == INTERIM && ++h->interim > INTERIM_MAX)
		return refuse(h, 502, "too many interim responses");
	if (h->state == BODY_LENGTH && h->limits.body && h->left > h->limits.body)
		return refuse(h, 413, "body too large");
	return H1_HEAD;
}

static enum h1_event take_data(struct sv *in, size_t n, struct sv *ret_data)
{
	*ret_data = sv_n(in->p, n);
	*in = sv_n(in->p + n, in->n - n);
	return H1_DATA;
}

static enum h1_event read_length(struct h1 *h, struct sv *in, struct sv *ret_data)
{
	size_t n = (uint64_t)h->left < in->n ? (size_t)h->left : in->n;

	if (n == 0)
		return H1_MORE;
	h->left -= (int64_t)n;
	if (h->left == 0)
		h->state = ENDING;
	return take_data(in, n, ret_data);
}

/* Counts what a body of unknown length has brought. */
static enum h1_event count(struct h1 *h, struct sv data)
{
	h->total += (int64_t)data.n;
	return h->limits.body && h->total > h->limits.body ? refuse(h, 413, "body too large") : H1_DATA;
}

static enum h1_event read_chunked(struct h1 *h, struct sv *in, struct sv *ret_data)
{
	enum h1_event e = h1_chunk_read(&h->chunk, in, ret_data, &h->fault);

	if (e == H1_ERROR)
		return fail(h);
	if (e == H1_DATA)
		return count(h, *ret_data);
	if (e == H1_END)
		h->state = TRAILERS;
	return H1_MORE;
}

static enum h1_event read_close(struct h1 *h, struct sv *in, struct sv *ret_data)
{
	if (in->n == 0)
		return H1_MORE;
	(void)take_data(in, in->n, ret_data);
	return count(h, *ret_data);
}

static enum h1_event read_trailers(struct h1 *h, struct sv *in)
{
	enum h1_lines_event e = h1_lines_take(&h->tail, in, &h->limits, 0, &h->fault);

	if (e == H1_LINES_MORE)
		return H1_MORE;
	if (e == H1_LINES_ERROR || cut(&h->tail, 0, h->tail.count, &h->trailers, &h->fault) < 0 ||
	    h1_check_trailers(&h->trailers, &h->fault) < 0)
		return fail(h);
	h->state = OVER;
	return H1_END;
}

static enum h1_event read_some(struct h1 *h, struct sv *in, struct sv *ret_data)
{
	switch (h->state) {
	case INTERIM:
		forget(h);
		h->state = HEAD;
		return H1_MORE;
	case HEAD:
		return read_head(h, in);
	case BODY_LENGTH:
		return read_length(h, in, ret_data);
	case BODY_CHUNKED:
		return read_chunked(h, in, ret_data);
	case BODY_CLOSE:
		return read_close(h, in, ret_data);
	case TRAILERS:
		return read_trailers(h, in);
	case ENDING:
		h->state = OVER;
		return H1_END;
	case OVER:
		return H1_END;
	case FAILED:
		break;
	}
	return H1_ERROR;
}

enum h1_event h1_read(struct h1 *h, struct sv *in, struct sv *ret_data)
{
	enum h1_event e;

	do
		e = read_some(h, in, ret_data);
	while (e == H1_MORE && in->n);
	return e;
}

enum h1_event h1_eof(struct h1 *h)
{
	switch (h->state) {
	case BODY_CLOSE:
	case ENDING:
	case OVER:
		h->state = OVER;
		return H1_END;
	case FAILED:
		return H1_ERROR;
	default:
		return h1_idle(h) ? H1_MORE : refuse(h, 400, "connection closed within a message");
	}
}

const struct http_request *h1_request(const struct h1 *h)
{
	return &h->read.request;
}

const struct http_response *h1_response(const struct h1 *h)
{
	return &h->read.response;
}

bool h1_is_http10(const struct h1 *h)
{
	return h->read.start.http10;
}

bool h1_keeps(const struct h1 *h)
{
	return h->read.framing.keeps && !h->read.framing.until_close && !h->read.framing.tunnel;
}

const struct http_fields *h1_trailers(const struct h1 *h)
{
	return &h->trailers;
}

bool h1_amid_head(const struct h1 *h)
{
	return h->state == HEAD && h->head.n > 0;
}

bool h1_idle(const struct h1 *h)
{
	return h->state == HEAD && h->head.n == 0 && h->interim == 0;
}

size_t h1_held(const struct h1 *h)
{
	/* no look at the start line, which moves as the head grows */
	return h->head.cap + h->tail.cap + h->target_cap;
}

struct h1_fault h1_fault(const struct h1 *h)
{
	return h->fault;
}

static struct sv line_at(struct sv text, size_t at)
{
	size_t n = at;

	while (n < text.n && text.p[n] != '\r' && text.p[n] != '\n')
		n++;
	return sv_n(text.p + at, n - at);
}

void h1_seen(const struct h1 *h, struct sv *ret_start, struct sv *ret_host)
{
	struct sv text = sv_n(h->head.p ? h->head.p : "", h->head.n), line;
	size_t at;

	*ret_start = line_at(text, 0);
	*ret_host = sv_n("", 0);
	for (at = ret_start->n; at < text.n && ret_host->n == 0; at += line.n + 1) {
		line = line_at(text, at);
		if (line.n > 5 && http_eq_nocase(sv_n(line.p, 5), "host:"))
			*ret_host = http_trim(sv_n(line.p + 5, line.n - 5));
	}
}

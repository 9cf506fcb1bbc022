#include "sandbox/docker/answer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

void answer_init(struct answer *a, size_t max_body)
{
	*a = (struct answer){.state = ANSWER_HEAD};
	buf_init(&a->body, max_body);
	buf_init(&a->line, ANSWER_HEAD_MAX);
}

void answer_done(struct answer *a)
{
	buf_done(&a->body);
	buf_done(&a->line);
}

/* What the fields say about the body. */
struct framing {
	bool chunked;
	bool has_length;
	size_t length;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* RFC 9110's tchar. */
static bool is_token(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z') &&
		    !(s.p[i] && strchr("!#$%&'*+-.^_`|~", s.p[i])))
			return false;
	return s.n > 0;
}

static bool is_value(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f)
			return false;
	return true;
}

static bool same(struct sv s, const char *name)
{
	return s.n == strlen(name) && strncasecmp(s.p, name, s.n) == 0;
}

static int decimal(struct sv s, size_t *ret)
{
	size_t v = 0, i;

	if (s.n == 0 || s.n > 12)
		return -EBADMSG;
	for (i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return -EBADMSG;
		v = 10 * v + (size_t)(s.p[i] - '0');
	}
	*ret = v;
	return 0;
}

static int hexadecimal(struct sv s, size_t *ret)
{
	size_t v = 0, i;

	if (s.n == 0 || s.n > 8)
		return -EBADMSG;
	for (i = 0; i < s.n; i++) {
		char low = (char)(s.p[i] | 0x20);

		if (is_digit(s.p[i]))
			v = 16 * v + (size_t)(s.p[i] - '0');
		else if (low >= 'a' && low <= 'f')
			v = 16 * v + (size_t)(low - 'a' + 10);
		else
			return -EBADMSG;
	}
	*ret = v;
	return 0;
}

/* "HTTP/1.1 200 OK"; the reason may be empty, and so may the space before it. */
static int status_line(struct sv line, int *ret)
{
	size_t status;

	if (line.n < 12 || !sv_starts(line, "HTTP/1.1 ") || (line.n > 12 && line.p[12] != ' ') || !is_value(line))
		return -EBADMSG;
	if (decimal(sv_n(line.p + 9, 3), &status) < 0 || status < 200 || status > 599)
		return -EBADMSG;
	*ret = (int)status;
	return 0;
}

static int split_field(struct sv line, struct sv *ret_name, struct sv *ret_value)
{
	const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
	struct sv value;

	if (!colon)
		return -EBADMSG;
	*ret_name = sv_n(line.p, (size_t)(colon - line.p));
	value = sv_n(colon + 1, line.n - ret_name->n - 1);
	while (value.n && (value.p[0] == ' ' || value.p[0] == '\t'))
		value = sv_n(value.p + 1, value.n - 1);
	while (value.n && (value.p[value.n - 1] == ' ' || value.p[value.n - 1] == '\t'))
		value.n--;
	*ret_value = value;
	return is_token(*ret_name) && is_value(value) ? 0 : -EBADMSG;
}

static int field(struct answer *a, struct sv line, struct framing *f)
{
	struct sv name, value;

	if (split_field(line, &name, &value) < 0)
		return -EBADMSG;
	if (same(name, "content-length")) {
		if (f->has_length)
			return -EBADMSG;
		f->has_length = true;
		return decimal(value, &f->length);
	}
	if (same(name, "transfer-encoding")) {
		if (f->chunked || !same(value, "chunked"))
			return -EBADMSG;
		f->chunked = true;
	}
	if (same(name, "api-version") && value.n < sizeof(a->api_version)) {
		memcpy(a->api_version, value.p, value.n);
		a->api_version[value.n] = '\0';
	}
	return 0;
}

static int begin_body(struct answer *a, const struct framing *f)
{
	bool none = a->status == 204 || a->status == 304;

	if (f->chunked && (f->has_length || none))
		return -EBADMSG;
	if (f->chunked) {
		a->state = ANSWER_CHUNK_SIZE;
		return 0;
	}
	/* without a length its end could be anywhere */
	if (!f->has_length && !none)
		return -EBADMSG;
	if (f->length > a->body.max)
		return -EFBIG;
	if (none && f->length)
		return -EBADMSG;
	a->left = f->length;
	a->state = a->left ? ANSWER_LENGTH : ANSWER_DONE;
	return 0;
}

/* The line at the start of *rest, without its CRLF. A head that has been collected ends in an empty one. */
static struct sv next_line(struct sv *rest)
{
	const char *end = memmem(rest->p, rest->n, "\r\n", 2);
	struct sv line = sv_n(rest->p, (size_t)(end - rest->p));

	*rest = sv_n(end + 2, rest->n - line.n - 2);
	return line;
}

static int head(struct answer *a)
{
	struct sv rest = buf_view(&a->line), line = next_line(&rest);
	struct framing f = {0};
	int r = status_line(line, &a->status);

	while (r == 0 && (line = next_line(&rest)).n)
		r = field(a, line, &f);
	if (r == 0)
		r = begin_body(a, &f);
	buf_clear(&a->line);
	return r;
}

/* Byte by byte, for the end can be split over reads anywhere. */
static int take_head(struct answer *a, struct sv *in)
{
	while (in->n && a->state == ANSWER_HEAD) {
		if (buf_char(&a->line, in->p[0]) < 0)
			return buf_failed(&a->line);
		*in = sv_n(in->p + 1, in->n - 1);
		if (sv_ends(buf_view(&a->line), "\r\n\r\n")) {
			int r = head(a);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* 1: *ret is a whole line, without its CRLF, until the next call; 0: there must be more. */
static int take_line(struct answer *a, struct sv *in, struct sv *ret)
{
	if (sv_ends(buf_view(&a->line), "\r\n"))
		buf_clear(&a->line);
	while (in->n) {
		if (a->line.n >= ANSWER_LINE_MAX)
			return -EFBIG;
		if (buf_char(&a->line, in->p[0]) < 0)
			return buf_failed(&a->line);
		*in = sv_n(in->p + 1, in->n - 1);
		if (sv_ends(buf_view(&a->line), "\r\n")) {
			*ret = sv_n(a->line.p, a->line.n - 2);
			return 1;
		}
	}
	return 0;
}

static int take_chunk_size(struct answer *a, struct sv *in)
{
	struct sv line;
	int r = take_line(a, in, &line);

	if (r <= 0)
		return r;
	/* no extensions: engines send none, and what they would mean is not known */
	if (hexadecimal(line, &a->left) < 0)
		return -EBADMSG;
	if (a->left > a->body.max - a->body.n)
		return -EFBIG;
	a->state = a->left ? ANSWER_CHUNK : ANSWER_TRAILERS;
	return 0;
}

static int take_chunk_end(struct answer *a, struct sv *in)
{
	struct sv line;
	int r = take_line(a, in, &line);

	if (r <= 0)
		return r;
	if (line.n)
		return -EBADMSG;
	a->state = ANSWER_CHUNK_SIZE;
	return 0;
}

static int take_trailer(struct answer *a, struct sv *in)
{
	struct sv line, name, value;
	int r = take_line(a, in, &line);

	if (r <= 0)
		return r;
	if (line.n == 0) {
		a->state = ANSWER_DONE;
		return 0;
	}
	a->trailers += line.n;
	return a->trailers > ANSWER_TRAILERS_MAX ? -EFBIG : split_field(line, &name, &value);
}

static int take_body(struct answer *a, struct sv *in)
{
	size_t n = in->n < a->left ? in->n : a->left;
	int r = buf_add(&a->body, in->p, n);

	*in = sv_n(in->p + n, in->n - n);
	a->left -= n;
	if (a->left == 0)
		a->state = a->state == ANSWER_CHUNK ? ANSWER_CHUNK_END : ANSWER_DONE;
	return r;
}

static int refuse(struct answer *a, struct sv *in)
{
	(void)a;
	(void)in;
	return -EBADMSG;
}

int answer_add(struct answer *a, struct sv bytes)
{
	static int (*const take[])(struct answer *, struct sv *) = {
		[ANSWER_HEAD] = take_head,
		[ANSWER_LENGTH] = take_body,
		[ANSWER_CHUNK_SIZE] = take_chunk_size,
		[ANSWER_CHUNK] = take_body,
		[ANSWER_CHUNK_END] = take_chunk_end,
		[ANSWER_TRAILERS] = take_trailer,
		[ANSWER_DONE] = refuse,
		[ANSWER_BAD] = refuse,
	};
	int r = 0;

	while (bytes.n && r == 0)
		r = take[a->state](a, &bytes);
	if (r < 0) {
		a->state = ANSWER_BAD;
		return r;
	}
	return a->state == ANSWER_DONE;
}

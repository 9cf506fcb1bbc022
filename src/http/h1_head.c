#include "http/h1_head.h"

#include <stdlib.h>

#include <llhttp.h>

#include "base/method.h"
#include "http/fields.h"

enum { FIRST_ROOM = 1024 };

void h1_lines_done(struct h1_lines *l)
{
	free(l->p);
	*l = (struct h1_lines){0};
}

static int append(struct h1_lines *l, struct sv *in, size_t n, struct h1_fault *fault)
{
	size_t cap = l->cap ? l->cap : FIRST_ROOM;
	char *p;

	while (cap < l->n + n)
		cap *= 2;
	if (cap != l->cap) {
		p = realloc(l->p, cap);
		if (!p)
			return h1_refuse(fault, 500, "out of memory");
		l->p = p;
		l->cap = cap;
	}
	memcpy(l->p + l->n, in->p, n);
	l->n += n;
	*in = sv_n(in->p + n, in->n - n);
	return 0;
}

static enum h1_lines_event lines_refuse(struct h1_fault *fault, uint16_t status, const char *reason)
{
	*fault = (struct h1_fault){status, reason};
	return H1_LINES_ERROR;
}

/* The line that has just ended in LF. */
static enum h1_lines_event line_ended(struct h1_lines *l, const struct h1_limits *limits, size_t first_max,
				      struct h1_fault *fault)
{
	size_t n = l->n - l->line;

	if (n < 2 || l->p[l->n - 2] != '\r')
		return lines_refuse(fault, 400, "line ends in LF without CR");
	if (n == 2) {
		if (l->count == 0 && first_max)
			return lines_refuse(fault, 400, "empty line before the message");
		return H1_LINES_END;
	}
	l->line = l->n;
	l->count++;
	if (l->count > limits->fields + (first_max ? 1 : 0))
		return lines_refuse(fault, 431, "too many header fields");
	return l->count == 1 && first_max ? H1_LINES_START : H1_LINES_MORE;
}

enum h1_lines_event h1_lines_take(struct h1_lines *l, struct sv *in, const struct h1_limits *limits, size_t first_max,
				  struct h1_fault *fault)
{
	const char *lf;
	size_t n;
	enum h1_lines_event e;

	/* What is no HTTP at all (a TLS hello, say) is told at its first byte, not at its first LF. */
	if (l->n == 0 && in->n && first_max && !http_is_token(sv_n(in->p, 1)) && in->p[0] != '\r' && in->p[0] != '\n')
		return lines_refuse(fault, 400, "not an HTTP message");
	while (in->n) {
		lf = memchr(in->p, '\n', in->n);
		n = lf ? (size_t)(lf - in->p) + 1 : in->n;
		if (l->count == 0 && first_max && l->n + n > first_max)
			return lines_refuse(fault, 414, "start line too long");
		if (l->n + n > limits->head)
			return lines_refuse(fault, 431, "header too large");
		if (append(l, in, n, fault) < 0)
			return H1_LINES_ERROR;
		if (!lf)
			return H1_LINES_MORE;
		e = line_ended(l, limits, first_max, fault);
		if (e != H1_LINES_MORE)
			return e;
	}
	return H1_LINES_MORE;
}

static int cut_field(char *line, size_t n, struct http_field *ret, struct h1_fault *fault)
{
	const char *colon = memchr(line, ':', n);
	size_t name = colon ? (size_t)(colon - line) : 0;

	if (line[0] == ' ' || line[0] == '\t')
		return h1_refuse(fault, 400, "folded header line");
	if (!colon)
		return h1_refuse(fault, 400, "header line without a colon");
	if (name && (line[name - 1] == ' ' || line[name - 1] == '\t'))
		return h1_refuse(fault, 400, "blank before the colon of a header field");
	if (!http_make_name(line, name))
		return h1_refuse(fault, 400, "malformed name of a header field");
	ret->name = sv_n(line, name);
	ret->value = http_trim(sv_n(colon + 1, n - name - 1));
	return http_is_value(ret->value) ? 0 : h1_refuse(fault, 400, "control character in a header field");
}

int h1_fields_cut(char *p, size_t n, struct http_fields *ret, struct h1_fault *fault)
{
	char *end = p + n, *lf;

	ret->n = 0;
	for (; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (cut_field(p, (size_t)(lf - p) - 1, &ret->v[ret->n], fault) < 0)
			return -1;
		ret->n++;
	}
	return 0;
}

/* "HTTP/1.1" or "HTTP/1.0", to the letter. */
static int parse_version(struct sv s, struct h1_start *ret, struct h1_fault *fault)
{
	if (!sv_starts(s, "HTTP/"))
		return h1_refuse(fault, 400, "malformed HTTP version");
	ret->http10 = sv_is(s, "HTTP/1.0");
	return ret->http10 || sv_is(s, "HTTP/1.1") ? 0 : h1_refuse(fault, 505, "HTTP version is neither 1.0 nor 1.1");
}

int h1_start_request(struct sv line, struct h1_start *ret, struct h1_fault *fault)
{
	const char *first = memchr(line.p, ' ', line.n), *last = memrchr(line.p, ' ', line.n), *end = line.p + line.n;

	if (!first || first == last)
		return h1_refuse(fault, 400, "malformed request line");
	ret->method = sv_n(line.p, (size_t)(first - line.p));
	ret->target = sv_n(first + 1, (size_t)(last - first) - 1);
	if (!http_is_token(ret->method))
		return h1_refuse(fault, 400, "malformed method");
	if (ret->target.n == 0 || memchr(ret->target.p, ' ', ret->target.n))
		return h1_refuse(fault, 400, "malformed request line");
	return parse_version(sv_n(last + 1, (size_t)(end - last) - 1), ret, fault);
}

/* "HTTP/1.1 200 OK", "HTTP/1.1 200 " and "HTTP/1.1 200". */
int h1_start_response(struct sv line, struct h1_start *ret, struct h1_fault *fault)
{
	enum { VERSION = 8, CODE = 12 };
	const char *p = line.p + VERSION + 1;

	if (line.n < CODE || line.p[VERSION] != ' ' || (line.n > CODE && line.p[CODE] != ' '))
		return h1_refuse(fault, 502, "malformed status line");
	if (parse_version(sv_n(line.p, VERSION), ret, fault) < 0)
		return -1;
	if (p[0] < '1' || p[0] > '5' || p[1] < '0' || p[1] > '9' || p[2] < '0' || p[2] > '9')
		return h1_refuse(fault, 502, "malformed status");
	ret->status = (uint16_t)((p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0'));
	ret->reason = http_trim(sv_n(line.p + CODE, line.n - CODE));
	return http_is_value(ret->reason) ? 0 : h1_refuse(fault, 502, "control character in the status line");
}

/* What we found, while llhttp goes over the same bytes. */
struct comparison {
	const struct h1_start *start;
	const struct http_fields *fields;
	uint32_t at;
	bool complete;
	struct h1_opinion *opinion;
};

static int differs(llhttp_t *parser)
{
	llhttp_set_error_reason(parser, "");
	return HPE_USER;
}

static int on_url(llhttp_t *parser, const char *p, size_t n)
{
	const struct comparison *c = parser->data;

	return p == c->start->target.p && n == c->start->target.n ? 0 : differs(parser);
}

static int on_name(llhttp_t *parser, const char *p, size_t n)
{
	struct comparison *c = parser->data;
	const struct http_field *f;

	if (c->at >= c->fields->n)
		return differs(parser);
	f = &c->fields->v[c->at++];
	return p == f->name.p && n == f->name.n ? 0 : differs(parser);
}

static int on_value(llhttp_t *parser, const char *p, size_t n)
{
	const struct comparison *c = parser->data;
	struct sv value = http_trim(sv_n(p, n)), ours;

	if (c->at == 0)
		return differs(parser);
	ours = c->fields->v[c->at - 1].value;
	return value.n == ours.n && (value.n == 0 || value.p == ours.p) ? 0 : differs(parser);
}

static int on_complete(llhttp_t *parser)
{
	struct comparison *c = parser->data;

	c->complete = true;
	c->opinion->chunked = (parser->flags & F_CHUNKED) != 0;
	c->opinion->has_length = (parser->flags & F_CONTENT_LENGTH) != 0;
	c->opinion->length = parser->content_length;
	return 0;
}

int h1_second_opinion(bool request, struct sv head, const struct h1_start *start, const struct http_fields *fields,
		      struct h1_opinion *ret, struct h1_fault *fault)
{
	static const llhttp_settings_t settings = {.on_url = on_url,
						   .on_header_field = on_name,
						   .on_header_value = on_value,
						   .on_headers_complete = on_complete};
	struct comparison c = {.start = start, .fields = fields, .opinion = ret};
	bool known = !request || method_is_known(start->method);
	size_t skip = known ? 0 : start->method.n;
	llhttp_t parser;
	llhttp_errno_t r;

	if (request && !method_is_sound(start->method))
		return h1_refuse(fault, 501, "unknown method");
	llhttp_init(&parser, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
	parser.data = &c;
	/* llhttp has a list of methods, and a rule may name one that is not in it: then it reads the rest behind one
	 * that it has */
	r = known ? HPE_OK : llhttp_execute(&parser, "POST", 4);
	if (r == HPE_OK)
		r = llhttp_execute(&parser, head.p + skip, head.n - skip);
	if ((r != HPE_OK && r != HPE_PAUSED_UPGRADE) || !c.complete || c.at != fields->n)
		return h1_refuse(fault, 400, "malformed header");
	if (request ? known && !sv_is(start->method, llhttp_method_name(parser.method))
		    : parser.status_code != start->status)
		return h1_refuse(fault, 400, "malformed start line");
	return 0;
}

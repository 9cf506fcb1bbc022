#include "http/h1_write.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "http/fields.h"

enum { ERROR_BODY_MAX = 16 * 1024 };

static const struct {
	uint16_t status;
	const char *reason;
} reasons[] = {
	{100, "Continue"},
	{101, "Switching Protocols"},
	{200, "OK"},
	{400, "Bad Request"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{408, "Request Timeout"},
	{411, "Length Required"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{421, "Misdirected Request"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
};

const char *h1_reason(uint16_t status)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

/* Inline, so that the length of a literal is known. */
static inline void put(struct buf *out, const char *s)
{
	(void)buf_sv(out, sv_of(s));
}

/* printf() would be a good part of the time that a head takes. */
static void write_number(struct buf *out, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	(void)buf_add(out, digits + at, sizeof(digits) - at);
}

static bool fields_ok(const struct http_fields *f, bool trailers)
{
	enum http_field_class class;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		class = http_field_class(f->v[i].name);
		if (!http_is_lower_token(f->v[i].name) || !http_is_value(f->v[i].value))
			return false;
		if (trailers ? !http_field_may_trail(f->v[i].name)
			     : class != FIELD_PLAIN && !(sv_is(f->v[i].name, "te") && sv_is(f->v[i].value, "trailers")))
			return false;
	}
	return true;
}

static void write_fields(struct buf *out, const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		(void)buf_sv(out, f->v[i].name);
		put(out, ": ");
		(void)buf_sv(out, f->v[i].value);
		put(out, "\r\n");
	}
}

static bool host_ok(struct sv host)
{
	size_t i;
	char c;

	for (i = 0; i < host.n; i++) {
		c = host.p[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '_' && c != ':')
			return false;
	}
	return host.n != 0;
}

static bool target_ok(const struct http_request *r)
{
	size_t i;

	if (sv_is(r->method, "CONNECT"))
		return r->target.n == 0;
	for (i = 0; i < r->target.n; i++)
		if (r->target.p[i] <= ' ' || r->target.p[i] >= 0x7f || r->target.p[i] == '#')
			return false;
	return sv_starts(r->target, "/") || (sv_is(r->target, "*") && sv_is(r->method, "OPTIONS"));
}

static bool request_ok(const struct http_request *r)
{
	bool bodiless = !http_method_has_body(r->method) || r->websocket;

	if (!http_is_token(r->method) || sv_is(r->method, "TRACE") || !host_ok(r->host) || r->port == 0 ||
	    !target_ok(r))
		return false;
	if (r->body ? bodiless || r->length < HTTP_LENGTH_UNKNOWN : r->length > 0 || r->expect_continue)
		return false;
	return (!r->websocket || sv_is(r->method, "GET")) && fields_ok(&r->fields, false);
}

static void write_authority(struct buf *out, const struct http_request *r)
{
	bool v6 = memchr(r->host.p, ':', r->host.n) != NULL;

	put(out, v6 ? "[" : "");
	(void)buf_sv(out, r->host);
	put(out, v6 ? "]" : "");
	if (r->port != (r->tls ? 443 : 80) || sv_is(r->method, "CONNECT")) {
		(void)buf_char(out, ':');
		write_number(out, r->port);
	}
}

static void write_request_line(struct buf *out, const struct http_request *r, bool proxy)
{
	(void)buf_sv(out, r->method);
	(void)buf_char(out, ' ');
	if (sv_is(r->method, "CONNECT")) {
		write_authority(out, r);
	} else {
		if (proxy) {
			put(out, r->tls ? "https://" : "http://");
			write_authority(out, r);
		}
		if (!proxy || !sv_is(r->target, "*"))
			(void)buf_sv(out, r->target);
	}
	put(out, " HTTP/1.1\r\nHost: ");
	write_authority(out, r);
	put(out, "\r\n");
}

/* One Connection field for all that needs one. */
static void write_connection(struct buf *out, bool upgrade, bool te, bool close)
{
	const struct {
		bool on;
		const char *text;
	} options[] = {{upgrade, "Upgrade"}, {te, "TE"}, {close, "close"}};
	const char *before = "Connection: ";
	size_t i;

	for (i = 0; i < ARRAY_LEN(options); i++) {
		if (!options[i].on)
			continue;
		put(out, before);
		put(out, options[i].text);
		before = ", ";
	}
	if (upgrade || te || close)
		put(out, "\r\n");
	if (upgrade)
		put(out, "Upgrade: websocket\r\n");
}

static void write_length(struct buf *out, int64_t length)
{
	put(out, "Content-Length: ");
	write_number(out, (uint64_t)length);
	put(out, "\r\n");
}

/* Requests whose readers wait for a length, even where there is no body. */
static bool wants_length(struct sv method)
{
	return sv_is(method, "POST") || sv_is(method, "PUT") || sv_is(method, "PATCH");
}

int h1_write_request(struct buf *out, const struct http_request *r, bool proxy, enum h1_body *ret)
{
	enum h1_body body = !r->body                           ? H1_BODY_NONE
			    : r->length == HTTP_LENGTH_UNKNOWN ? H1_BODY_CHUNKED
							       : H1_BODY_LENGTH;

	if (!request_ok(r))
		return -EINVAL;
	write_request_line(out, r, proxy);
	write_connection(out, r->websocket, http_field(&r->fields, "te") != NULL, r->last);
	write_fields(out, &r->fields);
	if (body == H1_BODY_CHUNKED)
		put(out, "Transfer-Encoding: chunked\r\n");
	else if (body == H1_BODY_LENGTH || wants_length(r->method))
		write_length(out, r->body ? r->length : 0);
	if (r->expect_continue)
		put(out, "Expect: 100-continue\r\n");
	put(out, "\r\n");
	*ret = body;
	return buf_failed(out);
}

/* How a response says where it ends. */
enum end {
	END_SILENT, /* by its status, or by what was asked */
	END_LENGTH,
	END_CHUNKED,
	END_CLOSE,
};

/* -EINVAL: a body where none can be. */
static int response_end(const struct http_response *r, const struct h1_reply *to, enum end *ret)
{
	bool nothing = r->status < 200 || r->status == 204 || (to->asked.connect && r->status < 300);

	if (nothing || to->asked.head || r->status == 304) {
		*ret = nothing || r->length < 0 ? END_SILENT : END_LENGTH;
		return r->body ? -EINVAL : 0;
	}
	if (!r->body) {
		*ret = END_LENGTH;
		return r->length > 0 ? -EINVAL : 0;
	}
	*ret = r->length >= 0 ? END_LENGTH : to->http10 ? END_CLOSE : END_CHUNKED;
	return 0;
}

static bool response_ok(const struct http_response *r, const struct h1_reply *to)
{
	if (r->status < 100 || r->status > 599 || r->length < HTTP_LENGTH_UNKNOWN || !http_is_value(r->reason))
		return false;
	if (r->websocket != (r->status == 101) || (r->websocket && !to->asked.websocket))
		return false;
	return fields_ok(&r->fields, false);
}

int h1_write_response(struct buf *out, const struct http_response *r, const struct h1_reply *to, enum h1_body *ret)
{
	enum end end;

	if (!response_ok(r, to) || response_end(r, to, &end) < 0)
		return -EINVAL;
	put(out, "HTTP/1.1 ");
	write_number(out, r->status);
	(void)buf_char(out, ' ');
	(void)buf_sv(out, r->reason);
	put(out, "\r\n");
	/* An interim response says nothing about the connection. */
	write_connection(out, r->websocket, false, r->status >= 200 && (to->close || to->http10));
	write_fields(out, &r->fields);
	if (end == END_CHUNKED)
		put(out, "Transfer-Encoding: chunked\r\n");
	else if (end == END_LENGTH)
		write_length(out, r->length > 0 ? r->length : 0);
	put(out, "\r\n");
	*ret = !r->body             ? H1_BODY_NONE
	       : end == END_CHUNKED ? H1_BODY_CHUNKED
	       : end == END_CLOSE   ? H1_BODY_CLOSE
				    : H1_BODY_LENGTH;
	return buf_failed(out);
}

int h1_write_chunk(struct buf *out, size_t n)
{
	return n ? buf_printf(out, "%zx\r\n", n) : -EINVAL;
}

int h1_write_chunk_end(struct buf *out)
{
	return buf_str(out, "\r\n");
}

int h1_write_last_chunk(struct buf *out, const struct http_fields *trailers)
{
	if (trailers && !fields_ok(trailers, true))
		return -EINVAL;
	put(out, "0\r\n");
	if (trailers)
		write_fields(out, trailers);
	return buf_str(out, "\r\n");
}

static void write_member(struct json *j, const char *key, const char *text)
{
	if (text)
		json_kstr(j, key, text);
}

int h1_write_error(struct buf *out, uint16_t status, const char *code, const char *domain, const char *detail,
		   const char *hint)
{
	AUTO_BUF body = {0};
	struct json j;

	buf_init(&body, ERROR_BODY_MAX);
	json_init(&j, &body);
	json_open(&j);
	json_kstr(&j, "error", code);
	write_member(&j, "domain", domain);
	write_member(&j, "detail", detail);
	write_member(&j, "hint", hint);
	json_close(&j);
	if (buf_failed(&body))
		return buf_failed(&body);
	(void)buf_printf(out, "HTTP/1.1 %u %s\r\nConnection: close\r\n", (unsigned)status, h1_reason(status));
	if (status == 403)
		put(out, "X-Proxy-Error: blocked-by-allowlist\r\n");
	put(out, "Content-Type: application/json\r\n");
	write_length(out, (int64_t)body.n);
	put(out, "\r\n");
	return buf_sv(out, buf_view(&body));
}

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "http/fields.h"
#include "http/h2_head.h"

/* Never put into a table that later messages point into: what is compressed can be guessed, and credentials are worth
 * guessing. */
static const char *const secretive[] = {
	"authorization", "cookie",         "set-cookie",   "x-api-key",
	"api-key",       "x-goog-api-key", "x-auth-token", "x-amz-security-token",
};

/* HTTP/1.1's handshake of a WebSocket; in HTTP/2 the stream itself is it (RFC 8441, 5). */
static const char *const handshake[] = {"sec-websocket-key", "sec-websocket-accept"};

static bool is_one_of(struct sv name, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sv_is(name, names[i]))
			return true;
	return false;
}

static void add(struct h2_nva *nva, struct sv name, struct sv value)
{
	nghttp2_nv *nv = &nva->v[nva->n++];

	/* nghttp2 copies both; its interface has no const. */
	nv->name = (uint8_t *)(uintptr_t)name.p;
	nv->namelen = name.n;
	nv->value = (uint8_t *)(uintptr_t)value.p;
	nv->valuelen = value.n;
	nv->flags = NGHTTP2_NV_FLAG_NONE;
	if (is_one_of(name, secretive, ARRAY_LEN(secretive)) || (nva->guarded.n && sv_eq(name, nva->guarded)))
		nv->flags = NGHTTP2_NV_FLAG_NO_INDEX;
}

static int add_fields(struct h2_nva *nva, const struct http_fields *fields, bool websocket)
{
	uint32_t i;

	if (fields->n > HTTP_MAX_FIELDS)
		return -EINVAL;
	for (i = 0; i < fields->n; i++) {
		struct http_field f = fields->v[i];
		enum http_field_class class = http_field_class(f.name);

		if (!http_is_lower_token(f.name) || !http_is_value(f.value))
			return -EINVAL;
		if (class != FIELD_PLAIN && !(class == FIELD_TE && sv_is(f.name, "te") && sv_is(f.value, "trailers")))
			return -EINVAL;
		if (!websocket || !is_one_of(f.name, handshake, ARRAY_LEN(handshake)))
			add(nva, f.name, f.value);
	}
	return 0;
}

static void add_length(struct h2_nva *nva, int64_t length)
{
	int n;

	if (length < 0)
		return;
	n = snprintf(nva->length, sizeof(nva->length), "%lld", (long long)length);
	add(nva, sv_of("content-length"), sv_n(nva->length, (size_t)n));
}

static int add_authority(struct h2_nva *nva, const struct http_request *r)
{
	bool v6 = r->host.n && memchr(r->host.p, ':', r->host.n);
	struct http_authority again;
	int n;

	if (r->host.n == 0 || r->host.n > HTTP_HOST_MAX || r->port == 0)
		return -EINVAL;
	n = snprintf(nva->authority, sizeof(nva->authority), v6 ? "[%.*s]" : "%.*s", (int)r->host.n, r->host.p);
	if (r->port != (r->tls ? 443 : 80))
		n += snprintf(nva->authority + n, sizeof(nva->authority) - (size_t)n, ":%u", r->port);
	if (http_authority(sv_n(nva->authority, (size_t)n), &again) || !sv_eq(http_authority_host(&again), r->host))
		return -EINVAL;
	add(nva, sv_of(":authority"), sv_n(nva->authority, (size_t)n));
	return 0;
}

static bool target_ok(struct sv method, struct sv target)
{
	if (target.n == 0 || target.n > HTTP_MAX_TARGET)
		return false;
	return (target.p[0] == '/' && nghttp2_check_path((const uint8_t *)target.p, target.n)) ||
	       (sv_is(target, "*") && sv_is(method, "OPTIONS"));
}

int h2_nva_request(struct h2_nva *nva, const struct http_request *r)
{
	nva->n = 0;
	nva->guarded = r->guarded;
	if (!http_is_token(r->method) || sv_is(r->method, "CONNECT") || !target_ok(r->method, r->target) ||
	    (r->websocket && !sv_is(r->method, "GET")))
		return -EINVAL;
	add(nva, sv_of(":method"), r->websocket ? sv_of("CONNECT") : r->method);
	if (r->websocket)
		add(nva, sv_of(":protocol"), sv_of("websocket"));
	add(nva, sv_of(":scheme"), sv_of(r->tls ? "https" : "http"));
	if (add_authority(nva, r) < 0)
		return -EINVAL;
	add(nva, sv_of(":path"), r->target);
	if (r->body && !r->websocket)
		add_length(nva, r->length);
	if (r->expect_continue)
		add(nva, sv_of("expect"), sv_of("100-continue"));
	return add_fields(nva, &r->fields, r->websocket);
}

int h2_nva_response(struct h2_nva *nva, const struct http_response *r)
{
	unsigned status = r->websocket ? 200 : r->status;

	nva->n = 0;
	nva->guarded = sv_n("", 0);
	if (status < 100 || status > 599 || status == 101 || (status < 200 && r->body))
		return -EINVAL;
	(void)snprintf(nva->status, sizeof(nva->status), "%u", status);
	add(nva, sv_of(":status"), sv_of(nva->status));
	if (status >= 200 && status != 204 && !r->websocket)
		add_length(nva, r->length);
	return add_fields(nva, &r->fields, r->websocket);
}

int h2_nva_trailers(struct h2_nva *nva, const struct http_fields *trailers)
{
	uint32_t i;

	nva->n = 0;
	nva->guarded = sv_n("", 0);
	for (i = 0; i < trailers->n; i++)
		if (!http_field_may_trail(trailers->v[i].name))
			return -EINVAL;
	return add_fields(nva, trailers, false);
}

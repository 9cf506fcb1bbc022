#include "http/h2_head.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/field_name.h"
#include "base/method.h"
#include "http/fields.h"

enum { FIELD_OVERHEAD = 32 };

void h2_head_init(struct h2_head *head)
{
	/* v and kept are as long as n and n_kept say: clearing them would cost more than reading a head. */
	head->bad = (struct h2_bad){0};
	head->size = 0;
	head->method = head->scheme = head->authority = head->path = head->protocol = head->status = head->host =
		(struct sv){0};
	head->length = HTTP_LENGTH_UNKNOWN;
	head->expect_continue = head->regular = false;
	head->cookies = head->n = head->n_kept = 0;
	head->text = NULL;
}

void h2_head_done(struct h2_head *head)
{
	uint32_t i;

	for (i = 0; i < head->n_kept; i++)
		nghttp2_rcbuf_decref(head->kept[i]);
	free(head->text);
	h2_head_init(head);
}

void h2_head_refuse(struct h2_head *head, uint16_t status, const char *why)
{
	if (!head->bad.why)
		head->bad = (struct h2_bad){status, why};
}

static struct sv view(nghttp2_rcbuf *b)
{
	nghttp2_vec v = nghttp2_rcbuf_get_buf(b);

	return sv_n((const char *)v.base, v.len);
}

static void keep(struct h2_head *head, nghttp2_rcbuf *b)
{
	if (nghttp2_rcbuf_is_static(b))
		return;
	nghttp2_rcbuf_incref(b);
	head->kept[head->n_kept++] = b;
}

static struct sv *pseudo_place(struct h2_head *head, struct sv name)
{
	struct {
		const char *name;
		struct sv *place;
	} places[] = {
		{":method", &head->method},	{":scheme", &head->scheme},	{":authority", &head->authority},
		{":path", &head->path},		{":protocol", &head->protocol}, {":status", &head->status},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(places); i++)
		if (sv_is(name, places[i].name))
			return places[i].place;
	return NULL;
}

static void add_pseudo(struct h2_head *head, struct sv name, nghttp2_rcbuf *value)
{
	struct sv *place = pseudo_place(head, name);

	if (!place || place->p || head->regular) {
		h2_head_refuse(head, 400, "pseudo-header field unknown, repeated or out of place");
		return;
	}
	keep(head, value);
	*place = view(value);
}

static int parse_length(struct sv s, int64_t *ret)
{
	int64_t v = 0;
	size_t i;

	if (s.n == 0 || s.n > 18)
		return -1;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = v;
	return 0;
}

static void add_length(struct h2_head *head, struct sv value)
{
	if (head->length != HTTP_LENGTH_UNKNOWN || parse_length(value, &head->length) < 0)
		h2_head_refuse(head, 400, "content-length repeated or not a number");
}

static void add_expect(struct h2_head *head, struct sv value)
{
	head->expect_continue = http_eq_nocase(value, "100-continue");
	if (!head->expect_continue)
		h2_head_refuse(head, 417, "expect other than 100-continue");
}

/* Fields that are no part of a message's own: true where it is to be kept all the same. */
static bool add_special(struct h2_head *head, enum http_field_class class, struct sv value)
{
	switch (class) {
	case FIELD_HOST:
		if (head->host.p)
			h2_head_refuse(head, 400, "host repeated");
		head->host = value;
		return false;
	case FIELD_LENGTH:
		add_length(head, value);
		return false;
	case FIELD_EXPECT:
		add_expect(head, value);
		return false;
	case FIELD_TE:
		if (!sv_is(value, "trailers"))
			h2_head_refuse(head, 400, "te other than trailers");
		return true;
	case FIELD_CODING:
	case FIELD_CONNECTION:
	case FIELD_UPGRADE:
	case FIELD_SETTINGS:
		h2_head_refuse(head, 400, "field of a connection, not of HTTP/2");
		return false;
	case FIELD_HOP:
		return false;
	case FIELD_PLAIN:
		break;
	}
	return true;
}

static void add_regular(struct h2_head *head, nghttp2_rcbuf *name, nghttp2_rcbuf *value)
{
	/* Blanks around a value got past nghttp2 only on the client's side, where servers in the wild send them. */
	struct http_field f = {view(name), http_trim(view(value))};
	enum http_field_class class = http_field_class(f.name);

	head->regular = true;
	if (!http_is_lower_token(f.name) || !http_is_value(f.value)) {
		h2_head_refuse(head, 400, "malformed field");
		return;
	}
	if (class != FIELD_PLAIN && field_name_is_odd(f.name)) {
		h2_head_refuse(head, 400, "field name that some servers read as another");
		return;
	}
	keep(head, name);
	keep(head, value);
	if (!add_special(head, class, f.value))
		return;
	head->cookies += sv_is(f.name, "cookie");
	head->v[head->n++] = f;
}

void h2_head_field(struct h2_head *head, nghttp2_rcbuf *name, nghttp2_rcbuf *value)
{
	struct sv n = view(name);

	head->size += n.n + view(value).n + FIELD_OVERHEAD;
	if (head->size > HTTP_MAX_HEAD || head->n_kept > 2 * (HTTP_MAX_FIELDS + H2_PSEUDO_MAX) - 2 ||
	    head->n == HTTP_MAX_FIELDS)
		h2_head_refuse(head, 431, "too many fields, or too large ones");
	if (head->bad.why)
		return;
	if (n.n && n.p[0] == ':')
		add_pseudo(head, n, value);
	else
		add_regular(head, name, value);
}

static void check_method(struct h2_head *head, const struct h2_config *config, struct http_request *r)
{
	r->method = head->method;
	if (head->protocol.p) {
		if (!config->websocket || !sv_is(head->method, "CONNECT") || !sv_is(head->protocol, "websocket"))
			h2_head_refuse(head, 501, "extended CONNECT is for websocket only, where it is offered");
		/* What the same wish is in HTTP/1.1, so that a rule has one form to judge. */
		r->method = sv_of("GET");
		r->websocket = true;
		return;
	}
	if (!http_is_token(head->method))
		h2_head_refuse(head, 400, "malformed method");
	else if (!method_is_sound(head->method))
		h2_head_refuse(head, 501, "unknown method");
	else if (sv_is(head->method, "CONNECT") || sv_is(head->method, "TRACE"))
		h2_head_refuse(head, 405, "CONNECT and TRACE are not served in HTTP/2");
}

static void check_scheme(struct h2_head *head, const struct h2_config *config, struct http_request *r)
{
	r->tls = config->tls;
	if (!sv_is(head->scheme, config->tls ? "https" : "http"))
		h2_head_refuse(head, 400, "scheme is not that of the connection");
}

static uint16_t port_of(const struct http_authority *a, bool tls)
{
	return a->port ? a->port : tls ? 443 : 80;
}

static void check_authority(struct h2_head *head, const struct h2_config *config, struct http_request *r)
{
	struct http_authority host;
	const char *wrong = http_authority(head->authority.p ? head->authority : head->host, &head->where);

	if (wrong) {
		h2_head_refuse(head, 400, wrong);
		return;
	}
	r->host = http_authority_host(&head->where);
	r->port = port_of(&head->where, config->tls);
	if (head->authority.p && head->host.p &&
	    (http_authority(head->host, &host) || !sv_eq(http_authority_host(&host), r->host) ||
	     port_of(&host, config->tls) != r->port))
		h2_head_refuse(head, 400, ":authority and host disagree");
	if (config->host.n && (!sv_eq(r->host, config->host) || r->port != config->port))
		h2_head_refuse(head, 421, "authority is not what the connection was opened for");
}

/* The path's canonical form and the cookies' one line, the two that are written anew. */
static int alloc_text(struct h2_head *head)
{
	size_t n = head->path.n + http_target_growth(head->path);
	uint32_t i;

	for (i = 0; i < head->n && head->cookies > 1; i++)
		if (sv_is(head->v[i].name, "cookie"))
			n += head->v[i].value.n + 2;
	head->text = malloc(n + 1);
	if (!head->text)
		h2_head_refuse(head, 503, "no memory");
	return head->text ? 0 : -1;
}

static void check_target(struct h2_head *head, const struct h2_config *config, struct http_request *r)
{
	struct http_path path;
	const char *wrong;

	(void)config;
	if (head->path.n + http_target_growth(head->path) > HTTP_MAX_TARGET) {
		h2_head_refuse(head, 414, "target too long");
		return;
	}
	if (alloc_text(head) < 0)
		return;
	if (sv_is(head->path, "*") && sv_is(r->method, "OPTIONS")) {
		r->target = sv_of("*");
		return;
	}
	wrong = http_path(head->path, head->text, &path);
	if (wrong)
		h2_head_refuse(head, 400, wrong);
	else
		r->target = path.text;
	r->ambiguous_path = !wrong && path.ambiguous;
}

/* HTTP/2 lets a client split its cookies into fields; whoever does not know that (HTTP/1.1, a rule) must see one. The
 * text is behind the path's. */
static void join_cookies(struct h2_head *head)
{
	char *start = head->text + head->path.n + http_target_growth(head->path), *at = start;
	struct http_field *first = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < head->n; i++) {
		struct http_field f = head->v[i];

		if (!sv_is(f.name, "cookie")) {
			head->v[n++] = f;
			continue;
		}
		if (!first) {
			first = &head->v[n];
			head->v[n++] = f;
		} else {
			*at++ = ';';
			*at++ = ' ';
		}
		if (f.value.n)
			memcpy(at, f.value.p, f.value.n);
		at += f.value.n;
	}
	if (first)
		first->value = sv_n(start, (size_t)(at - start));
	head->n = n;
}

int h2_head_request(struct h2_head *head, const struct h2_config *config, bool body, struct http_request *ret)
{
	static void (*const checks[])(struct h2_head *, const struct h2_config *, struct http_request *) = {
		check_method, check_scheme, check_authority, check_target};
	struct http_request r = {0};
	size_t i;

	if (head->status.p)
		h2_head_refuse(head, 400, "request with a status");
	for (i = 0; i < ARRAY_LEN(checks) && !head->bad.why; i++)
		checks[i](head, config, &r);
	if (head->bad.why)
		return -1;
	if (head->cookies > 1)
		join_cookies(head);
	r.fields = (struct http_fields){head->v, head->n};
	r.body = body && !r.websocket;
	r.length = r.body ? head->length : 0;
	if (r.body && !http_method_has_body(r.method)) {
		h2_head_refuse(head, 400, http_needless_body);
		return -1;
	}
	r.expect_continue = head->expect_continue;
	*ret = r;
	return 0;
}

static int parse_status(struct sv s, uint16_t *ret)
{
	size_t i;

	if (s.n != 3 || s.p[0] < '1' || s.p[0] > '5')
		return -1;
	*ret = 0;
	for (i = 0; i < 3; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		*ret = (uint16_t)(*ret * 10 + (s.p[i] - '0'));
	}
	return 0;
}

int h2_head_response(struct h2_head *head, bool websocket, bool body, struct http_response *ret)
{
	struct http_response r = {
		.fields = {head->v, head->n}, .reason = sv_of(""), .body = body, .length = head->length};

	if (head->method.p || head->scheme.p || head->authority.p || head->path.p || head->protocol.p)
		h2_head_refuse(head, 502, "response with fields of a request");
	if (!head->bad.why && (parse_status(head->status, &r.status) < 0 || r.status == 101))
		h2_head_refuse(head, 502, "malformed status");
	if (!head->bad.why && r.status < 200 && !body)
		h2_head_refuse(head, 502, "interim response that ends the stream");
	if (head->bad.why)
		return -1;
	if (r.status < 200)
		r.body = false;
	if (websocket && r.status / 100 == 2) {
		r.status = 101;
		r.websocket = true;
		r.body = false;
	}
	*ret = r;
	return 0;
}

int h2_head_trailers(struct h2_head *head, struct http_fields *ret)
{
	uint32_t i, n = 0;

	if (head->method.p || head->scheme.p || head->authority.p || head->path.p || head->protocol.p || head->status.p)
		h2_head_refuse(head, 400, "pseudo-header field behind a body");
	if (head->bad.why)
		return -1;
	for (i = 0; i < head->n; i++)
		if (http_field_may_trail(head->v[i].name))
			head->v[n++] = head->v[i];
	head->n = n;
	*ret = (struct http_fields){head->v, n};
	return 0;
}

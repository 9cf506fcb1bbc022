#include "http/h1_check.h"

#include "base/field_name.h"
#include "http/fields.h"

/* Enough for honest messages; the fields that they name are looked for among all fields. */
enum { CONNECTIONS_MAX = 4, CONNECTION_BYTES = 1024, DIGITS_MAX = 18 };

/* The fields that frame or route, as they were met. */
struct notes {
	struct sv host, length, coding, upgrade, expect, connection[CONNECTIONS_MAX];
	unsigned hosts, lengths, codings, upgrades, expects, connections;
	bool settings;
	bool close;     /* from connection */
	bool upgrading; /* the same */
	bool names;     /* connection names further fields */
	bool disguised; /* a framing field with another sign for a hyphen */
};

/* Takes a field that is not plain. True: it stays among the fields. */
static bool note(struct notes *n, enum http_field_class class, const struct http_field *f)
{
	if (class != FIELD_HOP && field_name_is_odd(f->name)) {
		n->disguised = true;
		return false;
	}
	switch (class) {
	case FIELD_HOST:
		n->host = f->value;
		n->hosts++;
		break;
	case FIELD_LENGTH:
		n->length = f->value;
		n->lengths++;
		break;
	case FIELD_CODING:
		n->coding = f->value;
		n->codings++;
		break;
	case FIELD_CONNECTION:
		if (n->connections < CONNECTIONS_MAX)
			n->connection[n->connections] = f->value;
		n->connections++;
		break;
	case FIELD_UPGRADE:
		n->upgrade = f->value;
		n->upgrades++;
		break;
	case FIELD_SETTINGS:
		n->settings = true;
		break;
	case FIELD_EXPECT:
		n->expect = f->value;
		n->expects++;
		break;
	case FIELD_TE:
		return sv_is(f->value, "trailers");
	case FIELD_HOP:
	case FIELD_PLAIN:
		break;
	}
	return false;
}

/* Moves what is not for the message's reader out of the fields, into notes. */
static void sort_fields(struct http_fields *fields, struct notes *n)
{
	enum http_field_class class;
	uint32_t i, kept = 0;

	for (i = 0; i < fields->n; i++) {
		class = http_field_class(fields->v[i].name);
		if (class == FIELD_PLAIN || note(n, class, &fields->v[i]))
			fields->v[kept++] = fields->v[i];
	}
	fields->n = kept;
}

/* The same letters, whatever their case. */
static bool same_name(struct sv lower_name, struct sv token)
{
	size_t i;

	if (lower_name.n != token.n)
		return false;
	for (i = 0; i < token.n; i++)
		if ((token.p[i] >= 'A' && token.p[i] <= 'Z' ? token.p[i] - 'A' + 'a' : token.p[i]) != lower_name.p[i])
			return false;
	return true;
}

/* A field that no connection option may take away: the message would be another without it. */
static bool is_pillar(struct sv token)
{
	return http_eq_nocase(token, "host") || http_eq_nocase(token, "content-length") ||
	       http_eq_nocase(token, "transfer-encoding") || http_eq_nocase(token, "expect");
}

static int read_connection(struct notes *n, struct h1_fault *fault)
{
	struct sv list, token;
	unsigned i;

	if (n->connections > CONNECTIONS_MAX)
		return h1_refuse(fault, 400, "too many Connection fields");
	for (i = 0; i < n->connections; i++) {
		list = n->connection[i];
		if (list.n > CONNECTION_BYTES)
			return h1_refuse(fault, 400, "Connection field too long");
		while (http_list_next(&list, &token)) {
			if (!http_is_token(token) || is_pillar(token))
				return h1_refuse(fault, 400, "malformed Connection field");
			if (http_eq_nocase(token, "close"))
				n->close = true;
			else if (http_eq_nocase(token, "upgrade"))
				n->upgrading = true;
			else if (!http_eq_nocase(token, "keep-alive") && !http_eq_nocase(token, "te"))
				n->names = true;
		}
	}
	return 0;
}

static bool is_named(const struct notes *n, struct sv name)
{
	struct sv list, token;
	unsigned i;

	for (i = 0; i < n->connections; i++) {
		list = n->connection[i];
		while (http_list_next(&list, &token))
			if (same_name(name, token) && !sv_is(name, "te"))
				return true;
	}
	return false;
}

static void drop_named(struct http_fields *fields, const struct notes *n)
{
	uint32_t i, kept = 0;

	for (i = 0; i < fields->n; i++)
		if (!is_named(n, fields->v[i].name))
			fields->v[kept++] = fields->v[i];
	fields->n = kept;
}

/* Decimal digits, no sign, no list, no leading zero, no overflow. */
static bool parse_length(struct sv s, int64_t *ret)
{
	int64_t v = 0;
	size_t i;

	if (s.n == 0 || s.n > DIGITS_MAX || (s.n > 1 && s.p[0] == '0'))
		return false;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = v;
	return true;
}

static int read_framing(const struct notes *n, bool http10, struct h1_framing *ret, struct h1_fault *fault)
{
	*ret = (struct h1_framing){.keeps = !http10 && !n->close};
	if (n->lengths && n->codings)
		return h1_refuse(fault, 400, "both Content-Length and Transfer-Encoding");
	if (n->lengths > 1)
		return h1_refuse(fault, 400, "more than one Content-Length");
	if (n->lengths && !parse_length(n->length, &ret->length))
		return h1_refuse(fault, 400, "malformed Content-Length");
	if (n->codings > 1)
		return h1_refuse(fault, 400, "more than one Transfer-Encoding");
	if (n->codings && !sv_is(n->coding, "chunked"))
		return h1_refuse(fault, 501, "Transfer-Encoding is not exactly chunked");
	if (n->codings && http10)
		return h1_refuse(fault, 400, "Transfer-Encoding in HTTP/1.0");
	ret->has_length = n->lengths != 0;
	ret->chunked = n->codings != 0;
	return 0;
}

static int read_all(struct http_fields *fields, bool http10, struct notes *n, struct h1_framing *ret,
		    struct h1_fault *fault)
{
	*n = (struct notes){0};
	sort_fields(fields, n);
	if (read_connection(n, fault) < 0 || read_framing(n, http10, ret, fault) < 0)
		return -1;
	if (n->names)
		drop_named(fields, n);
	return 0;
}

static bool same_host(const struct http_authority *a, const struct http_authority *b)
{
	return a->v6 == b->v6 && sv_eq(http_authority_host(a), http_authority_host(b));
}

/* A URL or CONNECT, on a proxy's port. host: from the Host field, where there is one. */
static int route_proxy(const struct http_target *t, bool has_host, struct http_authority *host, struct h1_fault *fault)
{
	bool connect = t->form == HTTP_FORM_AUTHORITY;

	if (t->form != HTTP_FORM_ABSOLUTE && !connect)
		return h1_refuse(fault, 400, "this is a proxy: the target must be a URL");
	if (has_host) {
		/* Some clients name the port in CONNECT alone. */
		if (!host->port)
			host->port = connect ? t->authority.port : t->tls ? 443 : 80;
		if (!same_host(host, &t->authority) || host->port != t->authority.port)
			return h1_refuse(fault, 400, "target and Host differ");
	}
	*host = t->authority;
	return 0;
}

/* A path, on a connection that was made to one server. */
static int route_origin(const struct h1_context *context, const struct http_target *t, struct http_authority *host,
			struct h1_fault *fault)
{
	if (t->form == HTTP_FORM_AUTHORITY)
		return h1_refuse(fault, 405, "CONNECT is for the proxy");
	if (t->form == HTTP_FORM_ABSOLUTE)
		return h1_refuse(fault, 400, "this is no proxy: the target must be a path");
	if (context->host.n && !sv_eq(context->host, http_authority_host(host)))
		return h1_refuse(fault, 421, "Host is not the host of this connection");
	if (context->port && host->port && context->port != host->port)
		return h1_refuse(fault, 421, "Host is not the host of this connection");
	if (!host->port)
		host->port = context->port ? context->port : context->tls ? 443 : 80;
	return 0;
}

static int route(const struct h1_context *context, const struct h1_start *start, char *target, const struct notes *n,
		 struct http_authority *host, struct http_request *ret, struct h1_fault *fault)
{
	struct http_target t;
	const char *wrong;
	int r;

	if (n->hosts > 1)
		return h1_refuse(fault, 400, "more than one Host");
	/* In HTTP/1.0 a proxy's client needs none: the target says it all. */
	if (n->hosts == 0 && !(start->http10 && context->proxy))
		return h1_refuse(fault, 400, "no Host");
	wrong = n->hosts ? http_authority(n->host, host) : NULL;
	if (!wrong)
		wrong = http_target(start->method, start->target, target, &t);
	if (wrong)
		return h1_refuse(fault, 400, wrong);
	r = context->proxy ? route_proxy(&t, n->hosts != 0, host, fault) : route_origin(context, &t, host, fault);
	if (r < 0)
		return r;
	ret->tls = context->proxy ? t.tls : context->tls;
	ret->host = http_authority_host(host);
	ret->port = host->port;
	ret->target = t.path.text;
	ret->ambiguous_path = t.path.ambiguous;
	return 0;
}

/* An offer of HTTP/2 that we may leave alone, as most servers do: Java's client makes it with each request. Such fields
 * are of this connection, and go no further. */
static bool is_left_alone(const struct h1_context *context, const struct notes *n)
{
	return context->server && n->upgrades == 1 && n->upgrading && http_eq_nocase(n->upgrade, "h2c");
}

static int read_upgrade(const struct h1_context *context, const struct h1_start *start, const struct notes *n,
			const struct h1_framing *framing, struct http_request *ret, struct h1_fault *fault)
{
	if (is_left_alone(context, n))
		return 0;
	if (n->settings)
		return h1_refuse(fault, 501, "no upgrade to HTTP/2");
	if (n->upgrades == 0)
		return n->upgrading ? h1_refuse(fault, 400, "upgrade to nothing") : 0;
	if (n->upgrades > 1 || !http_eq_nocase(n->upgrade, "websocket"))
		return h1_refuse(fault, 501, "no upgrade but to websocket");
	if (!n->upgrading || !sv_is(start->method, "GET") || start->http10 || framing->chunked || framing->length)
		return h1_refuse(fault, 400, "malformed upgrade to websocket");
	ret->websocket = true;
	return 0;
}

static int read_expect(const struct h1_start *start, const struct notes *n, struct http_request *ret,
		       struct h1_fault *fault)
{
	if (n->expects > 1 || (n->expects && !http_eq_nocase(n->expect, "100-continue")))
		return h1_refuse(fault, 417, "unknown expectation");
	/* Without a body, or in HTTP/1.0, there is nothing to wait for. */
	ret->expect_continue = n->expects && ret->body && !start->http10;
	return 0;
}

int h1_check_request(const struct h1_context *context, const struct h1_start *start, char *target,
		     struct http_fields *fields, struct http_authority *host, struct http_request *ret,
		     struct h1_framing *ret_framing, struct h1_fault *fault)
{
	bool connect = sv_is(start->method, "CONNECT");
	struct notes n;

	*ret = (struct http_request){.method = start->method};
	if (sv_is(start->method, "TRACE"))
		return h1_refuse(fault, 405, "TRACE is not allowed");
	if (read_all(fields, start->http10, &n, ret_framing, fault) < 0)
		return -1;
	if (n.disguised)
		return h1_refuse(fault, 400, "field name that some servers read as another");
	if (route(context, start, target, &n, host, ret, fault) < 0)
		return -1;
	ret->fields = *fields;
	ret->body = ret_framing->chunked || ret_framing->length > 0;
	ret->length = ret_framing->chunked ? HTTP_LENGTH_UNKNOWN : ret_framing->length;
	if (ret->body && !http_method_has_body(start->method))
		return h1_refuse(fault, 400, http_needless_body);
	if (read_upgrade(context, start, &n, ret_framing, ret, fault) < 0)
		return -1;
	ret_framing->tunnel = connect || ret->websocket;
	return read_expect(start, &n, ret, fault);
}

static bool has_body(const struct h1_start *start, struct h1_asked asked)
{
	if (start->status < 200 || start->status == 204 || start->status == 304 || asked.head)
		return false;
	return !(asked.connect && start->status < 300);
}

/* 101 is believed only where it was asked for. */
static int check_switch(struct h1_asked asked, const struct h1_start *start, const struct notes *n,
			struct h1_fault *fault)
{
	if (!asked.websocket || start->http10 || !n->upgrading || n->upgrades != 1 ||
	    !http_eq_nocase(n->upgrade, "websocket"))
		return h1_refuse(fault, 502, "switch to a protocol that was not asked for");
	return 0;
}

int h1_check_response(struct h1_asked asked, const struct h1_start *start, struct http_fields *fields,
		      struct http_response *ret, struct h1_framing *ret_framing, struct h1_fault *fault)
{
	bool body = has_body(start, asked);
	struct notes n;

	*ret = (struct http_response){.status = start->status, .reason = start->reason};
	if (read_all(fields, start->http10, &n, ret_framing, fault) < 0)
		return -1;
	if (start->status == 101 && check_switch(asked, start, &n, fault) < 0)
		return -1;
	if ((start->status < 200 || start->status == 204) && (ret_framing->chunked || ret_framing->length))
		return h1_refuse(fault, 502, "body where the status allows none");
	ret->websocket = start->status == 101;
	ret->fields = *fields;
	ret_framing->tunnel = ret->websocket || (asked.connect && start->status >= 200 && start->status < 300);
	ret_framing->until_close = body && !ret_framing->chunked && !ret_framing->has_length;
	ret->body = body && (ret_framing->length > 0 || !ret_framing->has_length);
	/* What a tunnel or a message without content declares means nothing. */
	if (ret_framing->has_length && start->status >= 200 && start->status != 204 && !ret_framing->tunnel)
		ret->length = ret_framing->length;
	else
		ret->length = HTTP_LENGTH_UNKNOWN;
	return 0;
}

int h1_check_trailers(const struct http_fields *fields, struct h1_fault *fault)
{
	uint32_t i;

	for (i = 0; i < fields->n; i++)
		if (!http_field_may_trail(fields->v[i].name))
			return h1_refuse(fault, 400, "field that must not come after the body");
	return 0;
}

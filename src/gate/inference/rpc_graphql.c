#include <errno.h>

#include "base/text.h"
#include "gate/inference/body.h"
#include "gate/inference/graphql.h"
#include "gate/inference/rpc.h"
#include "gate/inference/rpc_parts.h"
#include "gate/inference/spelling.h"
#include "policy/net_parameter.h"

static const char hint_request[] = "send one document as the member query of a JSON object";

enum { DOCUMENT_MAX = 1 << 20, PARAMETERS = 32 };

struct field_check {
	const struct net_graphql *rule;
	struct ruling *no;
};

static int check_field(void *ctx, struct sv name)
{
	struct field_check *c = ctx;
	struct text_shown shown;

	if (sv_is(name, "__typename") || rpc_listed(&c->rule->operations, name))
		return 0;
	return ruling_set(c->no, RULING_DENIED, "use an operation that the policy allows",
			  "the operation %s is not allowed", text_show(&shown, name));
}

static int check_operation(const struct net_graphql *rule, struct graphql *g, uint32_t i, struct ruling *no)
{
	struct field_check c = {rule, no};
	const char *type = graphql_type_names[g->d[i].type], *why;
	int e;

	if (!rpc_listed(&rule->types, sv_of(type)))
		return ruling_set(no, RULING_DENIED, "use a type of operation that the policy allows",
				  "the operation type %s is not allowed", type);
	e = graphql_fields(g, i, check_field, &c, &why);
	if (e < -1)
		return ruling_set(no, RULING_MALFORMED, hint_request, "the document %s", why);
	return e;
}

/* The name is there where it is needed, and is one of the document's. */
static int check_name(const struct graphql *g, struct sv name, struct ruling *no)
{
	uint32_t i, operations = 0;
	bool found = name.n == 0;

	for (i = 0; i < g->n_definitions; i++) {
		operations += g->d[i].type != GRAPHQL_FRAGMENT;
		found = found || (g->d[i].type != GRAPHQL_FRAGMENT && sv_eq(g->d[i].name, name));
	}
	if (!found || (operations > 1 && name.n == 0))
		return ruling_set(no, RULING_MALFORMED, "name one of the document's operations",
				  "operationName names no operation of the document");
	return 0;
}

static int judge_document(const struct net_graphql *rule, struct sv text, struct sv name, struct ruling *no)
{
	struct graphql g;
	const char *why;
	uint32_t i;
	int e = graphql_read(&g, text, &why);

	if (e == -ENOMEM)
		return ruling_set(no, RULING_MEMORY, "try again later", "there is no memory to judge the document");
	if (e < 0)
		return ruling_set(no, e == -EFBIG ? RULING_TOO_LARGE : RULING_MALFORMED, hint_request,
				  "the document %s", why);
	e = check_name(&g, name, no);
	for (i = 0; e == 0 && i < g.n_definitions; i++)
		if (g.d[i].type != GRAPHQL_FRAGMENT)
			e = check_operation(rule, &g, i, no);
	graphql_done(&g);
	return e;
}

/* Only what the specification has; a stored document cannot be judged. */
static int check_members(const struct json_scan *s, uint32_t request, struct ruling *no)
{
	static const char *const known[] = {"query", "operationName", "variables", "extensions"};
	static const char *const persisted[] = {"persistedQuery", NULL};
	struct text_shown shown;
	uint32_t i, extensions = json_scan_get(s, request, "extensions");
	size_t k;

	for (i = json_scan_first(s, request); i; i = json_scan_after(s, request, i)) {
		for (k = 0; k < sizeof(known) / sizeof(known[0]) && !sv_is(json_scan_text(s, i), known[k]); k++)
			;
		if (k == sizeof(known) / sizeof(known[0]))
			return ruling_set(no, RULING_DENIED, hint_request, "the member %s cannot be judged",
					  text_show(&shown, json_scan_text(s, i)));
	}
	if (extensions && (json_scan_get(s, extensions, "persistedQuery") || spelling_odd(s, extensions, persisted)))
		return ruling_set(no, RULING_DENIED, "turn persisted queries off",
				  "a persisted query cannot be judged");
	return 0;
}

static int judge_request(const struct net_graphql *rule, const struct json_scan *s, uint32_t request, struct ruling *no)
{
	AUTO_BUF text = {0};
	uint32_t query = json_scan_get(s, request, "query"), name = json_scan_get(s, request, "operationName");
	bool named = name && json_scan_kind(s, name) != SCAN_NULL;

	if (json_scan_kind(s, request) != SCAN_OBJECT)
		return ruling_set(no, RULING_MALFORMED, hint_request, "a request is no object");
	if (check_members(s, request, no) < 0)
		return -1;
	if (!query || json_scan_kind(s, query) != SCAN_STRING || (named && json_scan_kind(s, name) != SCAN_STRING))
		return ruling_set(no, RULING_MALFORMED, hint_request, "query or operationName is no string");
	buf_init(&text, DOCUMENT_MAX);
	json_scan_decode(s, query, &text);
	if (buf_failed(&text) < 0)
		return ruling_set(no, RULING_TOO_LARGE, "send less at a time", "the document is too long");
	return judge_document(rule, buf_view(&text), named ? json_scan_text(s, name) : sv_n("", 0), no);
}

static int judge_json(const struct net_graphql *rule, struct buf *body, struct ruling *no)
{
	AUTO_SCAN s = {0};
	uint32_t i;

	if (body_scan(body, &s, no) < 0)
		return -1;
	if (json_scan_kind(&s, 0) != SCAN_ARRAY)
		return judge_request(rule, &s, 0, no);
	if (!json_scan_first(&s, 0))
		return ruling_set(no, RULING_MALFORMED, hint_request, "the list of requests is empty");
	for (i = json_scan_first(&s, 0); i; i = json_scan_after(&s, 0, i))
		if (judge_request(rule, &s, i, no) < 0)
			return -1;
	return 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* As forms are decoded: "+" is a blank. False where an escape is none. */
static bool decode(struct sv s, struct buf *out)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] != '%') {
			(void)buf_char(out, s.p[i] == '+' ? ' ' : s.p[i]);
			continue;
		}
		if (s.n - i < 3 || hex(s.p[i + 1]) < 0 || hex(s.p[i + 2]) < 0)
			return false;
		(void)buf_char(out, (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2])));
		i += 2;
	}
	return buf_failed(out) == 0;
}

/* The parameters of a URL that GraphQL servers read; IN_ODD: what some of them take for one of the first three. */
enum parameter { IN_QUERY, IN_NAME, IN_VARIABLES, IN_EXTENSIONS, IN_STORED, IN_ODD, IN_OTHER };

/* raw: as it stands in the URL; name: decoded. */
static enum parameter parameter_of(struct sv raw, struct sv name)
{
	static const struct {
		const char *name;
		enum parameter p;
	} names[] = {
		{"query", IN_QUERY},           {"operationName", IN_NAME}, {"variables", IN_VARIABLES},
		{"extensions", IN_EXTENSIONS}, {"id", IN_STORED},          {"documentId", IN_STORED},
		{"doc_id", IN_STORED},         {"queryId", IN_STORED},     {"hash", IN_STORED},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (net_parameter_is(raw, names[i].name))
			return sv_is(name, names[i].name) || names[i].p > IN_VARIABLES ? names[i].p : IN_ODD;
	return IN_OTHER;
}

struct url_request {
	struct buf query, name;
	bool has[IN_OTHER + 1];
};

static int read_parameter(struct sv part, struct url_request *u, struct ruling *no)
{
	const char *eq = memchr(part.p, '=', part.n);
	struct sv name = eq ? sv_n(part.p, (size_t)(eq - part.p)) : part;
	struct sv value = eq ? sv_n(eq + 1, part.n - name.n - 1) : sv_n("", 0);
	AUTO_BUF decoded = {0};
	enum parameter p;
	bool ok;

	buf_init(&decoded, HTTP_MAX_TARGET);
	ok = decode(name, &decoded);
	p = parameter_of(name, buf_view(&decoded));
	if (ok && p == IN_QUERY)
		ok = decode(value, &u->query);
	else if (ok && p == IN_NAME)
		ok = decode(value, &u->name);
	if (!ok || p == IN_ODD || (p != IN_OTHER && u->has[p]))
		return ruling_set(no, RULING_MALFORMED, "send each parameter once, spelled as in the specification",
				  "the URL's query cannot be judged");
	u->has[p] = true;
	return 0;
}

static int read_url(struct sv target, struct url_request *u, struct ruling *no)
{
	const char *q = memchr(target.p, '?', target.n), *end;
	struct sv rest = q ? sv_n(q + 1, (size_t)(target.p + target.n - q - 1)) : sv_n("", 0);
	size_t n;

	/* To some servers ";" is as good as "&". */
	if (memchr(rest.p, ';', rest.n))
		return ruling_set(no, RULING_MALFORMED, "escape it", "the URL's query has a semicolon");
	while (rest.n) {
		end = memchr(rest.p, '&', rest.n);
		n = end ? (size_t)(end - rest.p) : rest.n;
		if (n && read_parameter(sv_n(rest.p, n), u, no) < 0)
			return -1;
		rest = end ? sv_n(end + 1, rest.n - n - 1) : sv_n("", 0);
	}
	return 0;
}

static int judge_url(const struct net_graphql *rule, const struct http_request *req, const struct url_request *u,
		     struct ruling *no)
{
	bool get = sv_is(req->method, "GET");

	if (u->has[IN_STORED] || u->has[IN_EXTENSIONS])
		return ruling_set(no, RULING_DENIED, "send the document itself", "a persisted query cannot be judged");
	if (!get && (u->has[IN_QUERY] || u->has[IN_NAME] || u->has[IN_VARIABLES]))
		return ruling_set(no, RULING_MALFORMED, "send the document in the body",
				  "a POST has a document in its URL");
	if (!get)
		return 0;
	if (!u->has[IN_QUERY])
		return ruling_set(no, RULING_DENIED, "send the document itself", "the request has no document");
	return judge_document(rule, buf_view(&u->query), buf_view(&u->name), no);
}

int rpc_judge_graphql(const struct net_graphql *rule, const struct http_request *req, struct buf *body,
		      struct ruling *no)
{
	static const char *const types[] = {"application/json", "application/graphql", NULL};
	struct url_request u = {0};
	bool get = sv_is(req->method, "GET");
	int e, type;

	if (req->websocket || (!get && !sv_is(req->method, "POST")) || (get && (body->n || req->body)))
		return ruling_set(no, RULING_DENIED, hint_request, "operations cannot be judged in this request");
	buf_init(&u.query, DOCUMENT_MAX);
	buf_init(&u.name, DOCUMENT_MAX);
	e = read_url(req->target, &u, no);
	if (e == 0)
		e = judge_url(rule, req, &u, no);
	buf_done(&u.query);
	buf_done(&u.name);
	if (e < 0 || get)
		return e;
	type = body_type(&req->fields, types, no);
	if (type < 0)
		return -1;
	return type == 0 ? judge_json(rule, body, no) : judge_document(rule, buf_view(body), sv_n("", 0), no);
}

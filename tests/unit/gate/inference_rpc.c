#include "gate/inference/rpc.h"

#include "check.h"

static struct pol_str only_query[] = {{.s = "query"}}, fields[] = {{.s = "viewer"}, {.s = "repo*"}},
		      tools[] = {{.s = "search"}, {.s = "read_*"}},
		      methods[] = {{.s = "initialize"}, {.s = "resources/*"}};
static const struct net_graphql queries = {.types = {only_query, 1, true}}, listed = {.operations = {fields, 2, true}},
				both = {{only_query, 1, true}, {fields, 2, true}};
static const struct net_mcp some_tools = {.tools = {tools, 2, true}}, some_methods = {.methods = {methods, 2, true}},
			    both_mcp = {{tools, 2, true}, {methods, 2, true}};

static struct pol_str endpoint[] = {{.s = "/mcp"}};

static int status(const struct net_graphql *g, const struct net_mcp *m, const char *method, const char *target,
		  const char *type, struct sv text)
{
	struct http_field f = {sv_of("content-type"), sv_of(type ? type : "")};
	struct http_request req = {.method = sv_of(method),
				   .target = sv_of(target),
				   .fields = {&f, type ? 1 : 0},
				   .body = text.n > 0,
				   .length = -1};
	struct ruling no = {0};
	AUTO_BUF body = {0};
	int r;
	struct net_rule rule = {.paths = {endpoint, strcmp(target, "/mcp") == 0, false}};

	if (m)
		rule.mcp = *m;
	buf_init(&body, 1 << 22);
	(void)buf_sv(&body, text);
	r = g ? rpc_judge_graphql(g, &req, &body, &no) : rpc_judge_mcp(&rule, &req, &body, &no);
	CHECK((r == 0) == (no.status == 0));
	return no.status;
}

struct graphql_case {
	const struct net_graphql *rule;
	const char *body;
	int status;
};

#define Q(text) "{\"query\":\"" text "\"}"

static const struct graphql_case posts[] = {
	{&queries, Q("{ viewer { login } }"), 0},
	{&queries, Q("query { a }"), 0},
	{&queries,
	 Q("query A($x: [Int!]! = [1, 2] @d) @e(f: {g: \\\"}\\\"}) { a(x: $x) { b } ...F } fragment F on Query @x { c "
	   "}"),
	 0},
	{&queries,
	 "{\"query\":\"query A { a } query B { b "
	 "}\",\"operationName\":\"B\",\"variables\":{\"query\":\"mutation\"},\"extensions\":{}}",
	 0},
	{&queries, "[{\"query\":\"{a}\"},{\"query\":\"{b}\",\"operationName\":null}]", 0},
	{&queries,
	 Q("# mutation { x }\\n{ a(s: \\\"mutation { x }\\\", t: \\\"\\\"\\\"mutation \\\\\\\"\\\"\\\" { x "
	   "}\\\"\\\"\\\") }"),
	 0},
	{&queries, Q("query mutation { mutation { subscription } }"), 0},
	{&listed, Q("mutation { repoCreate(x: {viewer: 1}) { other } }"), 0},
	{&both,
	 Q("{ other: viewer { x } repository { y } __typename ...F ... on Query { repo } ... @include(if: true) { "
	   "viewer } } fragment F on Query { ...G } fragment G on Query { viewer { z } }"),
	 0},

	{&queries, Q("mutation { deleteAll }"), 403},
	{&queries, Q("subscription { s }"), 403},
	{&queries, Q("mut\\u0061tion { deleteAll }"), 403},
	{&queries, Q("\\n,,# x\\r mutation M { deleteAll }"), 403},
	{&queries, Q("query viewer { a } mutation B { b }"), 400}, /* several, and none named */
	{&queries, "{\"query\":\"query A { a } mutation B { b }\",\"operationName\":\"A\"}", 403},
	{&queries, "{\"query\":\"query A { a } mutation B { b }\",\"operationName\":\"B\"}", 403},
	{&queries, "[{\"query\":\"{a}\"},{\"query\":\"mutation{b}\"}]", 403},
	{&queries, Q("{ a } # \xe2\x80\xa8 mutation { b }"), 400},
	{&queries, Q("{ a(s: \\\"\\\\\\\") }\\nmutation { b } #\\\") }"), 400},
	{&queries, Q("{ a(s: \\\"\\\"\\\" \\\"\\\") } mutation { b }"), 400},
	{&queries, "{\"query\":\"{a}\",\"query\":\"mutation{b}\"}", 400},
	{&queries, "{\"query\":\"{a}\",\"\\u0071uery\":\"mutation{b}\"}", 400},
	{&queries, "{\"query\":\"{a}\",\"Query\":\"mutation{b}\"}", 403},
	{&queries, "{\"query\":\"{a}\",\"id\":\"stored\"}", 403},
	{&queries, "{\"extensions\":{\"persistedQuery\":{\"version\":1,\"sha256Hash\":\"x\"}}}", 403},
	{&queries, "{\"query\":\"{a}\",\"extensions\":{\"PersistedQuery\":{}}}", 403},
	{&queries, "{\"query\":\"{a}\",\"operationName\":\"B\"}", 400},
	{&queries, "{\"query\":\"{a}\",\"operationName\":[\"B\"]}", 400},
	{&queries, "{\"query\":[\"{a}\"]}", 400},
	{&queries, "{}", 400},
	{&queries, "[]", 400},
	{&queries, "[[{\"query\":\"{a}\"}]]", 400},
	{&queries, "\"{a}\"", 400},
	{&queries, Q(""), 400},
	{&queries, Q("{}"), 400},
	{&queries, Q("{ a "), 400},
	{&queries, Q("{ a } }"), 400},
	{&queries, Q("{ a( ] }"), 400},
	{&queries, Q("fragment F on Q { a }"), 400},
	{&queries, Q("type T { a: Int }"), 400},
	{&queries, Q("extend type T { a: Int } { a }"), 400},
	{&queries, Q("Mutation { a }"), 400},
	{&queries, Q("{ a } { b }"), 400},
	{&queries, Q("query A { a } query A { b }"), 400},
	{&queries, Q("\xef\xbb\xbf{ a }"), 400},
	{&queries, Q("{ \xc3\xa9 }"), 400},
	{&queries, Q("{ a(s: \\\"\\u0000\\\") }"), 400},
	{&queries, Q("{ ...F }"), 400},
	{&queries, Q("{ ...F } fragment F on Q { ...F }"), 400},
	{&queries, Q("{ ...F } fragment F on Q { ...G } fragment G on Q { ...F }"), 400},
	{&queries, Q("{ ...F } fragment F on Q { a } fragment F on Q { b }"), 400},

	{&listed, Q("{ other }"), 403},
	{&listed, Q("query viewer { viewer: other }"), 403},
	{&listed, Q("{ viewer other }"), 403},
	{&listed, Q("{ viewer(a: 1) @x { b } , other }"), 403},
	{&listed, Q("{ viewer ...F } fragment F on Query { ... on Query { x: other } }"), 403},
	{&listed, Q("{ ... { other } }"), 403},
	{&listed, Q("{ Viewer }"), 403},
	{&listed, Q("{ __schema { types { name } } }"), 403},
	{&both, Q("mutation { viewer }"), 403},
};

static void documents_are_held_to_types_and_operations(void)
{
	size_t i;

	for (i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
		int got = status(posts[i].rule, NULL, "POST", "/graphql", "application/json", sv_of(posts[i].body));

		if (got != posts[i].status)
			printf("# %s: %d\n", posts[i].body, got);
		CHECK(got == posts[i].status);
	}
}

static void a_document_in_the_url_is_judged_too(void)
{
	static const struct {
		const char *method, *target, *type, *body;
		int status;
	} cases[] = {
		{"GET", "/graphql?query=%7Ba%7D&variables=%7B%7D", NULL, "", 0},
		{"GET", "/graphql?query={a+b}&other=1", NULL, "", 0},
		{"GET", "/graphql?operationName=A&query=query+A{a}", NULL, "", 0},
		{"GET", "/graphql?query=mutation%20{a}", NULL, "", 403},
		{"GET", "/graphql?query=%6dutation%20{a}", NULL, "", 403},
		{"GET", "/graphql?%71uery=mutation{a}", NULL, "", 403},
		{"GET", "/graphql?query={a}&query=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&%71uery=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&Query=mutation{a}", NULL, "", 400},
		/* what PHP, Rack, qs or ASP.NET take for the same name, or for a part of it */
		{"GET", "/graphql?query={a}&+query=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&%20query=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&%09query=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&[query]=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&query]=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&%5Bquery=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&[[]query]]=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&query[]=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&query%5B0%5D=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&query.=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&query%00=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}&%u0071uery=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?[query]=mutation{a}&query={a}", NULL, "", 400},
		{"GET", "/graphql?[query]={a}", NULL, "", 400},
		{"GET", "/graphql?query=query+A{a}&operationName=A&[operationName]=B", NULL, "", 400},
		{"GET", "/graphql?query={a}&+variables={}", NULL, "", 400},
		{"GET", "/graphql?query={a}&[extensions]={}", NULL, "", 403},
		{"GET", "/graphql?query={a}&doc.id=1", NULL, "", 403},
		{"GET", "/graphql?query={a}&doc[id=1", NULL, "", 403},
		{"GET", "/graphql?query={a}&subquery=1&querying=2&filter[query]=3&video=4", NULL, "", 0},
		{"POST", "/graphql?[query]=mutation{b}", "application/json", "{\"query\":\"{a}\"}", 400},
		{"GET", "/graphql?query={a};query=mutation{a}", NULL, "", 400},
		{"GET", "/graphql?query={a}%", NULL, "", 400},
		{"GET", "/graphql?query={a}&extensions={}", NULL, "", 403},
		{"GET", "/graphql?documentId=1", NULL, "", 403},
		{"GET", "/graphql", NULL, "", 403},
		{"GET", "/graphql?query={a}", "application/json", "{\"query\":\"mutation{b}\"}", 403},
		{"POST", "/graphql?query=mutation{b}", "application/json", "{\"query\":\"{a}\"}", 400},
		{"POST", "/graphql?operationName=B", "application/json", "{\"query\":\"{a}\"}", 400},
		{"POST", "/graphql?token=1", "application/json", "{\"query\":\"{a}\"}", 0},
		{"POST", "/graphql", "application/graphql", "{ a }", 0},
		{"POST", "/graphql", "application/graphql", "mutation { a }", 403},
		{"POST", "/graphql", "application/graphql", "{ a(s: \"\xc0\xa2) } mutation { b } #\") }", 400},
		{"POST", "/graphql", "application/x-www-form-urlencoded", "query=mutation{a}", 415},
		{"POST", "/graphql", "multipart/form-data; boundary=x", "--x", 415},
		{"POST", "/graphql", "application/json", "", 400},
		{"PUT", "/graphql", "application/json", "{\"query\":\"{a}\"}", 403},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int got = status(&queries, NULL, cases[i].method, cases[i].target, cases[i].type, sv_of(cases[i].body));

		if (got != cases[i].status)
			printf("# %s %s %s: %d\n", cases[i].method, cases[i].target, cases[i].body, got);
		CHECK(got == cases[i].status);
	}
}

static void documents_that_unfold_without_end_are_no_trouble(void)
{
	AUTO_BUF b = {0};
	int i;

	buf_init(&b, 1 << 20);
	(void)buf_str(&b, "{ ...F0 ...F0 }");
	for (i = 0; i < 100; i++)
		(void)buf_printf(&b, " fragment F%d on Q { ...F%d ...F%d }", i, i + 1, i + 1);
	(void)buf_printf(&b, " fragment F%d on Q { viewer }", i);
	CHECK(status(&listed, NULL, "POST", "/g", "application/graphql", buf_view(&b)) == 0);
	buf_clear(&b);
	for (i = 0; i < 1000; i++)
		(void)buf_str(&b, "{ ... ");
	CHECK(status(&listed, NULL, "POST", "/g", "application/graphql", buf_view(&b)) == 413);
	buf_clear(&b);
	for (i = 0; i < 200000; i++)
		(void)buf_str(&b, "a ");
	CHECK(status(&listed, NULL, "POST", "/g", "application/graphql", buf_view(&b)) == 413);
}

#define CALL(tool)                                                                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool                         \
	"\",\"arguments\":{\"name\":\"x\",\"Name\":1}}}"
#define METHOD(m) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" m "\"}"

static void a_session_is_opened_and_ended_only_where_the_rule_names_its_endpoint(void)
{
	CHECK(status(NULL, &some_tools, "GET", "/mcp", NULL, sv_of("")) == 0);
	CHECK(status(NULL, &some_tools, "DELETE", "/mcp", NULL, sv_of("")) == 0);
	CHECK(status(NULL, &some_tools, "GET", "/admin", NULL, sv_of("")) == 403);
	CHECK(status(NULL, &some_tools, "DELETE", "/admin", NULL, sv_of("")) == 403);
}

static void messages_are_held_to_methods_and_tools(void)
{
	static const struct {
		const struct net_mcp *rule;
		const char *body;
		int status;
	} cases[] = {
		{&some_tools, CALL("search"), 0},
		{&some_tools, CALL("read_file"), 0},
		{&some_tools, METHOD("initialize"), 0},
		{&some_tools, METHOD("notifications/initialized"), 0},
		{&some_tools, METHOD("tools/list"), 0},
		{&some_tools, "[" CALL("search") "," METHOD("ping") "]", 0},
		{&some_tools, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0},
		{&some_methods, METHOD("resources/read"), 0},
		{&both_mcp, CALL("search"), 0},
		{&both_mcp, METHOD("resources/read"), 0},
		{&some_tools, CALL("delete"), 403},
		{&some_tools, CALL("Search"), 403},
		{&some_tools, CALL("search2"), 403},
		{&some_tools, METHOD("resources/read"), 403},
		{&some_tools, METHOD("Tools/call"), 403},
		{&some_tools, "[" CALL("search") "," CALL("delete") "]", 403},
		{&some_tools, "{\"method\":\"tools\\/call\",\"params\":{\"name\":\"delete\"}}", 403},
		{&some_tools, "{\"m\\u0065thod\":\"tools/call\",\"params\":{\"n\\u0061me\":\"delete\"}}", 403},
		{&some_methods, CALL("search"), 403},
		{&some_methods, METHOD("tools/list"), 403},
		{&both_mcp, METHOD("ping"), 403},
		{&both_mcp, CALL("delete"), 403},
		{&some_tools, "{\"method\":\"ping\",\"method\":\"tools/call\"}", 400},
		{&some_tools, "{\"method\":\"tools/call\",\"params\":{\"name\":\"search\",\"name\":\"delete\"}}", 400},
		{&some_tools, "{\"method\":\"tools/call\",\"params\":{\"name\":\"search\",\"Name\":\"delete\"}}", 400},
		{&some_tools, "{\"method\":\"ping\",\"Method\":\"tools/call\"}", 400},
		{&some_tools, "{\"method\":\"tools/call\",\"params\":{\"name\":\"search\"},\"param\xc5\xbf\":{}}", 400},
		{&some_tools, "{\"method\":\"tools/call\",\"params\":[\"search\"]}", 400},
		{&some_tools, "{\"method\":\"tools/call\"}", 400},
		{&some_tools, "{\"method\":\"tools/call\",\"params\":{\"name\":\"search\\u0000\"}}", 400},
		{&some_tools, "{\"method\":[\"ping\"]}", 400},
		{&some_tools, "{\"id\":1}", 400},
		{&some_tools, "[]", 400},
		{&some_tools, "[[" METHOD("ping") "]]", 400},
		{&some_tools, "3", 400},
		{&some_tools, METHOD("ping") METHOD("ping"), 400},
		{&some_tools, "", 400},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int got = status(NULL, cases[i].rule, "POST", "/mcp", "application/json", sv_of(cases[i].body));

		if (got != cases[i].status)
			printf("# %s: %d\n", cases[i].body, got);
		CHECK(got == cases[i].status);
	}
	CHECK(status(NULL, &some_tools, "DELETE", "/mcp", "application/json", sv_of(CALL("search"))) == 403);
	CHECK(status(NULL, &some_tools, "GET", "/mcp", NULL, sv_of(CALL("delete"))) == 403);
	CHECK(status(NULL, &some_tools, "PUT", "/mcp", NULL, sv_of(CALL("search"))) == 403);
	CHECK(status(NULL, &some_tools, "POST", "/mcp", "text/plain", sv_of(CALL("search"))) == 415);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(documents_are_held_to_types_and_operations),
		CASE(a_document_in_the_url_is_judged_too),
		CASE(documents_that_unfold_without_end_are_no_trouble),
		CASE(a_session_is_opened_and_ended_only_where_the_rule_names_its_endpoint),
		CASE(messages_are_held_to_methods_and_tools),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

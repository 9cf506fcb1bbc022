#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "net_world.h"
#include "policy/net_form.h"

static bool ask(const struct world *w, const char *host, uint16_t port, const char *method, const char *target)
{
	struct net_request request = get(host, port, method, target);
	struct net_verdict v;

	net_rules_request(w->rules, &request, &v);
	return v.allow;
}

/* The way of a connection, or -1. */
static int way(const struct world *w, const char *host, uint16_t port)
{
	struct net_verdict v;

	net_rules_name(w->rules, sv_of(host), port, &v);
	return v.allow ? (int)v.way : -1;
}

static bool dials(const struct world *w, const char *address, const char *host, uint16_t port, const char *method,
		  bool fixed)
{
	struct net_request request = {
		.host = sv_of(host), .port = port, .method = method ? sv_of(method) : sv_n(NULL, 0)};
	struct net_verdict v;
	struct address a;

	request.target = method ? sv_of("/") : sv_n(NULL, 0);
	CHECK(address_parse(sv_of(address), &a));
	net_rules_address(w->rules, &a, &request, fixed, &v);
	return v.allow;
}

static void a_connection_is_carried_as_its_rules_need(void)
{
	struct world w = make("network:\n"
			      "  mode: allowlist\n"
			      "  allow:\n"
			      "    - {host: plain.example}\n"
			      "    - {host: get.example, methods: [GET]}\n"
			      "    - {host: path.example, paths: [\"/a/**\"]}\n"
			      "    - {host: key.example, credential: k}\n"
			      "    - {host: slow.example, rate: 1/s}\n"
			      "    - {host: gql.example, graphql: {types: [query]}}\n"
			      "    - {host: mcp.example, mcp: {tools: [x]}}\n"
			      "    - {host: db.example, ports: [5432, 443]}\n"
			      "    - {host: mix.example}\n"
			      "    - {host: \"*.example\", ports: [443], methods: [GET]}\n"
			      "    - {host: odd.test}\n"
			      "  deny: [{host: odd.test, ports: [443], methods: [DELETE]}, {host: gone.example}]\n");

	CHECK(way(&w, "plain.example", 80) == NET_TUNNEL);
	/* The wildcard's rule is for it as well, on its port. */
	CHECK(way(&w, "plain.example", 443) == NET_INSPECT && way(&w, "mix.example", 443) == NET_INSPECT);
	CHECK(way(&w, "get.example", 80) == NET_INSPECT && way(&w, "path.example", 80) == NET_INSPECT);
	CHECK(way(&w, "key.example", 80) == NET_INSPECT && way(&w, "slow.example", 80) == NET_INSPECT);
	CHECK(way(&w, "gql.example", 80) == NET_INSPECT && way(&w, "mcp.example", 80) == NET_INSPECT);
	CHECK(way(&w, "db.example", 5432) == NET_RAW && way(&w, "db.example", 22) == -1);
	/* A denial of some methods is passed by in a tunnel. */
	CHECK(way(&w, "odd.test", 443) == NET_INSPECT && way(&w, "odd.test", 80) == NET_TUNNEL);
	CHECK(way(&w, "gone.example", 443) == -1 && way(&w, "other.test", 443) == -1);
	unmake(&w);
}

static void a_host_that_gets_a_credential_is_looked_into_on_other_ports_too(void)
{
	struct world w =
		make("network: {mode: public, allow: [{host: api.test, credential: k}, {host: \"*.key.test\", ports: "
		     "[8443], credential: k}, {host: api.test, ports: [22]}, {host: 8.8.8.8, credential: k}]}");

	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "api.test", 8443) == NET_INSPECT &&
	      way(&w, "API.test.", 9000) == NET_INSPECT);
	CHECK(way(&w, "a.key.test", 443) == NET_INSPECT && way(&w, "a.key.test", 80) == NET_INSPECT &&
	      way(&w, "a.key.test", 25) == NET_INSPECT);
	CHECK(way(&w, "8.8.8.8", 53) == NET_INSPECT && way(&w, "8.8.4.4", 53) == NET_RAW &&
	      way(&w, "key.test", 443) == NET_TUNNEL && way(&w, "other.test", 8443) == NET_RAW);
	/* Who names the port means it. */
	CHECK(way(&w, "api.test", 22) == NET_RAW);
	unmake(&w);
	w = make("network: {mode: allowlist, allow: [{host: api.test, ports: [8443], credential: k}, {host: api.test}, "
		 "{host: api.test, ports: [22]}]}");
	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "api.test", 80) == NET_INSPECT &&
	      way(&w, "api.test", 22) == NET_RAW && way(&w, "api.test", 8444) == -1);
	unmake(&w);
}

static void the_host_of_a_provider_that_gets_a_credential_is_looked_into(void)
{
	struct world w = make("inference: {providers: {v: {kind: openai, url: \"https://api.test:8000/v1\", "
			      "credential: k}, free: {kind: openai, url: \"https://free.test\"}, second: {kind: "
			      "openai, url: \"http://93.184.216.34/v1\", credential: m}}}\n"
			      "network: {mode: allowlist, allow: [{host: api.test}, {host: api.test, ports: [22, "
			      "8000]}, {host: \"*.test\"}, {cidr: \"93.184.216.0/24\"}, {cidr: \"64:ff9b::/96\"}]}");

	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "API.test.", 80) == NET_INSPECT &&
	      way(&w, "free.test", 443) == NET_TUNNEL && way(&w, "b.api.test", 443) == NET_TUNNEL);
	/* who names a port means it, but the provider's own is no other protocol's */
	CHECK(way(&w, "api.test", 22) == NET_RAW && way(&w, "api.test", 8000) == NET_INSPECT);
	CHECK(way(&w, "93.184.216.34", 443) == NET_INSPECT && way(&w, "::ffff:93.184.216.34", 443) == NET_INSPECT &&
	      way(&w, "64:ff9b::5db8:d822", 443) == NET_INSPECT && way(&w, "93.184.216.35", 443) == NET_TUNNEL);
	CHECK(net_rules_adds(w.rules, sv_of("api.test"), sv_of("k")) &&
	      !net_rules_adds(w.rules, sv_of("api.test"), sv_of("m")) &&
	      !net_rules_adds(w.rules, sv_of("free.test"), sv_of("k")));
	unmake(&w);
	w = make("inference: {providers: {v: {kind: openai, url: \"https://api.test/v1\", credential: k}}}\n"
		 "network: {mode: public, allow: [{host: \"*.test\", ports: [443]}]}");
	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "api.test", 80) < 0 &&
	      way(&w, "b.test", 443) == NET_TUNNEL);
	unmake(&w);
}

/* Another policy in the place of one, which goes. */
static struct world after(struct world *before, const char *text)
{
	struct world w = make(text);

	net_rules_free(w.rules);
	w.rules = net_rules_after(before->rules, w.p);
	if (!w.rules)
		abort();
	unmake(before);
	return w;
}

static void a_host_that_got_a_credential_stays_looked_into(void)
{
	static const char plain[] =
		"network: {mode: allowlist, allow: [{host: \"*.test\"}, {host: api.test, ports: [22, 443, 8443]}, "
		"{host: m.api.test, ports: [8000]}, {cidr: \"93.184.216.0/24\"}]}";
	struct world w = make("network: {mode: allowlist, allow: [{host: api.test, credential: k}, {host: api.test, "
			      "ports: [22]}, {host: \"*.key.test\", ports: [8443], credential: k}]}\n"
			      "inference: {providers: {v: {kind: openai, url: \"https://m.api.test:8000/v1\", "
			      "credential: k}, w: {kind: openai, url: \"http://93.184.216.34/v1\", credential: k}, "
			      "free: {kind: openai, url: \"https://free.test\"}}}");
	int again;

	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "api.test", 22) == NET_RAW);
	w = after(&w, plain);
	for (again = 0; again < 3; again++) {
		CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "API.test.", 80) == NET_INSPECT &&
		      way(&w, "api.test", 8443) == NET_INSPECT && way(&w, "api.test", 22) == NET_INSPECT);
		CHECK(way(&w, "a.key.test", 443) == NET_INSPECT && way(&w, "key.test", 443) == NET_TUNNEL &&
		      way(&w, "other.test", 443) == NET_TUNNEL);
		CHECK(way(&w, "m.api.test", 443) == NET_INSPECT && way(&w, "m.api.test", 8000) == NET_INSPECT &&
		      way(&w, "free.test", 443) == NET_TUNNEL);
		CHECK(way(&w, "93.184.216.34", 443) == NET_INSPECT &&
		      way(&w, "::ffff:93.184.216.34", 80) == NET_INSPECT &&
		      way(&w, "93.184.216.35", 443) == NET_TUNNEL);
		/* over a policy that has nothing of all that */
		w = after(&w, "network: {mode: none}");
		CHECK(way(&w, "api.test", 443) == -1);
		w = after(&w, plain);
	}
	/* where it gets one again, it is as if it had never been without */
	w = after(
		&w,
		"network: {mode: allowlist, allow: [{host: api.test, credential: k}, {host: api.test, ports: [22]}]}");
	CHECK(way(&w, "api.test", 443) == NET_INSPECT && way(&w, "api.test", 22) == NET_RAW);
	w = after(&w, "network: {mode: public}");
	CHECK(way(&w, "api.test", 9000) == NET_INSPECT && way(&w, "93.184.216.34", 9000) == NET_INSPECT &&
	      way(&w, "other.test", 9000) == NET_RAW);
	unmake(&w);
}

/* A reload gives the host another credential, or the same one elsewhere. */
static void a_port_that_a_credential_went_to_stays_looked_into(void)
{
#define RULES(list)        "network: {mode: allowlist, allow: [" list "]}\n"
#define AT(ports)          "{host: api.test, ports: [" ports "]}"
#define KEYED(ports, name) "{host: api.test, ports: [" ports "], credential: " name "}"
#define PROVIDER(port, name)                                                                                           \
	"inference: {providers: {v: {kind: openai, url: \"https://api.test:" port "/v1\", credential: " name "}}}\n"
	static const struct {
		const char *first, *second;
		bool all; /* not 8443 alone, but 22 as well */
	} cases[] = {
		{RULES(KEYED("8443", "a") ", " AT("22")), RULES(KEYED("443", "b") ", " AT("8443, 22")), true},
		{RULES(KEYED("8443", "a") ", " AT("22")), RULES(KEYED("443", "a") ", " AT("8443, 22")), false},
		{RULES(KEYED("8443", "a") ", " KEYED("443", "b")), RULES(KEYED("443", "b") ", " AT("8443, 22")), true},
		{RULES(AT("22")) PROVIDER("8443", "a"), RULES(KEYED("443", "b") ", " AT("8443, 22")), true},
		{RULES(AT("22")) PROVIDER("8443", "a"), RULES(KEYED("443", "a") ", " AT("8443, 22")), false},
		{RULES(KEYED("8443", "a")), RULES(AT("8443, 22")) PROVIDER("443", "b"), true},
		{RULES("{host: \"*.test\", ports: [8443], credential: a}"),
		 RULES(KEYED("443", "b") ", " AT("8443, 22")), true},
	};
	struct world w;
	size_t i;
	int again;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w = make(cases[i].first);
		for (again = 0; again < 3; again++) {
			w = after(&w, cases[i].second);
			CHECK(way(&w, "api.test", 8443) == NET_INSPECT);
			CHECK(way(&w, "api.test", 22) == (cases[i].all ? NET_INSPECT : NET_RAW));
		}
		unmake(&w);
	}
	/* what did not change stays as it was */
	w = make(RULES(KEYED("443", "a") ", " AT("8443")));
	w = after(&w, RULES(KEYED("443", "a") ", " KEYED("80", "b") ", " AT("8443")));
	CHECK(way(&w, "api.test", 8443) == NET_RAW && way(&w, "api.test", 443) == NET_INSPECT);
	unmake(&w);
#undef RULES
#undef AT
#undef KEYED
#undef PROVIDER
}

static void names_match_whole_labels_in_any_case(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: a.example}, {host: \"*.b.example\"}]}");

	CHECK(way(&w, "A.Example", 443) >= 0 && way(&w, "a.example.", 443) >= 0);
	CHECK(way(&w, "x.b.example", 443) >= 0 && way(&w, "y.x.B.EXAMPLE.", 443) >= 0);
	CHECK(way(&w, "b.example", 443) < 0 && way(&w, "xb.example", 443) < 0 && way(&w, ".b.example", 443) < 0);
	CHECK(way(&w, "x.a.example", 443) < 0 && way(&w, "a.example.evil.test", 443) < 0 &&
	      way(&w, "a.example..", 443) < 0);
	CHECK(way(&w, "evil.test\0.b.example", 443) < 0 && way(&w, "", 443) < 0 && way(&w, "*.b.example", 443) < 0);
	CHECK(way(&w, "x..b.example", 443) < 0 && way(&w, "x b.example", 443) < 0 && way(&w, "-.b.example", 443) >= 0);
	unmake(&w);
}

static void another_method_is_not_asked_for_where_methods_are_restricted(void)
{
	static const char *const overriding[] = {
		"/?_method=PUT",        "/?a=b&_method=PUT",   "/?a;_method=x",        "/?%5Fmethod=x",
		"/?%5fmeth%6fd=x",      "/?_METHOD=x",         "/?+_method=x",         "/?.method=x",
		"/?%20_method",         "/?_method[]=x",       "/?_method%00=x",       "/?X-HTTP-Method-Override=PUT",
		"/?%2Emethod=x",        "/?[method=x",         "/?_HttpMethod=DELETE", "/?%24httpMethod=DELETE",
		"/?$httpMethod=DELETE", "/?a=b&.HTTPmethod=x", "/?X-REST-Method=x",    "/?[_method]=x",
		"/?_method]=x",         "/?a=b&%5b_method=x",  "/?%5B%5D_method%5D=x", "/?_http[method=x",
		"/?%u005fmethod=x",     "/?a=b& _method=x",    "/?[_method",           "/?X.HTTP.Method.Override=PUT"};
	static const char *const fine[] = {
		"/_method",       "/?a=_method",   "/?method=x",   "/?x_method=y",  "/?", "/?&&", "/?=_method",
		"/?a[_method]=x", "/?_methods]=x", "/?__method=x", "/?_method_id=1"};
	struct world w = make("network: {mode: allowlist, allow: [{host: m.test, methods: [GET, POST]}, {host: "
			      "d.test}, {host: o.test}],\n"
			      "  deny: [{host: d.test, methods: [DELETE]}]}");
	struct net_request request = get("m.test", 443, "POST", "/");
	struct net_verdict v;
	size_t i;

	for (i = 0; i < sizeof(overriding) / sizeof(overriding[0]); i++)
		if (ask(&w, "m.test", 443, "POST", overriding[i]) || ask(&w, "d.test", 443, "POST", overriding[i]) ||
		    !ask(&w, "o.test", 443, "POST", overriding[i])) {
			printf("# %s\n", overriding[i]);
			CHECK(false);
		}
	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		if (!ask(&w, "m.test", 443, "POST", fine[i]) || !ask(&w, "d.test", 443, "POST", fine[i])) {
			printf("# %s\n", fine[i]);
			CHECK(false);
		}
	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow);
	request.asks.override = true;
	net_rules_request(w.rules, &request, &v);
	CHECK(!v.allow && v.why == WHY_NEARLY);
	CHECK(net_field_overrides(sv_of("x_http_method_override")) &&
	      net_field_overrides(sv_of("x-http_method-override")) && net_field_overrides(sv_of("x_method_override")) &&
	      !net_field_overrides(sv_of("x-http-method-overrid")) &&
	      !net_field_overrides(sv_of("x-http-method-override-")));
	CHECK(net_field_overrides(sv_of("x-http-method")) && net_field_overrides(sv_of("x-method-override")) &&
	      net_field_overrides(sv_of("x-http-method-override")) && !net_field_overrides(sv_of("x-method")));
	CHECK(net_field_rewrites(sv_of("destination")) && net_field_rewrites(sv_of("request-uri")) &&
	      !net_field_rewrites(sv_of("dest")) && !net_field_rewrites(sv_of("range")));
	CHECK(net_field_rewrites(sv_of("script_name")) && net_field_rewrites(sv_of("path-info")) &&
	      net_field_rewrites(sv_of("url")) && net_field_rewrites(sv_of("x-matched-path")) &&
	      !net_field_rewrites(sv_of("user-agent")) && !net_field_rewrites(sv_of("pragma")));
	CHECK(net_field_rewrites(sv_of("x-original-url")) && net_field_rewrites(sv_of("x_rewrite_url")) &&
	      net_field_rewrites(sv_of("x-forwarded-uri")) && net_field_rewrites(sv_of("x-forwarded-prefix")) &&
	      !net_field_rewrites(sv_of("x-forwarded-for")) && !net_field_rewrites(sv_of("")));
	CHECK(net_field_overrides(sv_of("x-http-verb-override")) && net_field_overrides(sv_of("x_rest_method")) &&
	      net_field_overrides(sv_of("x-requested-http-method")) && net_field_overrides(sv_of("x-http-override")) &&
	      net_field_overrides(sv_of("x-override-method")));
	CHECK(net_field_overrides(sv_of("x.http.method.override")) &&
	      net_field_overrides(sv_of("x~http'method!override")) && net_field_rewrites(sv_of("x.original.url")) &&
	      net_field_rewrites(sv_of("x^amz|copy*source")) && !net_field_overrides(sv_of("x.http.method.override.")));
	/* What allows is exact, what denies is not. */
	CHECK(!ask(&w, "m.test", 443, "get", "/") && !ask(&w, "d.test", 443, "delete", "/") &&
	      !ask(&w, "o.test", 443, "TRACE", "/"));
	unmake(&w);
}

static void another_host_is_not_asked_for_where_a_rule_says_more_than_who_and_where(void)
{
	static const char *const fields[][2] = {{"x-forwarded-host", "b"},
						{"x_forwarded_host", "b"},
						{"x-forwarded-server", "b"},
						{"x-host", "b"},
						{"x-http-host-override", ""},
						{"x.host", "b"},
						{"forwarded", "host=b"},
						{"forwarded", "for=a;proto=http;HOST=b"},
						{"forwarded", "for=a, for=c;host \t=\"b\""}};
	static const char *const fine[][2] = {{"host", "b"},
					      {"x-forwarded-for", "host=b"},
					      {"x-forwarded-proto", "http"},
					      {"forwarded", "for=host"},
					      {"forwarded", "host"},
					      {"forwarded", ""},
					      {"forwarded", "for=\"_gazonk\""},
					      {"via", "host=b"}};
	static const char *const hosts[] = {"m.test", "p.test", "k.test", "g.test", "o.test", "r.test"};
	const size_t n_minding = 4;
	struct world w =
		make("network: {mode: allowlist, allow: [{host: m.test, methods: [POST]}, {host: p.test, paths: [/]}, "
		     "{host: k.test, credential: k}, {host: g.test, graphql: {types: [query]}}, {host: o.test}, "
		     "{host: r.test, rate: 9/s}]}");
	struct net_request request;
	struct net_verdict v;
	struct reason why;
	size_t i;

	for (i = 0; i < ARRAY_LEN(fields); i++)
		CHECK(net_field_rehosts(sv_of(fields[i][0]), sv_of(fields[i][1])));
	for (i = 0; i < ARRAY_LEN(fine); i++)
		CHECK(!net_field_rehosts(sv_of(fine[i][0]), sv_of(fine[i][1])));
	for (i = 0; i < ARRAY_LEN(hosts); i++) {
		request = get(hosts[i], 443, "POST", "/");
		net_rules_request(w.rules, &request, &v);
		CHECK(v.allow);
		request.asks.rehost = true;
		net_rules_request(w.rules, &request, &v);
		CHECK(v.allow == (i >= n_minding));
		net_rules_reason(w.rules, &request, NULL, &v, &why);
		CHECK(v.allow || (v.why == WHY_NEARLY && strstr(why.text, "another host in a field")));
	}
	unmake(&w);
}

static void another_method_is_not_asked_for_where_bodies_are_judged_by_theirs(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: m.test, paths: [/mcp], mcp: {tools: [x]}}, "
			      "{host: g.test, graphql: {types: [query]}}]}");
	static const char *const hosts[] = {"m.test", "g.test"};
	struct net_request request;
	struct net_verdict v;
	struct reason why;
	size_t i;

	for (i = 0; i < 2; i++) {
		CHECK(ask(&w, hosts[i], 443, "POST", "/mcp") && ask(&w, hosts[i], 443, "GET", "/mcp"));
		CHECK(!ask(&w, hosts[i], 443, "POST", "/mcp?_method=DELETE") &&
		      !ask(&w, hosts[i], 443, "GET", "/mcp?[_method]=DELETE"));
		request = get(hosts[i], 443, "POST", "/mcp");
		request.asks.override = true;
		net_rules_request(w.rules, &request, &v);
		CHECK(!v.allow && v.why == WHY_NEARLY);
		net_rules_reason(w.rules, &request, NULL, &v, &why);
		CHECK(strstr(why.text, i ? "allowed with some operations only" : "allowed with some calls only"));
	}
	unmake(&w);
}

static void a_field_that_names_another_path_counts_where_paths_do(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: p.test, paths: [\"/ok/**\"]}, {host: m.test, "
			      "methods: [GET]}, "
			      "{host: d.test}],\n  deny: [{host: d.test, paths: [\"/admin/**\"]}]}");
	static const struct {
		const char *host;
		bool allow;
	} asked[] = {{"p.test", false}, {"m.test", true}, {"d.test", false}};
	struct net_verdict v;
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct net_request request = {
			.host = sv_of(asked[i].host), .port = 443, .method = sv_of("GET"), .target = sv_of("/ok/x")};

		net_rules_request(w.rules, &request, &v);
		CHECK(v.allow);
		request.asks.rewrite = true;
		net_rules_request(w.rules, &request, &v);
		CHECK(v.allow == asked[i].allow);
	}
	unmake(&w);
}

static void the_address_that_is_dialled_is_held_to_the_floor(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: n.test}, {host: db.test, ports: [5432]}, "
			      "{cidr: 10.1.2.0/24, ports: [5432]},\n"
			      "  {cidr: 10.9.0.0/16, methods: [GET]}],\n"
			      "  deny: [{cidr: 10.1.2.128/25}, {cidr: 8.8.0.0/16}, {host: 9.9.9.9}, {cidr: 1.1.0.0/16, "
			      "methods: [POST]}, {cidr: 10.9.9.0/24}]}");

	CHECK(dials(&w, "93.184.216.34", "n.test", 443, NULL, false) &&
	      dials(&w, "2606:4700::1", "n.test", 443, NULL, false));
	CHECK(!dials(&w, "127.0.0.1", "n.test", 443, NULL, false) && dials(&w, "127.0.0.1", "n.test", 443, NULL, true));
	CHECK(!dials(&w, "::ffff:127.0.0.1", "n.test", 443, NULL, false) &&
	      !dials(&w, "64:ff9b::7f00:1", "n.test", 443, NULL, false));
	CHECK(dials(&w, "10.1.2.3", "db.test", 5432, NULL, false) &&
	      !dials(&w, "10.1.2.3", "db.test", 443, NULL, false));
	CHECK(!dials(&w, "10.1.3.3", "db.test", 5432, NULL, false) &&
	      !dials(&w, "169.254.169.254", "n.test", 80, "GET", false));
	CHECK(!dials(&w, "64:ff9b::10.1.2.3", "db.test", 5432, NULL, false));
	/* Denials hold for names too, and for the operator's own answers. */
	CHECK(!dials(&w, "10.1.2.200", "db.test", 5432, NULL, false) &&
	      !dials(&w, "8.8.8.8", "n.test", 443, NULL, false));
	CHECK(!dials(&w, "8.8.8.8", "n.test", 443, NULL, true) && !dials(&w, "9.9.9.9", "n.test", 443, NULL, false));
	CHECK(!dials(&w, "10.9.9.1", "n.test", 443, NULL, true));
	/* What is denied for some methods is denied where nobody sees them. */
	CHECK(!dials(&w, "1.1.1.1", "n.test", 443, NULL, false) && !dials(&w, "1.1.1.1", "n.test", 443, "POST", false));
	CHECK(dials(&w, "1.1.1.1", "n.test", 443, "GET", false));
	/* A range opens an address for what the range allows. */
	CHECK(dials(&w, "10.9.0.1", "n.test", 443, "GET", false) &&
	      !dials(&w, "10.9.0.1", "n.test", 443, "POST", false));
	/* ... and not at all where nobody sees what is asked for, but to the operator's own names. */
	CHECK(!dials(&w, "10.9.0.1", "n.test", 443, NULL, false) && dials(&w, "10.9.0.1", "n.test", 443, NULL, true));
	unmake(&w);
}

static void all_that_a_range_says_holds_for_names_that_lead_there(void)
{
	struct world w = make("network: {mode: public, allow: [{cidr: 10.1.0.0/16, mcp: {tools: [x]}}, {cidr: "
			      "10.2.0.0/16, rate: 5/h}, {cidr: 10.3.0.0/16, graphql: {types: [query]}},\n"
			      "  {cidr: 10.3.3.0/24, paths: [/]}, {cidr: 1.0.0.0/8, rate: 6/h}]}");
	struct net_request request = get("n.test", 443, "GET", "/");
	struct net_verdict v;
	struct reason why;
	struct address a;

	CHECK(!dials(&w, "10.1.0.1", "n.test", 443, "POST", false) &&
	      !dials(&w, "10.1.0.1", "n.test", 443, NULL, false));
	/* Who asks for the address itself was judged by all of it before. */
	CHECK(dials(&w, "10.1.0.1", "10.1.0.1", 443, "POST", false) &&
	      dials(&w, "10.1.0.1", "[::ffff:10.1.0.1]", 443, "POST", false));
	CHECK(dials(&w, "10.3.3.1", "n.test", 443, "GET", false) &&
	      !dials(&w, "10.3.4.1", "n.test", 443, "GET", false));
	CHECK(!dials(&w, "10.2.0.1", "n.test", 443, NULL, false) && address_parse(sv_of("10.2.0.1"), &a));
	net_rules_address(w.rules, &a, &request, false, &v);
	CHECK(v.allow && v.rate == 5 && v.budget == net_rules_budget(w.rules, 1));
	net_rules_address(w.rules, &a, &request, true, &v);
	CHECK(v.allow && v.rate == 0);
	request.host = sv_of("10.2.0.1"); /* it has been counted */
	net_rules_address(w.rules, &a, &request, false, &v);
	CHECK(v.allow && v.rate == 0);
	request.host = sv_of("n.test"); /* a public one needs no rule */
	CHECK(address_parse(sv_of("1.1.1.1"), &a));
	net_rules_address(w.rules, &a, &request, false, &v);
	CHECK(v.allow && v.rate == 0);
	request = (struct net_request){.host = sv_of("n.test"), .port = 443};
	CHECK(address_parse(sv_of("10.1.0.1"), &a));
	net_rules_address(w.rules, &a, &request, false, &v);
	net_rules_reason(w.rules, &request, &a, &v, &why);
	CHECK_STR(why.text, "n.test (10.1.0.1) is in 10.1.0.0/16, whose rule says more than its ports, and nobody "
			    "would look into this connection.");
	unmake(&w);
}

static void a_denied_address_is_denied_in_forms_that_carry_it(void)
{
	static const char *const forms[] = {"64:ff9b::8.8.8.8",
					    "2002:808:808::1",
					    "2606:4700::5efe:8.8.8.8",
					    "2606:4700::200:5efe:808:808",
					    "64:ff9b::9.9.9.9",
					    "2002:909:909::",
					    "64:ff9b:1::8.8.8.8",
					    "64:ff9b:1:808:8:800::",
					    "64:ff9b:1:8:8:808::",
					    "64:ff9b:1:0:8:808:800::",
					    "2001:0:808:808::1",
					    "2001::f7f7:f7f7",
					    "::8.8.8.8",
					    "::ffff:0:808:808"};
	static const char *const others[] = {"64:ff9b::8.9.8.8",
					     "2002:809:808::1",
					     "2606:4700::5efe:8.9.8.8",
					     "2606:4700:808:808::808:808",
					     "2001::808:f7f7",
					     "64:ff9b:1::8.9.8.8",
					     "::8.9.8.8",
					     "::1"};
	struct world w = make("network: {mode: allowlist, allow: [{host: n.test}, {cidr: \"::/0\"}],\n"
			      "  deny: [{cidr: 8.8.0.0/16}, {host: 9.9.9.9}]}");
	struct reason why;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		policy_query_host(w.p, forms[i], 443, NULL, NULL, &why);
		if (dials(&w, forms[i], "n.test", 443, NULL, false) || way(&w, forms[i], 443) >= 0 ||
		    why.answer != ANSWER_DENY) {
			printf("# %s\n", forms[i]);
			CHECK(false);
		}
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!dials(&w, others[i], "n.test", 443, NULL, false) || way(&w, others[i], 443) < 0) {
			printf("# %s\n", others[i]);
			CHECK(false);
		}
	unmake(&w);
	w = make("network: {mode: public, deny: [{cidr: 8.8.0.0/16, methods: [POST]}]}\ninference: {providers: {local: "
		 "{kind: openai, url: \"https://1.1.1.1/v1\"}}}");
	CHECK(way(&w, "64:ff9b::8.8.8.8", 443) == NET_INSPECT && way(&w, "64:ff9b::8.9.8.8", 443) == NET_TUNNEL &&
	      way(&w, "64:ff9b::1.1.1.1", 443) < 0);
	CHECK(!dials(&w, "64:ff9b::8.8.8.8", "n.test", 443, NULL, false) &&
	      dials(&w, "64:ff9b::8.8.8.8", "n.test", 443, "GET", false));
	unmake(&w);
}

static void providers_may_be_local_but_not_metadata(void)
{
	static const char *const good[] = {"8.8.8.8",     "127.0.0.1", "::1",       "10.1.2.3",
					   "192.168.1.1", "fd12::1",   "100.64.1.1"};
	static const char *const bad[] = {
		"169.254.169.254", "169.254.1.1",   "0.0.0.0",         "::",      "224.0.0.1",
		"255.255.255.255", "fd00:ec2::254", "100.100.100.200", "fe80::1", "64:ff9b::169.254.169.254"};
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(address_parse(sv_of(good[i]), &a) && net_rules_provider_address(&a));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(address_parse(sv_of(bad[i]), &a) && !net_rules_provider_address(&a));
}

static void providers_have_a_door_of_their_own(void)
{
	struct world w =
		make("network: {mode: public, deny: [{host: \"*.paste.test\"}]}\n"
		     "inference: {providers: {anthropic: {}, local: {kind: openai, url: "
		     "\"https://[2606:4700::1]:8000/v1\"}, gpu: {kind: openai, url: \"http://gpu.test:8000\"}}}");
	struct reason why;

	CHECK(way(&w, "pypi.org", 443) == NET_TUNNEL && way(&w, "pypi.org", 22) == NET_RAW &&
	      way(&w, "x.paste.test", 443) < 0);
	CHECK(way(&w, "api.anthropic.com", 443) < 0 && way(&w, "API.anthropic.com.", 443) < 0 &&
	      way(&w, "gpu.test", 22) < 0);
	CHECK(way(&w, "2606:4700:0::1", 443) < 0 && way(&w, "2606:4700::2", 443) == NET_TUNNEL);
	CHECK(!net_rules_dns(w.rules, sv_of("api.anthropic.com")) && net_rules_dns(w.rules, sv_of("pypi.org")));
	policy_query_host(w.p, "api.anthropic.com", 443, NULL, NULL, &why);
	CHECK(why.answer == ANSWER_DENY && strstr(why.text, "base URL"));
	unmake(&w);
	w = make(
		"network: {mode: public, allow: [{host: api.anthropic.com}]}\ninference: {providers: {anthropic: {}}}");
	CHECK(way(&w, "api.anthropic.com", 443) == NET_TUNNEL);
	unmake(&w);
}

static void only_names_that_can_be_reached_resolve(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: a.test, ports: [5432]}, {host: \"*.b.test\"}, "
			      "{host: c.test}, {host: e.test}, {cidr: 10.0.0.0/8}],\n"
			      "  deny: [{host: c.test}, {host: x.b.test, ports: [443]}, {host: e.test, paths: [/x]}]}");

	CHECK(net_rules_dns(w.rules, sv_of("a.test")) && net_rules_dns(w.rules, sv_of("A.TEST.")) &&
	      net_rules_dns(w.rules, sv_of("q.b.test")));
	CHECK(!net_rules_dns(w.rules, sv_of("b.test")) && !net_rules_dns(w.rules, sv_of("c.test")) &&
	      net_rules_dns(w.rules, sv_of("x.b.test")));
	CHECK(net_rules_dns(w.rules, sv_of("e.test")) && !net_rules_dns(w.rules, sv_of("secret.evil.test")) &&
	      !net_rules_dns(w.rules, sv_of("")));
	CHECK(!net_rules_dns(w.rules, sv_of("localhost")) && !net_rules_dns(w.rules, sv_of("10.0.0.1")));
	unmake(&w);
	w = make("network: {mode: allowlist, dns: none, allow: [{host: a.test}]}");
	CHECK(!net_rules_dns(w.rules, sv_of("a.test")) && way(&w, "a.test", 443) == NET_TUNNEL);
	unmake(&w);
	w = make("network: {mode: none}");
	CHECK(!net_rules_dns(w.rules, sv_of("a.test")) && way(&w, "a.test", 443) < 0);
	unmake(&w);
}

static void a_credential_goes_along_with_any_rule_that_fits_and_names_it(void)
{
	struct world w = make("network:\n  mode: allowlist\n  allow:\n"
			      "    - {host: a.test}\n"
			      "    - {host: \"*.test\", methods: [POST], credential: second}\n"
			      "    - {host: a.test, methods: [GET], credential: first}\n");
	struct net_request request = get("a.test", 443, "GET", "/");
	struct net_where where;
	struct net_verdict v;

	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && v.found.fits == &w.p->net.allow.v[0]);
	CHECK_STR(v.found.keyed->credential.s, "first");
	CHECK_STR(net_rules_where(w.rules, &v, &where), "p.yaml:5");
	request.method = sv_of("POST");
	net_rules_request(w.rules, &request, &v);
	CHECK_STR(v.found.keyed->credential.s, "second");
	request.method = sv_of("PUT");
	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && !v.found.keyed);
	unmake(&w);
}

static void the_next_rule_with_a_credential_is_found_in_order(void)
{
	struct world w = make("network: {mode: allowlist, allow: [{host: a.test}, {host: \"*.test\", mcp: {tools: "
			      "[x]}, credential: one},\n"
			      "  {host: a.test, methods: [GET], credential: two}, {host: a.test, graphql: {types: "
			      "[query]}, credential: three}]}");
	struct net_request request = get("a.test", 443, "POST", "/");
	const struct net_rule *r;
	struct net_verdict v;

	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && !v.body && v.found.keyed == &w.p->net.allow.v[1]);
	r = net_rules_keyed(w.rules, &request, v.found.keyed);
	CHECK(r == &w.p->net.allow.v[3] && !net_rules_keyed(w.rules, &request, r));
	/* where a body could ask for another method, rules that judge by it are none of them */
	CHECK(net_form_matters(w.rules, &request, &v));
	v.found.keyed = NULL;
	CHECK(!net_form_matters(w.rules, &request, &v));
	unmake(&w);
}

static void a_body_that_fits_one_rule_not_may_fit_another(void)
{
	struct world w = make("network:\n  mode: allowlist\n  allow:\n"
			      "    - {host: a.test, mcp: {tools: [x]}, credential: k}\n"
			      "    - {host: b.test}\n"
			      "    - {host: a.test, mcp: {tools: [y]}}\n"
			      "    - {host: a.test, paths: [/plain]}\n");
	struct net_request request = get("a.test", 443, "POST", "/mcp");
	struct net_verdict v;

	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && v.body && v.next == 1 && v.found.keyed);
	request.from = v.next;
	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && v.body && v.next == 3 && !v.found.keyed && v.found.fits == &w.p->net.allow.v[2]);
	request.from = v.next;
	net_rules_request(w.rules, &request, &v);
	CHECK(!v.allow);
	request.target = sv_of("/plain");
	net_rules_request(w.rules, &request, &v);
	CHECK(v.allow && !v.body);
	unmake(&w);
}

static void a_person_is_asked_only_about_hosts_that_nobody_refused(void)
{
	struct world w = make("network: {mode: allowlist, ask: true, allow: [{host: a.test, methods: [GET]}], deny: "
			      "[{host: d.test}]}");
	struct net_request request = get("new.test", 443, "GET", "/");
	struct net_verdict v;

	net_rules_name(w.rules, request.host, 443, &v);
	CHECK(!v.allow && v.ask);
	net_rules_name(w.rules, sv_of("a.test"), 22, &v);
	CHECK(!v.allow && v.ask);
	net_rules_name(w.rules, sv_of("d.test"), 443, &v);
	CHECK(!v.allow && !v.ask);
	net_rules_name(w.rules, sv_of("10.0.0.1"), 443, &v);
	CHECK(!v.allow && !v.ask);
	net_rules_name(w.rules, sv_of("0x7f.1"), 443, &v);
	CHECK(!v.allow && !v.ask);
	request = get("a.test", 443, "POST", "/");
	net_rules_request(w.rules, &request, &v);
	CHECK(!v.allow && !v.ask);
	unmake(&w);
	w = make("network: {mode: allowlist, allow: [{host: a.test}]}");
	net_rules_name(w.rules, sv_of("new.test"), 443, &v);
	CHECK(!v.allow && !v.ask);
	unmake(&w);
}

static void a_refusal_names_rule_and_remedy(void)
{
	struct world w = make(
		"network:\n  mode: allowlist\n  allow:\n    - {host: a.test, methods: [GET], paths: [\"/x/**\"]}\n");
	struct net_request request = get("a.test", 443, "POST", "/x/");
	struct net_where where;
	struct net_verdict v;
	struct reason why;
	struct address a;

	net_rules_request(w.rules, &request, &v);
	net_rules_reason(w.rules, &request, NULL, &v, &why);
	CHECK_STR(why.text, "a.test is allowed with GET only, not with POST.");
	CHECK_STR(net_rules_where(w.rules, &v, &where), "p.yaml:5");
	request = get("a.test", 443, "GET", "/x/..%2fy");
	net_rules_request(w.rules, &request, &v);
	net_rules_reason(w.rules, &request, NULL, &v, &why);
	CHECK(strstr(why.text, "in more than one way") && strstr(why.hint, "encoded slashes"));
	request = get("a.test", 443, "GET", "/x/?_method=PUT");
	net_rules_request(w.rules, &request, &v);
	net_rules_reason(w.rules, &request, NULL, &v, &why);
	CHECK(strstr(why.text, "another method") && strstr(why.hint, "_method"));
	request = get("b.test\x1b[2J", 443, "GET", "/");
	net_rules_request(w.rules, &request, &v);
	net_rules_reason(w.rules, &request, NULL, &v, &why);
	CHECK(v.why == WHY_BAD_HOST && !strchr(why.text, '\x1b'));
	request = get("a.test", 443, "GET", "/x/");
	CHECK(address_parse(sv_of("169.254.169.254"), &a));
	net_rules_address(w.rules, &a, &request, false, &v);
	net_rules_reason(w.rules, &request, &a, &v, &why);
	CHECK_STR(why.text, "a.test (169.254.169.254) is a metadata address of a cloud; only a cidr rule opens one.");
	CHECK_STR(net_rules_where(w.rules, &v, &where), "built in");
	unmake(&w);
}

/* \xNN and \\ in a line of the corpus. */
static size_t unescape(char *s)
{
	char *to = s, *start = s;
	unsigned byte;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == 'x' && sscanf(s + 2, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			s += 3;
		} else {
			s += s[0] == '\\' && s[1] == '\\';
			*to++ = *s;
		}
	}
	return (size_t)(to - start);
}

static void no_spelling_of_an_address_gets_by(void)
{
	static const char *const verdicts[] = {
		[HOST_NAME] = "name", [HOST_PUBLIC] = "public", [HOST_PRIVATE] = "floor", [HOST_BAD] = "bad"};
	struct world w = make("network: {mode: public}");
	FILE *f = fopen(TESTS_DIR "/gate/corpus/ssrf.txt", "re");
	char line[512], *host;
	struct net_verdict v;
	enum host_class class;
	size_t n;
	int lines = 0;

	CHECK(f != NULL);
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		host = strchr(line, ' ');
		if (line[0] == '#' || !host)
			continue;
		*host++ = '\0';
		n = unescape(host);
		lines++;
		class = net_host_class(sv_n(host, n));
		net_rules_name(w.rules, sv_n(host, n), 443, &v);
		if (strcmp(verdicts[class], line) != 0 || v.allow != (class == HOST_NAME || class == HOST_PUBLIC)) {
			printf("# %s: %s, want %s\n", host, verdicts[class], line);
			CHECK(false);
		}
	}
	CHECK(lines > 150);
	if (f)
		(void)fclose(f);
	unmake(&w);
}

/* A small generator, so that a failure comes again. */
static uint32_t random_next(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33) % below;
}

static const char *pick(uint64_t *state, const char *const *words, uint32_t n)
{
	return words[random_next(state, n)];
}

#define PICK(state, words) pick(state, words, sizeof(words) / sizeof((words)[0]))

static void random_rule(uint64_t *s, struct buf *out, bool allow)
{
	static const char *const subjects[] = {
		"host: a.test",           "host: b.a.test",       "host: \"*.a.test\"",       "host: \"*.test\"",
		"host: c.b.a.test",       "host: 8.8.8.8",        "cidr: \"10.0.0.0/8\"",     "cidr: \"10.1.0.0/16\"",
		"cidr: \"10.1.2.3/32\"",  "cidr: \"0.0.0.0/0\"",  "cidr: \"::/0\"",           "cidr: \"fd00::/8\"",
		"host: \"2606:4700::1\"", "host: \"*.b.a.test\"", "cidr: \"2606:4700::/32\"", "host: localhost",
		"cidr: \"127.0.0.0/8\""};
	static const char *const ports[] = {"", "", ", ports: [443]", ", ports: [80, 5432]", ", ports: [22]"};
	static const char *const methods[] = {"", "", ", methods: [GET]", ", methods: [POST, PUT]"};
	static const char *const paths[] = {"", "", ", paths: [\"/x/**\"]", ", paths: [/y, \"/*/z\"]"};
	const char *subject;

	/* One by one: the order in which arguments are evaluated is the compiler's. */
	subject = PICK(s, subjects);
	(void)buf_printf(out, "{%s", subject);
	(void)buf_str(out, PICK(s, ports));
	(void)buf_str(out, PICK(s, methods));
	(void)buf_str(out, PICK(s, paths));
	(void)buf_str(out, allow && random_next(s, 8) == 0 ? ", rate: 3/s" : "");
	(void)buf_str(out, allow && random_next(s, 8) == 0 ? ", mcp: {tools: [x]}" : "");
	(void)buf_str(out, allow && random_next(s, 4) == 0 && subject[0] == 'h' ? ", credential: k}, " : "}, ");
}

static struct world random_world(uint64_t *s)
{
	static const char *const modes[] = {"allowlist", "allowlist", "allowlist", "public", "none"};
	static const char *const providers[] = {
		"", "inference: {providers: {v: {kind: openai, url: \"http://a.test:1/v1\"}}}\n",
		("inference: {providers: {v: {kind: openai, url: \"http://b.a.test:22/v1\", credential: k}, "
		 "w: {kind: openai, url: \"http://8.8.8.8/v1\", credential: k}}}\n")};
	AUTO_BUF text = {0};
	uint32_t i, n;

	buf_init(&text, 32768);
	(void)buf_str(&text, PICK(s, providers));
	(void)buf_printf(&text, "network: {mode: %s, allow: [", PICK(s, modes));
	for (i = 0, n = random_next(s, 12); i < n; i++)
		random_rule(s, &text, true);
	(void)buf_str(&text, "], deny: [");
	for (i = 0, n = random_next(s, 4); i < n; i++)
		random_rule(s, &text, false);
	(void)buf_str(&text, "]}\n");
	return make(buf_view(&text).p);
}

static void why_and_the_gateway_give_the_same_answers(void)
{
	static const char *const hosts[] = {
		"a.test",    "b.a.test",  "c.b.a.test", "x.y.a.test",    "A.TEST.",         "test",           "z.test",
		"8.8.8.8",   "10.1.2.3",  "10.1.9.9",   "10.200.0.1",    "2606:4700::1",    "[2606:4700::2]", "fd00::1",
		"localhost", "127.0.0.1", "0x7f.1",     "other.example", "::ffff:10.1.2.3", "bad..host"};
	static const uint16_t ports[] = {443, 80, 22, 5432};
	static const char *const methods[] = {"GET", "POST", "DELETE", "get"};
	static const char *const targets[] = {"/",    "/x/",     "/x/a/b",          "/y",
					      "/q/z", "/x/%2Fy", "/x/?_method=PUT", "/y?a=b"};
	uint64_t s = 42;
	int worlds, asked, allowed = 0, total = 0;

	for (worlds = 0; worlds < 600; worlds++) {
		struct world w = random_world(&s);

		for (asked = 0; asked < 60; asked++) {
			const char *host = PICK(&s, hosts), *method = PICK(&s, methods), *target = PICK(&s, targets);
			uint16_t port = ports[random_next(&s, 4)];
			struct net_request request = get(host, port, method, target);
			struct reason linear, indexed;
			struct net_verdict v;

			policy_query_host(w.p, host, port, method, target, &linear);
			net_rules_request(w.rules, &request, &v);
			net_rules_reason(w.rules, &request, NULL, &v, &indexed);
			if (v.allow != (linear.answer == ANSWER_ALLOW) || indexed.answer != linear.answer ||
			    strcmp(linear.text, indexed.text) != 0 || strcmp(linear.rule, indexed.rule) != 0 ||
			    memcmp(&linear.at, &indexed.at, sizeof(linear.at)) != 0 ||
			    strcmp(linear.hint, indexed.hint) != 0) {
				printf("# world %d: %s:%u %s %s: \"%s\" and \"%s\"\n", worlds, host, port, method,
				       target, linear.text, indexed.text);
				CHECK(false);
			}
			policy_query_host(w.p, host, port, NULL, NULL, &linear);
			net_rules_name(w.rules, sv_of(host), port, &v);
			CHECK(v.allow == (linear.answer == ANSWER_ALLOW));
			total++;
			allowed += v.allow;
		}
		unmake(&w);
	}
	printf("# %d of %d connections are allowed\n", allowed, total);
	CHECK(allowed > total / 10 && allowed < total * 9 / 10);
}

/* What a connection may carry is never more than what its requests would be allowed. */
static void a_tunnel_hides_nothing_that_a_rule_refuses(void)
{
	static const char *const hosts[] = {"a.test", "b.a.test", "c.b.a.test", "8.8.8.8", "10.1.2.3", "2606:4700::1"};
	static const char *const methods[] = {"GET", "POST", "DELETE"};
	static const char *const targets[] = {"/", "/x/", "/y", "/q/z", "/x/%2fy"};
	static const uint16_t ports[] = {443, 80, 22, 5432};
	uint64_t s = 7;
	int worlds, h, p, m, t, tunnels = 0;

	for (worlds = 0; worlds < 300; worlds++) {
		struct world w = random_world(&s);

		for (h = 0; h < 6; h++)
			for (p = 0; p < 4; p++) {
				int carried = way(&w, hosts[h], ports[p]);

				if (carried != NET_TUNNEL && carried != NET_RAW)
					continue;
				tunnels++;
				CHECK(w.p->inference.n_providers < 2 ||
				      (strcmp(hosts[h], "8.8.8.8") != 0 && strcmp(hosts[h], "b.a.test") != 0) ||
				      ports[p] == 5432 || (ports[p] == 22 && h == 3));
				for (m = 0; m < 3; m++)
					for (t = 0; t < 5; t++)
						CHECK(ask(&w, hosts[h], ports[p], methods[m], targets[t]));
			}
		unmake(&w);
	}
	CHECK(tunnels > 100);
}

static void ten_thousand_rules_keep_their_order(void)
{
	struct policy *p = policy_new();
	struct net_rule *v;
	struct world w;
	char name[64];
	uint32_t i;

	if (!p)
		abort();
	v = arena_array(p->arena, 10000, sizeof(*v));
	if (!v)
		abort();
	for (i = 0; i < 10000; i++) {
		v[i].at = (struct origin){0, i + 1, 1};
		if (i % 3 == 2)
			v[i].cidr = arena_printf(p->arena, "10.%u.%u.0/24", i / 256, i % 256);
		else
			v[i].host = arena_printf(p->arena, i % 3 ? "*.h%u.test" : "h%u.test", i);
	}
	p->net.allow = (struct net_rules){v, 10000, true};
	p->net.mode = (struct pol_num){NET_ALLOWLIST, true, {0}};
	w = (struct world){p, net_rules_new(p)};
	if (!w.rules)
		abort();
	for (i = 0; i < 10000; i++) {
		struct net_verdict verdict;

		if (i % 3 == 2)
			(void)snprintf(name, sizeof(name), "10.%u.%u.9", i / 256, i % 256);
		else
			(void)snprintf(name, sizeof(name), i % 3 ? "x.h%u.test" : "h%u.test", i);
		net_rules_name(w.rules, sv_of(name), 443, &verdict);
		CHECK(verdict.allow && verdict.found.fits == &v[i]);
	}
	CHECK(way(&w, "h1.test", 443) < 0 && way(&w, "x.h0.test", 443) < 0 && way(&w, "10.255.0.1", 443) < 0);
	unmake(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_connection_is_carried_as_its_rules_need),
		CASE(a_host_that_gets_a_credential_is_looked_into_on_other_ports_too),
		CASE(the_host_of_a_provider_that_gets_a_credential_is_looked_into),
		CASE(a_host_that_got_a_credential_stays_looked_into),
		CASE(a_port_that_a_credential_went_to_stays_looked_into),
		CASE(names_match_whole_labels_in_any_case),
		CASE(another_method_is_not_asked_for_where_methods_are_restricted),
		CASE(another_host_is_not_asked_for_where_a_rule_says_more_than_who_and_where),
		CASE(another_method_is_not_asked_for_where_bodies_are_judged_by_theirs),
		CASE(a_field_that_names_another_path_counts_where_paths_do),
		CASE(the_address_that_is_dialled_is_held_to_the_floor),
		CASE(all_that_a_range_says_holds_for_names_that_lead_there),
		CASE(a_denied_address_is_denied_in_forms_that_carry_it),
		CASE(providers_may_be_local_but_not_metadata),
		CASE(providers_have_a_door_of_their_own),
		CASE(only_names_that_can_be_reached_resolve),
		CASE(a_credential_goes_along_with_any_rule_that_fits_and_names_it),
		CASE(the_next_rule_with_a_credential_is_found_in_order),
		CASE(a_body_that_fits_one_rule_not_may_fit_another),
		CASE(a_person_is_asked_only_about_hosts_that_nobody_refused),
		CASE(a_refusal_names_rule_and_remedy),
		CASE(no_spelling_of_an_address_gets_by),
		CASE(why_and_the_gateway_give_the_same_answers),
		CASE(a_tunnel_hides_nothing_that_a_rule_refuses),
		CASE(ten_thousand_rules_keep_their_order),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

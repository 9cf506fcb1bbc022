#include "check.h"
#include "policy/net_provider.h"
#include "policy_memory.h"

static struct policy *below(const char *request, const char *ceiling)
{
	static struct error err;
	struct policy *p = memory_policy(request, ceiling, &err);

	if (!p)
		printf("# %s\n", err.text);
	CHECK(p != NULL);
	return p ? p : policy_new();
}

static void a_ceiling_that_bounds_the_network_bounds_servers_called_providers(void)
{
	static const struct {
		const char *provider, *ceiling;
		bool passes;
	} cases[] = {
		{"anthropic: {models: [\"*\"]}", "network: {mode: none}", true},
		{"x: {kind: openai, url: \"http://127.0.0.1:9999\"}", "network: {mode: none}", false},
		{"x: {kind: openai, url: \"https://evil.test/v1\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}]}", false},
		{"x: {kind: openai, url: \"https://good.test/v1\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}]}", true},
		{"x: {kind: openai, url: \"http://10.1.2.3:8000/v1\"}",
		 "network: {mode: allowlist, allow: [{cidr: 10.1.2.0/24, ports: [8000]}]}", true},
		{"anthropic: {url: \"https://evil.test\"}", "network: {mode: none}", false},
		{"x: {kind: openai, url: \"https://evil.test\"}", "process: {memory: 1G}", true},
		/* private addresses: not by `public`, and never against a denial */
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}", "network: {mode: public}", false},
		{"x: {kind: openai, url: \"http://localhost:9977\"}", "network: {mode: public}", false},
		{"x: {kind: openai, url: \"http://[::ffff:10.0.0.7]:9977\"}", "network: {mode: public}", false},
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}",
		 "network: {mode: public, deny: [{cidr: 127.0.0.0/8}]}", false},
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}", "network: {deny: [{cidr: 127.0.0.0/8}]}", false},
		{"x: {kind: openai, url: \"http://[::ffff:127.0.0.1]:9977\"}", "network: {deny: [{cidr: 127.0.0.0/8}]}",
		 false},
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}",
		 "network: {deny: [{cidr: 127.0.0.0/8, ports: [22]}]}", true},
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}",
		 "network: {mode: public, allow: [{cidr: 127.0.0.1/32, ports: [9977]}]}", true},
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}",
		 "network: {mode: allowlist, allow: [{cidr: 127.0.0.1/32, ports: [5432]}]}", false},
		{"x: {kind: openai, url: \"https://some.test/v1\"}", "network: {mode: public}", true},
		{"x: {kind: openai, url: \"https://some.test/v1\"}",
		 "network: {mode: public, deny: [{host: \"*.test\"}]}", false},
		{"openai: {}", "network: {deny: [{host: api.openai.com}]}", false},
		{"openai: {}", "network: {mode: public, deny: [{host: api.anthropic.com}]}", true},
		/* ports, methods, paths, and what the door for models cannot keep */
		{"x: {kind: openai, url: \"http://good.test:9977\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, methods: [GET]}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, methods: [POST]}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, methods: [POST, GET]}]}", true},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/simple/**\"]}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/v1/**\"]}]}", true},
		{"x: {kind: openai, url: \"http://good.test/v1\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/v1/**\"]}]}", true},
		{"x: {kind: openai, url: \"http://good.test/a/v1\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/v1/**\"]}]}", false},
		{"x: {kind: openai, url: \"http://good.test/v10\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/v1/**\"]}]}", false},
		{"x: {kind: gemini, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, paths: [\"/v1/**\"]}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, rate: 1/h}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: public, allow: [{host: good.test, rate: 1/h}]}", false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, mcp: {tools: [x]}}]}", false},
		{"x: {kind: openai, url: \"http://good.test:9977\"}",
		 "network: {mode: allowlist, allow: [{host: good.test, ports: [9977]}], deny: [{host: good.test, "
		 "ports: [9977]}]}",
		 false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}], deny: [{host: good.test, methods: [post]}]}",
		 false},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}], deny: [{host: good.test, methods: [DELETE]}]}",
		 true},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}], deny: [{host: good.test, paths: "
		 "[\"/V1/**\"]}]}",
		 false},
		/* who names the provider has said yes */
		{"x: {kind: openai, url: \"http://127.0.0.1:9977\"}",
		 "network: {mode: none, deny: [{cidr: 127.0.0.0/8}]}\ninference: {providers: {x: {kind: openai, url: "
		 "\"http://127.0.0.1:9977\"}}}",
		 true},
	};
	struct error err;
	struct policy *got;
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(request, sizeof(request), "inference: {providers: {%s}}\n", cases[i].provider);
		got = memory_policy(request, cases[i].ceiling, &err);
		if ((got != NULL) != cases[i].passes)
			printf("# %s under %s: %s\n", cases[i].provider, cases[i].ceiling, got ? "passes" : err.text);
		CHECK((got != NULL) == cases[i].passes);
		policy_free(got);
	}
}

/* A name can lead anywhere: what it led to is judged when it is dialled. */
static void where_a_provider_may_lead_is_the_ceilings_to_say(void)
{
	static const struct {
		const char *provider, *ceiling;
		enum provider_reach reach;
	} cases[] = {
		{"x: {kind: openai, url: \"http://good.test\"}", NULL, REACH_ANY},
		{"x: {kind: openai, url: \"http://good.test\"}", "process: {memory: 1G}", REACH_ANY},
		{"x: {kind: openai, url: \"http://good.test\"}", "network: {deny: [{cidr: 127.0.0.0/8}]}",
		 REACH_UNDENIED},
		{"x: {kind: openai, url: \"http://good.test\"}", "network: {mode: public}", REACH_PUBLIC},
		{"x: {kind: openai, url: \"http://good.test\"}",
		 "network: {mode: allowlist, allow: [{host: good.test}]}", REACH_PUBLIC},
		{"x: {kind: openai, url: \"http://10.0.0.7\"}",
		 "network: {mode: allowlist, allow: [{cidr: 10.0.0.0/8}]}", REACH_UNDENIED},
		{"x: {kind: openai, url: \"http://8.8.4.4\"}", "network: {mode: public}", REACH_PUBLIC},
		{"x: {kind: openai, url: \"http://8.8.4.4\"}",
		 "network: {mode: public, allow: [{host: 8.8.4.4}, {cidr: 8.8.4.4/32}]}", REACH_UNDENIED},
		{"openai: {}", "network: {mode: none}", REACH_UNDENIED},
		{"openai: {}", "network: {mode: public}\ninference: {providers: {openai: {}}}", REACH_ANY},
	};
	struct policy *p;
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(request, sizeof(request), "inference: {providers: {%s}}\n", cases[i].provider);
		p = below(request, cases[i].ceiling);
		CHECK(p->inference.n_providers == 1 && p->inference.providers[0].reach == cases[i].reach);
		policy_free(p);
	}
}

static void an_address_is_held_to_the_providers_reach(void)
{
	static const struct {
		const char *address;
		enum provider_reach reach;
		bool fixed;
		enum net_why why;
	} cases[] = {
		{"127.0.0.1", REACH_ANY, false, WHY_RULE},        {"10.9.0.1", REACH_ANY, false, WHY_RULE},
		{"169.254.169.254", REACH_ANY, false, WHY_FLOOR}, {"127.0.0.1", REACH_UNDENIED, false, WHY_RULE},
		{"10.9.0.1", REACH_UNDENIED, false, WHY_DENIED},  {"64:ff9b::a09:1", REACH_UNDENIED, false, WHY_DENIED},
		{"127.0.0.1", REACH_PUBLIC, false, WHY_FLOOR},    {"10.1.0.1", REACH_PUBLIC, false, WHY_FLOOR},
		{"8.8.4.4", REACH_PUBLIC, false, WHY_RULE},       {"127.0.0.1", REACH_PUBLIC, true, WHY_RULE},
		{"10.9.0.1", REACH_PUBLIC, true, WHY_DENIED},     {"10.9.0.1", REACH_ANY, true, WHY_RULE},
		{"8.8.8.8", REACH_PUBLIC, false, WHY_RULE}, /* denied for another port only */
	};
	struct policy *p =
		below("network: {mode: none, deny: [{cidr: 10.9.0.0/16}, {cidr: 8.8.8.8/32, ports: [22]}]}", NULL);
	struct net_request request = {
		.host = sv_of("a.test"), .port = 80, .method = sv_of("POST"), .target = sv_of("/v1/messages")};
	struct provider provider = {0};
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		provider.reach = cases[i].reach;
		CHECK(address_parse(sv_of(cases[i].address), &a));
		if (net_provider_address(p, &provider, &a, &request, cases[i].fixed) != cases[i].why)
			printf("# %s with reach %d\n", cases[i].address, cases[i].reach);
		CHECK(net_provider_address(p, &provider, &a, &request, cases[i].fixed) == cases[i].why);
	}
	CHECK(address_parse(sv_of("8.8.4.4"), &a));
	a.own = true; /* this machine's, public as it looks */
	provider.reach = REACH_PUBLIC;
	CHECK(net_provider_address(p, &provider, &a, &request, false) == WHY_FLOOR);
	policy_free(p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_ceiling_that_bounds_the_network_bounds_servers_called_providers),
		CASE(where_a_provider_may_lead_is_the_ceilings_to_say),
		CASE(an_address_is_held_to_the_providers_reach),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

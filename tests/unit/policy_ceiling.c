#include <stdarg.h>

#include "base/glob.h"
#include "check.h"
#include "policy/net_match.h"
#include "policy/policy_cover.h"
#include "policy/policy_query.h"
#include "policy/runtime_choice.h"
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

static bool list_is(const struct pol_list *list, const char *want)
{
	char got[1000] = "";
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		(void)strncat(got, i ? " " : "", sizeof(got) - strlen(got) - 1);
		(void)strncat(got, list->v[i].s, sizeof(got) - strlen(got) - 1);
	}
	if (strcmp(got, want) != 0)
		printf("# got \"%s\", want \"%s\"\n", got, want);
	return strcmp(got, want) == 0;
}

static void limits_take_the_minimum(void)
{
	struct policy *p =
		below("filesystem: {tmp_size: 2G}\n"
		      "process: {memory: 8G, cpus: 1, timeout: 0, max_processes: 10, max_file_size: 1M}\n"
		      "network: {max_bytes_out: 9M, loopback: true, dns: policy}\n",
		      "filesystem: {tmp_size: 1G}\n"
		      "process: {memory: 4G, cpus: 2, timeout: 30m, max_processes: 20, max_file_size: 2M, user: 77}\n"
		      "network: {max_bytes_out: 5M, loopback: false, dns: none}\n");

	CHECK(p->fs.tmp_size.v == UINT64_C(1) << 30 && p->process.memory.v == UINT64_C(4) << 30);
	CHECK(p->process.cpus.v == 1000 && p->process.timeout.v == 1800000 && p->process.max_processes.v == 10);
	CHECK(p->process.max_file_size.v == 1 << 20 && p->process.user.v == 77);
	CHECK(p->net.max_bytes_out.v == 5 << 20 && p->net.loopback.v == 0 && p->net.dns.v == DNS_NONE);
	policy_free(p);
	/* 0 is no limit: any limit is tighter. */
	p = below("process: {cpus: 0, timeout: 1h}", "process: {cpus: 2, timeout: 0}");
	CHECK(p->process.cpus.v == 2000 && p->process.timeout.v == 3600000);
	policy_free(p);
}

static void what_the_request_leaves_open_stays_at_its_default(void)
{
	struct policy *p = below("", "network: {mode: public, allow: [{host: a.b}]}\nprocess: {memory: 64G}\n");

	CHECK(p->net.mode.v == NET_NONE && p->process.memory.v == UINT64_C(4) << 30);
	policy_free(p);
}

static void the_tighter_work_folder_holds(void)
{
	static const char *const order[] = {"none", "read-only", "copy", "read-write"};
	char request[64], ceiling[64];
	struct policy *p;
	int i, k;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++) {
			(void)snprintf(request, sizeof(request), "filesystem: {workdir: %s}", order[i]);
			(void)snprintf(ceiling, sizeof(ceiling), "filesystem: {workdir: %s}", order[k]);
			p = below(request, ceiling);
			CHECK_STR(workdir_mode_names[p->fs.workdir.v], order[i < k ? i : k]);
			policy_free(p);
		}
}

static void folders_must_lie_below_the_ceilings(void)
{
	CHECK_STR(memory_error("filesystem: {read: [/opt/x, /usr/share, sub], write: [/srv/a/b]}",
			       "filesystem: {read: [/opt], write: [/srv/*]}"),
		  "");
	CHECK_HAS(memory_error("filesystem:\n  read: [/opt, /data]", "filesystem: {read: [/opt]}"),
		  "p.yaml:3:16: filesystem.read: \"/data\" is outside what the ceiling opens (\"/opt\", ceiling:2)");
	CHECK_STR(memory_error("filesystem: {read: [/srv/x]}", "filesystem: {read: [/opt], write: [/srv]}"), "");
	CHECK_HAS(memory_error("filesystem: {write: [/opt/x]}", "filesystem: {read: [/opt], write: [/srv]}"),
		  "filesystem.write: \"/opt/x\"");
	CHECK_HAS(memory_error("filesystem: {write: [/x]}", "filesystem: {read: [/opt]}"),
		  "filesystem.write: \"/x\" is outside");
	CHECK_HAS(memory_error("filesystem: {write: [/x]}", "filesystem: {write: []}"), "which is empty");
	CHECK_HAS(memory_error("filesystem: {write: [out]}", "filesystem: {write: [], workdir: copy}"), "is outside");
	CHECK_STR(memory_error("filesystem: {write: [out]}", "filesystem: {write: []}"), "");
	CHECK_HAS(memory_error("filesystem: {read: [/etc]}", "filesystem: {read: []}"), "\"/etc\" is outside");
	CHECK_HAS(memory_error("filesystem: {read: [\"**\"]}", "filesystem: {read: [/opt]}"), "is outside");
}

/* The work folder is /home/u/w. */
static void a_narrower_work_folder_holds_without_lists_of_folders(void)
{
	static const struct {
		const char *request, *ceiling;
		bool passes;
	} cases[] = {
		{"write: [\".\"]", "workdir: none", false},
		{"workdir: copy, write: [\".\"]", "workdir: none", false},
		{"read: [\".\"]", "workdir: none", false},
		{"read: [\"sub\"]", "workdir: none", false},
		{"read: [/home]", "workdir: none", false},
		{"read: [\"/home/*\"]", "workdir: none", false},
		{"read: [\"/**/w\"]", "workdir: none", false},
		{"write: [/]", "workdir: none", false},
		{"read: [/opt, \"**/x\"], write: [/home/u/other]", "workdir: none", true},
		{"read: [\".\"]", "workdir: none, read: [/home]", true},
		{"write: [\".\"]", "workdir: none, read: [/home]", false},
		{"write: [\".\"]", "workdir: none, write: [/home]", true},
		{"read: [\".\"]", "workdir: none, write: [/srv]", false},
		{"read: [\".\"]", "workdir: read-only", true},
		{"write: [\"sub\"]", "workdir: read-only", false},
		{"workdir: none, write: [\".\"]", "workdir: read-only", false},
		{"write: [\"**/build\"]", "workdir: read-only", false},
		{"write: [\"/home/*/w\"]", "workdir: read-only", false},
		{"write: [/srv]", "workdir: read-only", true},
		{"write: [\"sub\"]", "workdir: copy", false},
		{"workdir: none, write: [\".\"]", "workdir: copy", false},
		{"write: [\".\"]", "workdir: read-write", true},
	};
	char request[256], ceiling[256];
	struct policy *p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(request, sizeof(request), "filesystem: {%s}", cases[i].request);
		(void)snprintf(ceiling, sizeof(ceiling), "filesystem: {%s}", cases[i].ceiling);
		if ((memory_error(request, ceiling)[0] == '\0') != cases[i].passes)
			printf("# %s under %s: %s\n", request, ceiling, memory_error(request, ceiling));
		CHECK((memory_error(request, ceiling)[0] == '\0') == cases[i].passes);
	}
	/* a folder above is shown without it, or with it as it may be */
	p = below("filesystem: {workdir: none, write: [/home/u]}", "filesystem: {workdir: read-only}");
	CHECK(list_is(&p->fs.read, "/home/u/w"));
	policy_free(p);
}

static void a_pattern_that_floats_opens_no_folder(void)
{
	static const char floats[] = "filesystem: {workdir: read-write, read: [\"**/keep\"], write: [\"**/build\"]}";

	CHECK_HAS(memory_error("filesystem: {read: [/mnt/keep]}", floats), "is outside");
	CHECK_HAS(memory_error("filesystem: {read: [\"/mnt/*/keep\"]}", floats), "is outside");
	CHECK_HAS(memory_error("filesystem: {write: [/mnt/build]}", floats), "is outside");
	CHECK_HAS(memory_error("filesystem: {write: [/mnt/build]}", "filesystem: {write: [\"**\"]}"), "is outside");
	CHECK_HAS(
		memory_error("filesystem: {write: [/opt/build]}", "filesystem: {read: [/opt], write: [\"**/build\"]}"),
		"is outside");
	CHECK_STR(memory_error("filesystem: {read: [\"**/keep\"], write: [\"**/build\", sub]}", floats), "");
	CHECK_STR(memory_error("filesystem: {read: [/opt/keep]}", "filesystem: {read: [/opt, \"**/keep\"]}"), "");
}

/* writing implies reading */
static void what_a_ceiling_bounds_is_known_to_whoever_follows_links(void)
{
	static const struct {
		const char *ceiling;
		bool read, write, workdir_read, workdir_write;
	} cases[] = {
		{"filesystem: {read: [/opt]}", true, true, false, false},
		{"filesystem: {write: [/opt]}", false, true, false, false},
		{"filesystem: {read: []}", true, true, false, false},
		{"filesystem: {workdir: read-write}", false, false, false, false},
		{"filesystem: {workdir: copy}", false, false, false, true},
		{"filesystem: {workdir: read-only}", false, false, false, true},
		{"filesystem: {workdir: none}", false, false, true, true},
		{NULL, false, false, false, false},
	};
	const struct pol_fs *fs;
	struct policy *p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p = below("process: {max_processes: 8}", cases[i].ceiling);
		fs = &p->fs;
		CHECK(fs->read_bounded == cases[i].read && fs->write_bounded == cases[i].write);
		CHECK(fs->workdir_read_bounded == cases[i].workdir_read &&
		      fs->workdir_write_bounded == cases[i].workdir_write);
		policy_free(p);
	}
}

static void denials_are_united(void)
{
	struct policy *p =
		below("filesystem: {deny: [/a]}\nprocess: {deny_exec: [/bin/x]}\nnetwork: {deny: [{host: a.b}]}",
		      "filesystem: {deny: [/a, /b]}\nprocess: {deny_exec: [/bin/y]}\nnetwork: {deny: [{host: c.d}, "
		      "{host: a.b}]}");

	CHECK(list_is(&p->process.deny_exec, "/bin/x /bin/y"));
	CHECK_STR(p->fs.deny.v[0].s, "/a");
	CHECK_STR(p->fs.deny.v[1].s, "/b");
	CHECK(p->net.deny.n == 2);
	policy_free(p);
}

static void rates_calls_and_asking_are_only_tightened(void)
{
	struct policy *p = below("network:\n  mode: allowlist\n  ask: true\n  allow:\n"
				 "    - {host: a.b, rate: 20/s, mcp: {tools: [read_*, write_x]}}\n"
				 "    - {host: c.d, rate: 1/m, graphql: {types: [query, mutation]}}\n"
				 "    - {host: e.f}\n",
				 "network:\n  mode: allowlist\n  ask: false\n  allow:\n"
				 "    - {host: a.b, rate: 10/s, mcp: {tools: [\"read_*\"], methods: [tools/*]}}\n"
				 "    - {host: c.d, graphql: {types: [query], operations: [user]}}\n"
				 "    - {host: e.f, rate: 3/h, mcp: {tools: [x]}}\n");
	const struct net_rule *v = p->net.allow.v;

	CHECK(p->net.allow.n == 3 && p->net.ask.v == 0);
	if (p->net.allow.n == 3) {
		CHECK(v[0].rate.v == 10 * 3600 && list_is(&v[0].mcp.tools, "read_*") &&
		      list_is(&v[0].mcp.methods, "tools/*"));
		CHECK(v[1].rate.v == 60 && list_is(&v[1].graphql.types, "query") &&
		      list_is(&v[1].graphql.operations, "user"));
		CHECK(v[2].rate.v == 3 && list_is(&v[2].mcp.tools, "x"));
		/* The ceiling's rate is one budget, however a request cuts its rule. */
		CHECK(v[0].rate.at.file == v[2].rate.at.file && v[0].rate.at.line == 6);
	}
	policy_free(p);
	/* What both allow may be nothing, and is never everything. */
	p = below("network: {mode: allowlist, allow: [{host: a.b, mcp: {tools: [x]}}, {host: c.d, graphql: {types: "
		  "[mutation]}}, {host: e.f, mcp: {tools: [x]}}]}",
		  "network: {mode: allowlist, allow: [{host: a.b, mcp: {tools: [y]}}, {host: c.d, graphql: {types: "
		  "[query]}}, {host: e.f, graphql: {types: [query]}}]}");
	CHECK(p->net.allow.n == 0);
	policy_free(p);
	CHECK_HAS(memory_error("network: {mode: allowlist, allow: [{host: a.b, mcp: {tools: [\"*_a\"]}}]}",
			       "network: {mode: allowlist, allow: [{host: a.b, mcp: {tools: [\"b_*\"]}}]}"),
		  "network.allow.mcp.tools");
}

static void lists_of_names_are_intersected(void)
{
	struct policy *p = below("process: {fallback: [runc, native], env: {set: {X: y}, pass: [TERM, HOME]}}",
				 "process: {fallback: [native, crun], env: {set: {Z: z}, pass: [HOME]}}");

	CHECK(list_is(&p->process.fallback, "native") && list_is(&p->process.env_pass, "HOME"));
	CHECK(p->process.env_set.n == 1 && strcmp(p->process.env_set.v[0].key, "X") == 0);
	CHECK(p->process.env_bound.set && list_is(&p->process.env_bound, "HOME"));
	policy_free(p);
}

static void executables_are_intersected(void)
{
	struct policy *p = below("", "process: {allow_exec: [/usr/bin]}");

	CHECK(list_is(&p->process.allow_exec, "/usr/bin"));
	policy_free(p);
	p = below("process: {allow_exec: [/usr/bin/git, /opt/x, /usr/lib]}",
		  "process: {allow_exec: [/usr/bin/*, /usr/lib/a, /srv]}");
	CHECK(list_is(&p->process.allow_exec, "/usr/bin/git /usr/lib/a"));
	policy_free(p);
	p = below("process: {allow_exec: [/opt/x]}", "process: {allow_exec: [/usr]}");
	CHECK(p->process.allow_exec.set && p->process.allow_exec.n == 0);
	policy_free(p);
	CHECK_HAS(memory_error("process: {allow_exec: [\"/usr/*/git\"]}", "process: {allow_exec: [\"/usr/bin/g*\"]}"),
		  "narrow it");
}

static void the_ceilings_runtime_holds(void)
{
	struct policy *p = below("", "process: {runtime: gvisor}");

	CHECK(p->process.runtime.v == RUNTIME_GVISOR);
	policy_free(p);
	CHECK_HAS(memory_error("process: {runtime: native}", "process: {runtime: gvisor}"),
		  "process.runtime: native is not the ceiling's gvisor (ceiling:2); write auto");
	CHECK_HAS(memory_error("process: {runtime: native}", "process: {categories: {terminal: gvisor}}"),
		  "gvisor for terminal");
	p = below("process: {categories: {terminal: native, web: runc}}", "process: {categories: {terminal: gvisor}}");
	CHECK(runtime_of_category(&p->process.categories, "terminal") == RUNTIME_GVISOR &&
	      runtime_of_category(&p->process.categories, "web") == RUNTIME_RUNC);
	policy_free(p);
}

static void checks_take_the_stricter_verdict(void)
{
	struct policy *p =
		below("check: {early-termination: allow, scope-reduction: deny}",
		      "check: {early-termination: deny, scope-reduction: allow, context-pollution: escalate}");
	uint32_t i;

	for (i = 0; i < p->check.n; i++)
		CHECK_STR(p->check.v[i].value,
			  strcmp(p->check.v[i].key, "context-pollution") == 0 ? "escalate" : "deny");
	CHECK(p->check.n == 3);
	policy_free(p);
}

static void providers_are_intersected_by_name(void)
{
	struct policy *p = below(
		"inference:\n  providers:\n"
		"    anthropic: {credential: mine, models: [\"claude-*\"], max_requests: 9, server_tools: allow}\n"
		"    openai: {models: [gpt-5]}\n    gemini: {}\n"
		"  routes: [{model: x, provider: gemini}, {model: y, provider: anthropic}]\n",
		"inference:\n  providers:\n"
		"    anthropic: {credential: mine, models: [claude-haiku, \"other-*\"], max_requests: 5}\n"
		"    openai: {models: [gpt-4]}\n");

	CHECK(p->inference.n_providers == 1);
	if (p->inference.n_providers == 1) {
		CHECK(list_is(&p->inference.providers[0].models, "claude-haiku"));
		CHECK(p->inference.providers[0].max_requests.v == 5);
		CHECK(p->inference.providers[0].server_tools.v == SERVER_TOOLS_DENY);
		CHECK_STR(p->inference.providers[0].credential.s, "mine");
	}
	/* one to a provider that is gone refuses its model */
	CHECK(p->inference.n_routes == 2);
	policy_free(p);
	CHECK_HAS(memory_error("inference: {providers: {openai: {url: \"http://evil.example\"}}}",
			       "inference: {providers: {openai: {}}}"),
		  "openai has another url than in the ceiling (ceiling:2)");
	p = below("inference: {providers: {openai: {credential: a}}}",
		  "inference: {providers: {openai: {credential: b}}}");
	CHECK(p->inference.n_providers == 1 && !p->inference.providers[0].credential.s);
	policy_free(p);
	p = below("inference: {providers: {openai: {}}}", "inference: {providers: {}}");
	CHECK(p->inference.n_providers == 0);
	policy_free(p);
	p = below("inference: {providers: {openai: {}}}", "process: {user: 3}");
	CHECK(p->inference.n_providers == 1);
	policy_free(p);
	CHECK_HAS(memory_error("inference: {providers: {openai: {models: [\"a*b\"]}}}",
			       "inference: {providers: {openai: {models: [\"*b*\"]}}}"),
		  "narrow it");
}

static const char *rules_of(const char *request, const char *ceiling)
{
	static char out[2000];
	struct policy *p = below(request, ceiling);
	size_t n = 0;
	uint32_t i, k;

	out[0] = '\0';
	for (i = 0; i < p->net.allow.n; i++) {
		const struct net_rule *r = &p->net.allow.v[i];

		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s", i ? "; " : "", r->host ? r->host : r->cidr);
		for (k = 0; k < r->n_ports; k++)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " :%u", r->ports[k]);
		for (k = 0; k < r->methods.n; k++)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " %s", r->methods.v[k].s);
		for (k = 0; k < r->paths.n; k++)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " %s", r->paths.v[k].s);
		if (r->credential.s)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " !%s", r->credential.s);
	}
	policy_free(p);
	return out;
}

#define ALLOW(rules) "network: {mode: allowlist, allow: [" rules "]}"

static void network_rules_are_intersected(void)
{
	CHECK_STR(rules_of(ALLOW("{host: a.x.org}, {host: b.org}"), ALLOW("{host: \"*.x.org\"}")), "a.x.org");
	CHECK_STR(rules_of(ALLOW("{host: \"*.x.org\"}"), ALLOW("{host: a.x.org}, {host: x.org}")), "a.x.org");
	CHECK_STR(rules_of(ALLOW("{host: \"*.a.x.org\"}"), ALLOW("{host: \"*.x.org\"}")), "*.a.x.org");
	CHECK_STR(rules_of(ALLOW("{cidr: 10.1.0.0/16}"), ALLOW("{cidr: 10.0.0.0/8}, {cidr: 10.1.2.0/24}")),
		  "10.1.0.0/16; 10.1.2.0/24");
	CHECK_STR(rules_of(ALLOW("{host: a.b, ports: [443, 22]}"), ALLOW("{host: a.b}")), "a.b :443");
	CHECK_STR(rules_of(ALLOW("{host: a.b}"), ALLOW("{host: a.b, ports: [8080]}")), "");
	CHECK_STR(rules_of(ALLOW("{host: a.b, methods: [GET, POST]}"), ALLOW("{host: a.b, methods: [GET, HEAD]}")),
		  "a.b GET");
	CHECK_STR(rules_of(ALLOW("{host: a.b}"), ALLOW("{host: a.b, methods: [GET]}")), "a.b GET");
	CHECK_STR(rules_of(ALLOW("{host: a.b, methods: [PUT]}"), ALLOW("{host: a.b, methods: [GET]}")), "");
	CHECK_STR(rules_of(ALLOW("{host: a.b, paths: [/x/y, /z]}"), ALLOW("{host: a.b, paths: [\"/x/**\"]}")),
		  "a.b /x/y");
	CHECK_STR(rules_of(ALLOW("{host: a.b, paths: [\"/x/**\"]}"), ALLOW("{host: a.b, paths: [\"**\"]}")),
		  "a.b /x/**");
	CHECK_STR(rules_of(ALLOW("{host: a.b, paths: [\"**\"]}"), ALLOW("{host: a.b, paths: [/q]}")), "a.b /q");
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}"), ALLOW("{host: a.b, credential: k}")), "a.b !k");
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}"), ALLOW("{host: a.b, credential: j}")), "a.b");
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}"), ALLOW("{host: a.b}")), "a.b");
	CHECK_STR(rules_of(ALLOW("{host: a.b}"), ALLOW("{host: a.b, credential: k}")), "a.b");
	CHECK_HAS(memory_error(ALLOW("{host: a.b, paths: [\"/a*/c\"]}"), ALLOW("{host: a.b, paths: [\"/*b/c\"]}")),
		  "p.yaml:2:56: network.allow.paths: \"/a*/c\" and the ceiling's \"/*b/c\" (ceiling:2) overlap");
}

static void modes_of_the_network_meet(void)
{
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}, {cidr: 10.0.0.0/8}"), "network: {mode: public}"), "a.b");
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}, {cidr: 10.0.0.0/8}"),
			   "network: {mode: public, allow: [{host: \"*.b\", credential: k}, {cidr: 10.2.0.0/16}]}"),
		  "a.b !k; 10.2.0.0/16");
	CHECK_STR(rules_of("network: {mode: public}",
			   ALLOW("{host: a.b, methods: [GET], credential: k}, {cidr: 10.0.0.0/8}")),
		  "a.b GET");
	CHECK_STR(rules_of(ALLOW("{host: a.b}"), "network: {mode: none}"), "");
	CHECK_STR(rules_of(ALLOW("{host: a.b, credential: k}"), "process: {user: 1}"), "a.b !k");
	CHECK_STR(rules_of(ALLOW("{host: a.b}"), ALLOW("")), "");
	CHECK_HAS(memory_error("", "network: {allow: [{host: a.b}]}"),
		  "ceiling:2:19: network.allow: there are rules but no mode");
}

static void a_ceilings_rate_holds_whatever_the_modes(void)
{
	static const char rated[] = "network: {mode: public, allow: [{host: b.test, paths: [/free]}, {host: b.test, "
				    "rate: 1/h}, {host: c.test}]}";
	struct policy *p = below("network: {mode: public}", rated);
	const struct net_rule *v = p->net.allow.v;

	/* up to the last that has one, and without opening more */
	CHECK(p->net.allow.n == 2 && v[0].paths.n == 1 && !v[0].rate.set && v[1].rate.v == 1);
	policy_free(p);
	/* before the request's own, which has none */
	p = below("network: {mode: public, allow: [{host: \"*.test\"}]}",
		  "network: {mode: public, allow: [{host: b.test, rate: 1/h}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 2 && v[0].rate.set && strcmp(v[0].host, "b.test") == 0 && !v[1].rate.set);
	policy_free(p);
	p = below("network: {mode: public, allow: [{host: b.test, methods: [GET]}]}",
		  "network: {mode: public, allow: [{host: b.test, rate: 1/h}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 3 && v[0].rate.set && v[1].rate.set && !v[1].methods.set && !v[2].rate.set);
	policy_free(p);
	/* in the ceiling's order: its first that fits decides */
	p = below("network: {mode: allowlist, allow: [{host: b.test}]}",
		  "network: {mode: allowlist, allow: [{host: \"*.test\", rate: 1/h}, {host: b.test}, {host: "
		  "\"*.test\"}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 2 && v[0].rate.set && !v[1].rate.set);
	policy_free(p);
	p = below("network: {mode: allowlist, allow: [{host: \"*.test\"}]}",
		  "network: {mode: allowlist, allow: [{host: \"*.test\", methods: [GET], rate: 1/h}, {host: b.test}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 2 && v[0].rate.set && !v[1].rate.set);
	policy_free(p);
	/* a pair that cannot be written down would lose it */
	CHECK_HAS(memory_error("network: {mode: allowlist, allow: [{host: a.b, paths: [\"/a*/c\"]}]}",
			       "network: {mode: public, allow: [{host: a.b, paths: [\"/*b/c\"], rate: 1/h}]}"),
		  "overlap");
	CHECK_STR(memory_error("network: {mode: allowlist, allow: [{host: a.b, paths: [\"/a*/c\"]}]}",
			       "network: {mode: public, allow: [{host: a.b, paths: [\"/*b/c\"]}]}"),
		  "");
	/* a range's, for each of its addresses that is public, and without opening others */
	p = below("network: {mode: public}", "network: {mode: public, allow: [{cidr: 11.22.33.1/32}, {cidr: "
					     "11.22.33.0/30, rate: 1/h}, {cidr: 11.22.33.8/32}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 5);
	if (p->net.allow.n == 5) {
		CHECK_STR(v[0].host, "11.22.33.1");
		CHECK_STR(v[1].host, "11.22.33.0");
		CHECK_STR(v[4].host, "11.22.33.3");
		CHECK(!v[0].rate.set && v[1].rate.v == 1 && v[4].rate.v == 1 && !v[4].cidr);
		CHECK(v[1].rate.at.file == v[4].rate.at.file && v[1].rate.at.line == v[4].rate.at.line);
	}
	policy_free(p);
	p = below("network: {mode: public}", "network: {mode: public, allow: [{cidr: \"168.63.129.16/31\", rate: 1/h}, "
					     "{cidr: \"2600::/127\", rate: 1/h}]}");
	v = p->net.allow.v;
	CHECK(p->net.allow.n == 3 && strcmp(v[0].host, "168.63.129.17") == 0 && strcmp(v[2].host, "2600::1") == 0);
	policy_free(p);
	CHECK_HAS(memory_error("network: {mode: public}",
			       "network: {mode: public, allow: [{cidr: 11.0.0.0/8, rate: 1/h}]}"),
		  "use allowlist");
	CHECK_HAS(memory_error("network: {mode: public}",
			       "network: {mode: public, allow: [{cidr: 0.0.0.0/0, rate: 1/h}]}"),
		  "use allowlist");
	CHECK_HAS(memory_error("network: {mode: public, allow: [{cidr: 11.22.33.0/24}]}",
			       "network: {mode: public, allow: [{cidr: \"::/0\", rate: 1/h}]}"),
		  "use allowlist");
	CHECK_STR(memory_error("network: {mode: allowlist, allow: [{cidr: 11.22.33.0/24}]}",
			       "network: {mode: public, allow: [{cidr: 0.0.0.0/0, rate: 1/h}]}"),
		  "");
	/* an address of it that is a provider's has a door of its own */
	p = below(
		"network: {mode: public}\ninference: {providers: {x: {kind: openai, url: \"https://11.22.33.2/v1\"}}}",
		"network: {mode: public, allow: [{cidr: 11.22.33.0/24, rate: 1/h}]}\ninference: {providers: {x: {kind: "
		"openai, url: \"https://11.22.33.2/v1\"}}}");
	CHECK(p->net.allow.n == 256 && p->net.deny.n == 1 && strcmp(p->net.deny.v[0].host, "11.22.33.2") == 0);
	policy_free(p);
	/* no private range; and no provider's host, which has a door */
	p = below("network: {mode: public}", "network: {mode: public, allow: [{cidr: 10.0.0.0/8, rate: 1/h}]}");
	CHECK(p->net.allow.n == 0);
	policy_free(p);
	p = below("network: {mode: public}\ninference: {providers: {openai: {}}}",
		  "network: {mode: public, allow: [{host: \"*.openai.com\", rate: 1/h}]}\ninference: {providers: "
		  "{openai: {}}}");
	CHECK(p->net.allow.n == 1 && p->net.deny.n == 1 && strcmp(p->net.deny.v[0].host, "api.openai.com") == 0);
	policy_free(p);
}

static void whoever_is_asked_cannot_lift_the_ceiling(void)
{
	static const char request[] = "network: {mode: allowlist, ask: true, allow: [{host: a.test}]}";
	static const struct {
		const char *ceiling;
		bool asks;
	} cases[] = {
		{NULL, true},
		{"process: {memory: 1G}", true},
		{"network: {mode: public}", true},
		{"network: {mode: public, ask: false}", false},
		{"network: {mode: public, allow: [{host: b.test, rate: 1/h}]}", false},
		{"network: {mode: allowlist, allow: [{host: a.test}]}", false},
		{"network: {mode: allowlist, ask: true, allow: [{host: a.test}]}", true},
		{"network: {mode: none}", false},
		{"network: {ask: false}", false},
	};
	struct policy *p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p = below(request, cases[i].ceiling);
		if ((p->net.ask.v != 0) != cases[i].asks)
			printf("# %s\n", cases[i].ceiling);
		CHECK((p->net.ask.v != 0) == cases[i].asks);
		policy_free(p);
	}
}

/* A small generator: the same cases on every machine. */
static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void put(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void put(char *out, size_t size, const char *format, ...)
{
	size_t n = strlen(out);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(out + n, size - n, format, ap);
	va_end(ap);
}

static const char *const hosts[] = {"a.org", "b.a.org", "c.b.a.org", "*.a.org", "*.b.a.org", "*.org", "9.9.9.9"};
static const char *const ranges[] = {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "9.0.0.0/8"};
static const char *const url_globs[] = {"/x", "/x/**", "/x/y", "/x/y/**", "**", "/z/*"};
static const char *const path_globs[] = {"/srv",     "/srv/a",   "/srv/*",    "/srv/a/**", "/opt",
					 "/opt/x/y", "**/cache", "/srv/**/k", "/"};
static const char *const models[] = {"gpt-4", "gpt-*", "gpt-4*", "*", "o1", "o?"};

#define ANY_OF(list) (list)[pick(sizeof(list) / sizeof((list)[0]))]

static void random_rules(char *out, size_t size)
{
	uint32_t n = pick(4), i;

	put(out, size, "  allow:\n");
	for (i = 0; i <= n; i++) {
		if (pick(4))
			put(out, size, "    - {host: \"%s\"", ANY_OF(hosts));
		else
			put(out, size, "    - {cidr: %s", ANY_OF(ranges));
		if (pick(2))
			put(out, size, ", ports: [%s]", pick(2) ? "443" : "22, 443");
		if (pick(2))
			put(out, size, ", methods: [%s]", pick(2) ? "GET" : "GET, POST");
		if (pick(2))
			put(out, size, ", paths: [\"%s\"]", ANY_OF(url_globs));
		put(out, size, "}\n");
	}
}

enum { WITH_NET = 1, WITH_FS = 2, WITH_REST = 4 };

/* Domains that are left out are left out on both sides: then a ceiling as a policy of its own says the same as a
 * ceiling. */
static void random_policy(char *out, size_t size, unsigned domains)
{
	static const char *const modes[] = {"none", "allowlist", "allowlist", "public"};

	out[0] = '\0';
	if (domains & WITH_NET) {
		put(out, size, "network:\n  mode: %s\n", ANY_OF(modes));
		random_rules(out, size);
		if (pick(3) == 0)
			put(out, size, "  deny: [{host: \"%s\"}]\n", ANY_OF(hosts));
	}
	if (domains & WITH_FS) {
		put(out, size, "filesystem:\n  workdir: %s\n", workdir_mode_names[pick(4)]);
		put(out, size, "  read: [\"%s\", \"%s\"]\n", ANY_OF(path_globs), ANY_OF(path_globs));
		put(out, size, "  write: [\"%s\"]\n", ANY_OF(path_globs));
		if (pick(2))
			put(out, size, "  deny: [\"%s\"]\n", ANY_OF(path_globs));
	}
	if (domains & WITH_REST) {
		put(out, size, "process:\n  allow_exec: [\"%s\", \"%s\"]\n", ANY_OF(path_globs), ANY_OF(path_globs));
		put(out, size, "inference:\n  providers:\n    openai: {models: [\"%s\", \"%s\"]}\n", ANY_OF(models),
		    ANY_OF(models));
	}
}

/* Whatever is allowed by the first is allowed by the second, over every question of a small world. */
static unsigned check_hosts(const struct policy *p, const struct policy *ceiling)
{
	static const char *const names[] = {"a.org",   "b.a.org",  "c.b.a.org", "d.org",
					    "9.9.9.9", "10.1.2.3", "10.9.9.9"};
	static const char *const methods[] = {"GET", "POST"};
	static const char *const paths[] = {"/x", "/x/y", "/x/y/z", "/z/q", "/"};
	static const uint16_t ports[] = {443, 80, 22};
	struct reason a, b;
	unsigned i, allowed = 0;

	for (i = 0; i < 7 * 2 * 5 * 3; i++) {
		const char *host = names[i % 7], *method = methods[i / 7 % 2], *path = paths[i / 14 % 5];
		uint16_t port = ports[i / 70];

		policy_query_host(p, host, port, method, path, &a);
		policy_query_host(ceiling, host, port, method, path, &b);
		allowed += a.answer == ANSWER_ALLOW;
		if (a.answer == ANSWER_ALLOW && b.answer == ANSWER_DENY) {
			printf("# %s:%u %s %s: %s\n", host, port, method, path, b.text);
			CHECK(b.answer == ANSWER_ALLOW);
		}
	}
	return allowed;
}

static unsigned check_paths(const struct policy *p, const struct policy *ceiling)
{
	static const char *const paths[] = {
		"/srv",       "/srv/a",    "/srv/a/b",    "/srv/b",          "/srv/b/k/x", "/opt/x",      "/opt/x/y/z",
		"/q/cache/1", "/home/u/w", "/home/u/w/f", "/home/u/w/cache", "/data",      "/usr/bin/git"};
	static const enum fs_access access[] = {FS_READ, FS_WRITE};
	struct reason a, b;
	unsigned i, allowed = 0;

	for (i = 0; i < 2 * sizeof(paths) / sizeof(paths[0]); i++) {
		policy_query_path(p, "/home/u/w", paths[i / 2], access[i % 2], &a);
		policy_query_path(ceiling, "/home/u/w", paths[i / 2], access[i % 2], &b);
		allowed += a.answer == ANSWER_ALLOW;
		if (a.answer == ANSWER_ALLOW && b.answer == ANSWER_DENY) {
			printf("# %s %s: %s / %s\n", i % 2 ? "write" : "read", paths[i / 2], a.text, b.text);
			CHECK(b.answer == ANSWER_ALLOW);
		}
	}
	return allowed;
}

static unsigned check_exec_and_models(const struct policy *p, const struct policy *ceiling)
{
	static const char *const execs[] = {"/srv/a/x", "/srv/b", "/opt/x/y", "/usr/bin/git", "/srv/b/k"};
	static const char *const names[] = {"gpt-4", "gpt-4o", "gpt-5", "o1", "o2", "claude"};
	struct reason a, b;
	unsigned i, allowed = 0;

	for (i = 0; i < 5; i++) {
		policy_query_exec(p, "/home/u/w", execs[i], &a);
		policy_query_exec(ceiling, "/home/u/w", execs[i], &b);
		allowed += a.answer == ANSWER_ALLOW;
		CHECK(a.answer == ANSWER_DENY || b.answer == ANSWER_ALLOW);
	}
	for (i = 0; i < 6; i++) {
		policy_query_model(p, names[i], &a);
		policy_query_model(ceiling, names[i], &b);
		allowed += a.answer == ANSWER_ALLOW;
		CHECK(a.answer == ANSWER_DENY || b.answer == ANSWER_ALLOW);
	}
	return allowed;
}

static void nothing_is_allowed_that_the_ceiling_denies(void)
{
	static char request[4096], ceiling[4096];
	struct policy *p, *c;
	struct error err;
	static const unsigned domains[] = {WITH_NET, WITH_FS, WITH_REST, WITH_NET | WITH_FS | WITH_REST};
	unsigned i, loaded = 0, allowed = 0;

	for (i = 0; i < 3000 && check_failures < 5; i++) {
		seed = i * 2654435761U;
		random_policy(request, sizeof(request), domains[i % 4]);
		random_policy(ceiling, sizeof(ceiling), domains[i % 4]);
		c = memory_policy(ceiling, NULL, &err);
		CHECK(c != NULL);
		p = memory_policy(request, ceiling, &err);
		if (p && c) {
			loaded++;
			allowed += check_hosts(p, c) + check_paths(p, c) + check_exec_and_models(p, c);
			if (check_failures)
				printf("# request %u:\n%s# ceiling:\n%s", i, request, ceiling);
		}
		policy_free(p);
		policy_free(c);
	}
	printf("# %u of %u pairs load, %u answers are allow\n", loaded, i, allowed);
	CHECK(loaded > 1000 && allowed > 20000);
}

static void a_policy_below_itself_stays_what_it_is(void)
{
	static char text[4096];
	struct policy *p, *c;
	struct error err;
	unsigned i;

	for (i = 0; i < 300; i++) {
		seed = i * 40503U;
		random_policy(text, sizeof(text), WITH_NET | WITH_FS | WITH_REST);
		c = memory_policy(text, NULL, &err);
		p = memory_policy(text, text, &err);
		CHECK(c && p);
		if (!p)
			printf("# %s\n%s", err.text, text);
		if (c && p) {
			(void)check_hosts(p, c);
			(void)check_hosts(c, p);
			(void)check_paths(c, p);
			(void)check_exec_and_models(c, p);
		}
		policy_free(p);
		policy_free(c);
	}
}

static void a_proof_of_coverage_holds_for_every_path(void)
{
	static const char *const parts[] = {"a", "b", "*", "**", "a*", "[ab]"};
	static const char *const names[] = {"a", "b", "ab", "c"};
	char outer[100], inner[100], path[100];
	unsigned i, k, n, proofs = 0;
	struct glob o, g;

	for (i = 0; i < 20000 && !check_failures; i++) {
		seed = i * 2246822519U;
		outer[0] = inner[0] = '\0';
		for (n = pick(4) + 1; n; n--)
			put(outer, sizeof(outer), "/%s", ANY_OF(parts));
		for (n = pick(4) + 1; n; n--)
			put(inner, sizeof(inner), "/%s", ANY_OF(parts));
		if (glob_init(&o, sv_of(outer)) < 0 || glob_init(&g, sv_of(inner)) < 0)
			continue;
		proofs += cover_path.covers(outer, inner);
		for (k = 0; k < 40; k++) {
			path[0] = '\0';
			for (n = pick(5) + 1; n; n--)
				put(path, sizeof(path), "/%s", ANY_OF(names));
			CHECK(!cover_path.covers(outer, inner) || !glob_hit(&g, sv_of(path)) ||
			      glob_hit(&o, sv_of(path)));
			CHECK(!cover_path.apart(outer, inner) || !glob_hit(&g, sv_of(path)) ||
			      !glob_hit(&o, sv_of(path)));
		}
		glob_done(&o);
		glob_done(&g);
	}
	printf("# %u of 20000 pairs are proofs\n", proofs);
	CHECK(proofs > 1000);
}

/* p.yaml below the task's bounds, in bounds.yaml. */
static struct policy *bounded(const char *request, const char *bounds, struct error *err)
{
	char texts[2][4096];
	struct memory_text v[2] = {{"p.yaml", texts[0]}, {"bounds.yaml", texts[1]}};
	struct memory m = {v, 2};
	struct policy_fetch fetch = {memory_get, &m};
	struct policy_source sources[] = {{.name = "p.yaml"}, {.name = "bounds.yaml", .is_bound = true}};
	struct policy_request req = {.sources = sources, .n_sources = 2, .home = "/home/u", .workdir = "/home/u/w"};
	struct policy *p = NULL;

	(void)snprintf(texts[0], sizeof(texts[0]), "version: 1\n%s\n", request);
	(void)snprintf(texts[1], sizeof(texts[1]), "version: 1\n%s\n", bounds);
	return policy_compile(&req, &fetch, &p, err) < 0 ? NULL : p;
}

static void a_task_only_tightens(void)
{
	static const char open[] = "network: {mode: public}\nprocess: {memory: 4G, timeout: 1h}\ninference: "
				   "{providers: {vllm: {kind: openai, url: \"http://10.0.0.7:8000/v1\"}}}";
	struct error err = {0};
	struct policy *p = bounded(open, "network: {mode: none}\nprocess: {memory: 1G, timeout: 2h}", &err);

	CHECK(p && p->net.mode.v == NET_NONE);
	CHECK(p && p->process.memory.v == 1ULL << 30);
	CHECK(p && p->process.timeout.v == 3600 * 1000);
	/* no network is not no models */
	CHECK(p && p->inference.n_providers == 1);
	policy_free(p);
	p = bounded("network: {mode: none}", "network: {mode: public}", &err);
	CHECK(p && p->net.mode.v == NET_NONE);
	policy_free(p);
	p = bounded("network: {mode: public}",
		    "network: {mode: allowlist, allow: [{host: pypi.org}, {cidr: 10.0.0.0/8}]}", &err);
	CHECK(p && p->net.mode.v == NET_ALLOWLIST && p->net.allow.n == 1);
	CHECK(p && p->net.allow.n == 1 && strcmp(p->net.allow.v[0].host, "pypi.org") == 0);
	policy_free(p);
	p = bounded("network: {mode: allowlist, allow: [{host: \"*.pypi.org\"}]}",
		    "network: {mode: allowlist, allow: [{host: a.pypi.org}, {host: example.com}]}", &err);
	CHECK(p && p->net.allow.n == 1 && strcmp(p->net.allow.v[0].host, "a.pypi.org") == 0);
	policy_free(p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(limits_take_the_minimum),
		CASE(what_the_request_leaves_open_stays_at_its_default),
		CASE(the_tighter_work_folder_holds),
		CASE(folders_must_lie_below_the_ceilings),
		CASE(a_narrower_work_folder_holds_without_lists_of_folders),
		CASE(a_pattern_that_floats_opens_no_folder),
		CASE(what_a_ceiling_bounds_is_known_to_whoever_follows_links),
		CASE(denials_are_united),
		CASE(rates_calls_and_asking_are_only_tightened),
		CASE(lists_of_names_are_intersected),
		CASE(executables_are_intersected),
		CASE(the_ceilings_runtime_holds),
		CASE(checks_take_the_stricter_verdict),
		CASE(providers_are_intersected_by_name),
		CASE(network_rules_are_intersected),
		CASE(modes_of_the_network_meet),
		CASE(a_ceilings_rate_holds_whatever_the_modes),
		CASE(whoever_is_asked_cannot_lift_the_ceiling),
		CASE(nothing_is_allowed_that_the_ceiling_denies),
		CASE(a_policy_below_itself_stays_what_it_is),
		CASE(a_task_only_tightens),
		CASE(a_proof_of_coverage_holds_for_every_path),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

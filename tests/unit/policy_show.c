#include "check.h"
#include "policy/import.h"
#include "policy/policy_parse.h"
#include "policy/policy_show.h"

static const char *const whole =
	"version: 1\n"
	"filesystem:\n"
	"  workdir: copy\n"
	"  read: [/opt, \"/a b\", \"~\", \"~/x: y\", \"**/*.c\"]\n"
	"  write: []\n"
	"  deny: [\"/#x\", \"- y\", \"/caf\xc3\xa9\"]\n"
	"  tmp_size: 1536\n"
	"network:\n"
	"  mode: allowlist\n"
	"  allow: [{host: \"*.a.example\", ports: [1, 65535], methods: [GET], paths: [\"/x/**\"], credential: c}, "
	"{cidr: 10.0.0.0/8}, {host: api.example, rate: 90/m, graphql: {types: [query, mutation], operations: "
	"[\"user*\"]}}, "
	"{host: mcp.example, rate: 7/h, mcp: {tools: [read, \"no\"], methods: [tools/call]}}]\n"
	"  ask: true\n"
	"  deny: [{host: b.example, ports: [22]}]\n"
	"  dns: none\n"
	"  loopback: false\n"
	"  max_bytes_out: 50M\n"
	"process:\n"
	"  runtime: gvisor\n"
	"  fallback: [runc, native]\n"
	"  categories: {terminal: gvisor}\n"
	"  allow_exec: [/usr/bin/env]\n"
	"  deny_exec: []\n"
	"  user: 7\n"
	"  max_processes: 3\n"
	"  memory: 4G\n"
	"  cpus: 0.25\n"
	"  timeout: 90s\n"
	"  max_file_size: 1T\n"
	"  env: {set: {A: \"yes\", B: \"1\", C: \"\", D: \"x\\ty\\nz\", E: \"null\"}, pass: [TERM]}\n"
	"inference:\n"
	"  providers:\n"
	"    vllm: {kind: openai, url: \"http://127.0.0.1:8000\", credential: k, base_url_env: X, models: [\"a*\"], "
	"max_requests: 1, max_output_tokens: 2, server_tools: allow}\n"
	"  routes: [{model: \"a*\", provider: vllm}]\n"
	"check: {scope-reduction: deny}\n"
	"phases:\n"
	"  agent:\n"
	"    network: {mode: none}\n"
	"tests:\n"
	"  - allow: {host: \"a.example:443\", method: GET, path: /x}\n"
	"  - deny: {write: \"./a b\"}\n";

static struct policy *parsed(struct sv text)
{
	struct policy *p = policy_new();
	struct error err = {0};

	if (policy_parse(p, "test", 0, text, &err) < 0) {
		printf("# %s\n", err.text);
		policy_free(p);
		return NULL;
	}
	return p;
}

static void what_is_shown_reads_back_as_the_same(void)
{
	struct policy *p = parsed(sv_of(whole)), *again;
	struct buf one, two;

	buf_init(&one, 1 << 20);
	buf_init(&two, 1 << 20);
	CHECK(p != NULL);
	policy_show_yaml(p, 0, &one);
	again = parsed(buf_view(&one));
	CHECK(again != NULL);
	if (again) {
		policy_show_yaml(again, 0, &two);
		CHECK_STR(two.p, one.p);
		CHECK(again->fs.read.n == 5 && again->fs.write.set && again->fs.write.n == 0 && again->n_tests == 2);
		CHECK(again->process.cpus.v == 250 && again->process.timeout.v == 90000 &&
		      again->fs.tmp_size.v == 1536);
		CHECK_STR(again->process.env_set.v[0].value, "yes");
		CHECK_STR(again->process.env_set.v[3].value, "x\ty\nz");
		CHECK_STR(again->fs.deny.v[2].s, "/caf\xc3\xa9");
		CHECK(again->n_phases == 1 && again->inference.n_routes == 1 && again->net.allow.v[0].n_ports == 2);
	}
	policy_free(again);
	policy_free(p);
	buf_done(&one);
	buf_done(&two);
}

static void numbers_are_written_in_their_largest_whole_unit(void)
{
	struct policy_number n;

	CHECK_STR(policy_show_number(&n, UNIT_SIZE, 0), "0");
	CHECK_STR(policy_show_number(&n, UNIT_SIZE, 1023), "1023");
	CHECK_STR(policy_show_number(&n, UNIT_SIZE, 1024), "1K");
	CHECK_STR(policy_show_number(&n, UNIT_SIZE, UINT64_C(3) << 30), "3G");
	CHECK_STR(policy_show_number(&n, UNIT_DURATION, 1500), "1500ms");
	CHECK_STR(policy_show_number(&n, UNIT_DURATION, 1800000), "30m");
	CHECK_STR(policy_show_number(&n, UNIT_CPUS, 1500), "1.5");
	CHECK_STR(policy_show_number(&n, UNIT_CPUS, 2000), "2");
	CHECK_STR(policy_show_number(&n, UNIT_BOOL, 1), "true");
	CHECK_STR(policy_show_number(&n, UNIT_RATE, 36000), "10/s");
	CHECK_STR(policy_show_number(&n, UNIT_RATE, 90 * 60), "90/m");
	CHECK_STR(policy_show_number(&n, UNIT_RATE, 7), "7/h");
	CHECK_STR(policy_show_number(&n, UNIT_COUNT, 1024), "1024");
}

static int import_text(const char *text, struct import_result *r)
{
	struct error err = {0};

	return policy_import("test", sv_of(text), IMPORT_DETECT, r, &err);
}

static void a_source_is_told_by_its_own_keys(void)
{
	static const struct {
		const char *text;
		int source; /* -1: none */
	} cases[] = {
		{"network: none\n", IMPORT_SYNTHORG},
		{"docker: {memory_limit: 1g}\n", IMPORT_SYNTHORG},
		{"filesystem_policy: {read_only: [/usr]}\n", IMPORT_OPENSHELL},
		{"version: 1\nprocess: {run_as_user: sandbox}\n", IMPORT_OPENSHELL},
		{"{\"network\": {\"allowedDomains\": []}}", IMPORT_SRT},
		{"{\"sandbox\": {}}", IMPORT_SRT},
		{"version: 1\nfilesystem: {workdir: copy}\n", -1},
		{"[1, 2]\n", -1},
		{"", -1},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct import_result r = {0};
		int ok = import_text(cases[i].text, &r);

		CHECK(ok == (cases[i].source < 0 ? -1 : 0));
		if (ok == 0) {
			CHECK((int)r.source == cases[i].source);
			import_done(&r);
		}
	}
}

static void every_kind_of_wrong_value_is_noted_and_none_ends_the_import(void)
{
	struct import_result r = {0};

	CHECK(import_text("network: [1]\nmemory_limit: lots\ncpu_limit: -1\npids_limit: 1.5\nallowed_hosts: {a: "
			  "b}\nmount_mode: x\n"
			  "runtime: [a]\npolicy: [1]\nnetwork_presets: [[1]]\ntmpfs_size: 0\ntimeout_seconds: nan\n",
			  &r) == 0);
	CHECK(r.n_lost == 12); /* two about the policy: what it is, and what that closes */
	CHECK(r.policy->net.mode.v == NET_NONE && r.policy->fs.workdir.v == WORKDIR_NONE);
	CHECK(r.policy->process.memory.v == UINT64_C(512) << 20);
	import_done(&r);
}

static const struct check_case cases[] = {
	CASE(what_is_shown_reads_back_as_the_same),
	CASE(numbers_are_written_in_their_largest_whole_unit),
	CASE(a_source_is_told_by_its_own_keys),
	CASE(every_kind_of_wrong_value_is_noted_and_none_ends_the_import),
};

int main(void)
{
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

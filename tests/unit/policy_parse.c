#include "base/buf.h"
#include "check.h"
#include "model/policy.h"
#include "policy/policy_parse.h"
#include "policy_memory.h"

static const char *parse_error(struct sv bytes)
{
	static struct error err;
	struct policy *p = policy_new();

	err.text[0] = '\0';
	if (policy_parse(p, "f", 0, bytes, &err) == 0)
		err.text[0] = '\0';
	policy_free(p);
	return err.text;
}

static const char *error_of(const char *text)
{
	return parse_error(sv_of(text));
}

static const char whole[] = "version: 1\n"
			    "extends: [strict, ./other.yaml]\n"
			    "filesystem:\n"
			    "  workdir: copy\n"
			    "  read: [/usr, /opt/tools]\n"
			    "  write: [\"~/.cache/pip\"]\n"
			    "  deny: [\"~/.ssh\", \"**/.env\", \"**/.git/hooks/**\"]\n"
			    "  tmp_size: 512M\n"
			    "network:\n"
			    "  mode: allowlist\n"
			    "  allow:\n"
			    "    - host: pypi.org\n"
			    "      ports: [443]\n"
			    "      methods: [GET, HEAD]\n"
			    "      paths: [\"/simple/**\"]\n"
			    "      credential: pypi\n"
			    "    - cidr: 10.1.2.0/24\n"
			    "      ports: [5432]\n"
			    "  deny: [{host: \"*.pastebin.com\"}]\n"
			    "  dns: policy\n"
			    "  loopback: true\n"
			    "  max_bytes_out: 50M\n"
			    "process:\n"
			    "  runtime: auto\n"
			    "  fallback: [runc, native]\n"
			    "  categories: {code_execution: gvisor, terminal: gvisor}\n"
			    "  allow_exec: [\"**\"]\n"
			    "  deny_exec: []\n"
			    "  user: 1000\n"
			    "  max_processes: 256\n"
			    "  memory: 4G\n"
			    "  cpus: 2\n"
			    "  timeout: 30m\n"
			    "  max_file_size: 1G\n"
			    "  env: {set: {LANG: C.UTF-8}, pass: [TERM]}\n"
			    "inference:\n"
			    "  providers:\n"
			    "    anthropic:\n"
			    "      kind: anthropic\n"
			    "      url: https://api.anthropic.com\n"
			    "      credential: anthropic\n"
			    "      models: [\"claude-*\"]\n"
			    "      max_requests: 500\n"
			    "      max_output_tokens: 2000000\n"
			    "      server_tools: deny\n"
			    "      base_url_env: ANTHROPIC_BASE_URL\n"
			    "  routes: [{model: \"local-*\", provider: vllm}]\n"
			    "tests:\n"
			    "  - allow: {host: \"pypi.org:443\", method: GET, path: /simple/x}\n"
			    "  - deny: {write: ~/.ssh/config}\n"
			    "phases:\n"
			    "  build: {network: {mode: public}}\n"
			    "check: {early-termination: deny}\n";

static void every_key_of_the_schema_is_read(void)
{
	struct policy *p = policy_new();
	struct error err = {0};

	CHECK(policy_parse(p, "f", 0, sv_of(whole), &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(p->extends.n == 2 && p->fs.workdir.v == WORKDIR_COPY && p->fs.workdir.at.line == 4);
	CHECK(p->fs.workdir.at.column == 12);
	CHECK(p->fs.read.n == 2 && p->fs.write.n == 1 && p->fs.deny.n == 3 && p->fs.tmp_size.v == 512 << 20);
	CHECK(p->net.mode.v == NET_ALLOWLIST && p->net.allow.n == 2 && p->net.deny.n == 1);
	CHECK_STR(p->net.allow.v[0].host, "pypi.org");
	CHECK(p->net.allow.v[0].ports[0] == 443 && p->net.allow.v[0].methods.n == 2 && p->net.allow.v[0].at.line == 12);
	CHECK_STR(p->net.allow.v[0].credential.s, "pypi");
	CHECK_STR(p->net.allow.v[1].cidr, "10.1.2.0/24");
	CHECK(p->net.dns.v == DNS_POLICY && p->net.loopback.v == 1 && p->net.max_bytes_out.v == 50 << 20);
	CHECK(p->process.fallback.n == 2 && p->process.categories.n == 2 && p->process.deny_exec.set);
	CHECK(p->process.timeout.v == 1800000 && p->process.cpus.v == 2000 && p->process.max_processes.v == 256);
	CHECK(p->process.env_set.n == 1 && p->process.env_pass.n == 1);
	CHECK(p->inference.n_providers == 1 && p->inference.providers[0].max_requests.v == 500);
	CHECK(p->inference.n_routes == 1 && p->n_tests == 2 && p->n_phases == 1 && p->check.n == 1);
	CHECK(p->tests[0].allow && p->tests[0].subject == TEST_HOST && p->tests[1].subject == TEST_WRITE);
	CHECK(p->phases[0].policy->net.mode.v == NET_PUBLIC);
	policy_free(p);
}

static void errors_name_line_column_and_key(void)
{
	CHECK_STR(error_of("version: 1\nnetwrok: {}\n"), "f:2:1: netwrok: unknown key; did you mean \"network\"?");
	CHECK_STR(error_of("version: 1\nprocess:\n  memory: lots\n"),
		  "f:3:11: process.memory: \"lots\" is not a size; write bytes or a whole number with K, M, G or T "
		  "(powers of 1024), such as 512M");
	CHECK_STR(error_of("version: 1\nnetwork:\n  mode: allowlist\n  dns: none\n  mode: none\n"),
		  "f:5:3: mode: duplicate key, first given in line 3; keep one of them");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b}, {host: a b}]}\n"),
		  "f:2:39: network.allow[1].host: \"a b\"");
	CHECK_HAS(error_of("version: 1\nfilesystem: {workdir: readonly}\n"), "did you mean \"read-only\"?");
	CHECK_HAS(error_of("version: 1\nprocess: {runtime: qemu}\n"),
		  "write auto, native, gvisor, runc, crun or docker");
	CHECK_HAS(error_of("version: 1\nprocess: {fallback: [auto]}\n"), "f:2:22: process.fallback[0]: \"auto\"");
	CHECK_HAS(error_of("version: 1\nbad\\x1bkey: 1\n"), "bad\\x1bkey: unknown key");
	CHECK_HAS(error_of("version: 1\n\"a\\tb\": 1\n"), "a\\x09b: unknown key");
}

static void the_version_comes_first(void)
{
	CHECK_HAS(error_of("network: {mode: none}\n"), "f:1:1: version: is missing");
	CHECK_HAS(error_of("version: 2\nnew_key: 1\n"), "f:1:10: version: \"2\" is not a version");
	CHECK_HAS(error_of("version: \"1\"\n"), "is not a version");
	CHECK_HAS(error_of("[]\n"), "is a list; write a mapping");
	CHECK_HAS(error_of("just text\n"), "is a single value; write a mapping");
	CHECK_STR(error_of("version: 1\n"), "");
	CHECK_STR(error_of("\xef\xbb\xbf"
			   "version: 1\n"),
		  "");
	CHECK_STR(error_of("---\nversion: 1\r\n...\n"), "");
}

static void empty_allowlists_inside_a_rule_are_errors(void)
{
	static const char *const keys[] = {"ports", "methods", "paths"};
	char text[200];
	size_t i;

	for (i = 0; i < 3; i++) {
		(void)snprintf(text, sizeof(text), "version: 1\nnetwork: {allow: [{host: a.b, %s: []}]}\n", keys[i]);
		CHECK_HAS(error_of(text), "is empty, which would allow nothing");
	}
	CHECK_HAS(error_of("version: 1\ninference: {providers: {openai: {models: []}}}\n"),
		  "is empty, which would allow nothing");
	CHECK_STR(error_of("version: 1\nnetwork: {mode: allowlist, allow: []}\n"), "");
}

static void numbers_and_booleans_are_plain_scalars(void)
{
	CHECK_HAS(error_of("version: 1\nprocess: {user: \"8\"}\n"),
		  "process.user: \"8\" is text, because it is quoted");
	CHECK_HAS(error_of("version: 1\nnetwork: {loopback: 'true'}\n"), "quoted");
	CHECK_HAS(error_of("version: 1\nprocess: {memory: \"4096\"}\n"), "quoted");
	CHECK_STR(error_of("version: 1\nprocess: {memory: \"4G\", timeout: '30m'}\n"), "");
	CHECK_HAS(error_of("version: 1\nprocess: {user: -1}\n"), "is not a user id");
	CHECK_HAS(error_of("version: 1\nprocess: {cpus: .nan}\n"), "is not a number of CPUs");
	CHECK_HAS(error_of("version: 1\nprocess: {memory: 99999999999T}\n"), "is not a size");
	CHECK_HAS(error_of("version: 1\nprocess: {memory: 0}\n"), "too small");
	CHECK_HAS(error_of("version: 1\nprocess: {memory: }\n"), "is not a size");
	CHECK_HAS(error_of("version: 1\nprocess:\n"), "f:2:9: process: has no value; write a mapping");
}

static void rules_name_one_subject(void)
{
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{ports: [1]}]}\n"), "neither host nor cidr");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, cidr: 10.0.0.0/8}]}\n"), "a host and a cidr");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{cidr: 10.0.0.0/8, credential: x}]}\n"), "not to a range");
	CHECK_HAS(error_of("version: 1\nnetwork: {deny: [{host: a.b, credential: x}]}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, speed: 3}]}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [a.b]}\n"), "is a single value; write a mapping");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: {host: a.b}}\n"), "is a mapping; write a list");
}

static void rates_and_calls_are_read_strictly(void)
{
	static const char *const bad[] = {"10",    "10/x", "10/",   "/s",     "0/s", "-1/s",      "1.5/s",  "10 /s",
					  "10/ s", "10/S", "010/s", "10/sec", "10s", "1000001/s", "10/s/s", "\"10\""};
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(text, sizeof(text), "version: 1\nnetwork: {allow: [{host: a.b, rate: %s}]}\n", bad[i]);
		CHECK(error_of(text)[0] != '\0');
	}
	CHECK_STR(error_of("version: 1\nnetwork: {mode: allowlist, ask: true, allow: [{host: a.b, rate: 10/s}, {host: "
			   "c.d, rate: \"5/m\"},\n"
			   "  {host: e.f, graphql: {types: [query, mutation], operations: [user*]}}, {host: g.h, mcp: "
			   "{tools: [read_*], methods: [tools/call]}}]}\n"),
		  "");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, graphql: {}}]}\n"), "would allow nothing");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, graphql: {types: []}}]}\n"),
		  "would allow nothing");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, graphql: {types: [select]}}]}\n"),
		  "is not known here");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, graphql: {tools: [x]}}]}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, mcp: {tools: []}}]}\n"), "would allow nothing");
	CHECK_HAS(error_of("version: 1\nnetwork: {allow: [{host: a.b, mcp: {tools: [\"a b\"]}}]}\n"),
		  "is not a name for this");
	CHECK_HAS(
		error_of("version: 1\nnetwork: {allow: [{host: a.b, mcp: {tools: [x]}, graphql: {types: [query]}}]}\n"),
		"at once");
	CHECK_HAS(error_of("version: 1\nnetwork: {deny: [{host: a.b, mcp: {tools: [x]}}]}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\nnetwork: {deny: [{host: a.b, rate: 1/s}]}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\nnetwork: {ask: maybe}\n"), "is not a boolean");
}

static void tests_ask_about_one_thing(void)
{
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {}}]\n"), "asks about nothing");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {host: a.b, read: /x}}]\n"), "asks about several things");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {read: /x}, deny: {read: /y}}]\n"), "has 2 keys");
	CHECK_HAS(error_of("version: 1\ntests: [{permit: {read: /x}}]\n"), "write deny or allow");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {read: /x, method: GET}}]\n"), "method and path go with host");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {exec: git}}]\n"), "exec takes a path");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {host: \"*.a.b\"}}]\n"), "has a wildcard");
	CHECK_HAS(error_of("version: 1\ntests: [{allow: {host: \"a.b:0\"}}]\n"), "is not a port");
}

static void phases_and_checks_know_their_names(void)
{
	CHECK_HAS(error_of("version: 1\nphases: {deploy: {}}\n"), "phases: \"deploy\" is not known here");
	CHECK_HAS(error_of("version: 1\nphases: {build: {tests: []}}\n"), "phases.build.tests: unknown key");
	CHECK_HAS(error_of("version: 1\nphases: {build: {version: 1}}\n"), "unknown key");
	CHECK_HAS(error_of("version: 1\ncheck: {early-terminaton: deny}\n"), "did you mean \"early-termination\"?");
	CHECK_HAS(error_of("version: 1\ncheck: {early-termination: maybe}\n"), "write allow, escalate or deny");
}

static void what_yaml_leaves_open_is_refused(void)
{
	CHECK_HAS(error_of("version: &a 1\n"), "f:1:10: anchors are not supported");
	CHECK_HAS(error_of("version: 1\nx: *a\n"), "f:2:4: aliases are not supported");
	CHECK_HAS(error_of("version: !!int 1\n"), "f:1:10: tags are not supported");
	CHECK_HAS(error_of("version: ! 1\n"), "tags are not supported");
	CHECK_HAS(error_of("version: 1\nfilesystem: &x {}\n"), "anchors");
	CHECK_HAS(error_of("version: 1\nfilesystem: !x {}\n"), "tags");
	CHECK_HAS(error_of("version: 1\n<<: {a: 1}\n"), "merge keys are not supported");
	CHECK_HAS(error_of("version: 1\n? [a]\n: 1\n"), "a key cannot be a list");
	CHECK_HAS(error_of("version: 1\n---\nversion: 1\n"), "a second document");
	CHECK_HAS(error_of("%YAML 1.1\n---\nversion: 1\n"), "directives are not supported");
	CHECK_HAS(error_of("version: 1\n\"version\": 1\n"), "duplicate key");
	/* The bomb of nine aliases of nine aliases ... never gets past its first anchor. */
	CHECK_HAS(error_of("a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n"), "f:1:4: anchors");
}

static void bytes_that_are_no_text_are_refused(void)
{
	CHECK_HAS(error_of(""), "f:1:1: the file is empty");
	CHECK_HAS(error_of("# nothing\n"), "the file is empty");
	CHECK_HAS(parse_error(sv_n("version: 1\nx: \0\n", 16)), "f:2:4: control character 0x00");
	CHECK_HAS(error_of("version: 1\nx: \xff\n"), "f:2:4: byte 0xff is not UTF-8");
	CHECK_HAS(parse_error(sv_n("\xff\xfe"
				   "v\0e\0",
				   6)),
		  "not UTF-8");
	CHECK_HAS(error_of("version: 1 # a\x1b[2J\n"), "control character 0x1b");
	CHECK_HAS(error_of("version: 1 # a\rnetwork: {mode: public}\n"), "control character 0x0d");
	CHECK_HAS(error_of("version: 1 # a\xe2\x80\xa8network: {mode: public}\n"), "control character");
	CHECK_HAS(error_of("version: 1 # a\xc2\x85network: {mode: public}\n"), "control character");
	CHECK_HAS(error_of("version: 1\nprocess: {env: {set: {A: \"\\0\"}}}\n"), "control character");
	CHECK_HAS(error_of("version: 1\nfilesystem: {read: [\"/a\\tb\"]}\n"), "control character");
	CHECK_HAS(error_of("version: 1\nfoo: [1\n"), "not YAML");
}

static void depth_size_and_count_are_bounded(void)
{
	AUTO_BUF b = {0};
	int i;

	buf_init(&b, 64 << 20);
	(void)buf_str(&b, "version: 1\nx: ");
	for (i = 0; i < 100000; i++)
		(void)buf_char(&b, '[');
	CHECK_HAS(parse_error(buf_view(&b)), "nested deeper than 32 levels");
	buf_clear(&b);
	(void)buf_str(&b, "version: 1\nx: [");
	for (i = 0; i < 600000; i++)
		(void)buf_str(&b, "a, ");
	(void)buf_str(&b, "]\n");
	CHECK_HAS(parse_error(buf_view(&b)), "more than 524288 values");
	buf_clear(&b);
	for (i = 0; i < (9 << 20) / 16; i++)
		(void)buf_str(&b, "# sixteen bytes\n");
	CHECK_HAS(parse_error(buf_view(&b)), "f:1:1: larger than 8 MiB");
}

static void a_duplicate_among_many_keys_is_found(void)
{
	AUTO_BUF b = {0};
	int i;

	buf_init(&b, 8 << 20);
	(void)buf_str(&b, "version: 1\nprocess:\n  env:\n    set:\n");
	for (i = 0; i < 50000; i++)
		(void)buf_printf(&b, "      K%d: v\n", i);
	CHECK_STR(parse_error(buf_view(&b)), "");
	(void)buf_str(&b, "      K777: w\n");
	CHECK_STR(parse_error(buf_view(&b)),
		  "f:50005:7: K777: duplicate key, first given in line 782; keep one of them");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_key_of_the_schema_is_read),
		CASE(errors_name_line_column_and_key),
		CASE(the_version_comes_first),
		CASE(empty_allowlists_inside_a_rule_are_errors),
		CASE(numbers_and_booleans_are_plain_scalars),
		CASE(rules_name_one_subject),
		CASE(rates_and_calls_are_read_strictly),
		CASE(tests_ask_about_one_thing),
		CASE(phases_and_checks_know_their_names),
		CASE(what_yaml_leaves_open_is_refused),
		CASE(bytes_that_are_no_text_are_refused),
		CASE(depth_size_and_count_are_bounded),
		CASE(a_duplicate_among_many_keys_is_found),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

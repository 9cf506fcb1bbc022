#include "task/format.h"

#include "check.h"
#include "task/env.h"
#include "task/format_check.h"
#include "task/format_parse.h"

/* One text parsed here and in the confined child, which must say the same. */
struct parsed {
	struct task *task;
	struct task_problems problems;
	struct error err;
	int r;
};

static struct parsed parse(enum task_format format, const char *text, bool lenient)
{
	static const char *const names[] = {"task.toml", "task.md", "task.yaml"};
	struct format_input in = {.format = format, .name = names[format], .text = sv_of(text), .lenient = lenient};
	struct task_problems here = {0};
	struct parsed p = {.task = NULL};
	struct task *t = task_new();
	struct error err = {0};
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};

	here.arena = t->arena;
	p.problems.arena = arena_new();
	p.r = format_parse_confined(&in, &p.task, &p.problems, &p.err);
	CHECK(format_parse(&in, t, &here, &err) == 0 && p.r == 0);
	buf_init(&a, TASK_CODEC_MAX);
	buf_init(&b, TASK_CODEC_MAX);
	CHECK(p.task && task_encode(t, &here, &a) == 0 && task_encode(p.task, &p.problems, &b) == 0 &&
	      sv_eq(buf_view(&a), buf_view(&b)));
	task_free(t);
	return p;
}

static void done(struct parsed *p)
{
	task_free(p->task);
	arena_free(p->problems.arena);
}

static void check_refused(enum task_format format, const char *text, uint32_t line, const char *key, const char *what)
{
	struct parsed p = parse(format, text, false);
	const struct task_problem *one = p.problems.n ? &p.problems.v[0] : NULL;

	CHECK(p.problems.refused >= 1);
	if (one) {
		CHECK_STR(one->key, key);
		if (!strstr(one->what, what) || one->line != line) {
			printf("# %s\n# line %u: %s, want line %u: %s\n", text, one->line, one->what, line, what);
			check_failures++;
		}
	}
	done(&p);
}

static struct parsed check_accepted(enum task_format format, const char *text)
{
	struct parsed p = parse(format, text, false);
	struct error err;

	if (p.problems.refused)
		printf("# line %u: %s: %s\n", p.problems.v[0].line, p.problems.v[0].key, p.problems.v[0].what);
	CHECK(p.problems.refused == 0);
	CHECK(format_check(p.task, &err) == 0);
	return p;
}

static const char full[] = "schema_version = \"1.4\"\n"
			   "artifacts = [\"/app/out\", {source = \"/var/db/./x\", destination = \"db//x\", service = "
			   "\"main\", exclude = [\"*.tmp\"]}]\n"
			   "[task]\nname = \"org/name\"\ndescription = \"d\"\nauthors = [{name = \"A\", email = "
			   "\"a@b\"}]\nkeywords = [\"k\"]\n"
			   "[metadata]\nanything = [1, 2.5, {goes = true}]\n"
			   "[agent]\ntimeout_sec = 900.5\nuser = 1000\nnetwork_mode = \"allowlist\"\nallowed_hosts = "
			   "[\"PyPI.org.\", \"*.example.com\"]\n"
			   "[verifier]\ntimeout_sec = 60\nuser = \"root\"\nnetwork_mode = \"no-network\"\nreward_range "
			   "= [-1.0, 1]\nservice = \"main\"\n"
			   "pytest_plugins = [\"ctrf\"]\n[verifier.env]\nKEY = "
			   "\"${KEY:-none}\"\n[verifier.hardening]\ncleanup_conftests = false\n"
			   "[[verifier.collect]]\nservice = \"main\"\ncommand = \"dump\"\ntimeout_sec = 5\n"
			   "[verifier.environment]\ndocker_image = \"g:1\"\n"
			   "[environment]\nbuild_timeout_sec = 600.0\ncpus = 2\nmemory_mb = 4096\nstorage_mb = "
			   "10240\nos = \"Linux\"\ngpus = 0\nallow_internet = false\n"
			   "workdir = \"/app/\"\nskills_dir = \"/skills\"\n[environment.env]\nA = \"b\"\n"
			   "[environment.healthcheck]\ncommand = \"true\"\nretries = 5\nstart_period_sec = 0\n"
			   "[[environment.mcp_servers]]\nname = \"m\"\ntransport = \"http\"\nurl = \"http://m:8000\"\n"
			   "[[environment.setup_commands]]\ncommand = \"seed\"\ncwd = \"/db\"\n"
			   "[solution]\ntimeout_sec = 10\n[solution.env]\nX = \"y\"\n"
			   "[[steps]]\nname = \"one\"\nmin_reward = 0.5\n[[steps]]\nname = \"two\"\nmin_reward = {a = "
			   "1}\n[steps.agent]\ntimeout_sec = 5\n";

static void every_field_of_harbors_format_is_read(void)
{
	struct parsed p = check_accepted(TASK_HARBOR, full);
	const struct task *t = p.task;

	CHECK_STR(t->schema.s, "1.4");
	CHECK_STR(t->name.s, "org/name");
	CHECK_STR(t->metadata,
		  "{\"task\":{\"name\":\"org/"
		  "name\",\"description\":\"d\",\"authors\":[{\"name\":\"A\",\"email\":\"a@b\"}],\"keywords\":[\"k\"]},"
		  "\"metadata\":{\"anything\":[1,2.5,{\"goes\":true}]}}");
	CHECK(t->agent.timeout.v == 900500 && t->agent.network.mode.v == NET_ALLOWLIST &&
	      t->agent.network.hosts.n == 2);
	CHECK_STR(t->agent.user.s, "1000");
	CHECK_STR(t->agent.network.hosts.v[0].s, "pypi.org");
	CHECK(t->verifier.network.mode.v == NET_NONE && t->verifier.range.set && t->verifier.range.low < 0 &&
	      t->verifier.keep_conftests.v == 1);
	CHECK(t->verifier.separate.v == 1 && t->verifier.environment && t->verifier.collect.n == 1 &&
	      t->verifier.collect.v[0].timeout.v == 5000);
	CHECK_STR(t->verifier.env.v[0].value, "${KEY:-none}");
	CHECK(t->environment.network.mode.set && t->environment.network.mode.v == NET_NONE);
	CHECK(t->environment.cpus.v == 2000 && t->environment.memory.v == UINT64_C(4) << 30);
	CHECK_STR(t->environment.workdir.s, "/app");
	CHECK(t->environment.n_mcp == 1 && t->environment.mcp[0].transport.v == TASK_MCP_HTTP &&
	      t->environment.setup.n == 1);
	CHECK(t->artifacts.n == 2 && strcmp(t->artifacts.v[1].source.s, "/var/db/x") == 0 &&
	      strcmp(t->artifacts.v[1].destination.s, "db/x") == 0);
	CHECK(t->n_steps == 2 && strcmp(t->steps[0].min_reward.v[0].key, "reward") == 0 &&
	      t->steps[1].agent.timeout.v == 5000);
	CHECK(t->agent.timeout.at.line == 11 && t->agent.timeout.at.file == 1);
	done(&p);
}

static void older_names_of_fields_are_read(void)
{
	struct parsed p = check_accepted(
		TASK_HARBOR,
		"version = \"1.0\"\n[environment]\nmemory = \"1.5g\"\nstorage = \"512M\"\nimage = \"ubuntu:24.04\"\n");

	CHECK(p.task->environment.memory.v == UINT64_C(1536) << 20 && p.task->environment.storage.v == 512 << 20);
	CHECK_STR(p.task->environment.docker_image.s, "ubuntu:24.04");
	done(&p);
}

static void an_empty_file_is_a_task_that_says_nothing(void)
{
	struct parsed p = check_accepted(TASK_HARBOR, "");

	CHECK(!p.task->environment.network.mode.set && !p.task->agent.timeout.set && !p.task->verifier.range.set);
	CHECK_STR(p.task->metadata, "{}");
	done(&p);
}

static void unknown_keys_are_refused_and_the_nearest_is_named(void)
{
	struct parsed p;

	check_refused(TASK_HARBOR, "[agent]\ntimeout_secs = 5\n", 2, "agent.timeout_secs",
		      "did you mean \"timeout_sec\"?");
	check_refused(TASK_HARBOR, "[enviroment]\ncpus = 1\n", 1, "enviroment", "did you mean \"environment\"?");
	check_refused(TASK_DOCUMENT, "---\nagent:\n  nonsense: 1\n---\nx\n", 3, "agent.nonsense", "unknown key");
	p = parse(TASK_HARBOR, "[agent]\nfoo = 5\n[quux]\n", true);
	CHECK(p.problems.refused == 0 && p.problems.n == 2 && p.problems.v[0].warning);
	done(&p);
}

static void all_problems_are_told_not_only_the_first(void)
{
	struct parsed p = parse(TASK_HARBOR,
				"[environment]\ncpus = 0\ngpus = 1\nfoo = 1\nmemory_mb = \"x\"\n[environment.env]\n\"a "
				"b\" = \"c\"\nN = 5\n[agent]\nuser = \"a b\"\n",
				false);

	CHECK(p.problems.n == 7 && p.problems.refused == 7);
	CHECK(p.problems.n == 7 && p.problems.v[6].line == 10 && strcmp(p.problems.v[5].key, "environment.env.N") == 0);
	done(&p);
}

static void what_cannot_be_honoured_is_refused(void)
{
	static const struct {
		const char *text, *key;
	} cases[] = {
		{"[environment]\ngpus = 1\n", "environment.gpus"},
		{"[environment]\ngpu_types = [\"H100\"]\n", "environment.gpu_types"},
		{"[environment]\nos = \"windows\"\n", "environment.os"},
		{"[environment]\ntpu = {type = \"v4\", topology = \"2x4\"}\n", "environment.tpu"},
		{"[environment]\nbugswarm_image_tag = \"x\"\n", "environment.bugswarm_image_tag"},
		{"[verifier]\ntype = \"llm-judge\"\n", "verifier.type"},
		{"[verifier]\nmemory = {expected_skills = []}\n", "verifier.memory.expected_skills"},
		{"\nreward = {expression = \"x\"}\n", "reward"},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(TASK_HARBOR, cases[i].text, 2, cases[i].key, "");
	check_refused(TASK_HARBOR, "[[environment.setup_commands]]\ncommand = \"x\"\nhost_lock = \"l\"\n", 3,
		      "environment.setup_commands[0].host_lock", "reaches into the host");
	check_refused(TASK_HARBOR, "[[environment.setup_commands]]\ncommand = \"x\"\ncapture_dir_b64_env = \"L\"\n", 3,
		      "environment.setup_commands[0].capture_dir_b64_env", "reaches into the host");
	check_refused(TASK_DOCUMENT, "---\nscenes: [{name: x}]\n---\nx\n", 2, "scenes", "several agents");
	check_refused(TASK_DOCUMENT, "---\nprofile: code-change\n---\nx\n", 2, "profile", "write them out");
	check_refused(TASK_DOCUMENT, "---\nbenchflow: {environment: {manifest: ../x}}\n---\nx\n", 2,
		      "benchflow.environment", "runner");
	check_refused(TASK_TERMINAL, "instruction: x\nparser_name: mlebench\n", 2, "parser_name", "not known");
}

static void only_the_agents_own_service_can_be_named(void)
{
	check_refused(TASK_HARBOR, "artifacts = [{source = \"/data/x\", service = \"db\"}]\n", 1,
		      "artifacts[0].service", "other than \"main\"");
	check_refused(TASK_HARBOR, "[[verifier.collect]]\ncommand = \"dump\"\nservice = \"db\"\n", 3,
		      "verifier.collect[0].service", "other than \"main\"");
	check_refused(TASK_HARBOR, "[verifier]\nservice = \"db\"\n", 2, "verifier.service", "other than \"main\"");
	check_refused(TASK_HARBOR, "[[environment.setup_commands]]\ncommand = \"seed\"\nservice = \"db\"\n", 3,
		      "environment.setup_commands[0].service", "other than \"main\"");
	check_refused(TASK_HARBOR, "[[steps]]\nname = \"one\"\n[steps.verifier]\nservice = \"db\"\n", 4,
		      "steps[0].verifier.service", "other than \"main\"");
	check_refused(TASK_HARBOR, "[[steps]]\nname = \"one\"\nartifacts = [{source = \"/x\", service = \"Main\"}]\n",
		      3, "steps[0].artifacts[0].service", "other than \"main\"");
}

static void check_told(const char *text, unsigned line, const char *key)
{
	struct parsed p = parse(TASK_HARBOR, text, false);

	CHECK(p.problems.refused == 0 && p.problems.n == 1 && p.problems.v[0].warning && p.problems.v[0].line == line);
	CHECK(p.problems.n == 1 && strcmp(p.problems.v[0].key, key) == 0);
	done(&p);
}

static void what_means_nothing_here_is_told(void)
{
	char text[512];

	check_told("[verifier]\npytest_plugins = [\"ctrf\"]\n", 2, "verifier.pytest_plugins");
	check_told("[[environment.mcp_servers]]\nname = \"m\"\nurl = \"http://m:1\"\ntools = [\"a\"]\n", 4,
		   "environment.mcp_servers[0].tools");
	check_told("[[environment.mcp_servers]]\nname = \"m\"\nurl = \"http://m:1\"\ninclude_tags = [\"a\"]\n", 4,
		   "environment.mcp_servers[0].include_tags");
	check_told("[[environment.mcp_servers]]\nname = \"m\"\nurl = \"http://m:1\"\nexclude_tags = [\"a\"]\n", 4,
		   "environment.mcp_servers[0].exclude_tags");
	check_refused(TASK_HARBOR, "artifacts = [{source = \"/x\", exclude = [\"a/b\"]}]\n", 1,
		      "artifacts[0].exclude[0]", "only names");
	(void)snprintf(text, sizeof(text), "artifacts = [{source = \"/x\", exclude = [\"%0256d\"]}]\n", 0);
	check_refused(TASK_HARBOR, text, 1, "artifacts[0].exclude[0]", "longer than any name");
}

static void networks_that_contradict_themselves_are_refused(void)
{
	check_refused(TASK_HARBOR, "[environment]\nallow_internet = false\nnetwork_mode = \"public\"\n", 2,
		      "environment.allow_internet", "network_mode says otherwise");
	check_refused(TASK_HARBOR, "[environment]\nallow_internet = false\nallowed_hosts = [\"a.b\"]\n", 2,
		      "environment.allow_internet", "allowed_hosts has hosts");
	check_refused(TASK_HARBOR, "[agent]\nnetwork_mode = \"public\"\nallowed_hosts = [\"a.b\"]\n", 3,
		      "agent.allowed_hosts", "means nothing");
	check_refused(TASK_HARBOR, "[agent]\nnetwork_mode = \"allowlist\"\n", 2, "agent.network_mode", "names no host");
	check_refused(TASK_HARBOR, "[agent]\nnetwork_mode = \"allowlist\"\nallowed_hosts = []\n", 2,
		      "agent.network_mode", "names no host");
	check_refused(TASK_HARBOR, "[agent]\nnetwork_mode = \"none\"\n", 2, "agent.network_mode", "not known here");
}

static void hosts_that_only_an_operator_opens_are_refused(void)
{
	static const char *const hosts[] = {"10.0.0.1",   "169.254.169.254", "127.0.0.1", "10.0.0.0/8", "::1", "0x7f.1",
					    "http://a.b", "a.b:80",          "a.b/c",     "*",          ""};
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		(void)snprintf(text, sizeof(text), "[agent]\nallowed_hosts = [\"%s\"]\n", hosts[i]);
		check_refused(TASK_HARBOR, text, 2, "agent.allowed_hosts[0]", "");
	}
}

static void hosts_without_a_mode_are_an_allowlist(void)
{
	struct parsed p = check_accepted(TASK_HARBOR, "[verifier]\nallowed_hosts = [\"pypi.org\"]\n");

	CHECK(p.task->verifier.network.mode.set && p.task->verifier.network.mode.v == NET_ALLOWLIST);
	done(&p);
}

static void values_of_the_wrong_kind_are_refused(void)
{
	check_refused(TASK_HARBOR, "[agent]\ntimeout_sec = \"900\"\n", 2, "agent.timeout_sec", "quoted");
	check_refused(TASK_HARBOR, "[agent]\ntimeout_sec = 0\n", 2, "agent.timeout_sec", "more than 0");
	check_refused(TASK_HARBOR, "[agent]\ntimeout_sec = inf\n", 2, "agent.timeout_sec", "not a time");
	check_refused(TASK_HARBOR, "[agent]\ntimeout_sec = nan\n", 2, "agent.timeout_sec", "not a time");
	check_refused(TASK_HARBOR, "[agent]\ntimeout_sec = 1e300\n", 2, "agent.timeout_sec", "not a time");
	check_refused(TASK_HARBOR, "[environment]\nmemory_mb = 99999999999999\n", 2, "environment.memory_mb",
		      "not a size");
	check_refused(TASK_HARBOR, "[environment]\nmemory = \"4GB\"\n", 2, "environment.memory", "not a size");
	check_refused(TASK_HARBOR, "[environment]\nmemory = \"4G\"\nmemory_mb = 1\n", 2, "environment.memory",
		      "newer key");
	check_refused(TASK_HARBOR, "[environment]\ndocker_image = 5\n", 2, "environment.docker_image", "not text");
	check_refused(TASK_HARBOR, "[environment]\ndocker_image = \"--privileged\"\n", 2, "environment.docker_image",
		      "not the name of an image");
	check_refused(TASK_HARBOR, "[environment]\nworkdir = \"../x\"\n", 2, "environment.workdir", "absolute");
	check_refused(TASK_HARBOR, "[environment]\nworkdir = \"/app/../etc\"\n", 2, "environment.workdir", "\"..\"");
	check_refused(TASK_HARBOR, "[agent]\nuser = \"-u root\"\n", 2, "agent.user", "not a user");
	check_refused(TASK_HARBOR, "[verifier]\nreward_range = [0.2, 1]\n", 2, "verifier.reward_range", "range");
	check_refused(TASK_HARBOR, "[verifier]\nreward_range = [-inf, 1]\n", 2, "verifier.reward_range", "range");
	check_refused(TASK_HARBOR, "[verifier]\nreward_range = [0]\n", 2, "verifier.reward_range", "range");
	check_refused(TASK_HARBOR, "[environment.env]\n\"A=B\" = \"c\"\n", 2, "environment.env.A=B", "variable");
	check_refused(TASK_HARBOR, "[environment.env]\nA = \"b\\u0000c\"\n", 2, "environment.env.A", "control");
	check_refused(TASK_HARBOR, "[environment.env]\nA = \"\\u001b[2J\"\n", 2, "environment.env.A", "control");
	check_refused(TASK_HARBOR, "artifacts = [{source = \"/a\", destination = \"../../x\"}]\n", 1,
		      "artifacts[0].destination", "leaves");
	check_refused(TASK_HARBOR, "artifacts = [{source = \"/a\", destination = \"/etc/x\"}]\n", 1,
		      "artifacts[0].destination", "leaves");
	check_refused(TASK_HARBOR, "[task]\nname = \"../../x\"\n", 2, "task.name", "name");
	check_refused(TASK_HARBOR, "[[steps]]\nname = \"../x\"\n", 2, "steps[0].name", "step");
	check_refused(TASK_HARBOR, "[[steps]]\nname = \"a\"\n[[steps]]\nname = \"a\"\n", 4, "steps", "one name");
	check_refused(TASK_HARBOR, "schema_version = \"2.0\"\n", 1, "schema_version", "knows 1");
	check_refused(TASK_HARBOR, "agent = 5\n", 1, "agent", "mapping");
	check_refused(TASK_HARBOR, "[environment]\n[sandbox]\n", 2, "sandbox", "keep one");
	check_refused(TASK_HARBOR, "a = [\n", 2, "", "missing");
}

static void a_document_has_its_instruction_below(void)
{
	struct parsed p = check_accepted(
		TASK_DOCUMENT,
		"---\nschema_version: \"1.3\"\nname: short\nimage: ubuntu:24.04\nsandbox:\n  cpus: 1\n  docker_image: "
		"null\nverifier: verifier/\n---\n\nIntro.\n\n## prompt\n\nDo it.\n\\## role:x\n## Other\n");

	CHECK_STR(p.task->instruction, "Do it.\n## role:x\n## Other");
	CHECK_STR(p.task->name.s, "short");
	CHECK_STR(p.task->environment.docker_image.s, "ubuntu:24.04");
	CHECK(p.task->environment.cpus.at.line == 6);
	done(&p);
	p = check_accepted(TASK_DOCUMENT, "---\r\nagent: {timeout_sec: 5}\r\n---\r\nDo it.\r\n");
	CHECK_STR(p.task->instruction, "Do it.");
	done(&p);
	check_refused(TASK_DOCUMENT, "no front matter\n", 1, "", "front matter");
	check_refused(TASK_DOCUMENT, "---\na: 1\n", 1, "", "without an end");
	check_refused(TASK_DOCUMENT, "---\nagent: {}\n---\n", 4, "", "instruction is missing");
	check_refused(TASK_DOCUMENT, "---\nagent: {}\n---\nx\n## role:reviewer\ny\n", 5, "", "another role");
	check_refused(TASK_DOCUMENT, "---\nagent: &a {}\n---\nx\n", 2, "", "anchors");
}

static void terminal_bench_has_defaults_of_its_own(void)
{
	struct parsed p =
		check_accepted(TASK_TERMINAL, "instruction: |-\n  Do it.\nauthor_email: a@b\ndifficulty: easy\ntags: "
					      "[x]\nrun_tests_in_same_shell: False\nestimated_duration_sec: null\n");

	CHECK_STR(p.task->instruction, "Do it.");
	CHECK_STR(p.task->parser.s, "pytest");
	CHECK(p.task->agent.timeout.v == 360000 && p.task->verifier.timeout.v == 60000);
	done(&p);
	p = check_accepted(TASK_TERMINAL, "descriptions:\n  - {key: base, description: Old.}\nmax_agent_timeout_sec: "
					  "5\nrun_tests_in_same_shell: true\n");
	CHECK_STR(p.task->instruction, "Old.");
	CHECK(p.problems.n == 1 && p.problems.v[0].warning);
	done(&p);
	check_refused(TASK_TERMINAL, "difficulty: easy\n", 1, "", "instruction is missing");
}

static void a_parser_that_was_taken_over_cannot_say_what_no_task_could(void)
{
	static const struct {
		size_t at;
		const char *lie;
	} lies[] = {
		{offsetof(struct task, environment.workdir.s), "/a/../b"},
		{offsetof(struct task, environment.docker_image.s), "--rm"},
		{offsetof(struct task, agent.user.s), "a b"},
		{offsetof(struct task, name.s), "../x"},
		{offsetof(struct task, files.tests), "../../etc"},
		{offsetof(struct task, parser.s), "other"},
		{offsetof(struct task, environment.skills_dir.s), "skills"},
		{offsetof(struct task, verifier.service.s), "db"},
	};
	struct error err;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct task *t = task_new();

		CHECK(format_check(t, &err) == 0);
		*(const char **)(void *)((char *)t + lies[i].at) = lies[i].lie;
		CHECK(format_check(t, &err) < 0);
		task_free(t);
	}
}

static void templates_never_read_the_environment(void)
{
	struct pol_pair own[] = {{"A", "${HOME}", {0}},   {"B", "${HOME:-x}", {0}}, {"C", "${B}", {0}},
				 {"D", "a${HOME}b", {0}}, {"E", "${E}", {0}},       {"F", "${A-B}", {0}},
				 {"G", "${O}", {0}},      {"H", "${I}", {0}},       {"I", "${J}", {0}},
				 {"J", "${I}", {0}},      {"K", "${B:-y}", {0}}};
	struct pol_pair others[] = {{"O", "o", {0}}};
	struct pol_pairs table = {own, 11, true}, other = {others, 1, true};
	struct task_env_scope scope = {.others = &other};
	static const char *const want[] = {NULL, "x", "x", "a${HOME}b", NULL, NULL, "o", NULL, NULL, NULL, "x"};
	struct arena *a = arena_new();
	struct task_env_value v;
	struct error err;
	uint32_t i;

	CHECK(setenv("HOME", "/stolen", 1) == 0);
	for (i = 0; i < table.n; i++) {
		int r = task_env_resolve(&table, i, &scope, a, &v, &err);

		CHECK((r == 0) == (want[i] != NULL));
		if (r == 0 && want[i])
			CHECK_STR(v.value, want[i]);
	}
	arena_free(a);
}

static const char *grant(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "GRANTED") == 0 ? "the-credential" : NULL;
}

static void a_verifier_gets_what_was_granted_and_else_its_default(void)
{
	struct pol_pair own[] = {{"A", "${GRANTED}", {0}}, {"B", "${GRANTED:-x}", {0}}, {"C", "${OTHER:-d}", {0}},
				 {"D", "${OTHER}", {0}},   {"E", "${OTHER:-}", {0}},    {"GRANTED", "lit", {0}}};
	struct pol_pairs table = {own, 6, true};
	struct task_env_scope scope = {.credential = grant};
	struct arena *a = arena_new();
	struct task_env_value v;
	struct error err;

	CHECK(task_env_resolve(&table, 0, &scope, a, &v, &err) == 0 && !v.value &&
	      strcmp(v.credential, "the-credential") == 0);
	CHECK(task_env_resolve(&table, 1, &scope, a, &v, &err) == 0 && !v.value && v.credential);
	CHECK(task_env_resolve(&table, 2, &scope, a, &v, &err) == 0 && strcmp(v.value, "d") == 0 && !v.credential);
	CHECK(task_env_resolve(&table, 3, &scope, a, &v, &err) < 0 && strstr(err.text, "verifier_env"));
	CHECK(task_env_resolve(&table, 4, &scope, a, &v, &err) == 0 && strcmp(v.value, "") == 0);
	CHECK(task_env_resolve(&table, 5, &scope, a, &v, &err) == 0 && strcmp(v.value, "lit") == 0);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_field_of_harbors_format_is_read),
		CASE(older_names_of_fields_are_read),
		CASE(an_empty_file_is_a_task_that_says_nothing),
		CASE(unknown_keys_are_refused_and_the_nearest_is_named),
		CASE(all_problems_are_told_not_only_the_first),
		CASE(what_cannot_be_honoured_is_refused),
		CASE(only_the_agents_own_service_can_be_named),
		CASE(what_means_nothing_here_is_told),
		CASE(networks_that_contradict_themselves_are_refused),
		CASE(hosts_that_only_an_operator_opens_are_refused),
		CASE(hosts_without_a_mode_are_an_allowlist),
		CASE(values_of_the_wrong_kind_are_refused),
		CASE(a_document_has_its_instruction_below),
		CASE(terminal_bench_has_defaults_of_its_own),
		CASE(a_parser_that_was_taken_over_cannot_say_what_no_task_could),
		CASE(templates_never_read_the_environment),
		CASE(a_verifier_gets_what_was_granted_and_else_its_default),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

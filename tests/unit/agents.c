#include "task/agents.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"

#define HEAD "version: 1\n"
#define FULL                                                                                                           \
	HEAD "tools: {source: /opt/x, target: /opt/agent}\ncommand: [/opt/agent/run, \"--model={model}\", "            \
	     "\"{instruction}\", \"{other}\"]\nenv: {set: {A: \"m={model}\", B: \"\"}, pass: [TERM]}\n"                \
	     "profile: p\npolicy: /etc/p.yaml\nmodel: m0\ntrajectory: /logs/agent/t\ntimeout: 30m\n"

static struct agent *parse(const char *text, struct error *err)
{
	struct agent *a = NULL;

	return agent_parse("f.yaml", "n", sv_of(text), &a, err) == 0 ? a : NULL;
}

static void a_whole_file_is_read(void)
{
	struct error err = {0};
	struct agent *a = parse(FULL, &err);

	CHECK_STR(err.text, "");
	if (!a)
		return;
	CHECK(a->kind == AGENT_COMMAND && a->n_tools == 1 && !a->tools[0].writable && a->command.n == 4 &&
	      !a->stdin_instruction && a->env_set.n == 2 && a->env_pass.n == 1 && a->profiles.n == 1 &&
	      a->timeout_ms == 1800000);
	CHECK_STR(a->tools[0].target, "/opt/agent");
	CHECK_STR(a->policy, "/etc/p.yaml");
	CHECK_STR(agent_trajectory(a), "/logs/agent/t");
	agent_free(a);
}

static void what_cannot_be_honoured_is_refused_with_its_place(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"command: [a]\n", "version"},
		{HEAD, "command: is missing"},
		{HEAD "command: [a]\n", "never gets the instruction"},
		{HEAD "command: a {instruction}\n", "write a list"},
		{HEAD "command: []\n", "command"},
		{HEAD "command: [\"\", \"{instruction}\"]\n", "empty word"},
		{HEAD "command: [a, \"{instruction}\"]\nshell: true\n", "shell"},
		{HEAD "command: [a, \"{instruction}\"]\ncommand: [b]\n", "f.yaml:3"},
		{HEAD "command: [a]\nstdin: file\n", "stdin"},
		{HEAD "command: [a]\nprotocol: acp\nstdin: instruction\n", "by the protocol"},
		{HEAD "command: [a, \"{instruction}\"]\nprotocol: acp\n", "by the protocol"},
		{HEAD "command: [a]\nprotocol: mcp\n", "protocol"},
		{HEAD "command: [a, \"{instruction}\"]\ntimeout: 0\n", "leaves no time"},
		{HEAD "command: [a, \"{instruction}\"]\ntimeout: soon\n", "timeout"},
		{HEAD "command: [a, \"{instruction}\"]\npolicy: p.yaml\n", "is relative"},
		{HEAD "command: [a, \"{instruction}\"]\nprofile: ../p\n", "not a name"},
		{HEAD "command: [a, \"{instruction}\"]\ntrajectory: t\n", "trajectory"},
		{HEAD "command: [a, \"{instruction}\"]\nenv: {set: {\"A=B\": x}}\n", "A=B"},
		{HEAD "command: [a, \"{instruction}\"]\nenv: {pass: [\"*\"]}\n", "env.pass"},
		{HEAD "command: [a, \"{instruction}\"]\ntools: {source: /opt/x}\n", "needs both"},
		{HEAD "command: [a, \"{instruction}\"]\ntools: {source: x, target: /y}\n", "is relative"},
		{HEAD "command: [a, \"{instruction}\"]\ntools: {source: /x, target: /y, writable: true}\n", "writable"},
		{HEAD
		 "command: [a, \"{instruction}\"]\ntools: [{source: /x, target: /y}, {source: /z, target: /y/a}]\n",
		 "tools[1]"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {0};
		struct agent *a = parse(cases[i].text, &err);

		if (a || !strstr(err.text, cases[i].says) || strncmp(err.text, "f.yaml", 6) != 0)
			printf("# %s: %s\n", cases[i].text, err.text);
		CHECK(!a && strstr(err.text, cases[i].says) && strncmp(err.text, "f.yaml", 6) == 0);
		agent_free(a);
	}
}

static void tools_do_not_cover_what_is_not_theirs(void)
{
	static const char *const targets[] = {"/",           "//",
					      "/proc",       "/proc/self",
					      "/sys/x",      "/dev",
					      "/run/cordon", "/run/cordon/x",
					      AGENT_PLACE,   AGENT_PLACE "/x",
					      "/tests",      "/tests/a",
					      "/solution",   "/logs/verifier/reward.txt",
					      "/a/../proc",  "/a/..",
					      "/a/.",        "/a//b",
					      "/a/",         "/./a",
					      "a",           "",
					      "~/a"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(targets); i++) {
		AUTO_BUF text = {0};
		struct error err = {0};
		struct agent *a;

		buf_init(&text, 1024);
		(void)buf_printf(&text, HEAD "command: [a, \"{instruction}\"]\ntools: {source: /x, target: \"%s\"}\n",
				 targets[i]);
		a = parse(text.p, &err);
		CHECK(!a && strstr(err.text, "target"));
		agent_free(a);
	}
}

static void joined(char **v, struct buf *out)
{
	buf_clear(out);
	for (; v && *v; v++)
		(void)buf_printf(out, "%s|", *v);
}

static void each_kind_has_its_command(void)
{
	static const struct {
		const char *text, *model, *argv;
	} cases[] = {
		{FULL, "m1", "/opt/agent/run|--model=m1|/i|{other}|"},
		{FULL, NULL, "/opt/agent/run|--model=m0|/i|{other}|"},
		{FULL, "{instruction}", "/opt/agent/run|--model={instruction}|/i|{other}|"},
		{HEAD "command: [a, \"{model}{model}\"]\nprotocol: acp\n", "m",
		 AGENT_PLACE "/cordon-acp|--trajectory|/logs/agent/trajectory.jsonl|--instruction|/i|--|a|mm|"},
		{HEAD "command: [a]\nprotocol: acp\ntrajectory: /t\n", NULL,
		 AGENT_PLACE "/cordon-acp|--instruction|/i|--|a|"},
		{HEAD "command: [a, \"{model\", \"instruction}\"]\nstdin: instruction\n", NULL,
		 "a|{model|instruction}|"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct agent_use use = {cases[i].model, "/i"};
		struct arena *to = arena_new();
		struct error err = {0};
		struct agent *a = parse(cases[i].text, &err);
		AUTO_BUF got = {0};
		char **v = NULL;

		buf_init(&got, 4096);
		CHECK(a && agent_argv(a, &use, to, &v, &err) == 0);
		joined(v, &got);
		CHECK_STR(got.p, cases[i].argv);
		agent_free(a);
		arena_free(to);
	}
}

static void a_model_that_nobody_named_is_missed(void)
{
	static const char *const texts[] = {HEAD "command: [a, \"{model}\"]\nstdin: instruction\n",
					    HEAD "command: [a]\nstdin: instruction\nenv: {set: {M: \"{model}\"}}\n"};
	struct agent_use use = {NULL, "/i"};
	struct arena *to = arena_new();
	const char **env;
	size_t i;
	char **v;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		struct error err = {0};
		struct agent *a = parse(texts[i], &err);

		CHECK(a && agent_argv(a, &use, to, &v, &err) == -1 && strstr(err.text, "needs a model"));
		CHECK(a && agent_env(a, &use, to, &env, &err) == -1);
		agent_free(a);
	}
	arena_free(to);
}

static void variables_are_filled_in(void)
{
	struct agent_use use = {"m1", "/i"};
	struct arena *to = arena_new();
	struct error err = {0};
	struct agent *a = parse(FULL, &err);
	const char **env = NULL;

	CHECK(a && agent_env(a, &use, to, &env, &err) == 0);
	if (env) {
		CHECK_STR(env[0], "A=m=m1");
		CHECK_STR(env[1], "B=");
		CHECK(!env[2]);
	}
	agent_free(a);
	arena_free(to);
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write_all(fd, text, strlen(text)) == 0 && fchmod(fd, mode) == 0);
}

static void agents_are_found_by_name_and_by_nothing_else(void)
{
	static const char *const strange[] = {"../x",        "a/b",  "",        ".",      "..",
					      "/etc/passwd", "a\nb", ".hidden", "missing"};
	char folder[] = "/tmp/cordon-agents.XXXXXX", path[PATH_MAX];
	struct error err = {0};
	struct agent *a = NULL;
	size_t i;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/agents", folder);
	CHECK(mkdir(path, 0700) == 0);
	(void)snprintf(path, sizeof(path), "%s/agents/mine.yaml", folder);
	write_text(path, FULL, 0600);
	CHECK(agent_find(folder, "mine", &a, &err) == 0 && a && strcmp(a->name, "mine") == 0 &&
	      a->kind == AGENT_COMMAND);
	agent_free(a);
	for (i = 0; i < ARRAY_LEN(strange); i++) {
		a = NULL;
		CHECK(agent_find(folder, strange[i], &a, &err) == -1 && !a &&
		      strstr(err.text, "there are: oracle, none, cordon, mine"));
	}
	CHECK(chmod(path, 0622) == 0 && agent_find(folder, "mine", &a, &err) == -1 &&
	      strstr(err.text, "nobody else can write"));
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0 && agent_find(folder, "mine", &a, &err) == -1 &&
	      strstr(err.text, "regular file"));
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/agents", folder);
	(void)rmdir(path);
	(void)rmdir(folder);
}

static void the_built_in_ones_need_no_file(void)
{
	static const struct {
		const char *name;
		enum agent_kind kind;
		const char *argv;
	} cases[] = {
		{"oracle", AGENT_ORACLE, ""},
		{"none", AGENT_NONE, ""},
		{"cordon", AGENT_CORDON,
		 AGENT_PLACE "/cordon-agent|--model|m|--trajectory|/logs/agent/trajectory.jsonl|--instruction|/i|"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct agent_use use = {"m", "/i"}, no_model = {NULL, "/i"};
		struct arena *to = arena_new();
		struct error err = {0};
		struct agent *a = NULL;
		AUTO_BUF got = {0};
		char **v = NULL;

		buf_init(&got, 4096);
		(void)buf_str(&got, "");
		CHECK(agent_find("/no/such", cases[i].name, &a, &err) == 0 && a->kind == cases[i].kind);
		CHECK(agent_argv(a, &use, to, &v, &err) == 0);
		joined(v, &got);
		CHECK_STR(got.p ? got.p : "", cases[i].argv);
		CHECK(agent_argv(a, &no_model, to, &v, &err) == (cases[i].kind == AGENT_CORDON ? -1 : 0));
		agent_free(a);
		arena_free(to);
	}
}

static void tools_are_shown_by_their_real_names_or_missed(void)
{
	struct arena *to = arena_new();
	struct error err = {0};
	struct agent *a = parse(HEAD "command: [a]\nstdin: instruction\ntools: [{source: /proc/self/root/etc, target: "
				     "/a}, {source: ~/etc/, target: /b}]\n",
				&err);
	struct image_mount *v = NULL;
	size_t n = 0;

	CHECK(a && agent_mounts(a, "/", to, &v, &n, &err) == 0 && n == 2);
	if (n == 2) {
		CHECK_STR(v[0].source, "/etc");
		CHECK_STR(v[1].source, "/etc");
		CHECK(!v[0].writable && !v[1].writable);
	}
	agent_free(a);
	a = parse(HEAD "command: [a]\nstdin: instruction\ntools: {source: /no/such/folder, target: /a}\n", &err);
	CHECK(a && agent_mounts(a, "/", to, &v, &n, &err) == -1 && strstr(err.text, "/no/such/folder is not there"));
	agent_free(a);
	arena_free(to);
}

static void the_examples_are_agents(void)
{
	static const char folder[] = TESTS_DIR "/../examples/agents";
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned n = 0;

	CHECK(d != NULL);
	while (d && (e = readdir(d))) {
		struct agent_use use = {NULL, AGENT_INSTRUCTION};
		struct arena *to;
		struct error err = {0};
		struct agent *a = NULL;
		AUTO_BUF bytes = {0};
		char path[PATH_MAX], **v = NULL;

		if (!sv_ends(sv_of(e->d_name), ".yaml"))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		buf_init(&bytes, 1 << 20);
		CHECK(buf_read_file(&bytes, path) == 0);
		to = arena_new();
		CHECK(agent_parse(e->d_name, "x", buf_view(&bytes), &a, &err) == 0);
		CHECK_STR(err.text, "");
		CHECK(a && agent_argv(a, &use, to, &v, &err) == 0 && v[0]);
		agent_free(a);
		arena_free(to);
		n++;
	}
	CHECK(n == 5);
	if (d)
		(void)closedir(d);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_whole_file_is_read),
		CASE(what_cannot_be_honoured_is_refused_with_its_place),
		CASE(tools_do_not_cover_what_is_not_theirs),
		CASE(each_kind_has_its_command),
		CASE(a_model_that_nobody_named_is_missed),
		CASE(variables_are_filled_in),
		CASE(agents_are_found_by_name_and_by_nothing_else),
		CASE(the_built_in_ones_need_no_file),
		CASE(tools_are_shown_by_their_real_names_or_missed),
		CASE(the_examples_are_agents),
	};

	return check_main(cases, ARRAY_LEN(cases));
}

/* task/carry, by who asks for what the image lacks: the tests, the task's solution, or programs of the image that would run it unasked. */
#include "carry_world.h"

/* The tests' and the solution's files, one of each. */
struct texts {
	struct carry_test_file file[2];
	struct carry_test_files tests, solution;
};

static void say(struct world *w, struct texts *t, const char *tests, const char *solution)
{
	*t = (struct texts){.file = {{.name = "test.sh", .text = sv_of(tests)}, {.name = "solve.sh", .text = sv_of(solution)}}};
	t->tests.first = &t->file[0];
	t->solution.first = &t->file[1];
	w->req.tests = &t->tests;
	w->req.solution = &t->solution;
}

/* pip runs lsb_release and rustc wherever there is one; so may whatever a package's installation does. */
static void only_commands_that_the_task_names_are_carried(void)
{
	static const char *const named[] = {"usr/local/bin/greet", "usr/bin/run-it", "usr/bin/convert", "root/.local/bin/in-python", "usr/sbin/served", "usr/bin/cat2", "usr/bin/quoted", "app/tools/x.y"};
	static const char *const unnamed[] = {"usr/local/bin/lsb_release", "usr/local/bin/rustc", "usr/bin/greets", "usr/bin/gree", "root/.local/bin/other", "usr/local/sbin/commented", "usr/bin/variable", "usr/bin/given", "usr/bin/braces", "app/tools/y", "usr/bin/a b"};
	struct texts t;
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = (const char *const[]){"PATH=/app/tools:/usr/local/bin:/usr/bin:/bin", NULL};
	say(&w, &t, "#!/bin/sh\n# commented\npip install -q requests\nif [ \"$(greet)\" = 1 ]; then /usr/bin/run-it $variable; fi\ngiven=1 cat2 <x.y >${braces}\nsubprocess.run(['in-python', x == 1])\n", "apt-get install -y imagemagick\nsystem(\"served;quoted\")\n");
	for (i = 0; i < ARRAY_LEN(named); i++)
		put(w.upper, named[i], "x", 0755);
	for (i = 0; i < ARRAY_LEN(unnamed); i++)
		put(w.upper, unnamed[i], "evil", 0755);
	put(w.upper, "app/node_modules/.bin/tsc", "x", 0755);
	put(w.upper, "app/bin/mine", "x", 0755);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(named); i++)
		carried(&w, named[i]);
	for (i = 0; i < ARRAY_LEN(unnamed); i++)
		dropped(&w, "unnamed", unnamed[i]);
	carried(&w, "app/node_modules/.bin/tsc");
	carried(&w, "app/bin/mine");
	world_close(&w);
	/* what a command that they name is known to run */
	world_open(&w);
	say(&w, &t, "cargo test\n", "");
	put(w.upper, "usr/bin/cargo", "x", 0755);
	put(w.upper, "usr/bin/rustc", "x", 0755);
	carry(&w);
	carried(&w, "usr/bin/cargo");
	carried(&w, "usr/bin/rustc");
	world_close(&w);
}

/* Large tests: scripts are read before data, names of all files are known, and what is not read is said. */
static void tests_that_are_too_large_are_told_of(void)
{
	enum { FILES = 24, EACH = 200 << 10 };
	struct carry_test_files files = {0};
	struct arena *a = arena_new();
	char *text = malloc(EACH + 1), path[64];
	struct world w;
	unsigned i, round;

	for (round = 0; round < 2; round++) {
		world_open(&w);
		memset(text, 'x', EACH);
		text[EACH] = '\0';
		for (i = 0; i < FILES; i++) {
			snprintf(path, sizeof(path), "tests/a%u.%s", i, round ? "py" : "csv");
			put(w.second, path, text, 0644);
		}
		put(w.second, "tests/zz/test.sh", "greet\n", 0755);
		put(w.second, "tests/zz/test_own.py", "pass\n", 0644);
		{
			AUTO_FD folder = openat(w.second, "tests", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			files = (struct carry_test_files){0};
			CHECK(carry_tests_read(&files, a, folder) == 0);
		}
		CHECK(files.cut == (round == 1) && carry_tests_have(&files, sv_of("test_own"), false));
		w.req.tests = &files;
		put(w.upper, "usr/bin/greet", "x", 0755);
		put(w.upper, "usr/bin/other", "x", 0755);
		carry(&w);
		CHECK(said(&w, "tests-unread", "tests") == (round == 1));
		if (round == 0)
			carried(&w, "usr/bin/greet");
		dropped(&w, "unnamed", "usr/bin/other");
		world_close(&w);
	}
	free(text);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_commands_that_the_task_names_are_carried),
		CASE(tests_that_are_too_large_are_told_of),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

/* task/carry: what the tests have a file of is theirs, wherever an agent leaves something that would be found first. */
#include "carry_world.h"

enum { FILES = 4 };

struct row {
	const char *run;  /* the text of the tests' script */
	const char *own;  /* another file of theirs */
	const char *told; /* the instruction */
	const char *left; /* by the agent */
	bool comes;
};

static void judge(const struct row *row, const char *const *env, const char *solved)
{
	struct carry_test_file v[FILES] = {{.next = &v[1], .name = "test.sh", .path = "test.sh"}}, s = {0};
	struct carry_test_files files = {.first = v}, solution = {.first = &s};
	const char *slash = strrchr(row->own, '/');
	struct world w;

	v[0].text = sv_of(row->run);
	v[1] = (struct carry_test_file){
		.name = slash ? slash + 1 : row->own, .path = row->own, .text = sv_of("pass\n")};
	s = (struct carry_test_file){.name = "solve.sh", .path = "solve.sh", .text = sv_of(solved)};
	world_open(&w);
	put(w.image, "app/had/here.txt", "", 0644);
	put(w.image, "app/pack/__init__.py", "", 0644);
	w.req.tests = &files;
	w.req.solution = &solution;
	w.req.instruction = row->told;
	w.req.env = env;
	put(w.upper, row->left, "1", 0755);
	carry(&w);
	if (there(w.to, row->left) != row->comes || said(&w, "tests-own", row->left) == row->comes) {
		printf("# '%s' %s, '%s': %s %s: %s\n", row->run, row->own, row->told, row->left,
		       row->comes ? "comes" : "stays", w.said);
		check_failures++;
	}
	world_close(&w);
}

#define SEARCHED "cd /app && PYTHONPATH=/tests python3 -m checks"

static void a_module_of_the_tests_own_is_not_found_elsewhere(void)
{
	static const struct row rows[] = {
		{SEARCHED, "checks.py", "", "app/checks.py", false},
		{SEARCHED, "checks.py", "", "app/checks/__main__.py", false},
		{SEARCHED, "checks.py", "", "app/checks.cpython-311-x86_64-linux-gnu.so", false},
		{SEARCHED, "checks.py", "", "checks.py", false},
		{SEARCHED, "checks.py", "", "app/.venv/lib/python3.11/site-packages/checks.py", false},
		{SEARCHED, "checks.py", "", "app/check.py", true},
		{SEARCHED, "checks.py", "", "app/checks.txt", true},
		{SEARCHED, "checks.py", "", "app/checks", true},
		{SEARCHED, "checks.py", "", "app/checks/data.csv", true},
		{SEARCHED, "checks.py", "", "app/src/checks.py", true},
		{SEARCHED, "checks.py", "", "app/pack/checks.py", true},
		{SEARCHED, "lib/util.py", "", "app/lib/__init__.py", false},
		{SEARCHED, "lib/util.py", "", "app/lib/util.py", false},
		{SEARCHED, "lib/util.py", "", "app/lib/util/__init__.py", false},
		{SEARCHED, "lib/util.py", "", "app/lib.py", false},
		{SEARCHED, "lib/util.py", "", "app/lib/mine.py", true},
		{SEARCHED, "lib/util.txt", "", "app/lib/util.py", true},
		{SEARCHED, "had/util.py", "", "app/had/util.py", false},
		{SEARCHED, "had/util.py", "", "app/had/new.py", true},
		{SEARCHED, "pack/new.py", "", "app/pack/new.py", true},
		{SEARCHED, "main.py", "", "app/main.py", true},
		{"PYTHONPATH=/app/src:/tests python3 -m checks", "checks.py", "", "app/src/checks.py", false},
		{"import sys; sys.path.append('/tests/lib'); import x", "lib/x.py", "", "app/x.py", false},
		{"python3 -m pytest -p judge /tests/test_x.py", "judge.py", "", "app/judge.py", false},
		{"cd /app; tar -C /tests -cf - . | tar -xf -; python3 -m unittest", "hh.py", "", "app/hh/__init__.py",
		 false},
		/* their own folder comes first */
		{"python3 -m pytest /tests/test_x.py", "utils.py", "", "app/utils.py", true},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		judge(&rows[i], NULL, "");
}

static void a_script_or_a_package_of_the_tests_own_is_not_found_elsewhere(void)
{
	static const struct row rows[] = {
		{"PATH=$PATH:/tests checkit.sh", "checkit.sh", "", "usr/local/bin/checkit.sh", false},
		{"PATH=$PATH:/tests checkit", "checkit", "", "usr/local/bin/checkit", false},
		{"PATH=$PATH:/tests; source common.sh", "common.sh", "", "app/common.sh", false},
		{"PATH=/app/bin:$PATH:/tests/bin; run", "bin/run", "", "app/bin/run", false},
		{"bash /tests/common.sh", "common.sh", "", "app/common.sh", true},
		{"PATH=$PATH:/tests; check", "note.txt", "", "app/note.txt", true},
		{"NODE_PATH=/tests/lib node -e x", "lib/checks.js", "", "app/node_modules/checks.js", false},
		{"NODE_PATH=/tests/lib node -e x", "lib/checks.js", "", "app/node_modules/checks", false},
		{"NODE_PATH=/tests/lib node -e x", "lib/a/index.js", "", "app/node_modules/a", false},
		{"NODE_PATH=/tests/lib node -e x", "lib/checks.js", "", "app/node_modules/other.js", true},
		{"NODE_PATH=/tests/lib node -e x", "lib/checks.js", "", "app/checks.js", true},
		{"node /tests/x.js", "react/app.test.js", "", "app/node_modules/react", true},
		{"perl -I/tests -MChecks -e 1", "Checks.pm", "", "app/Checks.pm", false},
		{"make -f /tests/x.mk", "common.mk", "", "app/common.mk", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		judge(&rows[i], NULL, "");
}

static void the_work_comes_where_no_test_asks_for_its_name_alone(void)
{
	static const struct row rows[] = {
		{"PYTHONPATH=/tests python3 /app/solution.py", "solution.py", "Write /app/solution.py.",
		 "app/solution.py", true},
		{"PYTHONPATH=/tests python3 -m solution", "solution.py", "Write /app/solution.py.", "app/solution.py",
		 false},
		{"PYTHONPATH=/tests python3 -c 'import solution'", "solution.py", "Write /app/solution.py.",
		 "app/solution.py", false},
		{"PYTHONPATH=/tests python3 -c 'f(\"solution\")'", "solution.py", "Write /app/solution.py.",
		 "app/solution.py", false},
		{"PATH=$PATH:/tests; /app/go.sh", "go.sh", "Write `go.sh`.", "app/go.sh", true},
		{"PATH=$PATH:/tests; bash go.sh", "go.sh", "Write `go.sh`.", "app/go.sh", false},
		{"PYTHONPATH=/tests python3 /app/x.py", "lib/util.py", "Write a package `lib`.", "app/lib/util.py",
		 true},
	};
	static const struct row helper = {"PYTHONPATH=/tests python3 /app/x.py", "helper.py", "Write x.py.",
					  "app/helper.py", false};
	struct row solved = helper;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		judge(&rows[i], NULL, "");
	judge(&helper, NULL, "echo >/app/my_helper.py");
	solved.comes = true;
	judge(&solved, NULL, "echo >/app/helper.py");
}

static void variables_of_the_image_say_where_the_tests_look(void)
{
	static const char *const env[] = {"PYTHONPATH=/tests:/app/vendor", "PATH=/usr/bin:/tests", NULL};
	static const struct row rows[] = {
		{"cd /app; python3 -m x", "checks.py", "", "app/checks.py", false},
		{"cd /app; python3 -m x", "checks.py", "", "app/vendor/checks.py", false},
		{"cd /app; . common.sh", "common.sh", "", "app/common.sh", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		judge(&rows[i], env, "");
}

static void a_folder_that_the_tests_copy_theirs_to_is_theirs(void)
{
	static const struct {
		const char *run, *told, *left;
		bool comes;
	} rows[] = {
		{"cp -r /tests /app/verify", "", "app/verify/checks.py", false},
		{"cp -r /tests/ /app/verify", "", "app/verify/expected/a.txt", false},
		{"cp -r \"$TEST_DIR\" /app/verify", "", "app/verify/a.txt", false},
		{"cp -a /tests/expected /app/want", "", "app/want/a.txt", false},
		{"cd /tests && cp -r expected /app/want", "", "app/want/a.txt", false},
		{"ln -s /tests/expected /app/want", "", "app/want/a.txt", false},
		{"shutil.copytree('/tests/expected', '/app/want')", "", "app/want/a.txt", false},
		{"mkdir -p /app/v && cp -r /tests/* /app/v", "", "app/v/a.txt", false},
		/* not what is there for files of theirs, what the task asks for, nor copies of the work */
		{"cp /tests/expected/a.txt /app/out/", "", "app/out/b.txt", true},
		{"cp -r /tests/expected /app/out/", "Write to /app/out/.", "app/out/b.txt", true},
		{"cp -r /app/src /app/want", "", "app/want/a.txt", true},
		{"cp -r /tests/* /app/out", "", "app/out/a.txt", true},
		{"cp -r /tests/expected /app/had", "", "app/had/a.txt", true},
	};
	struct carry_test_file v[2] = {{.next = &v[1], .name = "test.sh", .path = "test.sh"},
				       {.name = "a.txt", .path = "expected/a.txt", .text = sv_of("x")}};
	struct carry_test_files files = {.first = v};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		world_open(&w);
		put(w.image, "app/had/here.txt", "", 0644);
		v[0].text = sv_of(rows[i].run);
		w.req.tests = &files;
		w.req.instruction = rows[i].told;
		put(w.upper, rows[i].left, "1", 0644);
		carry(&w);
		if (there(w.to, rows[i].left) != rows[i].comes) {
			printf("# '%s' %s: %s\n", rows[i].run, rows[i].left, w.said);
			check_failures++;
		}
		world_close(&w);
	}
}

/* A link of the tests' folder is a name of theirs, too. */
static void the_paths_of_all_files_of_the_tests_are_known(void)
{
	struct carry_test_files files = {0};
	const struct carry_test_file *f;
	struct arena *a = arena_new();
	struct world w;
	unsigned found = 0;

	world_open(&w);
	put(w.upper, "lib/util.py", "1", 0644);
	link_to(w.upper, "checks.py", "lib/util.py");
	CHECK(carry_tests_read(&files, a, w.upper) == 0);
	for (f = files.first; f; f = f->next)
		found += strcmp(f->path, "lib/util.py") == 0 ? 1 : strcmp(f->path, "checks.py") == 0 ? 10 : 100;
	CHECK(found == 11 && !files.cut);
	arena_free(a);
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_module_of_the_tests_own_is_not_found_elsewhere),
		CASE(a_script_or_a_package_of_the_tests_own_is_not_found_elsewhere),
		CASE(the_work_comes_where_no_test_asks_for_its_name_alone),
		CASE(variables_of_the_image_say_where_the_tests_look),
		CASE(a_folder_that_the_tests_copy_theirs_to_is_theirs),
		CASE(the_paths_of_all_files_of_the_tests_are_known),
	};

	return check_main(cases, ARRAY_LEN(cases));
}

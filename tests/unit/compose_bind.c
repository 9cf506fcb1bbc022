/* task/compose_bind.h and the names of compose_file.h: what services get of a task's folder, and what projects are
 * called. runtimes/compose_up.sh and task/services.sh try them in containers and sandboxes. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/tree.h"
#include "task/compose_bind.h"
#include "task/compose_file.h"

static void tests_and_solution_are_hidden_where_services_could_name_them(void)
{
	struct task_step step = {.files = {.tests = "steps/one/tests", .solution = "environment/late"}};
	struct task terminal = {.format = TASK_TERMINAL,
				.files = {.context = ".",
					  .tests = "tests",
					  .test_script = "run-tests.sh",
					  .solve_script = "solution.sh"}};
	struct task harbor = {.format = TASK_HARBOR,
			      .files = {.context = "environment",
					.tests = "tests",
					.solution = "environment-not",
					.solve_script = "environment/solve.sh"},
			      .steps = &step,
			      .n_steps = 1};
	struct arena *a = arena_new();
	const char *const *v = compose_hidden(&terminal, a);

	CHECK(v && v[0] && v[1] && v[2] && v[3] && !v[4]);
	CHECK_STR(v[0], "tests");
	CHECK_STR(v[1], "run-tests.sh");
	CHECK_STR(v[2], "solution.sh");
	CHECK_STR(v[3], "solution.yaml");
	v = compose_hidden(&harbor, a);
	CHECK(v && v[0] && v[1] && !v[2]);
	CHECK_STR(v[0], "solve.sh");
	CHECK_STR(v[1], "late");
	harbor.files.tests = "environment";
	v = compose_hidden(&harbor, a);
	CHECK(v && v[0]);
	CHECK_STR(v[0], ".");
	arena_free(a);
}

static void put(int dir, const char *name, mode_t mode)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	CHECK(fd >= 0 && fchmod(fd, mode) == 0 && write(fd, "x", 1) == 1);
}

static bool is_there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static mode_t mode_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & 07777 : 0;
}

static int copy(int from, const char *source, int to, const char *name)
{
	static const char *const hidden[] = {"sub/tests",   "sub/tests/deep", "sub/link",
					     "solution.sh", "none/at/all",    NULL};
	const struct compose_mount m = {.kind = COMPOSE_MOUNT_TASK, .source = source, .target = "/t"};
	struct error err = {0};

	return compose_bind_copy(from, &m, hidden, to, name, &err);
}

static void a_copy_lacks_what_is_hidden_and_nothing_else(void)
{
	char path[] = "/tmp/cordon-bind-XXXXXX";
	AUTO_FD base = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	AUTO_FD from = -1;
	AUTO_FD to = -1;

	CHECK(base >= 0);
	(void)umask(077);
	CHECK(mkdirat(base, "from", 0755) == 0 && mkdirat(base, "to", 0700) == 0);
	from = openat(base, "from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	to = openat(base, "to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(from, "sub", 0755) == 0 && mkdirat(from, "sub/tests", 0755) == 0 &&
	      mkdirat(from, "sub/tests/deep", 0755) == 0 && mkdirat(from, "kept", 0755) == 0);
	put(from, "sub/tests/deep/t", 0644);
	put(from, "sub/tests-not", 0644);
	put(from, "kept/file", 0755);
	put(from, "solution.sh", 0755);
	CHECK(symlinkat("../kept", from, "sub/link") == 0 && symlinkat("sub/tests", from, "way") == 0);

	CHECK(copy(from, ".", to, "0.0") == 0);
	CHECK(is_there(to, "0.0/sub/tests-not") && is_there(to, "0.0/kept/file") && is_there(to, "0.0/way"));
	CHECK(!is_there(to, "0.0/sub/tests") && !is_there(to, "0.0/solution.sh") && !is_there(to, "0.0/sub/link"));
	CHECK(mode_of(to, "0.0") == 0755 && mode_of(to, "0.0/kept/file") == 0755);
	CHECK(copy(from, "sub", to, "0.1") == 0 && is_there(to, "0.1/tests-not") && !is_there(to, "0.1/tests") &&
	      !is_there(to, "0.1/link"));
	CHECK(copy(from, "kept/file", to, "0.2") == 0 && mode_of(to, "0.2") == 0755 && !is_there(to, "new"));
	CHECK(copy(from, "missing/one", to, "0.3") == 0 && mode_of(to, "0.3") == 0755);
	CHECK(copy(from, "way", to, "0.4") < 0 && copy(from, "sub/link/file", to, "0.5") < 0 &&
	      copy(from, "../from", to, "0.6") < 0);
	/* nothing of the original is touched, and what a hidden link leads to is not removed */
	CHECK(is_there(from, "sub/tests/deep/t") && is_there(from, "solution.sh") && is_there(to, "0.0/kept/file"));
	sys_remove_tree(AT_FDCWD, path);
}

static void names_of_projects_are_plain(void)
{
	static const char *const good[] = {"a", "0", "a-b", "hello-world-2",
					   "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"};
	static const char *const bad[] = {"",
					  "-",
					  "-a",
					  "a-",
					  "a--b",
					  "A",
					  "a_b",
					  "a.b",
					  "a/b",
					  "..",
					  "a b",
					  "\xc3\xa4",
					  "abcdefghijklmnopqrstuvwxyzabcdefghijklmno"};
	static const struct {
		const char *dir, *want;
	} rows[] = {{"Hello World", "hello-world"},
		    {"__x__", "x"},
		    {"a--..b", "a-b"},
		    {"\xc3\xa4", "task"},
		    {"...", "task"},
		    {"/", "task"},
		    {"abcdefghijklmnopqrstuvwxyzabcdefghijklm-nop", "abcdefghijklmnopqrstuvwxyzabcdefghijklm"}};
	struct compose_project p;
	struct error err = {0};
	char name[COMPOSE_NAME_MAX + 1];
	size_t i;

	for (i = 0; i < ARRAY_LEN(good); i++)
		CHECK(compose_name_is_fine(good[i]) && compose_project("/state", good[i], &p, &err) == 0);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!compose_name_is_fine(bad[i]) && compose_project("/state", bad[i], &p, &err) < 0);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		compose_name_of(rows[i].dir, name);
		CHECK_STR(name, rows[i].want);
	}
}

static const struct check_case cases[] = {
	CASE(tests_and_solution_are_hidden_where_services_could_name_them),
	CASE(a_copy_lacks_what_is_hidden_and_nothing_else),
	CASE(names_of_projects_are_plain),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}

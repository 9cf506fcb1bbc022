/* task/carry: what the agent made is data; what runs because of its name or its place is the image's, or is not there. Each attack is in the agent's upper folder, from where a plain copy would carry it. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "image/ids.h"
#include "sys/tree.h"
#include "task/carry.h"
#include "task/carry_text.h"

struct world {
	char base[64], lower[2][96];
	const char *layers[3];
	int top, image, second, upper, to;
	struct carry_request req;
	struct error err;
	char said[65536]; /* "rule path\n" */
	size_t n_said;
};

static void note(void *arg, const char *rule, const char *path, const char *message)
{
	struct world *w = arg;
	int n = snprintf(w->said + w->n_said, sizeof(w->said) - w->n_said, "%s %s\n", rule, path);

	CHECK(message[0] && n > 0 && w->n_said + (size_t)n < sizeof(w->said));
	w->n_said += (size_t)n;
}

static int folder(struct world *w, const char *name)
{
	CHECK(mkdirat(w->top, name, 0755) == 0);
	return openat(w->top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void make_folders(int dir, const char *path)
{
	char part[512];
	const char *s = path;

	while ((s = strchr(s, '/'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(s - path), path);
		CHECK(mkdirat(dir, part, 0755) == 0 || errno == EEXIST);
		s++;
	}
}

static void put(int dir, const char *path, const char *text, mode_t mode)
{
	AUTO_FD fd = -1;

	make_folders(dir, path);
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
}

static void link_to(int dir, const char *path, const char *target)
{
	make_folders(dir, path);
	CHECK(symlinkat(target, dir, path) == 0);
}

static void delete(int dir, const char *path)
{
	make_folders(dir, path);
	CHECK(mknodat(dir, path, S_IFCHR, 0) == 0);
}

static void opaque(int dir, const char *path)
{
	AUTO_FD fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0 && fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) == 0);
}

/* An image with a Python, a node and what else there is to attack. */
static void world_open(struct world *w)
{
	*w = (struct world){0};
	snprintf(w->base, sizeof(w->base), "/var/tmp/cordon-carry.XXXXXX");
	CHECK(mkdtemp(w->base) != NULL);
	w->top = open(w->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->image = folder(w, "base");
	w->second = folder(w, "second");
	w->upper = folder(w, "upper");
	w->to = folder(w, "to");
	snprintf(w->lower[0], sizeof(w->lower[0]), "%s/second", w->base);
	snprintf(w->lower[1], sizeof(w->lower[1]), "%s/base", w->base);
	w->layers[0] = w->lower[0];
	w->layers[1] = w->lower[1];
	w->req = (struct carry_request){.upper = w->upper, .layers = w->layers, .workdir = "/app", .report = note, .arg = w};
	put(w->image, "usr/bin/sh", "#!sh", 0755);
	put(w->image, "usr/bin/python3", "\177ELF", 0755);
	put(w->image, "usr/bin/grep", "\177ELF", 0755);
	put(w->image, "usr/bin/sqlite3", "\177ELF", 0755);
	link_to(w->image, "bin", "usr/bin");
	link_to(w->image, "lib", "usr/lib");
	put(w->image, "usr/lib/x86_64-linux-gnu/libc.so.6", "\177ELF", 0644);
	put(w->image, "usr/lib/python3.11/json/__init__.py", "", 0644);
	put(w->image, "usr/lib/python3/dist-packages/yaml/__init__.py", "", 0644);
	put(w->second, "usr/local/lib/python3.11/dist-packages/requests/__init__.py", "", 0644);
	put(w->image, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n", 0644);
	put(w->image, "etc/nginx/nginx.conf", "worker 1;\n", 0644);
	put(w->image, "opt/tool/bin/tool", "\177ELF", 0755);
	put(w->image, "opt/data/input.csv", "1", 0644);
	put(w->image, "srv/check.sh", "#!/bin/sh\n", 0755);
	put(w->second, "app/main.py", "print(1)\n", 0644);
	put(w->second, "app/conftest.py", "# the image's\n", 0644);
	put(w->second, "app/run.sh", "#!/bin/sh\n", 0755);
	put(w->second, "app/node_modules/left/index.js", "1", 0644);
	CHECK(mkdirat(w->image, "tmp", 01777) == 0 && mkdirat(w->image, "root", 0700) == 0 && mkdirat(w->image, "var", 0755) == 0);
}

static void world_close(struct world *w)
{
	sys_empty_tree(w->top);
	close(w->image);
	close(w->second);
	close(w->upper);
	close(w->to);
	close(w->top);
	CHECK(rmdir(w->base) == 0);
}

static void carry(struct world *w)
{
	int r = carry_changes(&w->req, w->to, &w->err);

	if (r < 0)
		printf("# %s\n", w->err.text);
	CHECK(r == 0);
}

static bool there(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool said(const struct world *w, const char *rule, const char *path)
{
	char line[512];

	snprintf(line, sizeof(line), "carry.%s /%s\n", rule, path);
	return strstr(w->said, line) != NULL;
}

/* In the upper folder, and not in what is carried; reported under that rule. */
static void dropped(const struct world *w, const char *rule, const char *path)
{
	if (!there(w->upper, path) || there(w->to, path) || !said(w, rule, path)) {
		printf("# %s: %s%s\n# said: %s\n", path, there(w->upper, path) ? "" : "not in upper ", there(w->to, path) ? "carried" : "dropped otherwise", w->said);
		check_failures++;
	}
}

static void carried(const struct world *w, const char *path)
{
	if (!there(w->to, path)) {
		printf("# %s: not carried\n# said: %s\n", path, w->said);
		check_failures++;
	}
}

static void check_text(int dir, const char *name, const char *want)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char got[1024] = "";

	CHECK(fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0);
	CHECK_STR(got, want);
}

static int succeed(void *arg)
{
	(void)arg;
	return 0;
}

static int give_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)type;
	(void)at;
	if (st->st_uid == 0)
		CHECK(lchown(path, 1700000000, 1700000000) == 0);
	return 0;
}

/* What is root's becomes the image's root's. */
static void give(const char *path)
{
	CHECK(nftw(path, give_one, 16, FTW_PHYS) == 0);
}

static void work_is_carried_as_it_is(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	put(w.upper, "app/main.py", "print(2)\n", 0644);
	put(w.upper, "app/run.sh", "#!/bin/sh\necho\n", 0700);
	put(w.upper, "app/out/deep/odd\nname", "x", 0600);
	put(w.upper, "app/bin/mine", "\177ELF", 0755);
	put(w.upper, "app/package.json", "{}", 0644);
	put(w.upper, "app/pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"pytest==8\"]\n", 0644);
	link_to(w.upper, "app/latest", "out/deep");
	link_to(w.upper, "app/log", "/dev/null");
	put(w.upper, "data/result.csv", "1,2", 0644);
	put(w.upper, "root/answer.txt", "42", 0644);
	put(w.upper, "tmp/out.txt", "t", 0644);
	put(w.upper, "etc/nginx/nginx.conf", "worker 2;\n", 0644);
	put(w.upper, "opt/data/output.csv", "2", 0644);
	carry(&w);
	CHECK_STR(w.said, "");
	check_text(w.to, "app/main.py", "print(2)\n");
	check_text(w.to, "etc/nginx/nginx.conf", "worker 2;\n");
	carried(&w, "app/out/deep/odd\nname");
	carried(&w, "app/bin/mine");
	carried(&w, "app/pyproject.toml");
	carried(&w, "app/latest");
	carried(&w, "app/log");
	carried(&w, "data/result.csv");
	carried(&w, "root/answer.txt");
	carried(&w, "tmp/out.txt");
	carried(&w, "opt/data/output.csv");
	CHECK(fstatat(w.to, "app/run.sh", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
	world_close(&w);
}

static void deletions_in_data_are_carried(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	delete(w.upper, "app/main.py");
	delete(w.upper, "opt/data");
	delete(w.upper, "app/never-was");
	carry(&w);
	CHECK(fstatat(w.to, "app/main.py", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == 0);
	carried(&w, "opt/data");
	CHECK(!there(w.to, "app/never-was"));
	world_close(&w);
}

static void names_that_run_by_themselves_are_dropped_everywhere(void)
{
	static const char *const bad[] = {"app/tests/conftest.py", "app/sitecustomize.py", "app/usercustomize.py", "app/x.pth", "app/__pycache__", "app/lib/mod.pyc", "app/pytest.ini", "app/.pytest.ini", "app/sub/.coveragerc", "conftest.py",
		"pytest.ini", "usr/lib/python3/dist-packages/evil.pth", "root/.local/lib/python3.11/site-packages/evil.pth", "usr/local/lib/python3.11/dist-packages/sitecustomize.py", "app/old.egg-link"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.upper, "app/__pycache__/main.cpython-311.pyc", "x", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!there(w.upper, bad[i]))
			put(w.upper, bad[i], "import os", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	world_close(&w);
}

static void the_images_conftest_stays_changed_deleted_or_in_a_folder_made_anew(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/conftest.py", "import os; os._exit(0)", 0644);
	carry(&w);
	dropped(&w, "autorun", "app/conftest.py");
	world_close(&w);
	world_open(&w);
	delete(w.upper, "app/conftest.py");
	carry(&w);
	dropped(&w, "autorun", "app/conftest.py");
	world_close(&w);
	/* rm -rf /app; mkdir /app: everything of the image is hidden, so its conftest.py is put there */
	world_open(&w);
	put(w.upper, "app/main.py", "new", 0644);
	opaque(w.upper, "app");
	carry(&w);
	check_text(w.to, "app/conftest.py", "# the image's\n");
	check_text(w.to, "app/main.py", "new");
	CHECK(!there(w.to, "app/run.sh"));
	world_close(&w);
	world_open(&w);
	w.req.keep_conftests = true;
	put(w.upper, "app/conftest.py", "mine", 0644);
	carry(&w);
	check_text(w.to, "app/conftest.py", "mine");
	world_close(&w);
}

static void sections_for_pytest_are_the_images(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/a/pyproject.toml", "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", 0644);
	put(w.upper, "app/a/pyproject.toml", "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", 0644);
	put(w.upper, "app/b/pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/c/pyproject.toml", "tool.pytest.ini_options.addopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/d/pyproject.toml", "tool = {pytest = {addopts = \"-p evil\"}}\n", 0644);
	put(w.upper, "app/e/pyproject.toml", "[tool.\"\\u0070ytest\"]\naddopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/f/setup.cfg", "[metadata]\nname = f\n", 0644);
	put(w.upper, "app/g/setup.cfg", "[tool:pytest]\naddopts = -p evil\n", 0644);
	put(w.upper, "app/h/tox.ini", "[pytest]\naddopts = -p evil\n", 0644);
	put(w.upper, "app/i/pyproject.toml", "[tool.poetry.dependencies]\npytest = \"^8.0\"\n", 0644);
	link_to(w.upper, "app/j/pyproject.toml", "../b/other.toml");
	carry(&w);
	check_text(w.to, "app/a/pyproject.toml", "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n");
	carried(&w, "app/f/setup.cfg");
	carried(&w, "app/i/pyproject.toml");
	dropped(&w, "pytest-section", "app/b/pyproject.toml");
	dropped(&w, "pytest-section", "app/c/pyproject.toml");
	dropped(&w, "pytest-section", "app/d/pyproject.toml");
	dropped(&w, "pytest-section", "app/e/pyproject.toml");
	dropped(&w, "pytest-section", "app/g/setup.cfg");
	dropped(&w, "pytest-section", "app/h/tox.ini");
	dropped(&w, "pytest-section", "app/j/pyproject.toml");
	world_close(&w);
}

static void programs_and_libraries_of_the_image_stay(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/bin/sh", "#!evil", 0755);
	delete(w.upper, "usr/bin/grep");
	link_to(w.upper, "usr/bin/python3", "/app/evil");
	put(w.upper, "usr/lib/x86_64-linux-gnu/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/python3.11/json/__init__.py", "evil", 0644);
	put(w.upper, "opt/tool/bin/tool", "evil", 0755);
	put(w.upper, "srv/check.sh", "evil", 0755);
	put(w.upper, "app/node_modules/left/index.js", "evil", 0644);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	dropped(&w, "deletes", "usr/bin/grep");
	dropped(&w, "replaces", "usr/bin/python3");
	dropped(&w, "replaces", "usr/lib/x86_64-linux-gnu/libc.so.6");
	dropped(&w, "replaces", "usr/lib/python3.11/json/__init__.py");
	dropped(&w, "replaces", "opt/tool/bin/tool");
	dropped(&w, "replaces", "srv/check.sh");
	dropped(&w, "replaces", "app/node_modules/left/index.js");
	world_close(&w);
}

static void a_touched_program_is_nothing_to_speak_of(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/bin/sh", "#!sh", 0000);
	put(w.upper, "app/conftest.py", "# the image's\n", 0600);
	carry(&w);
	CHECK(!there(w.to, "usr/bin/sh") && !there(w.to, "app/conftest.py"));
	if (geteuid() == 0)
		CHECK_STR(w.said, "");
	world_close(&w);
}

static void system_folders_cannot_be_taken_away_or_led_elsewhere(void)
{
	static const struct {
		const char *path, *rule;
	} bad[] = {{"usr", "link"}, {"etc", "link"}, {"opt", "link"}, {"tests", "runner"}, {"logs", "runner"}, {"solution", "runner"}, {"verifier", "runner"}, {"app", "link"}, {"tmp", "link"}, {"bin", "replaces"}};
	struct world w;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		world_open(&w);
		link_to(w.upper, bad[i].path, "/srv/x");
		carry(&w);
		dropped(&w, bad[i].rule, bad[i].path);
		world_close(&w);
	}
	world_open(&w);
	delete(w.upper, "usr");
	delete(w.upper, "etc");
	delete(w.upper, "bin");
	carry(&w);
	dropped(&w, "deletes", "usr");
	dropped(&w, "deletes", "etc");
	dropped(&w, "deletes", "bin");
	world_close(&w);
	/* mv /usr /usr.old; mkdir -p /usr/bin */
	world_open(&w);
	put(w.upper, "usr/bin/newcmd", "x", 0755);
	opaque(w.upper, "usr");
	opaque(w.upper, "usr/bin");
	put(w.upper, "bin/ls", "evil", 0755);
	carry(&w);
	CHECK(said(&w, "deletes", "usr") && said(&w, "replaces", "bin") && !there(w.to, "bin"));
	CHECK(fstatat(w.to, "usr/bin", &st, 0) == 0);
	{
		AUTO_FD fd = openat(w.to, "usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char v[4];

		CHECK(fgetxattr(fd, "user.overlay.opaque", v, sizeof(v)) < 0);
	}
	world_close(&w);
}

static void commands_that_are_new_are_carried_and_shims_are_not(void)
{
	struct world w;

	world_open(&w);
	w.req.env = (const char *const[]){"HOME=/root", "PATH=/app/tools:/usr/local/bin/:/usr/bin:/bin", NULL};
	put(w.upper, "usr/bin/nginx", "\177ELF", 0755);
	put(w.upper, "usr/local/bin/sqlite3", "evil", 0755);
	put(w.upper, "usr/local/sbin/sh", "evil", 0755);
	put(w.upper, "usr/local/bin/pytest", "evil", 0755);
	put(w.upper, "usr/local/bin/python", "evil", 0755);
	put(w.upper, "usr/bin/curl", "evil", 0755);
	put(w.upper, "root/.local/bin/uvx", "evil", 0755);
	put(w.upper, "root/.local/bin/env", "evil", 0755);
	put(w.upper, "root/.local/bin/sqlite3", "evil", 0755);
	put(w.upper, "root/.local/bin/mytool", "x", 0755);
	put(w.upper, "app/tools/sqlite3", "evil", 0755);
	put(w.upper, "app/tools/other", "x", 0755);
	put(w.upper, "app/node_modules/.bin/jest", "evil", 0755);
	put(w.upper, "app/node_modules/.bin/left", "x", 0755);
	link_to(w.upper, "usr/local/bin/python3", "/app/evil");
	carry(&w);
	carried(&w, "usr/bin/nginx");
	carried(&w, "root/.local/bin/mytool");
	carried(&w, "app/tools/other");
	carried(&w, "app/node_modules/.bin/left");
	dropped(&w, "shadows", "usr/local/bin/sqlite3");
	dropped(&w, "tool", "usr/local/sbin/sh");
	dropped(&w, "tool", "usr/local/bin/pytest");
	dropped(&w, "tool", "usr/local/bin/python");
	dropped(&w, "tool", "usr/local/bin/python3");
	dropped(&w, "tool", "usr/bin/curl");
	dropped(&w, "tool", "root/.local/bin/uvx");
	dropped(&w, "startup", "root/.local/bin/env");
	dropped(&w, "shadows", "root/.local/bin/sqlite3");
	dropped(&w, "shadows", "app/tools/sqlite3");
	dropped(&w, "tool", "app/node_modules/.bin/jest");
	world_close(&w);
}

static void packages_that_are_new_are_carried_and_those_that_shadow_are_not(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/numpy/core.py", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/numpy-1.0.dist-info/METADATA", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/yaml/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/json.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/_pytest/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest-8.0.dist-info/METADATA", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest_evil.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/helper-1.0.dist-info/entry_points.txt", "[pytest11]\nx = helper\n", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/script-1.0.dist-info/entry_points.txt", "[console_scripts]\nx = script:main\n", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/requests/evil.py", "evil", 0644);
	put(w.upper, "usr/lib/python3.11/antigravity2.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/Yaml/__init__.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/pandas/__init__.py", "x", 0644);
	put(w.upper, "app/node_modules/right/index.js", "x", 0644);
	put(w.upper, "app/node_modules/left/node_modules/fs/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/jest/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/@jest/core/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/@types/node/index.d.ts", "x", 0644);
	put(w.upper, "app/.venv/lib/python3.11/site-packages/yaml/__init__.py", "the agent's own", 0644);
	put(w.upper, "app/dist/x-1.egg-info/entry_points.txt", "[pytest11]\nx=x\n", 0644);
	carry(&w);
	carried(&w, "usr/local/lib/python3.11/dist-packages/numpy/core.py");
	carried(&w, "usr/local/lib/python3.11/dist-packages/numpy-1.0.dist-info/METADATA");
	carried(&w, "usr/local/lib/python3.11/dist-packages/script-1.0.dist-info/entry_points.txt");
	carried(&w, "root/.local/lib/python3.11/site-packages/pandas/__init__.py");
	carried(&w, "app/node_modules/right/index.js");
	carried(&w, "app/node_modules/@types/node/index.d.ts");
	carried(&w, "app/.venv/lib/python3.11/site-packages/yaml/__init__.py");
	dropped(&w, "shadows", "usr/local/lib/python3.11/dist-packages/yaml");
	dropped(&w, "shadows", "usr/local/lib/python3.11/dist-packages/json.py");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/_pytest");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest-8.0.dist-info");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest_evil.py");
	dropped(&w, "pytest-plugin", "usr/local/lib/python3.11/dist-packages/helper-1.0.dist-info/entry_points.txt");
	dropped(&w, "pytest-plugin", "app/dist/x-1.egg-info/entry_points.txt");
	dropped(&w, "system", "usr/local/lib/python3.11/dist-packages/requests/evil.py");
	dropped(&w, "system", "usr/lib/python3.11/antigravity2.py");
	dropped(&w, "shadows", "root/.local/lib/python3.11/site-packages/Yaml");
	dropped(&w, "tool", "app/node_modules/jest");
	dropped(&w, "tool", "app/node_modules/@jest");
	dropped(&w, "system", "app/node_modules/left/node_modules");
	world_close(&w);
}

static void libraries_that_are_new_are_carried_and_loaders_places_are_not(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/lib/x86_64-linux-gnu/libjq.so.1", "x", 0644);
	put(w.upper, "usr/lib/postgresql/15/bin/psql", "x", 0755);
	put(w.upper, "usr/share/nginx/html/index.html", "x", 0644);
	put(w.upper, "usr/include/jq.h", "x", 0644);
	put(w.upper, "usr/local/go/bin/go", "x", 0755);
	put(w.upper, "usr/local/lib/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/libnss_systemd.so.2", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/gconv/gconv-modules", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/perl5/strict.pm", "evil", 0644);
	put(w.upper, "usr/local/share/perl/5.36/strict.pm", "evil", 0644);
	put(w.upper, "usr/share/git-core/templates/hooks/post-checkout", "evil", 0755);
	put(w.upper, "usr/libexec/helper", "evil", 0755);
	put(w.upper, "usr/lib/ssl/openssl.cnf", "evil", 0644);
	put(w.upper, "usr/lib/locale/locale-archive", "evil", 0644);
	carry(&w);
	carried(&w, "usr/lib/x86_64-linux-gnu/libjq.so.1");
	carried(&w, "usr/lib/postgresql/15/bin/psql");
	carried(&w, "usr/share/nginx/html/index.html");
	carried(&w, "usr/include/jq.h");
	carried(&w, "usr/local/go/bin/go");
	dropped(&w, "shadows", "usr/local/lib/libc.so.6");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/libnss_systemd.so.2");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/glibc-hwcaps");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/gconv");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/perl5");
	dropped(&w, "system", "usr/local/share/perl");
	dropped(&w, "system", "usr/share/git-core");
	dropped(&w, "system", "usr/libexec/helper");
	dropped(&w, "system", "usr/lib/ssl");
	dropped(&w, "system", "usr/lib/locale");
	world_close(&w);
}

static void startup_files_are_dropped(void)
{
	static const char *const bad[] = {"etc/ld.so.preload", "etc/ld.so.cache", "etc/ld.so.conf.d", "etc/profile", "etc/profile.d", "etc/environment", "etc/bash.bashrc", "etc/zsh", "etc/hosts", "etc/nsswitch.conf", "etc/resolv.conf", "etc/pam.d",
		"etc/cron.d", "etc/crontab", "etc/systemd", "etc/ssl", "etc/apt", "etc/alternatives", "etc/perl", "etc/pip.conf", "etc/sudoers.d", "etc/ssh/ssh_config", "root/.bashrc", "root/.profile", "root/.zshenv", "root/.config/pip",
		"root/.config/fish", "root/.npmrc", "root/.curlrc", "home/u/.bash_profile", "root/.ssh/config", "app/.bashrc", "app/.npmrc", "etc/ld-musl-x86_64.path", "var/spool/cron"};
	struct world w;
	size_t i;

	world_open(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], "evil", 0644);
	put(w.upper, "root/.ssh/id_ed25519", "key", 0600);
	put(w.upper, "etc/init.d/nginx", "x", 0755);
	put(w.upper, "root/.cache/uv/x", "evil", 0644);
	put(w.upper, "var/lib/dpkg/status", "x", 0644);
	put(w.upper, "root/.cache/huggingface/model", "x", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "startup", bad[i]);
	dropped(&w, "installer", "root/.cache/uv");
	dropped(&w, "installer", "var/lib/dpkg");
	carried(&w, "root/.ssh/id_ed25519");
	carried(&w, "etc/init.d/nginx");
	carried(&w, "root/.cache/huggingface/model");
	world_close(&w);
}

static void users_may_be_added_and_root_stays_who_it_is(void)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/bash\n", true},
		{"root:x:0:0:root:/root:/app/evil\n", false},
		{"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\n", false},
		{"root:x:0:0:root:/root:/bin/sh\ntoor:x:00:0::/:/bin/sh\n", false},
		{"eve:x:7:7::/:/x\nroot:x:0:0:root:/root:/bin/sh\n", false},
		{"root:x:0:0:root:/root:/bin/sh\nx:x:4294967296:0::/:/bin/sh\n", false},
		{"", false},
	};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		world_open(&w);
		put(w.upper, "etc/passwd", cases[i].text, 0644);
		carry(&w);
		CHECK(there(w.to, "etc/passwd") == cases[i].ok && said(&w, "accounts", "etc/passwd") != cases[i].ok);
		world_close(&w);
	}
}

static void git_runs_nothing_of_the_agents(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/.git/config", "[core]\n\tbare = false\n\tfsmonitor = /app/evil\n\thooksPath = /app\n[user]\n\tname = A\n[alias]\n\tlog = !evil\n[include]\n\tpath = /app/x\n[remote \"origin\"]\n\turl = https://x\n", 0644);
	put(w.upper, "app/.git/hooks/pre-commit", "evil", 0755);
	put(w.upper, "app/.git/hooks/pre-push.sample", "x", 0755);
	put(w.upper, "app/.git/refs/heads/main", "x", 0644);
	put(w.upper, "app/.git/config.worktree", "[core]\n", 0644);
	put(w.upper, "srv/bare.git/objects/x", "x", 0644);
	put(w.upper, "srv/bare.git/refs/x", "x", 0644);
	put(w.upper, "srv/bare.git/config", "[core]\n\tsshCommand = evil\n", 0644);
	put(w.upper, "srv/bare.git/hooks/post-receive", "evil", 0755);
	link_to(w.upper, "app/sub/.git/config", "/app/evil-config");
	link_to(w.upper, "app/other/.git/hooks", "/app/hooks");
	put(w.upper, "root/.gitconfig", "[user]\n\temail = a@b\n[core]\n\tpager = evil\n", 0644);
	carry(&w);
	check_text(w.to, "app/.git/config", "[core]\n\tbare = false\n[user]\n\tname = A\n[remote \"origin\"]\n\turl = https://x\n");
	check_text(w.to, "srv/bare.git/config", "");
	check_text(w.to, "root/.gitconfig", "[user]\n\temail = a@b\n");
	carried(&w, "app/.git/refs/heads/main");
	carried(&w, "app/.git/hooks/pre-push.sample");
	dropped(&w, "git-hook", "app/.git/hooks/pre-commit");
	dropped(&w, "git-hook", "app/.git/config.worktree");
	dropped(&w, "git-hook", "srv/bare.git/hooks/post-receive");
	dropped(&w, "git-hook", "app/sub/.git/config");
	dropped(&w, "git-hook", "app/other/.git/hooks");
	CHECK(said(&w, "git-config", "app/.git/config"));
	world_close(&w);
}

static void no_spelling_of_a_git_key_gets_through(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"[core] fsmonitor = evil\n", ""},
		{"[core]\n\tname = a\\\nfsmonitor = evil\n", ""},
		{"[core]fsmonitor=evil\nbare = true\n", ""},
		{"[CORE]\nBARE = true\nFsMonitor = evil\n", "[CORE]\n\tBARE = true\n"},
		{"[core.x]\nfsmonitor = evil\n", ""},
		{"[user]\nname = \"a\\\n\"\n[core]\nbare = false\r\nfsmonitor = x\n", "[core]\n\tbare = false\n"},
		{"[remote \"a]\\nfsmonitor\"]\nurl = x\n", ""},
		{"; c\n# d\n\n[user]\n email=x ; y\n", "[user]\n\temail=x ; y\n"},
		{"name = x\n", ""},
		{"[user]\nname\nemail evil\n", "[user]\n\tname\n"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = {0};
		bool cut;

		buf_init(&out, 4096);
		carry_git_config(sv_of(cases[i].in), &out, &cut);
		CHECK_STR(out.p ? out.p : "", cases[i].out);
	}
}

static void modules_that_python_would_take_for_its_own_are_dropped(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/queue.py", "the project's", 0644);
	put(w.upper, "app/queue.py", "changed", 0644);
	put(w.upper, "app/pytest.py", "evil", 0644);
	put(w.upper, "app/argparse.py", "evil", 0644);
	put(w.upper, "app/_pytest/__init__.py", "evil", 0644);
	put(w.upper, "app/json/__init__.py", "evil", 0644);
	put(w.upper, "app/_bisect.cpython-311-x86_64-linux-gnu.so", "evil", 0644);
	link_to(w.upper, "app/pluggy", "/srv/x");
	put(w.upper, "app/logging/notes.txt", "no module", 0644);
	put(w.upper, "app/src/json/__init__.py", "not where anything starts", 0644);
	put(w.upper, "app/__init__.py", "", 0644);
	put(w.upper, "app/utils.py", "", 0644);
	put(w.upper, "unittest.py", "evil", 0644);
	carry(&w);
	carried(&w, "app/queue.py");
	carried(&w, "app/logging/notes.txt");
	carried(&w, "app/src/json/__init__.py");
	carried(&w, "app/__init__.py");
	carried(&w, "app/utils.py");
	dropped(&w, "module", "app/pytest.py");
	dropped(&w, "module", "app/argparse.py");
	dropped(&w, "module", "app/_pytest");
	dropped(&w, "module", "app/json");
	dropped(&w, "module", "app/_bisect.cpython-311-x86_64-linux-gnu.so");
	dropped(&w, "module", "app/pluggy");
	dropped(&w, "module", "unittest.py");
	world_close(&w);
}

static void what_variables_of_the_image_name_is_judged_too(void)
{
	static const char *const env[] = {"PYTHONPATH=/app/src:/srv/py/", "LD_LIBRARY_PATH=/app/lib", "BASH_ENV=/app/.setup", "ENV=/app/.env.sh", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.upper, "app/src/json.py", "evil", 0644);
	put(w.upper, "app/src/mine.py", "x", 0644);
	put(w.upper, "srv/py/pytest/__init__.py", "evil", 0644);
	put(w.upper, "app/lib/libc.so.6", "evil", 0644);
	put(w.upper, "app/lib/libmine.so", "x", 0644);
	put(w.upper, "app/.setup", "evil", 0644);
	put(w.upper, "app/.env.sh", "evil", 0644);
	carry(&w);
	carried(&w, "app/src/mine.py");
	carried(&w, "app/lib/libmine.so");
	dropped(&w, "module", "app/src/json.py");
	dropped(&w, "module", "srv/py/pytest");
	dropped(&w, "shadows", "app/lib/libc.so.6");
	dropped(&w, "startup", "app/.setup");
	dropped(&w, "startup", "app/.env.sh");
	world_close(&w);
}

static void pythons_other_ways_in_are_closed(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "home/u/py/bin/python3", "\177ELF", 0755);
	put(w.upper, "usr/bin/pyvenv.cfg", "home = /app\n", 0755);
	put(w.upper, "usr/pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "home/u/py/pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "usr/lib/python311.zip", "evil", 0644);
	put(w.upper, "usr/local/lib/site_perl/strict.pm", "evil", 0644);
	put(w.upper, "usr/local/etc/gitconfig", "[core]\n\tpager = evil\n[user]\n\tname = x\n", 0644);
	put(w.upper, "node_modules/chai/index.js", "evil", 0644);
	put(w.upper, "app/.venv/pyvenv.cfg", "home = /usr/bin\n", 0644);
	carry(&w);
	carried(&w, "app/.venv/pyvenv.cfg");
	dropped(&w, "autorun", "usr/bin/pyvenv.cfg");
	dropped(&w, "autorun", "usr/pyvenv.cfg");
	dropped(&w, "autorun", "pyvenv.cfg");
	dropped(&w, "autorun", "home/u/py/pyvenv.cfg");
	dropped(&w, "system", "usr/lib/python311.zip");
	dropped(&w, "system", "usr/local/lib/site_perl");
	dropped(&w, "system", "node_modules");
	check_text(w.to, "usr/local/etc/gitconfig", "[user]\n\tname = x\n");
	world_close(&w);
}

static void links_to_the_runners_folders_are_dropped_by_whatever_detour(void)
{
	static const char *const bad[] = {"/tests/expected.json", "../tests/x", "/logs/verifier/reward.txt", "/proc/self/root/tests/x", "/app/../tests", "up/tests/x", "root/tests", "/solution", "hop/expected", "/dev/fd/0", "/dev", "circle",
		"/mnt/mine/x"};
	static const char *const places[] = {"/mnt/mine", NULL};
	struct world w;
	char name[32];
	size_t i;

	world_open(&w);
	w.req.places = places;
	link_to(w.upper, "app/up", "..");
	link_to(w.upper, "app/root", "/");
	link_to(w.upper, "app/hop", "/srv/hop");
	link_to(w.upper, "srv/hop", "../tests");
	link_to(w.upper, "app/circle", "circle");
	link_to(w.upper, "app/fine", "/etc/nginx/nginx.conf");
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(name, sizeof(name), "app/bad%zu", i);
		link_to(w.upper, name, bad[i]);
	}
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(name, sizeof(name), "app/bad%zu", i);
		dropped(&w, "link-runner", name);
	}
	carried(&w, "app/fine");
	world_close(&w);
}

static void special_files_and_setuid_bits_do_not_come(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	make_folders(w.upper, "app/x");
	CHECK(mkfifoat(w.upper, "app/fifo", 0644) == 0);
	put(w.upper, "app/suid", "x", 04755);
	put(w.upper, "proc/x", "x", 0644);
	put(w.upper, "run/x", "x", 0644);
	put(w.upper, "dev/shm/x", "x", 0644);
	carry(&w);
	dropped(&w, "special", "app/fifo");
	dropped(&w, "runner", "proc");
	dropped(&w, "runner", "run");
	dropped(&w, "runner", "dev");
	CHECK(said(&w, "setuid", "app/suid") && fstatat(w.to, "app/suid", &st, 0) == 0 && (st.st_mode & 07777) == 0755);
	if (geteuid() == 0) {
		CHECK(mknodat(w.upper, "app/null", S_IFCHR | 0666, makedev(1, 3)) == 0);
		sys_empty_tree(w.to);
		carry(&w);
		dropped(&w, "special", "app/null");
	}
	world_close(&w);
}

static void attributes_do_not_come_and_owners_do(void)
{
	struct world w;
	struct stat st;
	char v[8];
	AUTO_FD fd = -1;

	world_open(&w);
	put(w.upper, "app/x", "x", 0644);
	fd = openat(w.upper, "app/x", O_RDONLY | O_CLOEXEC);
	CHECK(fsetxattr(fd, "user.overlay.redirect", "/etc", 4, 0) == 0);
	if (geteuid() == 0)
		CHECK(fchown(fd, 1700001000, 1700001000) == 0);
	carry(&w);
	close(fd);
	fd = openat(w.to, "app/x", O_RDONLY | O_CLOEXEC);
	CHECK(fgetxattr(fd, "user.overlay.redirect", v, sizeof(v)) < 0);
	if (geteuid() == 0)
		CHECK(fstat(fd, &st) == 0 && st.st_uid == 1700001000);
	world_close(&w);
}

static void another_user_than_root_is_enough_for_files_of_all_ids(void)
{
	struct image_ids ids;
	struct world w;
	struct stat st;

	world_open(&w);
	if (image_ids_of_user(&ids, &w.err) < 0 || image_in_ids(&ids, succeed, NULL, &w.err) < 0) {
		printf("# no user namespaces here: %s\n", w.err.text);
		world_close(&w);
		return;
	}
	w.req.ids = &ids;
	put(w.upper, "app/private/x", "x", 0600);
	put(w.upper, "usr/bin/sh", "evil", 0755);
	put(w.upper, "app/odd\nname.pth", "evil", 0644);
	delete(w.upper, "app/main.py");
	opaque(w.upper, "app/private");
	if (geteuid() == 0) {
		CHECK(chmod(w.base, 0711) == 0 && fchownat(w.upper, "app/private/x", 1700000999, 1700000999, 0) == 0 && fchownat(w.upper, "app/private", 1700000999, 1700000999, 0) == 0);
		CHECK(fchmodat(w.upper, "app/private", 0700, 0) == 0 && ids.zero_uid == 1700000000);
		give(w.base);
	}
	carry(&w);
	carried(&w, "app/private/x");
	carried(&w, "app/main.py");
	dropped(&w, "replaces", "usr/bin/sh");
	CHECK(strstr(w.said, "carry.autorun /app/odd\\x0aname.pth\n") != NULL);
	if (geteuid() == 0)
		CHECK(fstatat(w.to, "app/private/x", &st, 0) == 0 && st.st_uid == 1700000999 && (st.st_mode & 07777) == 0600);
	world_close(&w);
}

static void a_work_folder_among_the_systems_is_none(void)
{
	struct world w;

	world_open(&w);
	w.req.workdir = "/";
	put(w.upper, "usr/bin/sh", "evil", 0755);
	put(w.upper, "srv/check.sh", "the agent's work", 0755);
	put(w.upper, "app/main.py", "x", 0644);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	carried(&w, "srv/check.sh");
	carried(&w, "app/main.py");
	world_close(&w);
	world_open(&w);
	w.req.workdir = "/usr/bin";
	put(w.upper, "usr/bin/sh", "evil", 0755);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	world_close(&w);
}

static void what_a_layer_took_away_counts_as_not_there(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "usr/bin/oldtool", "x", 0755);
	delete(w.second, "usr/bin/oldtool");
	put(w.upper, "usr/bin/oldtool", "new", 0755);
	put(w.image, "usr/lib/gone/a", "x", 0644);
	make_folders(w.second, "usr/lib/gone/x");
	opaque(w.second, "usr/lib/gone");
	put(w.upper, "usr/lib/gone/a", "y", 0644);
	carry(&w);
	carried(&w, "usr/bin/oldtool");
	dropped(&w, "system", "usr/lib/gone/a");
	world_close(&w);
}

static void files_that_nobody_may_read_are_carried_too(void)
{
	struct world w;
	int status;
	pid_t pid;

	world_open(&w);
	if (geteuid() == 0) { /* as an ordinary user whose own files they are */
		CHECK(chmod(w.base, 0755) == 0 && fchown(w.upper, 65534, 65534) == 0 && fchown(w.to, 65534, 65534) == 0);
		pid = fork();
		if (pid == 0) {
			if (setresuid(65534, 65534, 65534) < 0)
				_exit(9);
			put(w.upper, "app/secret/x", "x", 0000);
			CHECK(fchmodat(w.upper, "app/secret", 0, 0) == 0);
			carry(&w);
			_exit(check_failures != 0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	} else {
		put(w.upper, "app/secret/x", "x", 0000);
		CHECK(fchmodat(w.upper, "app/secret", 0, 0) == 0);
		carry(&w);
	}
	carried(&w, "app/secret");
	world_close(&w);
}

static void every_name_that_python_knows_is_taken_where_it_starts(void)
{
	static const char *const env[] = {"PATH=/app/.venv/bin:/usr/bin:/bin", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "app/html/index.txt", "a folder of the project's", 0644);
	put(w.image, "app/email", "a file of the project's", 0644);
	put(w.image, "usr/lib/python3/dist-packages/attr/__init__.py", "", 0644);
	put(w.image, "app/.venv/lib/python3.12/site-packages/numpy/__init__.py", "", 0644);
	put(w.image, "usr/lib/python3/dist-packages/tests/__init__.py", "", 0644);
	put(w.upper, "app/calendar.py", "evil", 0644);
	put(w.upper, "app/_compression.py", "evil", 0644);
	put(w.upper, "app/yaml.py", "evil", 0644);
	put(w.upper, "app/attr/__init__.py", "evil", 0644);
	put(w.upper, "app/numpy/__init__.py", "evil", 0644);
	put(w.upper, "app/json/__init__.so", "evil", 0644);
	put(w.upper, "app/logging/__init__.abi3.so", "evil", 0644);
	put(w.upper, "app/html/__init__.py", "evil", 0644);
	put(w.upper, "app/html/page.txt", "x", 0644);
	put(w.upper, "app/email/__init__.py", "evil", 0644);
	put(w.upper, "app/tests/__init__.py", "", 0644);
	put(w.upper, "app/pkg/json/__init__.py", "", 0644);
	carry(&w);
	dropped(&w, "module", "app/calendar.py");
	dropped(&w, "module", "app/_compression.py");
	dropped(&w, "module", "app/yaml.py");
	dropped(&w, "module", "app/attr");
	dropped(&w, "module", "app/numpy");
	dropped(&w, "module", "app/json");
	dropped(&w, "module", "app/logging");
	dropped(&w, "module", "app/html/__init__.py");
	dropped(&w, "module", "app/email");
	carried(&w, "app/html/page.txt");
	carried(&w, "app/tests/__init__.py");
	carried(&w, "app/pkg/json/__init__.py");
	world_close(&w);
}

static void no_link_leads_programs_elsewhere(void)
{
	static const char *const env[] = {"PATH=/app/.venv/bin:/app/now/bin:/root/.local/bin:/usr/bin:/bin", "PYTHONPATH=/app/src", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "app/.venv/bin/check", "\177ELF", 0755);
	put(w.image, "app/v1/bin/tool", "\177ELF", 0755);
	link_to(w.image, "app/now", "v1");
	link_to(w.upper, "app/.venv", "v2");
	put(w.upper, "app/v2/bin/check", "evil", 0755);
	put(w.upper, "app/v1/bin/tool", "evil", 0755);
	put(w.upper, "app/v1/bin/grep", "evil", 0755);
	link_to(w.upper, "app/now", "v2");
	link_to(w.upper, "root/.local", "x");
	put(w.upper, "root/x/bin/python3", "evil", 0755);
	link_to(w.upper, "home/u/.local/lib/python3.11", "/home/u/y");
	link_to(w.upper, "home/v/.local/lib/python3.11/site-packages", "/home/v/y");
	link_to(w.upper, "app/src", "/srv/modules");
	link_to(w.upper, "app/node_modules/.bin", "../evil");
	link_to(w.upper, "app/current", "v2");
	carry(&w);
	dropped(&w, "link", "app/.venv");
	dropped(&w, "link", "app/now");
	dropped(&w, "replaces", "app/v1/bin/tool");
	dropped(&w, "tool", "app/v1/bin/grep");
	dropped(&w, "link", "root/.local");
	dropped(&w, "link", "home/u/.local/lib/python3.11");
	dropped(&w, "link", "home/v/.local/lib/python3.11/site-packages");
	dropped(&w, "link", "app/src");
	dropped(&w, "link", "app/node_modules/.bin");
	carried(&w, "app/current");
	world_close(&w);
}

static void folders_of_variables_may_be_relative(void)
{
	static const char *const env[] = {"PATH=tools:./more/:/usr//bin/:/bin::.", "PYTHONPATH=src", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.upper, "app/tools/grep", "evil", 0755);
	put(w.upper, "app/tools/mine", "x", 0755);
	put(w.upper, "app/more/sqlite3", "evil", 0755);
	put(w.upper, "app/main.py", "changed", 0644);
	put(w.upper, "app/src/json.py", "evil", 0644);
	carry(&w);
	dropped(&w, "tool", "app/tools/grep");
	dropped(&w, "shadows", "app/more/sqlite3");
	carried(&w, "app/main.py");
	dropped(&w, "module", "app/src/json.py");
	carried(&w, "app/tools/mine");
	world_close(&w);
}

static void no_end_of_a_line_hides_a_section(void)
{
	static const char *const ends[] = {"\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
	char text[128];
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++) {
		snprintf(text, sizeof(text), "# x%s[tool:pytest]%saddopts = -p evil\n", ends[i], ends[i]);
		CHECK(!carry_same_for_pytest(sv_of(text), sv_of(""), false));
	}
	CHECK(carry_same_for_pytest(sv_of("[metadata]\nname = caf\xc3\xa9\n"), sv_of(""), false));
}

static void packages_of_a_home_that_is_the_work_folder_shadow_nothing(void)
{
	struct world w;

	world_open(&w);
	w.req.workdir = "/root";
	put(w.upper, "root/.local/lib/python3.11/site-packages/pytest.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/yaml/__init__.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/flask/__init__.py", "x", 0644);
	put(w.upper, "root/own/lib/python3.11/site-packages/yaml/__init__.py", "x", 0644);
	carry(&w);
	dropped(&w, "tool", "root/.local/lib/python3.11/site-packages/pytest.py");
	dropped(&w, "shadows", "root/.local/lib/python3.11/site-packages/yaml");
	carried(&w, "root/.local/lib/python3.11/site-packages/flask/__init__.py");
	carried(&w, "root/own/lib/python3.11/site-packages/yaml/__init__.py");
	world_close(&w);
}

static void headers_of_the_image_are_found_first(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "usr/include/assert.h", "", 0644);
	put(w.image, "usr/include/sys/stat.h", "", 0644);
	put(w.image, "usr/include/c++/12/vector", "", 0644);
	put(w.image, "usr/include/x86_64-linux-gnu/bits/types.h", "", 0644);
	put(w.upper, "usr/local/include/assert.h", "evil", 0644);
	put(w.upper, "usr/local/include/sys/stat.h", "evil", 0644);
	put(w.upper, "usr/include/x86_64-linux-gnu/assert.h", "evil", 0644);
	put(w.upper, "usr/include/c++/12/assert.h", "evil", 0644);
	put(w.upper, "usr/local/include/zlib.h", "new", 0644);
	put(w.upper, "usr/local/include/openssl/ssl.h", "new", 0644);
	carry(&w);
	dropped(&w, "shadows", "usr/local/include/assert.h");
	dropped(&w, "shadows", "usr/local/include/sys");
	dropped(&w, "shadows", "usr/include/x86_64-linux-gnu/assert.h");
	dropped(&w, "shadows", "usr/include/c++/12/assert.h");
	carried(&w, "usr/local/include/zlib.h");
	world_close(&w);
}

static void the_root_is_no_repository_that_runs_anything(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "HEAD", "ref: refs/heads/x\n", 0644);
	put(w.upper, "config", "[core]\n\tbare = false\n\tfsmonitor = /app/evil\n", 0644);
	put(w.upper, "objects/x", "", 0644);
	put(w.upper, "refs/x", "", 0644);
	put(w.upper, "hooks/post-checkout", "evil", 0755);
	carry(&w);
	check_text(w.to, "config", "[core]\n\tbare = false\n");
	dropped(&w, "git-hook", "hooks/post-checkout");
	world_close(&w);
}

static void what_is_carried_takes_no_more_room_than_it_took(void)
{
	struct world w;
	struct stat a, b, hole;
	AUTO_FD fd = -1;

	world_open(&w);
	put(w.upper, "app/a", "one file", 0644);
	CHECK(linkat(w.upper, "app/a", w.upper, "app/b", 0) == 0 && linkat(w.upper, "app/a", w.upper, "root-b", 0) == 0);
	fd = openat(w.upper, "app/sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && pwrite(fd, "x", 1, 1 << 20) == 1 && ftruncate(fd, (off_t)1 << 34) == 0 && fstat(fd, &a) == 0);
	carry(&w);
	CHECK(fstatat(w.to, "app/sparse", &hole, 0) == 0);
	CHECK(hole.st_size == (off_t)1 << 34);
	CHECK(hole.st_blocks <= 2048);
	close(fd);
	fd = openat(w.to, "app/sparse", O_RDONLY | O_CLOEXEC);
	CHECK(pread(fd, &a, 1, 1 << 20) == 1 && *(char *)&a == 'x');
	CHECK(fstatat(w.to, "app/a", &a, 0) == 0 && fstatat(w.to, "root-b", &b, 0) == 0);
	CHECK(a.st_ino == b.st_ino);
	CHECK(a.st_nlink == 3);
	check_text(w.to, "app/b", "one file");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(work_is_carried_as_it_is),
		CASE(deletions_in_data_are_carried),
		CASE(names_that_run_by_themselves_are_dropped_everywhere),
		CASE(the_images_conftest_stays_changed_deleted_or_in_a_folder_made_anew),
		CASE(sections_for_pytest_are_the_images),
		CASE(programs_and_libraries_of_the_image_stay),
		CASE(a_touched_program_is_nothing_to_speak_of),
		CASE(system_folders_cannot_be_taken_away_or_led_elsewhere),
		CASE(commands_that_are_new_are_carried_and_shims_are_not),
		CASE(packages_that_are_new_are_carried_and_those_that_shadow_are_not),
		CASE(libraries_that_are_new_are_carried_and_loaders_places_are_not),
		CASE(startup_files_are_dropped),
		CASE(users_may_be_added_and_root_stays_who_it_is),
		CASE(git_runs_nothing_of_the_agents),
		CASE(no_spelling_of_a_git_key_gets_through),
		CASE(modules_that_python_would_take_for_its_own_are_dropped),
		CASE(what_variables_of_the_image_name_is_judged_too),
		CASE(pythons_other_ways_in_are_closed),
		CASE(links_to_the_runners_folders_are_dropped_by_whatever_detour),
		CASE(special_files_and_setuid_bits_do_not_come),
		CASE(attributes_do_not_come_and_owners_do),
		CASE(another_user_than_root_is_enough_for_files_of_all_ids),
		CASE(a_work_folder_among_the_systems_is_none),
		CASE(what_a_layer_took_away_counts_as_not_there),
		CASE(files_that_nobody_may_read_are_carried_too),
		CASE(every_name_that_python_knows_is_taken_where_it_starts),
		CASE(no_link_leads_programs_elsewhere),
		CASE(folders_of_variables_may_be_relative),
		CASE(no_end_of_a_line_hides_a_section),
		CASE(packages_of_a_home_that_is_the_work_folder_shadow_nothing),
		CASE(headers_of_the_image_are_found_first),
		CASE(the_root_is_no_repository_that_runs_anything),
		CASE(what_is_carried_takes_no_more_room_than_it_took),
	};

	return check_main(cases, ARRAY_LEN(cases));
}

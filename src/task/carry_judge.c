#include "task/carry_judge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "task/carry_asked.h"
#include "task/carry_brought.h"
#include "task/carry_home.h"
#include "task/carry_link.h"
#include "task/carry_new.h"
#include "task/carry_place.h"
#include "task/carry_project.h"
#include "task/carry_scratch.h"
#include "task/carry_store.h"
#include "task/carry_text.h"
#include "task/carry_told.h"
#include "task/carry_writes.h"

static bool system_root(const char *path)
{
	static const char *const roots[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/boot"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(roots); i++)
		if (strcmp(path, roots[i]) == 0)
			return true;
	return false;
}

/* A work folder that is the root, is among the system's folders, or holds them, is no place where everything is data.
 */
static bool work_ok(const char *work)
{
	static const char *const system[] = {"/bin",           "/sbin",           "/lib",           "/lib32",
					     "/lib64",         "/libx32",         "/boot",          "/etc",
					     "/usr/bin",       "/usr/sbin",       "/usr/lib",       "/usr/lib32",
					     "/usr/lib64",     "/usr/libexec",    "/usr/share",     "/usr/include",
					     "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/share"};
	static const char *const holders[] = {"/", "/usr", "/usr/local", "/opt", "/var", "/var/lib", "/home"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(system); i++)
		if (path_is_in(work, system[i]))
			return false;
	for (i = 0; i < ARRAY_LEN(holders); i++)
		if (strcmp(work, holders[i]) == 0)
			return false;
	return work[0] == '/' && !carry_runner_place(work);
}

static const char *variable(const struct carry *c, const char *name, const char *otherwise)
{
	const char *value = carry_variable(c, name);

	return value ? value : otherwise;
}

/* "/a:/b/:c" -> {"/a", "/b", WORKDIR/c}, and where links of the image lead from there. The work folder itself, as "" or
 * ".", has rules of its own. */
static const char **folders(struct carry *c, const char *s)
{
	const char **v = arena_array(c->arena, strlen(s) + 2, sizeof(v[0])), *end, *folder, *real;
	size_t n = 0, len;

	for (; v && *s; s = *end ? end + 1 : end) {
		end = strchrnul(s, ':');
		len = (size_t)(end - s);
		while (len > 1 && s[len - 1] == '/')
			len--;
		if (len == 0 || sv_is(sv_n(s, len), "."))
			continue;
		folder = *s == '/' ? arena_str(c->arena, sv_n(s, len))
				   : arena_printf(c->arena, "%s/%.*s", c->req->start ? c->req->start : c->req->workdir,
						  (int)len, s);
		real = folder ? carry_link_resolve(c, sv_of(folder)) : NULL;
		v[n++] = folder;
		if (real && strcmp(real, folder) != 0)
			v[n++] = real;
	}
	return v;
}

/* Folders, and archives, that interpreters load from. One that is in the work folder, or holds it, is the agent's own;
 * without a work folder that cannot be told. */
static const char **package_folders(struct carry *c)
{
	static const char *const names[] = {"PYTHONPATH", "NODE_PATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "CLASSPATH"};
	const char **v, *all = c->tests.modules ? c->tests.modules : "";
	size_t i, n = 0;

	for (i = 0; c->work && all && i < ARRAY_LEN(names); i++)
		all = arena_printf(c->arena, "%s:%s", all, variable(c, names[i], ""));
	v = folders(c, all && c->work ? all : "");
	for (i = 0; v && v[i]; i++) {
		struct sv at = sv_of(v[i]);

		if (sv_ends(at, "/*")) /* all archives in it */
			v[i] = arena_str(c->arena, sv_n(at.p, at.n - 2));
		if (v[i] && !path_is_in(v[i], c->work) && !path_is_in(c->work, v[i]))
			v[n++] = v[i];
	}
	if (v)
		v[n] = NULL;
	return v;
}

int carry_judge_init(struct carry *c)
{
	const char *modules;

	c->work = work_ok(c->req->workdir) ? c->req->workdir : NULL;
	c->path = folders(c, variable(c, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
	modules = arena_printf(c->arena, "%s:%s", c->req->start ? c->req->start : "", variable(c, "PYTHONPATH", ""));
	c->modules = modules ? folders(c, modules) : NULL;
	c->libraries = folders(c, variable(c, "LD_LIBRARY_PATH", ""));
	c->python_home = folders(c, variable(c, "PYTHONHOME", ""));
	c->config = folders(c, variable(c, "XDG_CONFIG_HOME", ""));
	c->caches = folders(c, variable(c, "XDG_CACHE_HOME", ""));
	c->data = folders(c, variable(c, "XDG_DATA_HOME", ""));
	c->user_base = folders(c, variable(c, "PYTHONUSERBASE", ""));
	c->home = folders(c, variable(c, "HOME", "/root"));
	if (arena_failed(c->arena))
		return -ENOMEM;
	carry_homes_init(c);
	carry_stores_init(c);
	c->shell_files[0] = variable(c, "BASH_ENV", NULL);
	c->shell_files[1] = variable(c, "ENV", NULL);
	if (carry_tests_learn(&c->tests, c->arena, c->req->tests) < 0)
		return -ENOMEM;
	if (carry_words_read(&c->named, c->arena, c->req->tests) < 0 ||
	    carry_words_read(&c->named, c->arena, c->req->solution) < 0)
		return -ENOMEM;
	c->packages = package_folders(c);
	c->starts = folders(c, c->tests.folders ? c->tests.folders : "");
	c->copies = folders(c, c->tests.copies ? c->tests.copies : "");
	modules = arena_printf(c->arena, "%s:%s", c->req->workdir, c->req->start ? c->req->start : "");
	c->stands = modules ? folders(c, modules) : NULL;
	c->scratch = folders(c, "/tmp:/var/tmp");
	if (arena_failed(c->arena) || carry_told_init(c) < 0 || carry_scratch_init(c) < 0 ||
	    carry_brought_init(c) < 0 || carry_writes_init(c) < 0)
		return -ENOMEM;
	return 0;
}

bool carry_among(const char *const *folders_of, struct sv folder)
{
	for (; *folders_of; folders_of++)
		if (sv_is(folder, *folders_of))
			return true;
	return false;
}

bool carry_leads_to(const char *const *places, const char *path)
{
	for (; places && *places; places++)
		if (path_is_in(*places, path))
			return true;
	return false;
}

/* Is the path at or below one of them? */
static bool is_in(const char *const *places, const char *path)
{
	for (; places && *places; places++)
		if (path_is_in(path, *places))
			return true;
	return false;
}

bool carry_mounted(const struct carry *c, const char *path)
{
	return is_in(c->req->mounts, path);
}

/* What the agent has where the verifier has something mounted is not seen, and nothing but a folder is on the way
 * there. */
static bool in_the_way(const struct carry *c, const struct entry *e)
{
	return carry_mounted(c, c->at) || (!S_ISDIR(e->st.st_mode) && (carry_leads_to(c->req->places, c->at) ||
								       carry_leads_to(c->req->mounts, c->at)));
}

bool carry_place(const struct carry *c, const char *path)
{
	if (is_in(c->req->places, path))
		return true;
	/* it, and the way to it */
	if (c->req->wanted && (path_is_in(path, c->req->wanted) || path_is_in(c->req->wanted, path)))
		return false;
	return carry_runner_place(path);
}

/* The same bytes in both? */
static bool same_as_image(const struct spot *s, const struct entry *e)
{
	return S_ISREG(e->st.st_mode) && S_ISREG(e->image.st_mode) && e->st.st_size == e->image.st_size &&
	       same_bytes(s->in, e->name, e->image_fd, e->name);
}

/* Not carried, unless it is what the image has anyway. */
static enum carry_rule unless_same(const struct spot *s, const struct entry *e, enum carry_rule rule)
{
	if (is_whiteout(&e->st) && e->image.st_mode == 0)
		return CARRY_SAME;
	return same_as_image(s, e) ? CARRY_SAME : rule;
}

/* The texts in both; "" where there is none. -1: too large, or no file. */
static int read_both(const struct spot *s, const struct entry *e, struct buf *ours, struct buf *theirs)
{
	buf_init(ours, CARRY_TEXT_MAX);
	buf_init(theirs, CARRY_TEXT_MAX);
	if (!is_whiteout(&e->st) && carry_read(s->in, e->name, ours) < 0)
		return -1;
	return S_ISREG(e->image.st_mode) && carry_read(e->image_fd, e->name, theirs) < 0 ? -1 : 0;
}

static enum carry_rule judge_text(const struct carry *c, const struct spot *s, const struct entry *e,
				  enum carry_name is)
{
	AUTO_BUF ours = {0};
	AUTO_BUF theirs = {0};
	bool read = read_both(s, e, &ours, &theirs) == 0;

	switch (is) {
	case NAME_VERSION:
		return is_whiteout(&e->st) || (read && carry_is_version(buf_view(&ours)))
			       ? CARRY_KEEP
			       : unless_same(s, e, CARRY_STARTUP);
	case NAME_PINNED:
	case NAME_PINNED_KEPT:
		return is_whiteout(&e->st) || (read && carry_names_no_path(buf_view(&ours)))
			       ? CARRY_KEEP
			       : unless_same(s, e, CARRY_STARTUP);
	case NAME_CHECKER:
		return is_whiteout(&e->st) || (read && !carry_orders_code(buf_view(&ours)))
			       ? CARRY_KEEP
			       : unless_same(s, e, CARRY_STARTUP);
	case NAME_SECTIONS:
		return read && carry_same_sections(buf_view(&ours), buf_view(&theirs))
			       ? CARRY_KEEP
			       : unless_same(s, e, CARRY_PYTEST);
	case NAME_PYPROJECT:
		return read && carry_same_project(buf_view(&ours), buf_view(&theirs), &c->tests)
			       ? CARRY_KEEP
			       : unless_same(s, e, CARRY_PYTEST);
	case NAME_PLUGINS:
		return read && carry_entry_points(buf_view(&ours)) ? CARRY_KEEP : unless_same(s, e, CARRY_PLUGIN);
	default:
		if (is_whiteout(&e->st) || !read ||
		    !carry_accounts(buf_view(&ours), buf_view(&theirs), is == NAME_PASSWD))
			return unless_same(s, e, CARRY_ACCOUNTS);
		return CARRY_KEEP;
	}
}

/* Where a Python of the image would look for a pyvenv.cfg: in the folder of programs, and the one above. */
static bool beside_programs(const struct carry *c, const struct spot *s)
{
	struct stat bin;
	int fd;

	layered_stat(&s->image, "bin", &bin, &fd);
	return s->zone == ZONE_SYSTEM || bin.st_mode || carry_command_folder(c, s);
}

/* A cache that a variable leads elsewhere is called as if it were in a home. */
static enum carry_name name_in(const char *const *folders_of, const char *path, const char *as)
{
	char named[PATH_MAX + 16];

	for (; *folders_of; folders_of++)
		if (path_is_in(path, *folders_of) && path[strlen(*folders_of)]) {
			(void)snprintf(named, sizeof(named), "/%s%s", as, path + strlen(*folders_of));
			return carry_name_of(named);
		}
	return NAME_PLAIN;
}

static enum carry_name name_of(const struct carry *c)
{
	enum carry_name is = carry_name_of(c->at);

	if (is == NAME_PLAIN)
		is = name_in(c->caches, c->at, ".cache");
	return is == NAME_PLAIN ? name_in(c->data, c->at, ".local/share") : is;
}

/* Does a Python of the image look for packages there, or might it? In the work folder, one that the image does not have
 * is of an agent's own. Links of such names lead nowhere. */
static bool of_packages(const struct carry *c, const struct spot *s)
{
	if (s->zone == ZONE_WORK)
		return s->image.n && carry_python_folder(carry_base(carry_parent(c)));
	return s->zone != ZONE_DATA || carry_python_folder(carry_base(carry_parent(c)));
}

static enum carry_rule judge_name(const struct carry *c, const struct spot *s, const struct entry *e)
{
	bool has_file = e->image.st_mode && !S_ISDIR(e->image.st_mode);
	enum carry_name is = name_of(c);

	if (has_file && (is == NAME_KEPT || is == NAME_CHECKER || is == NAME_PINNED_KEPT))
		return unless_same(s, e, CARRY_STARTUP);

	if (is == NAME_SITE && of_packages(c, s))
		return unless_same(s, e, CARRY_AUTORUN);
	switch (is) {
	case NAME_SITE: /* as any other where no packages are */
	case NAME_PLAIN:
		if (carry_place_runs(c, s, e))
			return unless_same(s, e, CARRY_AUTORUN);
		return carry_home_startup(c, s, e) ? unless_same(s, e, CARRY_STARTUP) : CARRY_KEEP;
	case NAME_CONFTEST:
		return c->req->keep_conftests ? CARRY_KEEP : unless_same(s, e, CARRY_AUTORUN);
	case NAME_AUTORUN:
		return unless_same(s, e, CARRY_AUTORUN);
	case NAME_STARTUP:
		return unless_same(s, e, CARRY_STARTUP);
	case NAME_INSTALLER:
		return unless_same(s, e, CARRY_INSTALLER);
	case NAME_KEPT:
		return CARRY_KEEP;
	case NAME_VENV:
		return e->image.st_mode || beside_programs(c, s) ? unless_same(s, e, CARRY_AUTORUN) : CARRY_KEEP;
	case NAME_GIT_CONFIG:
		return S_ISREG(e->st.st_mode) ? CARRY_GIT_CUT : is_whiteout(&e->st) ? CARRY_KEEP : CARRY_GIT;
	default:
		/* a folder takes away the text that the image has there */
		return S_ISDIR(e->st.st_mode) && (e->image.st_mode == 0 || S_ISDIR(e->image.st_mode)) &&
				       is != NAME_PASSWD && is != NAME_ACCOUNTS
			       ? CARRY_KEEP
			       : judge_text(c, s, e, is);
	}
}

static enum carry_rule judge_git(const struct spot *s, const struct entry *e)
{
	struct sv name = sv_of(e->name);

	/* read wherever HEAD is, or comes to be */
	if (sv_is(name, "config.worktree"))
		return unless_same(s, e, CARRY_GIT);
	if (!s->git)
		return CARRY_KEEP;
	if (s->hooks)
		return sv_ends(name, ".sample") && S_ISREG(e->st.st_mode) ? CARRY_KEEP : unless_same(s, e, CARRY_GIT);
	if (sv_is(name, "config"))
		return S_ISREG(e->st.st_mode) ? CARRY_GIT_CUT : is_whiteout(&e->st) ? CARRY_KEEP : CARRY_GIT;
	if (sv_is(name, "hooks") && !S_ISDIR(e->st.st_mode))
		return unless_same(s, e, CARRY_GIT);
	return CARRY_KEEP;
}

/* In the work folder, too, the image has what is not the agent's. */
static bool is_the_images(const struct carry *c, const struct spot *s)
{
	return carry_prefix(c, s) || carry_interpreter(c, s) || carry_interpreters_lib(c) || carry_store_way(c, s);
}

static enum carry_rule judge_link(struct carry *c, const struct spot *s, const struct entry *e)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(s->in, e->name, target, sizeof(target));

	if (n <= 0 || n == sizeof(target))
		return CARRY_SPECIAL;
	if ((c->work && strcmp(c->at, c->work) == 0) || carry_leads_to(c->stands, c->at) ||
	    (S_ISDIR(e->image.st_mode) && (s->zone != ZONE_WORK || is_the_images(c, s))) ||
	    (s->zone != ZONE_FREE && !system_root(c->at) && carry_way_to_programs(c)))
		return CARRY_LINK;
	if (carry_home_link(c, s, e) || carry_place_link(c, e) || carry_store_link(c, s))
		return CARRY_LINK;
	return carry_link_to_runner(c, sv_n(target, (size_t)n), carry_link_same(s, e)) ? CARRY_LINK_RUNNER : CARRY_KEEP;
}

/* What makes a folder a package: a text, or a library of whatever tag. */
static bool starts_package(const char *name)
{
	return strncmp(name, "__init__.", 9) == 0 || strncmp(name, "__main__.", 9) == 0;
}

static bool is_package(int dir, const char *name)
{
	int in = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = in < 0 ? NULL : fdopendir(in);
	struct dirent *e;
	bool found = in < 0; /* who cannot look must not trust it */

	while (d && !found && (e = readdir(d)))
		found = starts_package(e->d_name);
	if (d)
		(void)closedir(d);
	else if (in >= 0)
		(void)close(in);
	return found;
}

/* Is the folder one where Python looks for modules first? */
static bool module_folder(const struct carry *c, struct sv folder)
{
	return folder.n == 0 || (c->work && sv_is(folder, c->work)) || carry_among(c->modules, folder) ||
	       carry_among(c->starts, folder) || carry_among(c->copies, folder);
}

/* org/python/core.py: a part of a package that the image does not have, and Python asks for; any folder is one. */
static bool absent_part(const struct carry *c, const struct entry *e)
{
	struct sv name = sv_of(e->name), folder = carry_parent(c), base = carry_base(folder);
	bool code = S_ISLNK(e->st.st_mode) || sv_ends(name, ".py") || sv_ends(name, ".so");

	for (; code && e->image.st_mode == 0 && base.n; base = carry_base(folder)) {
		folder.n -= base.n + 1;
		if (module_folder(c, folder) && carry_absent_module(base))
			return true;
	}
	return false;
}

/* Names that are as likely a project's as a package's. */
static bool is_common(struct sv name)
{
	static const char *const common[] = {
		"app",    "bench", "benchmarks", "bin",    "build",  "cli",     "client",  "commands", "compiler",
		"config", "core",  "data",       "dist",   "doc",    "docs",    "example", "examples", "helpers",
		"lib",    "main",  "models",     "parser", "script", "scripts", "server",  "settings", "setup",
		"src",    "test",  "tests",      "tools",  "util",   "utils"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(common); i++)
		if (sv_is(name, common[i]))
			return true;
	return false;
}

/* The image's own packages count. */
static bool module_taken(struct carry *c, struct sv name)
{
	char text[64];

	if (carry_module_taken(name) || is_common(name))
		return carry_module_taken(name);
	(void)snprintf(text, sizeof(text), "%.*s", (int)(name.n < 63 ? name.n : 63), name.p);
	return carry_image_module(c, text);
}

/* Is there a file of the tests' own of that name, where they come to be? Their test files count everywhere; another may
 * be called as the work is. */
static bool tests_file(const struct carry *c, struct sv folder, struct sv name)
{
	bool here = c->tests.copies_here && (sv_is(folder, c->req->workdir) || carry_among(c->starts, folder));

	return carry_tests_have(c->req->tests, name, here || carry_among(c->copies, folder));
}

/* Makes a package of a folder that the image has, and that Python would take for one of its own, or for one of the
 * tests' files beside it. */
static bool makes_package(struct carry *c, const struct entry *e)
{
	struct sv folder = carry_parent(c), base = carry_base(folder),
		  above = sv_n(folder.p, folder.n ? folder.n - base.n - 1 : 0);

	if (e->image.st_mode || folder.n == 0 || !starts_package(e->name))
		return false;
	return tests_file(c, above, base) || (module_folder(c, above) && module_taken(c, base));
}

/* NAME of NAME.py, NAME.cpython-311-x86_64-linux-gnu.so, and of a package's folder. */
static bool is_module(const struct spot *s, const struct entry *e, struct sv *ret)
{
	struct sv name = sv_of(e->name);
	const char *dot = strchr(e->name, '.');

	if (S_ISDIR(e->st.st_mode)) {
		*ret = name;
		return carry_tool_package(name) || is_package(s->in, e->name);
	}
	*ret = dot ? sv_n(name.p, (size_t)(dot - name.p)) : name;
	return S_ISLNK(e->st.st_mode) ? !dot || sv_ends(name, ".py") || sv_ends(name, ".so")
				      : dot && (sv_ends(name, ".py") || sv_ends(name, ".so"));
}

static bool is_program(const struct entry *e)
{
	AUTO_FD fd = -1;
	char magic[4];

	if (!S_ISREG(e->image.st_mode))
		return false;
	if (e->image.st_mode & 0111)
		return true;
	fd = openat(e->image_fd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) && memcmp(magic, "\177ELF", 4) == 0;
}

static enum carry_rule replaces(const struct spot *s, const struct entry *e)
{
	return unless_same(s, e, is_whiteout(&e->st) ? CARRY_DELETES : CARRY_REPLACES);
}

static enum carry_rule judge_data(struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c), module;
	bool top = folder.n == 0, gone = is_whiteout(&e->st), has = e->image.st_mode != 0,
	     other = (e->image.st_mode & S_IFMT) != (e->st.st_mode & S_IFMT);

	if (top && S_ISDIR(e->image.st_mode) && !S_ISDIR(e->st.st_mode))
		return replaces(s, e);
	/* the image's packages, and the way to them */
	if (has && !S_ISDIR(e->st.st_mode) && carry_leads_to(c->packages, c->at))
		return replaces(s, e);
	if (top && S_ISLNK(e->image.st_mode) && system_root(c->at))
		return replaces(s, e);
	if (top && !has && !gone &&
	    (strcmp(e->name, "node_modules") == 0 ||
	     (strcmp(c->req->workdir, "/") != 0 && carry_seen_from_tests(sv_of(e->name)))))
		return CARRY_SYSTEM;
	if (other && !gone && module_folder(c, folder) && is_module(s, e, &module) && module_taken(c, module))
		return CARRY_MODULE;
	if (other && !gone && module_folder(c, folder) && is_module(s, e, &module) && !is_common(module) &&
	    carry_asked_beside(c, s, e, module))
		return CARRY_ASKED;
	/* a package or a library comes before a text of the same name */
	if (other && !gone && !sv_ends(sv_of(e->name), ".py") && is_module(s, e, &module) &&
	    tests_file(c, folder, module))
		return CARRY_MODULE;
	if (!gone && (makes_package(c, e) || absent_part(c, e)))
		return CARRY_MODULE;
	if (!gone && !S_ISDIR(e->st.st_mode) && carry_among(c->modules, sv_n(c->at, c->len)))
		return replaces(s, e); /* an archive of modules */
	if (!has && !gone && carry_among(c->libraries, folder))
		return carry_new_library(c, e);
	if (s->zone != ZONE_WORK && s->zone != ZONE_FREE && (c->work || top) && is_program(e))
		return replaces(s, e);
	return CARRY_KEEP;
}

/* Would a program of the image's, in the folder that it is started from, import it in the place of its own module, or
 * of one of Python's? A package comes before a file of its name. */
static bool takes_module(const struct carry *c, const struct spot *s, const struct entry *e)
{
	static const char *const endings[] = {".py", ".pyc", ".so", ".abi3.so"};
	char path[PATH_MAX];
	struct sv module;
	struct stat st;
	size_t i;

	if (!is_module(s, e, &module))
		return false;
	if (carry_standard_module(module))
		return true;
	for (i = 0; S_ISDIR(e->st.st_mode) && i < ARRAY_LEN(endings); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", c->at + 1, endings[i]);
		view_stat(&c->root, path, &st);
		if (st.st_mode)
			return true;
	}
	return false;
}

static enum carry_rule judge_system(struct carry *c, const struct spot *s, const struct entry *e)
{
	enum carry_rule r;

	if (e->image.st_mode == 0 && is_whiteout(&e->st))
		return CARRY_SAME;
	if (e->image.st_mode == 0) {
		r = carry_new_system(c, s, e);
		return r == CARRY_KEEP && takes_module(c, s, e) ? CARRY_MODULE : r;
	}
	return S_ISDIR(e->image.st_mode) && S_ISDIR(e->st.st_mode) ? CARRY_KEEP : replaces(s, e);
}

static enum carry_rule judge_place(struct carry *c, const struct spot *s, const struct entry *e)
{
	enum carry_rule r = s->store ? carry_store_judge(c, s, e) : CARRY_KEEP;

	if (r != CARRY_KEEP)
		return unless_same(s, e, r);
	if (s->zone == ZONE_SYSTEM)
		return judge_system(c, s, e);
	if (!carry_command_folder(c, s) || (S_ISDIR(e->st.st_mode) && S_ISDIR(e->image.st_mode)))
		return judge_data(c, s, e);
	if (e->image.st_mode)
		return replaces(s, e);
	return is_whiteout(&e->st) ? CARRY_SAME : carry_new_command(c, e);
}

/* Has the verifier's image something there that the agent's has not, or not alike? Folders are shared. */
static bool is_the_judges(const struct carry *c, const struct entry *e)
{
	if (c->had.n == 0 || e->image.st_mode == 0 || (S_ISDIR(e->image.st_mode) && S_ISDIR(e->st.st_mode)))
		return false;
	return !view_same(&c->had, c->at + 1, e->image_fd, e->name);
}

enum carry_rule carry_judge(struct carry *c, const struct spot *s, const struct entry *e)
{
	enum carry_rule r, place;

	if (carry_place(c, c->at) || in_the_way(c, e))
		return CARRY_RUNNER;
	if ((c->shell_files[0] && strcmp(c->at, c->shell_files[0]) == 0) ||
	    (c->shell_files[1] && strcmp(c->at, c->shell_files[1]) == 0))
		return unless_same(s, e, CARRY_STARTUP);
	if (!is_whiteout(&e->st) && !S_ISREG(e->st.st_mode) && !S_ISDIR(e->st.st_mode) && !S_ISLNK(e->st.st_mode))
		return CARRY_SPECIAL;
	if (carry_scratch_leaves(c, e))
		return CARRY_SCRATCH;
	if (carry_written(c, e))
		return CARRY_WRITTEN;
	if (is_the_judges(c, e) || (S_ISREG(e->st.st_mode) && carry_leads_to(c->stands, c->at)))
		return replaces(s, e);
	r = judge_git(s, e);
	if (r == CARRY_KEEP)
		r = judge_name(c, s, e);
	if (r == CARRY_KEEP && carry_new_tests(c, s, e))
		r = CARRY_TESTS;
	if (r == CARRY_KEEP && S_ISLNK(e->st.st_mode))
		r = judge_link(c, s, e);
	if (r != CARRY_KEEP && r != CARRY_GIT_CUT)
		return r;
	if (carry_brought(c, s, e))
		return CARRY_BROUGHT;
	place = judge_place(c, s, e);
	return place == CARRY_KEEP ? r : place;
}

enum zone carry_zone(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv name = sv_of(e->name), folder = carry_parent(c);
	bool known = S_ISDIR(e->image.st_mode);

	if (c->work && strcmp(c->at, c->work) == 0)
		return ZONE_WORK;
	if (known && carry_among(c->packages, sv_n(c->at, c->len)))
		return ZONE_SYSTEM;
	if (folder.n == 0 && system_root(c->at))
		return ZONE_SYSTEM;
	if (known && (carry_prefix(c, s) || carry_interpreter(c, s) ||
		      (carry_home(c, folder) && carry_home_name(name) == HOME_TOOL)))
		return ZONE_SYSTEM;
	if (folder.n == 0)
		return s->zone;
	/* a user's own packages come before the image's, wherever that home is */
	if (carry_python_folder(name) && (known || s->zone == ZONE_DATA ||
					  memmem(folder.p, folder.n, "/.local/lib/", 12) || carry_user_lib(c, folder)))
		return ZONE_SYSTEM;
	if (sv_is(name, "node_modules") && s->zone != ZONE_FREE)
		return ZONE_SYSTEM;
	if (s->zone != ZONE_SYSTEM || known)
		return s->zone;
	/* new below a folder of the system's: free, but for what has rules of its own */
	return carry_frame_folder(name) ? ZONE_SYSTEM : ZONE_FREE;
}

#include "task/carry_new.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "sys/tree.h"
#include "task/carry_asked.h"
#include "task/carry_tests.h"

struct sv carry_parent(const struct carry *c)
{
	size_t n = c->len;

	while (n && c->at[n - 1] != '/')
		n--;
	return sv_n(c->at, n ? n - 1 : 0);
}

struct sv carry_base(struct sv path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '/')
		n--;
	return sv_n(path.p + n, path.n - n);
}

bool carry_frame_folder(struct sv name)
{
	static const char *const frame[] = {"bin",     "sbin",  "lib",     "lib32",     "lib64", "libx32",
					    "libexec", "share", "include", "src",       "local", "games",
					    "etc",     "var",   "python*", "*-linux-*", ".bin",  "@*"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(frame); i++)
		if (glob_component(sv_of(frame[i]), name))
			return true;
	return carry_python_folder(name);
}

bool carry_python_folder(struct sv base)
{
	return sv_is(base, "site-packages") || sv_is(base, "dist-packages");
}

bool carry_node_folder(struct sv path)
{
	struct sv base = carry_base(path);

	if (base.n && base.p[0] == '@')
		base = carry_base(sv_n(path.p, path.n - base.n - 1));
	return sv_is(base, "node_modules");
}

/* ~/bin, ~/.local/bin and their like, which start-up files put on the PATH. */
static bool home_commands(struct sv folder)
{
	struct sv home = sv_n(folder.p, folder.n < 4 ? 0 : folder.n - 4);

	return sv_ends(folder, "/bin") &&
	       (sv_ends(home, "/.local") || sv_ends(home, "/.cargo") || sv_ends(home, "/go") || sv_is(home, "/root") ||
		sv_is(sv_n(home.p, home.n - carry_base(home).n), "/home/"));
}

/* Is path at or above the folder? */
static bool leads_to(struct sv path, const char *folder)
{
	return sv_starts(sv_of(folder), path.p) && (folder[path.n] == '\0' || folder[path.n] == '/');
}

bool carry_user_lib(const struct carry *c, struct sv folder)
{
	struct sv name = carry_base(folder);

	if (sv_starts(name, "python")) {
		folder = sv_n(folder.p, folder.n - name.n - (folder.n > name.n));
		name = carry_base(folder);
	}
	return sv_is(name, "lib") && folder.n > name.n &&
	       carry_among(c->user_base, sv_n(folder.p, folder.n - name.n - 1));
}

bool carry_way_to_programs(const struct carry *c)
{
	static const char *const names[] = {"site-packages", "dist-packages", "node_modules",
					    ".bin",          ".local",        ".cargo"};
	const char *const *const lists[] = {c->path, c->modules, c->libraries, c->user_base};
	struct sv at = sv_n(c->at, c->len), base = carry_base(at), folder = carry_parent(c);
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (sv_is(base, names[i]))
			return true;
	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (k = 0; lists[i][k]; k++)
			if (leads_to(at, lists[i][k]))
				return true;
	return home_commands(at) || carry_user_lib(c, at) || sv_ends(folder, "/.local") ||
	       sv_ends(folder, "/.local/lib");
}

bool carry_command_folder(const struct carry *c, const struct spot *s)
{
	struct sv folder = carry_parent(c), base = carry_base(folder);
	size_t i;

	for (i = 0; c->path[i]; i++)
		if (sv_is(folder, c->path[i]))
			return true;
	if (s->zone == ZONE_FREE)
		return false;
	if (s->zone == ZONE_SYSTEM)
		return sv_is(base, "bin") || sv_is(base, "sbin") || sv_is(base, ".bin") || sv_is(base, "games");
	return home_commands(folder);
}

/* Does any of these folders of the image have the name? */
static bool image_has(const struct carry *c, const char *const *folders, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	for (; *folders; folders++) {
		if (snprintf(path, sizeof(path), "%s/%s", *folders + (**folders == '/'), name) >= (int)sizeof(path))
			return true;
		view_stat(&c->root, path, &st);
		if (st.st_mode)
			return true;
	}
	return false;
}

enum carry_rule carry_new_command(const struct carry *c, const struct entry *e)
{
	static const char *const usual[] = {"bin",           "sbin",           "usr/bin", "usr/sbin",
					    "usr/local/bin", "usr/local/sbin", NULL};

	if (S_ISDIR(e->st.st_mode))
		return CARRY_SYSTEM;
	if (carry_tool_command(sv_of(e->name)))
		return CARRY_TOOL;
	if (carry_tests_install(&c->tests, sv_of(e->name)))
		return CARRY_TESTS;
	if (image_has(c, usual, e->name) || image_has(c, c->path, e->name))
		return CARRY_SHADOWS;
	/* node_modules/.bin is no folder of the PATH: only a project's own scripts look there */
	if (!c->req->tests || sv_is(carry_base(carry_parent(c)), ".bin"))
		return CARRY_KEEP;
	return carry_words_name(&c->named, sv_of(e->name)) ? CARRY_KEEP : CARRY_UNNAMED;
}

/* "Pytest-8.0.dist-info" -> "pytest" */
static struct sv stem_of(const char *name, char to[64])
{
	size_t n = 0;

	while (name[n] && name[n] != '-' && name[n] != '.' && n < 63) {
		to[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] | 0x20) : name[n];
		n++;
	}
	to[n] = '\0';
	return sv_n(to, n);
}

enum { STEMS_MAX = 100000 };

static bool add_stem(void *arg, const char *name)
{
	struct carry *c = arg;
	char stem[64];

	/* each further folder asks again */
	if (c->n_stems >= STEMS_MAX)
		return false;
	c->stems[c->n_stems] = arena_str(c->arena, stem_of(name, stem));
	c->n_stems += c->stems[c->n_stems] != NULL;
	return c->n_stems < STEMS_MAX;
}

struct pythons {
	struct carry *c;
	const struct layered *lib;
	void (*fn)(struct carry *c, const struct layered *folder);
};

static void show_folder(struct pythons *p, const struct layered *in, const char *name)
{
	AUTO_LAYERED m = {0};

	if (layered_enter(in, name, &m) == 0)
		p->fn(p->c, &m);
}

static bool show_python(void *arg, const char *name)
{
	struct pythons *p = arg;
	AUTO_LAYERED m = {0};

	if (strncmp(name, "python", 6) != 0 || layered_enter(p->lib, name, &m) < 0)
		return true;
	p->fn(p->c, &m);
	show_folder(p, &m, "site-packages");
	show_folder(p, &m, "dist-packages");
	return true;
}

/* All Pythons below a folder of libraries: relative, canonical. */
static void show_pythons(struct pythons *p, struct sv lib)
{
	AUTO_LAYERED at = {0};

	p->lib = &at;
	if (view_enter(&p->c->root, lib, &at) == 0)
		(void)layered_names(&at, show_python, p);
}

/* Those of PYTHONPATH, as the image or the tests have it. */
static void show_packages(struct pythons *p)
{
	const struct carry *c = p->c;
	size_t i;

	for (i = 0; c->packages[i]; i++) {
		AUTO_LAYERED m = {0};

		if ((carry_among(c->modules, sv_of(c->packages[i])) || carry_among(c->starts, sv_of(c->packages[i]))) &&
		    view_enter(&c->root, sv_of(c->packages[i] + 1), &m) == 0)
			p->fn(p->c, &m);
	}
}

void carry_pythons(struct carry *c, void (*fn)(struct carry *c, const struct layered *folder))
{
	static const char *const libs[] = {"usr/lib",      "usr/lib64",     "usr/local/lib",
					   "opt/venv/lib", "opt/conda/lib", NULL};
	struct pythons p = {.c = c, .fn = fn};
	char path[PATH_MAX];
	struct sv folder;
	size_t i;

	for (i = 0; libs[i]; i++)
		show_pythons(&p, sv_of(libs[i]));
	show_packages(&p);
	/* beside folders of commands, as in /app/.venv/bin */
	for (i = 0; c->path[i]; i++) {
		folder = sv_of(c->path[i]);
		if (sv_ends(folder, "/bin") && folder.n > 5 &&
		    snprintf(path, sizeof(path), "%.*slib", (int)folder.n - 4, folder.p + 1) < (int)sizeof(path) &&
		    !carry_among(libs, sv_of(path)))
			show_pythons(&p, sv_of(path));
	}
}

static void add_stems(struct carry *c, const struct layered *folder)
{
	(void)layered_names(folder, add_stem, c);
}

/* All that some Python of the image can import: one list, made when it is needed. */
static void know_stems(struct carry *c)
{
	c->stems_known = true;
	c->stems = arena_array(c->arena, STEMS_MAX, sizeof(c->stems[0]));
	if (c->stems)
		carry_pythons(c, add_stems);
}

static int by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

bool carry_image_module(struct carry *c, const char *name)
{
	char stem[64];
	const char *key = stem;

	(void)stem_of(name, stem);
	if (!c->stems_known) {
		know_stems(c);
		if (c->n_stems)
			qsort(c->stems, c->n_stems, sizeof(c->stems[0]), by_bytes);
	}
	if (!c->stems || c->n_stems >= STEMS_MAX)
		return true;
	return c->n_stems && bsearch(&key, c->stems, c->n_stems, sizeof(c->stems[0]), by_bytes);
}

static enum carry_rule new_python(struct carry *c, const struct spot *s, const struct entry *e)
{
	char stem[64];

	if (carry_tool_package(stem_of(e->name, stem)))
		return CARRY_TOOL;
	if (carry_image_module(c, e->name))
		return CARRY_SHADOWS;
	if (carry_tests_install(&c->tests, sv_n(e->name, strlen(stem))))
		return CARRY_TESTS;
	if (carry_standard_module(sv_n(e->name, strlen(stem))))
		return CARRY_MODULE;
	return carry_asked_module(c, s, e, sv_n(e->name, strcspn(e->name, "-."))) ? CARRY_ASKED : CARRY_KEEP;
}

static enum carry_rule new_node(struct carry *c, const struct entry *e)
{
	if (carry_tool_package(sv_of(e->name)))
		return CARRY_TOOL;
	if (carry_tests_install(&c->tests, sv_of(e->name)))
		return CARRY_TESTS;
	/* a scope's packages are judged below it */
	return e->name[0] != '@' && e->name[0] != '.' && carry_asked_node(c) ? CARRY_ASKED : CARRY_KEEP;
}

static bool is_lib_folder(struct sv folder)
{
	struct sv base = carry_base(folder);

	if (glob_component(sv_of("*-linux-*"), base))
		base = carry_base(sv_n(folder.p, folder.n - base.n - 1));
	return sv_is(base, "lib") || sv_is(base, "lib64") || sv_is(base, "lib32") || sv_is(base, "libx32");
}

enum carry_rule carry_new_library(const struct carry *c, const struct entry *e)
{
	static const char *const libs[] = {"lib",
					   "lib64",
					   "lib32",
					   "usr/lib",
					   "usr/lib64",
					   "usr/lib32",
					   "usr/local/lib",
					   "usr/local/lib64",
					   "lib/x86_64-linux-gnu",
					   "usr/lib/x86_64-linux-gnu",
					   "usr/local/lib/x86_64-linux-gnu",
					   "lib/aarch64-linux-gnu",
					   "usr/lib/aarch64-linux-gnu",
					   "usr/local/lib/aarch64-linux-gnu",
					   NULL};

	if (S_ISDIR(e->st.st_mode))
		return carry_loaded_folder(sv_of(e->name)) ? CARRY_SYSTEM : CARRY_KEEP;
	return image_has(c, libs, e->name) || image_has(c, c->libraries, e->name) ? CARRY_SHADOWS : CARRY_KEEP;
}

static enum carry_rule new_lib(const struct carry *c, const struct entry *e)
{
	struct sv name = sv_of(e->name);

	if (S_ISDIR(e->st.st_mode)) /* of Python only packages are carried, which is judged below it */
		return carry_loaded_folder(name) && !sv_starts(name, "python") ? CARRY_SYSTEM : CARRY_KEEP;
	if (sv_ends(name, ".a"))
		return CARRY_KEEP;
	if (!glob_component(sv_of("lib*.so*"), name) || sv_starts(name, "libnss_"))
		return CARRY_SYSTEM;
	return carry_new_library(c, e);
}

/* A header, or a folder of them, that a compiler would find before the image's. */
static bool shadows_headers(const struct carry *c)
{
	static const char *const folders[] = {"/usr/include/", "/usr/local/include/"};
	static const char *const all[] = {"usr/include", "usr/local/include", "usr/include/x86_64-linux-gnu",
					  "usr/include/aarch64-linux-gnu", NULL};
	const char *rest, *end;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(folders); i++) {
		if (strncmp(c->at, folders[i], strlen(folders[i])) != 0)
			continue;
		rest = c->at + strlen(folders[i]);
		view_stat(&c->root, "usr/include/c++", &st);
		if (strncmp(rest, "c++/", 4) == 0 && st.st_mode)
			return true;
		end = strchr(rest, '/');
		if (end && glob_component(sv_of("*-linux-*"), sv_n(rest, (size_t)(end - rest))))
			rest = end + 1;
		return image_has(c, all, rest);
	}
	return false;
}

/* Below share/, include/ and their like; or -1. */
static int new_data(const struct carry *c)
{
	static const char *const folders[] = {"/usr/share/",         "/usr/local/share/", "/usr/include/",
					      "/usr/local/include/", "/usr/src/",         "/usr/local/src/",
					      "/usr/local/etc/",     "/usr/local/var/",   "/usr/local/games/"};
	const char *below, *end;
	size_t i;

	for (i = 0; i < ARRAY_LEN(folders); i++)
		if (strncmp(c->at, folders[i], strlen(folders[i])) == 0) {
			below = c->at + strlen(folders[i]);
			end = strchr(below, '/');
			if (shadows_headers(c))
				return CARRY_SHADOWS;
			return carry_loaded_folder(sv_n(below, end ? (size_t)(end - below) : strlen(below)))
				       ? CARRY_SYSTEM
				       : CARRY_KEEP;
		}
	return -1;
}

enum carry_rule carry_new_system(struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c), base = carry_base(folder);
	int r;

	if (carry_python_folder(base) ||
	    (carry_among(c->packages, folder) && (carry_among(c->modules, folder) || carry_among(c->starts, folder))))
		return new_python(c, s, e);
	if (carry_node_folder(folder))
		return new_node(c, e);
	if (carry_command_folder(c, s))
		return carry_new_command(c, e);
	if (sv_starts(base, "python"))
		return S_ISDIR(e->st.st_mode) && carry_python_folder(sv_of(e->name)) ? CARRY_KEEP : CARRY_SYSTEM;
	r = new_data(c);
	if (r >= 0)
		return (enum carry_rule)r;
	if (is_lib_folder(folder))
		return new_lib(c, e);
	if (!S_ISDIR(e->st.st_mode))
		return CARRY_SYSTEM;
	return sv_is(folder, "/usr/local") || sv_is(base, "envs") ||
			       (sv_is(folder, "/usr") && carry_frame_folder(sv_of(e->name)))
		       ? CARRY_KEEP
		       : CARRY_SYSTEM;
}

/* Does a folder of the agent's have a name like that? Who cannot look must not trust it. */
static bool holds(int dir, const char *folder, const char *pattern)
{
	AUTO_FD in = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = in < 0 ? NULL : sys_list(in);
	bool found = in < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
	struct dirent *e;

	while (d && !found && (e = readdir(d)))
		found = glob_component(sv_of(pattern), sv_of(e->d_name));
	if (d)
		(void)closedir(d);
	return found;
}

static bool is_venv(const struct spot *s, const struct entry *e)
{
	AUTO_FD in = openat(s->in, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return in < 0 || holds(in, ".", "pyvenv.cfg") || holds(in, "bin", "activate*") || holds(in, "bin", "python*") ||
	       holds(in, "lib", "python*");
}

/* Parts of one in a folder that the image has, empty or not. */
static bool of_venv(const struct carry *c, const struct entry *e)
{
	static const char *const programs[] = {"activate*", "python*", "pip*", "pytest*", "py.test", "uv*"};
	struct sv base = carry_base(carry_parent(c)), name = sv_of(e->name);
	size_t i;

	for (i = 0; sv_is(base, "bin") && i < ARRAY_LEN(programs); i++)
		if (glob_component(sv_of(programs[i]), name))
			return true;
	return sv_is(name, "pyvenv.cfg") || (S_ISDIR(e->st.st_mode) && carry_python_folder(name)) ||
	       (sv_is(base, "lib") && sv_starts(name, "python"));
}

bool carry_new_tests(const struct carry *c, const struct spot *s, const struct entry *e)
{
	const struct carry_tests *t = &c->tests;
	struct sv folder = carry_parent(c);

	if (e->image.st_mode || is_whiteout(&e->st) || s->zone == ZONE_SYSTEM)
		return false;
	if (t->makes_project && sv_is(folder, c->req->workdir) &&
	    (strcmp(e->name, "pyproject.toml") == 0 || strcmp(e->name, "uv.lock") == 0 ||
	     strcmp(e->name, ".python-version") == 0))
		return true;
	if (!t->makes_venv || memmem(c->at, c->len, "/.local/", 8))
		return false;
	return of_venv(c, e) || (S_ISDIR(e->st.st_mode) && is_venv(s, e)) ||
	       (S_ISLNK(e->st.st_mode) && (strcmp(e->name, ".venv") == 0 || carry_tests_install(t, sv_of(e->name))));
}

#include "task/carry_home.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "task/carry_link.h"
#include "task/carry_new.h"

enum { HOMES_MAX = 512 };

/* The sixth field of "name:x:uid:gid:text:home:shell". */
static struct sv home_field(struct sv line)
{
	struct sv field = line;
	const char *colon;
	int i;

	for (i = 0; i < 5; i++) {
		colon = memchr(field.p, ':', field.n);
		if (!colon)
			return sv_n(line.p, 0);
		field = sv_n(colon + 1, (size_t)(line.p + line.n - colon - 1));
	}
	colon = memchr(field.p, ':', field.n);
	if (colon)
		field.n = (size_t)(colon - field.p);
	while (field.n > 1 && field.p[field.n - 1] == '/')
		field.n--;
	return field;
}

static void add_homes(struct carry *c, struct sv text)
{
	size_t n = 0, len;
	struct sv home;

	while (text.n && n + 1 < HOMES_MAX) {
		const char *end = memchr(text.p, '\n', text.n);

		len = end ? (size_t)(end - text.p) : text.n;
		home = home_field(sv_n(text.p, len));
		if (home.n > 1 && home.p[0] == '/') {
			c->homes[n++] = arena_str(c->arena, home);
			c->homes[n] = carry_link_resolve(c, home);
			n += c->homes[n] != NULL;
		}
		text = sv_n(text.p + len + (end != NULL), text.n - len - (end != NULL));
	}
}

void carry_homes_init(struct carry *c)
{
	AUTO_LAYERED etc = {0};
	AUTO_BUF text = {0};
	struct stat st;
	int fd = -1;

	c->homes = arena_array(c->arena, HOMES_MAX + 1, sizeof(c->homes[0]));
	buf_init(&text, CARRY_TEXT_MAX);
	if (!c->homes || layered_enter(&c->root, "etc", &etc) < 0)
		return;
	layered_stat(&etc, "passwd", &st, &fd);
	if (S_ISREG(st.st_mode) && carry_read(fd, "passwd", &text) == 0)
		add_homes(c, buf_view(&text));
}

bool carry_home(const struct carry *c, struct sv folder)
{
	struct sv name = carry_base(folder);

	return folder.n == 0 || sv_is(folder, "/root") || sv_is(sv_n(folder.p, folder.n - name.n), "/home/") ||
	       carry_among(c->home, folder) || carry_among(c->homes, folder);
}

static bool is_config(const struct carry *c, struct sv folder)
{
	struct sv name = carry_base(folder);

	return carry_among(c->config, folder) ||
	       (sv_is(name, ".config") && carry_home(c, sv_n(folder.p, folder.n - name.n - 1)));
}

/* Is path at or above the folder? */
static bool leads_to(const char *path, size_t n, const char *folder)
{
	return strncmp(folder, path, n) == 0 && (folder[n] == '\0' || folder[n] == '/');
}

bool carry_home_startup(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c), name = sv_of(e->name);

	if (c->work && leads_to(c->at, c->len, c->work))
		return false;
	if (is_config(c, folder))
		return !sv_is(name, "git");
	if (!carry_home(c, folder))
		return false;
	if (s->zone == ZONE_WORK)
		return carry_startup_looks(name);
	return carry_home_name(name) == HOME_STARTUP || (folder.n && sv_is(name, "R"));
}

bool carry_home_link(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c);

	if (c->work && leads_to(c->at, c->len, c->work))
		return false;
	return is_config(c, folder) ||
	       (carry_home(c, folder) && (s->zone == ZONE_WORK ? strcmp(e->name, ".config") == 0 : e->name[0] == '.'));
}

static bool folder_has(const struct carry *c, struct sv folder, const char *name)
{
	char path[PATH_MAX + 32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)folder.n, folder.p, name);
	view_stat(&c->root, path + 1, &st);
	return st.st_mode != 0;
}

static bool image_has(const struct carry *c, const char *name)
{
	return folder_has(c, sv_n(c->at, c->len), name);
}

static bool is_interpreters(void *arg, const char *name)
{
	static const char *const names[] = {"python[0-9]*", "pypy*", "ruby",    "node_modules", "perl5",
					    "rustlib",      "R",     "jvm.cfg", "jrt-fs.jar",   "tcl[0-9]*",
					    "lua",          "php",   "erlang",  "elixir",       "ocaml",
					    "ghc*",         "time",  "*.so",    "*.so.*"}; /* time: of go */
	bool *found = arg;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && !*found; i++)
		*found = glob_component(sv_of(names[i]), sv_of(name));
	return !*found;
}

static bool has_interpreter(const struct carry *c, struct sv prefix)
{
	static const char *const libs[] = {"lib", "lib64"};
	bool found = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(libs) && !found; i++) {
		AUTO_LAYERED lib = {0};
		char path[PATH_MAX + 8];

		(void)snprintf(path, sizeof(path), "%.*s/%s", (int)prefix.n, prefix.p, libs[i]);
		if (view_enter(&c->root, sv_of(path + 1), &lib) == 0)
			(void)layered_names(&lib, is_interpreters, &found);
	}
	return found;
}

/* The folder or its bin is on the PATH. */
static bool on_path(const struct carry *c, struct sv at)
{
	const char *rest;
	size_t i;

	for (i = 0; c->path[i]; i++) {
		rest = strncmp(c->path[i], at.p, at.n) == 0 ? c->path[i] + at.n : "?";
		if (rest[0] == '\0' || strcmp(rest, "/bin") == 0 || strcmp(rest, "/sbin") == 0)
			return true;
	}
	return carry_among(c->python_home, at);
}

/* Interpreters' folders below lib, and their programs. */
static const struct {
	const char *folder, *programs[2];
} interpreters[] = {
	{"python[0-9]*", {"python3", "python"}},
	{"pypy*", {"pypy3", "pypy"}},
	{"ruby", {"ruby", "irb"}},
	{"perl5", {"perl", "perldoc"}},
	{"php", {"php", "pear"}},
	{"lua", {"lua", "luarocks"}},
	{"erlang", {"erl", "escript"}},
	{"elixir", {"elixir", "mix"}},
	{"ocaml", {"ocaml", "ocamlc"}},
	{"R", {"R", "Rscript"}},
	{"rustlib", {"rustc", "cargo"}},
	{"tcl[0-9]*", {"tclsh", "wish"}},
};

static bool has_program(const struct carry *c, struct sv prefix, const char *const programs[2])
{
	char bin[24];
	size_t i;

	for (i = 0; i < 2; i++) {
		(void)snprintf(bin, sizeof(bin), "bin/%s", programs[i]);
		if (folder_has(c, prefix, bin) || folder_has(c, prefix, programs[i]))
			return true;
	}
	return false;
}

static bool is_lib(struct sv path)
{
	struct sv base = carry_base(path);

	return sv_is(base, "lib") || sv_is(base, "lib64");
}

bool carry_interpreters_lib(const struct carry *c)
{
	struct sv prefix = carry_parent(c);

	return is_lib(sv_n(c->at, c->len)) && on_path(c, prefix) && has_interpreter(c, prefix);
}

bool carry_interpreter(const struct carry *c, const struct spot *s)
{
	struct sv lib = carry_parent(c), name = carry_base(sv_n(c->at, c->len)), prefix;
	size_t i;

	if (!is_lib(lib))
		return false;
	prefix = sv_n(lib.p, lib.n - carry_base(lib).n - 1);
	for (i = 0; i < ARRAY_LEN(interpreters); i++) {
		if (!glob_component(sv_of(interpreters[i].folder), name))
			continue;
		if (s->zone == ZONE_WORK)
			return on_path(c, prefix) && has_program(c, prefix, interpreters[i].programs);
		/* a Python goes up until it finds that file */
		return s->zone == ZONE_DATA &&
		       (has_program(c, prefix, interpreters[i].programs) || image_has(c, "os.py"));
	}
	return false;
}

bool carry_prefix(const struct carry *c, const struct spot *s)
{
	struct sv at = sv_n(c->at, c->len), base = carry_base(at);
	bool lib = image_has(c, "lib") || image_has(c, "lib64"), bin = image_has(c, "bin") || carry_among(c->path, at);

	/* a home's .local has rules of its own */
	if ((c->work && leads_to(c->at, c->len, c->work)) || carry_home(c, at) || sv_is(base, ".local"))
		return false;
	if (sv_is(carry_parent(c), "/opt"))
		return bin || lib;
	if (!bin || !lib || s->zone == ZONE_FREE)
		return false;
	/* a project of the work folder may be one of bin and lib */
	return s->zone == ZONE_WORK ? (on_path(c, at) || image_has(c, "pyvenv.cfg")) && has_interpreter(c, at)
				    : on_path(c, at) || has_interpreter(c, at);
}

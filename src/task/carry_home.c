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

	return folder.n == 0 || sv_is(folder, "/root") || sv_is(sv_n(folder.p, folder.n - name.n), "/home/") || carry_among(c->home, folder) || carry_among(c->homes, folder);
}

static bool is_config(const struct carry *c, struct sv folder)
{
	struct sv name = carry_base(folder);

	return carry_among(c->config, folder) || (sv_is(name, ".config") && carry_home(c, sv_n(folder.p, folder.n - name.n - 1)));
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
	return is_config(c, folder) || (carry_home(c, folder) && (s->zone == ZONE_WORK ? strcmp(e->name, ".config") == 0 : e->name[0] == '.'));
}

static bool image_has(const struct carry *c, const char *name)
{
	char path[PATH_MAX + 16];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", c->at + 1, name);
	view_stat(&c->root, path, &st);
	return st.st_mode != 0;
}

static bool is_interpreters(void *arg, const char *name)
{
	static const char *const names[] = {"python[0-9]*", "pypy*", "ruby", "node_modules", "perl5", "rustlib", "R", "jvm.cfg", "jrt-fs.jar", "tcl[0-9]*", "lua", "php", "erlang", "ocaml", "ghc*", "*.so", "*.so.*"};
	bool *found = arg;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && !*found; i++)
		*found = glob_component(sv_of(names[i]), sv_of(name));
	return !*found;
}

static bool has_interpreter(const struct carry *c)
{
	static const char *const libs[] = {"lib", "lib64"};
	bool found = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(libs) && !found; i++) {
		AUTO_LAYERED lib = {0};
		char path[PATH_MAX + 8];

		(void)snprintf(path, sizeof(path), "%s/%s", c->at + 1, libs[i]);
		if (view_enter(&c->root, sv_of(path), &lib) == 0)
			(void)layered_names(&lib, is_interpreters, &found);
	}
	return found;
}

/* FOLDER/bin is on the PATH. */
static bool on_path(const struct carry *c)
{
	size_t i;

	for (i = 0; c->path[i]; i++)
		if (strncmp(c->path[i], c->at, c->len) == 0 && (strcmp(c->path[i] + c->len, "/bin") == 0 || strcmp(c->path[i] + c->len, "/sbin") == 0))
			return true;
	return carry_among(c->python_home, sv_n(c->at, c->len));
}

bool carry_prefix(const struct carry *c, const struct spot *s)
{
	struct sv at = sv_n(c->at, c->len), base = carry_base(at);
	bool lib = image_has(c, "lib") || image_has(c, "lib64"), bin = image_has(c, "bin");

	/* a home's .local has rules of its own */
	if ((c->work && leads_to(c->at, c->len, c->work)) || carry_home(c, at) || sv_is(base, ".local"))
		return false;
	if (sv_is(carry_parent(c), "/opt"))
		return bin || lib;
	if (!bin || !lib || s->zone == ZONE_FREE)
		return false;
	/* a project of the work folder may be one of bin and lib */
	return s->zone == ZONE_WORK ? (on_path(c) || image_has(c, "pyvenv.cfg")) && has_interpreter(c) : on_path(c) || has_interpreter(c);
}

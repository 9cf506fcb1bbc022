/* Finding an agent by its name, and starting it; the file's form is in agents.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "conf/value.h"
#include "sys/spawn.h"
#include "task/agents.h"

enum { FILE_MAX = 1 << 20, LISTED_MAX = 20 };

#define TRAJECTORY "/logs/agent/trajectory.jsonl"

static const struct {
	const char *name;
	enum agent_kind kind;
} built_in[] = {{"oracle", AGENT_ORACLE}, {"none", AGENT_NONE}, {"cordon", AGENT_CORDON}};

static int make_built_in(const char *name, enum agent_kind kind, struct agent **ret, struct error *err)
{
	struct arena *arena = arena_new();
	struct agent *a = arena ? arena_alloc(arena, sizeof(*a)) : NULL;

	if (!a) {
		arena_free(arena);
		return error_sys(err, ENOMEM, "agent %s", name);
	}
	*a = (struct agent){.arena = arena, .name = name, .kind = kind};
	*ret = a;
	return 0;
}

/* "a, b and c" is more than is needed: the names behind one another, escaped. */
static void list_names(const char *folder, struct buf *out)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned n = 0;

	(void)buf_str(out, "oracle, none, cordon");
	while (d && n < LISTED_MAX && (e = readdir(d))) {
		struct sv name = sv_of(e->d_name);

		if (!sv_ends(name, ".yaml") || e->d_name[0] == '.')
			continue;
		(void)buf_str(out, ", ");
		text_escape(out, sv_n(name.p, name.n - strlen(".yaml")), 64);
		n++;
	}
	if (d)
		(void)closedir(d);
}

static int unknown(const char *folder, const char *name, struct error *err)
{
	static const char *const own[] = {"oracle", "none", "cordon", NULL};
	const char *near = text_nearest(sv_of(name), own);
	AUTO_BUF names = {0};
	struct text_shown shown;

	buf_init(&names, 16 * 1024);
	list_names(folder, &names);
	if (near)
		return error_set(err, ERROR_INPUT, "there is no agent %s; did you mean %s? There are: %s",
				 text_show(&shown, sv_of(name)), near, names.p);
	return error_set(err, ERROR_INPUT, "there is no agent %s; there are: %s", text_show(&shown, sv_of(name)),
			 names.p);
}

static int read_file(const char *path, const char *name, struct agent **ret, struct error *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	AUTO_BUF bytes = {0};
	struct text_shown shown;
	struct stat st;
	int r;

	(void)text_show(&shown, sv_of(path));
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, errno, "%s", shown.s);
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
		return error_set(err, ERROR_INPUT,
				 "%s: must be a regular file that is yours or root's and that nobody else can write; "
				 "run chmod go-w",
				 shown.s);
	buf_init(&bytes, FILE_MAX);
	r = buf_read_fd(&bytes, fd);
	return r < 0 ? error_sys(err, r, "%s", shown.s) : agent_parse(path, name, buf_view(&bytes), ret, err);
}

int agent_find(const char *config, const char *name, struct agent **ret, struct error *err)
{
	struct arena *scratch = arena_new();
	char folder[PATH_MAX], path[PATH_MAX];
	const char *checked;
	bool fine = scratch && !value_name(scratch, sv_of(name), &checked);
	size_t i;

	arena_free(scratch);
	for (i = 0; i < ARRAY_LEN(built_in); i++)
		if (strcmp(name, built_in[i].name) == 0)
			return make_built_in(built_in[i].name, built_in[i].kind, ret, err);
	if (snprintf(folder, sizeof(folder), "%s/agents", config) >= (int)sizeof(folder) ||
	    snprintf(path, sizeof(path), "%s/%s.yaml", folder, name) >= (int)sizeof(path))
		return error_set(err, ERROR_INPUT, "the path of the agents' folder is too long");
	if (!fine || faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return unknown(folder, name, err);
	return read_file(path, name, ret, err);
}

/* Puts the values where the placeholders are; once, so that nothing in a value is taken for one. */
static char *fill(const char *text, const struct agent_use *use, const char *model, struct arena *to)
{
	AUTO_BUF out = {0};
	const struct {
		struct sv name;
		const char *value;
	} known[] = {{sv_of("{model}"), model}, {sv_of("{instruction}"), use->instruction}};
	size_t i;

	buf_init(&out, 1 << 20);
	while (*text) {
		for (i = 0;
		     i < ARRAY_LEN(known) && (!known[i].value || strncmp(text, known[i].name.p, known[i].name.n) != 0);
		     i++)
			;
		if (i == ARRAY_LEN(known)) {
			(void)buf_char(&out, *text++);
			continue;
		}
		(void)buf_str(&out, known[i].value);
		text += known[i].name.n;
	}
	return buf_failed(&out) ? NULL : arena_str(to, buf_view(&out));
}

static const char *model_of(const struct agent *a, const struct agent_use *use)
{
	return use->model ? use->model : a->model;
}

static int no_model(const struct agent *a, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "agent %s needs a model, and none is named; use --model, or model: in its file", a->name);
}

static bool wants_model(const struct agent *a)
{
	uint32_t i;

	for (i = 0; i < a->command.n; i++)
		if (strstr(a->command.v[i].s, "{model}"))
			return true;
	for (i = 0; i < a->env_set.n; i++)
		if (strstr(a->env_set.v[i].value, "{model}"))
			return true;
	return a->kind == AGENT_CORDON;
}

int agent_has_model(const struct agent *a, const char *model, struct error *err)
{
	return model || a->model || !wants_model(a) ? 0 : no_model(a, err);
}

const char *agent_trajectory(const struct agent *a)
{
	if (a->trajectory)
		return a->trajectory;
	return a->kind == AGENT_CORDON || a->kind == AGENT_ACP ? TRAJECTORY : NULL;
}

/* The program of ours that serves it, and its options. */
static size_t put_server(const struct agent *a, const struct agent_use *use, const char **v)
{
	bool acp = a->kind == AGENT_ACP;
	size_t n = 0;

	v[n++] = acp ? AGENT_PLACE "/cordon-acp" : AGENT_PLACE "/cordon-agent";
	if (!acp) {
		v[n++] = "--model";
		v[n++] = model_of(a, use);
	}
	/* an agent's own trajectory is another file than what it tells by the protocol */
	if (!acp || !a->trajectory) {
		v[n++] = "--trajectory";
		v[n++] = agent_trajectory(a);
	}
	v[n++] = "--instruction";
	v[n++] = use->instruction;
	if (acp)
		v[n++] = "--";
	return n;
}

int agent_argv(const struct agent *a, const struct agent_use *use, struct arena *to, char ***ret, struct error *err)
{
	const char *model = model_of(a, use), *server[10];
	size_t n = 0, i, count = 0;
	char **v;

	if (a->kind == AGENT_ORACLE || a->kind == AGENT_NONE) {
		*ret = NULL;
		return 0;
	}
	if (agent_has_model(a, model, err) < 0)
		return -1;
	if (a->kind != AGENT_COMMAND)
		count = put_server(a, use, server);
	v = arena_array(to, count + a->command.n + 1, sizeof(*v));
	for (i = 0; v && i < count; i++)
		v[n++] = arena_str(to, sv_of(server[i]));
	for (i = 0; v && i < a->command.n; i++)
		v[n++] = fill(a->command.v[i].s, use, model, to);
	for (i = 0; v && i < n; i++)
		if (!v[i])
			return error_sys(err, ENOMEM, "agent %s", a->name);
	if (!v)
		return error_sys(err, ENOMEM, "agent %s", a->name);
	*ret = v;
	return 0;
}

int agent_env(const struct agent *a, const struct agent_use *use, struct arena *to, const char ***ret,
	      struct error *err)
{
	const char *model = model_of(a, use), **v = arena_array(to, (size_t)a->env_set.n + 1, sizeof(*v)), *value;
	uint32_t i;

	if (!model && wants_model(a))
		return no_model(a, err);
	for (i = 0; v && i < a->env_set.n; i++) {
		value = fill(a->env_set.v[i].value, use, model, to);
		v[i] = value ? arena_printf(to, "%s=%s", a->env_set.v[i].key, value) : NULL;
		if (!v[i])
			return error_sys(err, ENOMEM, "agent %s", a->name);
	}
	if (!v)
		return error_sys(err, ENOMEM, "agent %s", a->name);
	*ret = v;
	return 0;
}

/* Ours is beside our own executable, or where it was installed. */
static int program_mount(const char *name, struct arena *to, struct image_mount *ret, struct error *err)
{
	AUTO_FD fd = sys_find_program(name);
	char link[64], path[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return error_set(err, ERROR_MISSING,
				 "cordon-%s is not beside this program nor in ../libexec/cordon; install all of "
				 "Cordon's programs together",
				 name);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return error_sys(err, errno, "cordon-%s", name);
	ret->source = arena_str(to, sv_n(path, (size_t)n));
	ret->target = arena_printf(to, AGENT_PLACE "/cordon-%s", name);
	return ret->source && ret->target ? 0 : error_sys(err, ENOMEM, "cordon-%s", name);
}

static int tool_mount(const struct agent *a, const struct image_mount *tool, const char *home, struct arena *to,
		      struct image_mount *ret, struct error *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct text_shown shown;
	bool own = tool->source[0] == '~';

	if (snprintf(path, sizeof(path), "%s%s", own ? home : "", tool->source + own) >= (int)sizeof(path) ||
	    !real_path(path, real))
		return error_set(err, ERROR_MISSING, "agent %s: tools: %s is not there: %s", a->name,
				 text_show(&shown, sv_of(tool->source)), strerror(errno));
	*ret = (struct image_mount){.source = arena_str(to, sv_of(real)), .target = arena_str(to, sv_of(tool->target))};
	return ret->source && ret->target ? 0 : error_sys(err, ENOMEM, "agent %s", a->name);
}

int agent_mounts(const struct agent *a, const char *home, struct arena *to, struct image_mount **ret, size_t *ret_n,
		 struct error *err)
{
	struct image_mount *v = arena_array(to, a->n_tools + 1, sizeof(*v));
	size_t n = 0, i;

	if (!v)
		return error_sys(err, ENOMEM, "agent %s", a->name);
	for (i = 0; i < a->n_tools; i++)
		if (tool_mount(a, &a->tools[i], home, to, &v[n++], err) < 0)
			return -1;
	if ((a->kind == AGENT_CORDON && program_mount("agent", to, &v[n++], err) < 0) ||
	    (a->kind == AGENT_ACP && program_mount("acp", to, &v[n++], err) < 0))
		return -1;
	*ret = v;
	*ret_n = n;
	return 0;
}

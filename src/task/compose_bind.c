#include "task/compose_bind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "supervise/copy.h"
#include "sys/beneath.h"
#include "sys/tree.h"

/* Of task_files. */
enum { NAMES = 4 };

/* What a path is below a folder, "." for the folder itself; NULL: it is elsewhere. */
static const char *below(const char *folder, const char *path)
{
	const char *rest = path_rest(path, folder);

	if (strcmp(folder, ".") == 0)
		return path;
	if (strcmp(path, ".") == 0 || !rest)
		return NULL;
	return *rest ? rest + 1 : ".";
}

static void add(const char **v, size_t *n, const char *folder, const struct task_files *f)
{
	const char *const names[NAMES] = {f->tests, f->test_script, f->solution, f->solve_script};
	size_t i;

	for (i = 0; i < NAMES; i++) {
		const char *rest = names[i] ? below(folder, names[i]) : NULL;

		if (rest)
			v[(*n)++] = rest;
	}
}

const char *const *compose_hidden(const struct task *t, struct arena *a)
{
	const char **v = arena_array(a, (size_t)(t->n_steps + 1) * NAMES + 2, sizeof(*v));
	const char *folder = t->files.context ? t->files.context : ".";
	size_t n = 0;
	uint32_t i;

	if (!v)
		return NULL;
	add(v, &n, folder, &t->files);
	if (t->format == TASK_TERMINAL)
		v[n++] = "solution.yaml"; /* keystrokes, which no oracle runs (format.c) */
	for (i = 0; i < t->n_steps; i++)
		add(v, &n, folder, &t->steps[i].files);
	return v;
}

/* A path's folder, opened, and its last part. The fd, or -errno. */
static int open_parent(int folder, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];

	*ret_name = slash ? slash + 1 : path;
	if (slash && slash - path >= (ptrdiff_t)sizeof(parent))
		return -ENAMETOOLONG;
	(void)snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return sys_open_beneath(folder, parent, O_RDONLY | O_DIRECTORY, 0);
}

/* A file keeps its name when it is copied: it gets the other one behind it, from a folder of its own. */
static int copy_file(int folder, const char *path, int to, const char *name, struct error *err)
{
	static const char place[] = "new";
	const char *last;
	AUTO_FD from = open_parent(folder, path, &last);
	AUTO_FD new = -1;
	int r;

	if (from < 0 || mkdirat(to, place, 0700) < 0)
		return error_sys(err, from < 0 ? from : errno, "a copy for a service");
	new = openat(to, place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = new < 0 ? error_sys(err, errno, "a copy for a service") : copy_name(from, new, last, err);
	if (r == 0 && renameat(new, last, to, name) < 0)
		r = error_sys(err, errno, "a copy for a service");
	sys_remove_tree(to, place);
	return r;
}

static int hide(int copy, const char *source, const char *const *hidden, struct error *err)
{
	for (; *hidden; hidden++) {
		const char *rest = below(source, *hidden), *last;
		AUTO_FD parent = rest && strcmp(rest, ".") != 0 ? open_parent(copy, rest, &last) : -ENOENT;

		if (parent == -ENOENT)
			continue;
		if (parent < 0)
			return error_sys(err, parent, "a copy for a service");
		sys_remove_tree(parent, last);
		if (faccessat(parent, last, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return error_set(err, ERROR_SYSTEM, "a copy for a service has files that should not be in it");
	}
	return 0;
}

int compose_bind_copy(int folder, const struct compose_mount *m, const char *const *hidden, int to, const char *name,
		      struct error *err)
{
	AUTO_FD from = sys_open_beneath(folder, m->source, O_RDONLY | O_DIRECTORY, 0);
	AUTO_FD copy = -1;

	if (from == -ENOTDIR)
		return copy_file(folder, m->source, to, name, err);
	if (from < 0 && from != -ENOENT)
		return error_sys(err, from, "a copy for a service");
	if (from >= 0 && copy_tree(from, to, name, NULL, err) < 0)
		return -1;
	if (from < 0 && mkdirat(to, name, 0755) < 0)
		return error_sys(err, errno, "a copy for a service");
	copy = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* as the stage has it: services may be any user */
	if (copy < 0 || fchmod(copy, 0755) < 0)
		return error_sys(err, errno, "a copy for a service");
	return hide(copy, m->source, hidden, err);
}

#include "sandbox/docker/submounts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/path.h"

struct maker {
	struct sv mountinfo;
	struct box *view;
	size_t added;
};

/* Spaces, tabs, newlines and backslashes stand as three octal digits. */
static char *unescape(struct arena *arena, struct sv s)
{
	char *out = arena_alloc(arena, s.n + 1);
	size_t i, n = 0;

	for (i = 0; out && i < s.n; i++) {
		if (s.p[i] == '\\' && i + 3 < s.n) {
			out[n++] = (char)((s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + (s.p[i + 3] - '0'));
			i += 3;
		} else {
			out[n++] = s.p[i];
		}
	}
	return out;
}

static struct sv cut(struct sv *rest, char at)
{
	const char *end = rest->n ? memchr(rest->p, at, rest->n) : NULL;
	struct sv part = end ? sv_n(rest->p, (size_t)(end - rest->p)) : *rest;

	*rest = end ? sv_n(end + 1, rest->n - part.n - 1) : sv_n(rest->p + rest->n, 0);
	return part;
}

/* "36 35 98:0 /root /where options tags - type ...". False: nothing to show. */
static bool mount_point(struct sv line, struct sv *ret)
{
	struct sv tail = line;
	const char *dash;
	int i;

	for (i = 0; i < 5; i++)
		*ret = cut(&tail, ' ');
	dash = tail.n ? memmem(tail.p, tail.n, " - ", 3) : NULL;
	/* looking below an automounter's folder would mount */
	return dash && !sv_starts(sv_n(dash + 3, tail.n - (size_t)(dash + 3 - tail.p)), "autofs ");
}

static int add_below(struct maker *m, const struct box_mount *folder, const char *point, struct error *err)
{
	const char *rest = path_rest(point, folder->source);
	struct box_mount mount = {.kind = BOX_BIND, .source = point, .no_exec = folder->no_exec, .judged = folder->judged};
	struct stat st;

	if (!rest || !rest[0] || !rest[1] || lstat(point, &st) < 0)
		return 0;
	if (++m->added > SUBMOUNTS_MAX)
		return error_set(err, ERROR_INPUT, "more than %d file systems are mounted below the folders that the policy shows; this Docker Engine is too old for that", SUBMOUNTS_MAX);
	mount.folder = S_ISDIR(st.st_mode);
	mount.target = arena_printf(m->view->arena, "%s%s", strcmp(folder->target, "/") == 0 ? "" : folder->target, rest);
	if (!mount.target)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	m->view->mounts[m->view->n_mounts++] = mount;
	return 0;
}

static int add_all(struct maker *m, const struct box_mount *folder, struct error *err)
{
	struct sv rest = m->mountinfo, point;
	const char *path;

	while (rest.n) {
		if (!mount_point(cut(&rest, '\n'), &point))
			continue;
		path = unescape(m->view->arena, point);
		if (!path)
			return error_set(err, ERROR_SYSTEM, "out of memory");
		if (add_below(m, folder, path, err) < 0)
			return -1;
	}
	return 0;
}

int submounts_show(const struct box *b, struct sv mountinfo, struct box *view, struct error *err)
{
	struct maker m = {.mountinfo = mountinfo, .view = view};
	size_t i;

	*view = *b;
	view->n_mounts = 0;
	view->mounts = arena_array(b->arena, b->n_mounts + SUBMOUNTS_MAX, sizeof(*view->mounts));
	if (!view->mounts)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < b->n_mounts; i++) {
		view->mounts[view->n_mounts++] = b->mounts[i];
		/* what may be written to is a copy, with nothing mounted in it */
		if (b->mounts[i].kind == BOX_BIND && b->mounts[i].folder && !b->mounts[i].writable && add_all(&m, &b->mounts[i], err) < 0)
			return -1;
	}
	return 0;
}

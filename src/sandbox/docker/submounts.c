#include "sandbox/docker/submounts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/path.h"
#include "sys/mountinfo.h"

struct maker {
	struct sv mountinfo;
	struct box *view;
	size_t added;
};

static int add_below(struct maker *m, const struct box_mount *folder, const char *point, struct error *err)
{
	const char *rest = path_rest(point, folder->source);
	struct box_mount mount = {
		.kind = BOX_BIND, .source = point, .no_exec = folder->no_exec, .judged = folder->judged};
	struct stat st;

	if (!rest || !rest[0] || !rest[1] || lstat(point, &st) < 0)
		return 0;
	if (++m->added > SUBMOUNTS_MAX)
		return error_set(err, ERROR_INPUT,
				 "more than %d file systems are mounted below the folders that the policy shows; this "
				 "Docker Engine is too old for that",
				 SUBMOUNTS_MAX);
	mount.folder = S_ISDIR(st.st_mode);
	mount.target =
		arena_printf(m->view->arena, "%s%s", strcmp(folder->target, "/") == 0 ? "" : folder->target, rest);
	if (!mount.target)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	m->view->mounts[m->view->n_mounts++] = mount;
	return 0;
}

static int add_all(struct maker *m, const struct box_mount *folder, struct error *err)
{
	struct sv rest = m->mountinfo;
	struct sys_mount mount;
	int r;

	while ((r = sys_mountinfo_next(&rest, m->view->arena, &mount)) > 0)
		if (!mount.automounter && add_below(m, folder, mount.point, err) < 0)
			return -1;
	return r < 0 ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
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
		if (b->mounts[i].kind == BOX_BIND && b->mounts[i].folder && !b->mounts[i].writable &&
		    add_all(&m, &b->mounts[i], err) < 0)
			return -1;
	}
	return 0;
}

#include "base/path.h"
#include "sandbox/common/box.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "plan/plan_source.h"
#include "sandbox/common/places.h"
#include "sys/beneath.h"
#include "sys/mounts.h"

struct maker {
	struct box *b;
	size_t n_scratch;
	const struct plan_op *opened; /* what folder is, the last of those that were looked into */
	int folder;
	struct error *err;
};

/* Runtimes bring the devices and their links themselves. */
static bool is_device(const char *target)
{
	return path_is_in(target, "/dev") && strcmp(target, "/dev/shm") != 0 && strcmp(target, "/dev/pts") != 0;
}

static bool is_kernel_surface(const char *target)
{
	return path_is_in(target, "/proc") || path_is_in(target, "/sys");
}

static int oom(struct maker *m)
{
	return error_set(m->err, ERROR_SYSTEM, "out of memory");
}

static void add(struct maker *m, const struct box_mount *mount)
{
	m->b->mounts[m->b->n_mounts++] = *mount;
}

const struct plan_op *box_shown_by(const struct plan *p, const char *target)
{
	size_t i;

	for (i = p->n_ops; i > 0; i--)
		if (p->ops[i - 1].kind == PLAN_BIND && path_is_in(target, p->ops[i - 1].target))
			return &p->ops[i - 1];
	return NULL;
}

/* 0 or -errno. In what was judged, not in what a link on the way to it shows just now: a cover that is left out would
 * be missing there. */
static int look(struct maker *m, const struct plan_op *bind, const char *below, const char *path, struct stat *ret)
{
	AUTO_FD fd = -1;

	if (!bind->judged)
		return lstat(path, ret) < 0 ? -errno : 0;
	if (m->opened != bind) {
		cleanup_fd(&m->folder);
		m->opened = bind;
		m->folder = plan_source_open(bind, O_PATH);
	}
	if (m->folder < 0 || !*below)
		return m->folder < 0 ? m->folder : fstat(m->folder, ret) < 0 ? -errno : 0;
	fd = sys_open_beneath(m->folder, below + 1, O_PATH | O_NOFOLLOW, 0);
	return fd < 0 ? fd : fstat(fd, ret) < 0 ? -errno : 0;
}

static int add_bind(struct maker *m, const struct plan_op *op, const char *source)
{
	struct box_mount mount = {.kind = BOX_BIND,
				  .source = source,
				  .target = op->target,
				  .writable = op->writable,
				  .no_exec = op->flags & MOUNT_NO_EXEC,
				  .folder = op->folder,
				  .judged = op->judged,
				  .dev = op->dev,
				  .ino = op->ino};

	if (!source)
		return oom(m);
	add(m, &mount);
	return 0;
}

/*
 * The scratch places share filesystem.tmp_size: a part of it each, shared memory an eighth. Not every runtime can give
 * them an owner, so all have the mode of /tmp: nobody else is inside.
 */
static int add_scratch(struct maker *m, const struct plan_op *op)
{
	struct box_mount mount = {.kind = BOX_TMPFS,
				  .target = op->target,
				  .writable = true,
				  .no_exec = op->flags & MOUNT_NO_EXEC,
				  .folder = true,
				  .mode = BOX_SCRATCH_MODE};
	uint64_t all = m->b->plan->tmp_size;

	if (strcmp(op->target, "/dev/shm") == 0) {
		mount.kind = BOX_SHM;
		mount.size = m->n_scratch ? all / 8 : all;
	} else {
		mount.size = (all - all / 8) / (m->n_scratch ? m->n_scratch : 1);
	}
	add(m, &mount);
	return 0;
}

/* A file that is to be covered is not even shown, and the mask lies on the root's own place: on the host's file it
 * would go with that file when the host removes or replaces it, and what was shown would be seen. */
static bool is_hidden(const struct plan *p, const struct plan_op *shown)
{
	const struct plan_op *op;
	struct stat st;

	if (!shown->host || shown->folder)
		return false;
	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (op->kind == PLAN_MASK && strcmp(op->target, shown->target) == 0)
			return lstat(shown->source, &st) == 0 && S_ISREG(st.st_mode);
	return false;
}

/* What stands at the target now is covered, by something unreadable or by itself read-only. Gone since the plan was
 * made, it may stand elsewhere, uncovered. */
static int add_cover(struct maker *m, const struct plan_op *op)
{
	struct box_mount mount = {.kind = BOX_BIND, .target = op->target};
	const struct plan_op *bind = box_shown_by(m->b->plan, op->target);
	const char *source, *below;
	struct text_shown t;
	struct stat st;
	int r;

	if (is_kernel_surface(op->target)) {
		mount.kind = BOX_MASK;
		add(m, &mount);
		return 0;
	}
	if (!bind)
		return 0; /* the sandbox's own, and empty */
	below = op->target + strlen(bind->target);
	source = arena_printf(m->b->arena, "%s%s", bind->source, below);
	if (!source)
		return oom(m);
	r = look(m, bind, below, source, &st);
	if (r < 0)
		return r == -ENOENT && !bind->judged
			       ? 0
			       : error_sys(m->err, r,
					   "%s, which must be covered, changed while the sandbox was made; try again",
					   text_show(&t, sv_of(op->target)));
	if (S_ISLNK(st.st_mode))
		return 0; /* judged by the name it leads to */
	mount.folder = S_ISDIR(st.st_mode);
	mount.cover = op->kind == PLAN_MASK;
	mount.over = S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode) ? source : NULL;
	mount.source = op->kind == PLAN_PROTECT ? source
						: arena_printf(m->b->arena, "%s/" PLACES_MASKS "/%s", m->b->root,
							       mount.folder ? "folder" : "file");
	if (!mount.source)
		return oom(m);
	add(m, &mount);
	return 0;
}

static int add_op(struct maker *m, const struct plan_op *op)
{
	struct box_mount mount = {.kind = op->kind == PLAN_PROC ? BOX_PROC : BOX_PTS,
				  .target = op->target,
				  .folder = true,
				  .writable = true};

	switch (op->kind) {
	case PLAN_BIND:
	case PLAN_DEVICE:
		return is_device(op->target) || is_hidden(m->b->plan, op) ? 0 : add_bind(m, op, op->source);
	case PLAN_SHOW:
		return add_bind(m, op, arena_printf(m->b->arena, "%s%s", m->b->root, op->source));
	case PLAN_TMPFS:
		return add_scratch(m, op);
	case PLAN_PROC:
	case PLAN_PTS:
		add(m, &mount);
		return 0;
	case PLAN_MASK:
	case PLAN_PROTECT:
		return add_cover(m, op);
	case PLAN_EXEC:
		return error_set(m->err, ERROR_DENIED,
				 "process.allow_exec and process.deny_exec cannot be enforced on %s; use "
				 "process.runtime: native",
				 m->b->backend->name);
	case PLAN_OVERLAY:
		return error_set(m->err, ERROR_SYSTEM, "%s: a copy-on-write folder that was not staged", op->target);
	case PLAN_DIR:
	case PLAN_LINK:
	case PLAN_FILE:
		break;
	}
	return 0;
}

static int add_own(struct maker *m, const char *init)
{
	struct box_mount run = {.kind = BOX_BIND, .target = BOX_DIR, .folder = true, .no_exec = true};
	struct box_mount program = {.kind = BOX_BIND, .target = BOX_INIT};

	run.source = arena_printf(m->b->arena, "%s/run", m->b->dir);
	program.source = arena_str(m->b->arena, sv_of(init));
	if (!run.source || !program.source)
		return oom(m);
	add(m, &run);
	add(m, &program);
	return 0;
}

/* Part of the root that is made of an image (root_image.h). */
static bool is_of_image(const struct plan *p, const struct plan_op *op)
{
	return p->image && (op->kind == PLAN_BIND || op->kind == PLAN_FILE || op->kind == PLAN_SHOW);
}

bool box_is_covered(const struct box *b, size_t i)
{
	size_t j;

	for (j = i + 1; j < b->n_mounts; j++)
		if (b->mounts[j].kind != BOX_MASK && path_is_in(b->mounts[i].target, b->mounts[j].target))
			return true;
	return false;
}

int box_add_mounts(struct box *b, const char *init, struct error *err)
{
	struct maker m = {.b = b, .folder = -1, .err = err};
	size_t i;
	int r = 0;

	b->mounts = arena_array(b->arena, b->plan->n_ops + 2, sizeof(*b->mounts));
	if (!b->mounts)
		return oom(&m);
	for (i = 0; i < b->plan->n_ops; i++)
		m.n_scratch += b->plan->ops[i].kind == PLAN_TMPFS && strcmp(b->plan->ops[i].target, "/dev/shm") != 0;
	for (i = 0; r == 0 && i < b->plan->n_ops; i++)
		if (!is_of_image(b->plan, &b->plan->ops[i]))
			r = add_op(&m, &b->plan->ops[i]);
	cleanup_fd(&m.folder);
	return r < 0 ? -1 : add_own(&m, init);
}

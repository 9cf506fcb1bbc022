#include "sandbox/native/remask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/native/guard_judge.h"
#include "sandbox/native/root.h"

static bool is_mask(const struct plan_op *op)
{
	return (op->kind == PLAN_MASK || op->kind == PLAN_PROTECT) && strncmp(op->target, "/proc/", 6) != 0;
}

static int remember(struct remask *r, int watch, const char *folder, size_t n)
{
	char **more;

	if (watch < r->n_folders && r->folders[watch])
		return 0;
	if (watch >= r->n_folders) {
		more = realloc(r->folders, (size_t)(watch + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		while (r->n_folders <= watch)
			more[r->n_folders++] = NULL;
		r->folders = more;
	}
	r->folders[watch] = strndup(folder, n);
	return r->folders[watch] ? 0 : -ENOMEM;
}

/* Where a mask's name may come back; or the top of a folder of the host's, the likeliest place for a socket. */
static size_t watched_part(const struct plan_op *op)
{
	if (is_mask(op))
		return (size_t)(strrchr(op->target, '/') - op->target);
	return op->kind == PLAN_BIND && op->host && op->folder ? strlen(op->target) : 0;
}

static int watch_folder(struct remask *r, const char *target, size_t n, uint32_t events)
{
	char folder[PATH_MAX];
	int watch;

	if (n >= sizeof(folder))
		return 0;
	memcpy(folder, target, n);
	folder[n] = '\0';
	watch = inotify_add_watch(r->fd, folder, events | IN_MASK_ADD | IN_ONLYDIR);
	r->lacks |= watch < 0 && errno == ENOSPC;
	/* no such folder any more, no more watches, or one that may be entered but not read */
	if (watch < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ENOSPC || errno == EACCES ? 0 : -errno;
	return remember(r, watch, folder, n);
}

int remask_init(struct remask *r, const struct plan *plan)
{
	size_t i;

	*r = (struct remask){.mounts = -1, .fd = -1};
	for (i = 0; i < plan->n_ops && watched_part(&plan->ops[i]) == 0; i++)
		;
	if (i == plan->n_ops)
		return 0;
	r->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return r->mounts < 0 ? remask_watch(r, plan) : 0;
}

int remask_watch(struct remask *r, const struct plan *plan)
{
	const struct plan_op *op;
	int code = 0;
	size_t n;

	if (r->fd >= 0)
		return 0;
	for (op = plan->ops; code == 0 && op < plan->ops + plan->n_ops; op++) {
		n = watched_part(op);
		if (n == 0)
			continue;
		if (r->fd < 0)
			r->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		r->lacks = r->fd < 0 && errno == EMFILE;
		if (r->fd < 0)
			return r->lacks ? 0 : -errno;
		code = watch_folder(r, op->target, n, IN_CREATE | IN_MOVED_TO | (is_mask(op) ? IN_DELETE : 0));
	}
	return code;
}

/* A name has appeared, or lost its mask. */
static void cover(const struct guard *g, const char *path)
{
	struct stat st;
	bool hidden;

	/* gone; or behind a folder that is shut to the workload as well, who has to open it first: the search covers
	 * what is there then */
	if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
		return;
	hidden = guard_judge(g, path, guard_what(st.st_mode), false) || guard_judge_foreign(g, path, &st);
	if (!hidden && !guard_judge(g, path, guard_what(st.st_mode), true) && !guard_judge_repository(g, path))
		return;
	if (root_cover(path, hidden) < 0)
		g->give_up(g->arg, sv_of(path),
			   "the host made or replaced it while the sandbox ran, and it could not be covered");
}

/* Every mask of the plan is looked at. */
static void cover_all(const struct guard *g)
{
	size_t i;

	for (i = 0; i < g->plan->n_ops; i++)
		if (is_mask(&g->plan->ops[i]))
			cover(g, g->plan->ops[i].target);
}

static bool any_gone(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (is_mask(&p->ops[i]) && access(p->ops[i].target, F_OK) < 0 && errno == ENOENT)
			return true;
	return false;
}

int remask_mounts_changed(struct remask *r, const struct guard *g)
{
	int code = any_gone(g->plan) ? remask_watch(r, g->plan) : 0;

	cover_all(g);
	return code;
}

void remask_serve(struct remask *r, const struct guard *g)
{
	_Alignas(struct inotify_event) char room[4096];
	const struct inotify_event *e;
	char path[PATH_MAX];
	ssize_t n = read(r->fd, room, sizeof(room)), at;

	for (at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
		e = (const struct inotify_event *)(const void *)(room + at);
		if (e->mask & IN_Q_OVERFLOW) {
			cover_all(g);
			continue;
		}
		if (e->wd < 0 || e->wd >= r->n_folders || !r->folders[e->wd] || !e->len ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", r->folders[e->wd], e->name) >= sizeof(path))
			continue;
		cover(g, path);
	}
}

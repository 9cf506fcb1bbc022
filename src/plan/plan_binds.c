#include "plan/plan_binds.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/mount_of.h"
#include "sys/mountinfo.h"

enum { BINDS_MAX = 200, MOUNTS_FEW = 64, ORIGINS_AT_ONCE = 16 };

struct mounts {
	struct sys_mount *v;
	size_t n, room;
};

/* rest: of path_rest(). */
static const char *join(struct arena *a, const char *folder, const char *rest)
{
	if (!rest[0] || !rest[1])
		return folder;
	return strcmp(folder, "/") == 0 ? rest : arena_printf(a, "%s%s", folder, rest);
}

static int add_mount(struct mounts *m, struct arena *a, const struct sys_mount *mount)
{
	struct sys_mount *more;

	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : MOUNTS_FEW;
		more = arena_array(a, m->room, sizeof(*more));
		if (!more)
			return -1;
		if (m->n)
			memcpy(more, m->v, m->n * sizeof(*more));
		m->v = more;
	}
	m->v[m->n++] = *mount;
	return 0;
}

static bool is_known(const struct draft *d, const char *source, const char *target)
{
	size_t i;

	for (i = 0; i < d->n_binds; i++)
		if (strcmp(d->binds[i].source, source) == 0 && strcmp(d->binds[i].target, target) == 0)
			return true;
	return false;
}

/* What is shown of the step at this path of the host has the other name too. */
static int add_bind(struct draft *d, const struct plan_op *op, const char *path, const char *other)
{
	struct arena *a = d->plan->arena;
	struct text_shown t;
	const char *target;

	if (!path || !other)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (strcmp(path, other) == 0)
		return 0; /* mounted where it is anyway */
	target = join(a, op->target, path_rest(path, op->source));
	if (!d->binds)
		d->binds = arena_array(a, BINDS_MAX, sizeof(*d->binds));
	if (!target || !d->binds)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (is_known(d, other, target))
		return 0;
	if (d->n_binds == BINDS_MAX)
		return error_set(d->err, ERROR_INPUT,
				 "bind mounts give what is shown more than %d other names (the last: %.300s); unmount "
				 "some, or show folders without them",
				 BINDS_MAX, text_show(&t, sv_of(path)));
	d->binds[d->n_binds++] =
		(struct plan_op){.kind = PLAN_BIND, .source = other, .target = target, .why = op->why, .host = true};
	return 0;
}

/* The path of the step is this part of the mount's file system: who shows it, or some of it, elsewhere? */
static int find_others(struct draft *d, const struct plan_op *op, const struct mounts *m, const struct sys_mount *mount,
		       const char *path, const char *part)
{
	struct arena *a = d->plan->arena;
	const struct sys_mount *o;
	const char *rest;
	int r = 0;

	for (o = m->v; r == 0 && part && o < m->v + m->n; o++) {
		if (o == mount || !sv_eq(o->device, mount->device))
			continue;
		if ((rest = path_rest(part, o->root)))
			r = add_bind(d, op, path, join(a, o->point, rest));
		else if ((rest = path_rest(o->root, part)))
			r = add_bind(d, op, join(a, path, rest), o->point);
	}
	return part ? r : error_set(d->err, ERROR_SYSTEM, "out of memory");
}

/* What is mounted in the step's folder, and what that itself may lie on. */
static int look_at(struct draft *d, const struct plan_op *op, const struct mounts *m)
{
	const struct sys_mount *mount;
	const char *rest;
	int r = 0;

	for (mount = m->v; r == 0 && mount < m->v + m->n; mount++) {
		if ((rest = path_rest(op->source, mount->point)))
			r = find_others(d, op, m, mount, op->source, join(d->plan->arena, mount->root, rest));
		else if (path_is_in(mount->point, op->source))
			r = find_others(d, op, m, mount, mount->point, mount->root);
	}
	return r;
}

/* The mount that the path lies on: as the kernel says, or the last of the nearest. */
static const struct sys_mount *mount_under(const struct mounts *m, const char *path)
{
	const struct sys_mount *mount, *best = NULL;
	uint64_t id;

	if (sys_mount_of_path(path, &id) == 0)
		for (mount = m->v; mount < m->v + m->n; mount++)
			if (mount->id == id)
				return mount;
	for (mount = m->v; mount < m->v + m->n; mount++)
		if (path_is_in(path, mount->point) && (!best || strlen(mount->point) >= strlen(best->point)))
			best = mount;
	return best;
}

static int add_origin(struct draft *d, const struct plan_origin *o)
{
	struct plan *p = d->plan;
	struct plan_origin *more;

	if (p->n_origins % ORIGINS_AT_ONCE == 0) {
		more = arena_array(p->arena, p->n_origins + ORIGINS_AT_ONCE, sizeof(*more));
		if (!more)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		if (p->n_origins)
			memcpy(more, p->origins, p->n_origins * sizeof(*more));
		p->origins = more;
	}
	p->origins[p->n_origins++] = *o;
	return 0;
}

/* Of what a step shows to be written, and of what is mounted in it. */
static int find_origins(struct draft *d, const struct plan_op *op, const struct mounts *m)
{
	const struct sys_mount *mount;
	struct plan_origin o;

	if (op->kind != PLAN_BIND || !op->writable)
		return 0;
	mount = mount_under(m, op->source);
	if (mount) {
		o = (struct plan_origin){op->target, op->source, mount->root, mount->point};
		if (add_origin(d, &o) < 0)
			return -1;
	}
	for (mount = m->v; mount < m->v + m->n; mount++) {
		if (!path_is_below(mount->point, op->source))
			continue;
		o = (struct plan_origin){NULL, mount->point, mount->root, mount->point};
		o.target = join(d->plan->arena, op->target, path_rest(mount->point, op->source));
		if (!o.target)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		if (add_origin(d, &o) < 0)
			return -1;
	}
	return 0;
}

static bool is_hosts(const struct plan_op *op)
{
	return op->host && op->source;
}

static int read_mounts(struct draft *d, struct sv text, struct mounts *m)
{
	struct sys_mount mount;
	int r;

	while ((r = sys_mountinfo_next(&text, d->plan->arena, &mount)) > 0)
		/* those of namespaces ("net:[4026531840]") have no parts */
		if (mount.root[0] == '/' && (r = add_mount(m, d->plan->arena, &mount)) < 0)
			break;
	return r < 0 ? error_set(d->err, ERROR_SYSTEM, "out of memory") : 0;
}

int plan_binds_find(struct draft *d)
{
	struct mounts m = {0};
	AUTO_BUF text = {0};
	size_t i;
	int r;

	for (i = 0; i < d->n_shown && !is_hosts(&d->plan->ops[i]); i++)
		;
	if (i == d->n_shown)
		return 0;
	r = sys_mountinfo_read(&text);
	if (r == -ENOENT)
		return error_set(d->err, ERROR_MISSING,
				 "/proc is not mounted here, and what this machine has mounted cannot be known; mount "
				 "it: mount -t proc proc /proc");
	if (r < 0)
		return error_sys(d->err, r, "/proc/self/mountinfo");
	if (read_mounts(d, buf_view(&text), &m) < 0)
		return -1;
	for (; i < d->n_shown; i++)
		if (is_hosts(&d->plan->ops[i]) &&
		    (look_at(d, &d->plan->ops[i], &m) < 0 || find_origins(d, &d->plan->ops[i], &m) < 0))
			return -1;
	return 0;
}

#include "model/box.h"

#include <errno.h>
#include <string.h>

#include "model/gate.h"
#include "wire/wire.h"

enum { BOX_PATHS_MAX = 65536 };

enum flag {
	RESTRICT_EXEC = 1,
	LOOPBACK = 2,
	MEMORY_CGROUP = 4,
	CPU_CGROUP = 8,
	TRANSPARENT = 16,
	IMAGE_NESTED = 32,
	SENDS_FDS = 64,
	SHARED_IPC = 128,
	LINGERS = 256,
	ALL_FLAGS = 511
};

static uint32_t flags_of(const struct box_orders *o)
{
	return (o->plan->restrict_exec ? RESTRICT_EXEC : 0) | (o->plan->loopback ? LOOPBACK : 0) |
	       (o->memory_cgroup ? MEMORY_CGROUP : 0) | (o->cpu_cgroup ? CPU_CGROUP : 0) |
	       (o->transparent ? TRANSPARENT : 0) | (o->image_nested ? IMAGE_NESTED : 0) |
	       (o->sends_fds ? SENDS_FDS : 0) | (o->shared_ipc ? SHARED_IPC : 0) | (o->lingers ? LINGERS : 0);
}

static void put_limits(struct buf *b, const struct plan_limits *l)
{
	wire_put_u64(b, l->memory);
	wire_put_u64(b, l->processes);
	wire_put_u64(b, l->cpu_thousandths);
	wire_put_u64(b, l->timeout_ms);
	wire_put_u64(b, l->file_size);
}

static void put_executables(struct buf *b, const struct plan *p)
{
	uint32_t n = 0, i;

	while (p->executables && p->executables[n])
		n++;
	wire_put_u32(b, n);
	for (i = 0; i < n; i++)
		wire_put_sv(b, sv_of(p->executables[i]));
}

static void put_writable(struct buf *b, const struct plan *p)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		n += p->ops[i].writable;
	wire_put_u32(b, n);
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].writable)
			wire_put_sv(b, sv_of(p->ops[i].target));
}

static void put_listeners(struct buf *b, const struct plan *p)
{
	size_t i;

	wire_put_u32(b, (uint32_t)p->n_listeners);
	for (i = 0; i < p->n_listeners; i++) {
		wire_put_u32(b, p->listeners[i].kind);
		wire_put_u32(b, p->listeners[i].provider);
		wire_put_u32(b, p->listeners[i].port);
		wire_put_u32(b, p->listeners[i].v6);
	}
}

static void put_reach(struct buf *b, const struct redirect *reach)
{
	const struct redirect_row *row;
	uint32_t i;

	wire_put_u32(b, reach->refuse_rest);
	wire_put_u32(b, reach->n);
	for (i = 0; i < reach->n; i++) {
		row = &reach->rows[i];
		wire_put_sv(b, sv_n((const char *)row->address, sizeof(row->address)));
		wire_put_u32(b, row->bits);
		wire_put_u32(b, row->v6);
		wire_put_u32(b, row->refuse);
		wire_put_u32(b, row->port);
	}
}

/* Of an image alone. */
static void put_groups(struct buf *b, const struct image_root *image)
{
	uint32_t i;

	if (!image)
		return;
	wire_put_u32(b, image->n_groups);
	for (i = 0; i < image->n_groups; i++)
		wire_put_u32(b, image->groups[i]);
}

void box_put_orders(struct buf *b, const struct box_orders *o)
{
	wire_put_u32(b, o->user);
	wire_put_u32(b, flags_of(o));
	wire_put_u32(b, o->plan->uid);
	wire_put_u32(b, o->plan->gid);
	wire_put_u32(b, o->plan->image ? o->plan->image->ids.count : 0);
	wire_put_u32(b, o->image_shift);
	put_groups(b, o->plan->image);
	wire_put_sv(b, sv_of(o->plan->cwd));
	put_limits(b, &o->plan->limits);
	put_executables(b, o->plan);
	put_writable(b, o->plan);
	put_listeners(b, o->plan);
	put_reach(b, &o->plan->reach);
}

/* What the bytes are read into. A field that is not sound marks the reader failed, as one that does not fit does. */
struct reading {
	struct wire_in in;
	struct arena *arena;
	struct plan *plan;
};

static void refuse_unless(struct reading *r, bool sound)
{
	r->in.failed = r->in.failed || !sound;
}

/* Never more than could be there, each taking `least` bytes. */
static size_t get_count(struct reading *r, size_t max, size_t least)
{
	size_t n = wire_get_u32(&r->in);

	refuse_unless(r, n <= max && n <= r->in.rest.n / least);
	return r->in.failed ? 0 : n;
}

static bool get_bool(struct reading *r)
{
	uint32_t v = wire_get_u32(&r->in);

	refuse_unless(r, v <= 1);
	return v;
}

static const char *get_path(struct reading *r)
{
	struct sv s = wire_get_sv(&r->in);

	refuse_unless(r, s.n && s.p[0] == '/' && !memchr(s.p, '\0', s.n));
	return r->in.failed ? "" : arena_str(r->arena, s);
}

static void get_limits(struct reading *r)
{
	struct plan_limits *l = &r->plan->limits;

	l->memory = wire_get_u64(&r->in);
	l->processes = wire_get_u64(&r->in);
	l->cpu_thousandths = wire_get_u64(&r->in);
	l->timeout_ms = wire_get_u64(&r->in);
	l->file_size = wire_get_u64(&r->in);
}

static void get_executables(struct reading *r)
{
	size_t n = get_count(r, BOX_PATHS_MAX, 4), i;
	const char **v = arena_array(r->arena, n + 1, sizeof(*v));

	for (i = 0; v && i < n; i++)
		v[i] = get_path(r);
	r->plan->executables = v;
}

static void get_writable(struct reading *r)
{
	size_t n = get_count(r, BOX_PATHS_MAX, 4), i;
	struct plan_op *v = arena_array(r->arena, n + 1, sizeof(*v));

	for (i = 0; v && i < n; i++)
		v[i] = (struct plan_op){.kind = PLAN_BIND, .target = get_path(r), .writable = true};
	r->plan->ops = v;
	r->plan->n_ops = n;
}

static void get_listener(struct reading *r, struct plan_listener *l)
{
	uint32_t port;

	l->kind = wire_get_u32(&r->in);
	l->provider = wire_get_u32(&r->in);
	port = wire_get_u32(&r->in);
	l->v6 = get_bool(r);
	refuse_unless(r, l->kind < GATE_LISTEN_DOOR && port && port <= UINT16_MAX);
	l->port = (uint16_t)port;
}

static void get_listeners(struct reading *r)
{
	size_t n = get_count(r, GATE_MAX_LISTENERS, 16), i;
	struct plan_listener *v = arena_array(r->arena, n + 1, sizeof(*v));

	for (i = 0; v && i < n; i++)
		get_listener(r, &v[i]);
	r->plan->listeners = v;
	r->plan->n_listeners = n;
}

static void get_row(struct reading *r, struct redirect_row *row)
{
	struct sv address = wire_get_sv(&r->in);
	uint32_t bits = wire_get_u32(&r->in), port;

	row->v6 = get_bool(r);
	row->refuse = get_bool(r);
	port = wire_get_u32(&r->in);
	refuse_unless(r, address.n == sizeof(row->address) && bits <= (row->v6 ? 128 : 32) && port <= UINT16_MAX);
	if (r->in.failed)
		return;
	memcpy(row->address, address.p, sizeof(row->address));
	row->bits = (uint8_t)bits;
	row->port = (uint16_t)port;
}

static void get_reach(struct reading *r)
{
	struct redirect *reach = &r->plan->reach;
	size_t n, i;

	reach->refuse_rest = get_bool(r);
	n = get_count(r, REDIRECT_ROWS, 36);
	for (i = 0; i < n; i++)
		get_row(r, &reach->rows[i]);
	reach->n = (uint32_t)n;
}

static void get_image(struct reading *r, uint32_t *ret_shift)
{
	uint32_t count = wire_get_u32(&r->in);
	struct image_root *image = count ? arena_alloc(r->arena, sizeof(*image)) : NULL;
	uint32_t i;

	*ret_shift = wire_get_u32(&r->in);
	refuse_unless(r, *ret_shift <= 1);
	if (!image)
		return;
	*image = (struct image_root){.ids = {.count = count}};
	image->n_groups = (uint32_t)get_count(r, count > 1 ? IMAGE_GROUPS_MAX : 0, 4);
	for (i = 0; i < image->n_groups; i++) {
		image->groups[i] = wire_get_u32(&r->in);
		refuse_unless(r, image->groups[i] < count);
	}
	r->plan->image = image;
}

/* To the system calls that set ids -1 means "as it is", and where there is a root to be left, nobody is to stay it: but
 * for the root of an image. */
static bool ids_are_sound(const struct plan *p, uint32_t user)
{
	if (user >= BOX_USERS || p->uid == UINT32_MAX || p->gid == UINT32_MAX)
		return false;
	if (p->image)
		return p->uid < p->image->ids.count && p->gid < p->image->ids.count;
	return user == BOX_USER_IS || (p->uid && p->gid);
}

int box_get_orders(struct sv body, struct arena *arena, struct box_orders *ret)
{
	struct reading r = {.arena = arena, .plan = arena_alloc(arena, sizeof(*r.plan))};
	uint32_t user, flags, shift;

	if (!r.plan)
		return -ENOMEM;
	wire_in_init(&r.in, body);
	user = wire_get_u32(&r.in);
	flags = wire_get_u32(&r.in);
	r.plan->uid = wire_get_u32(&r.in);
	r.plan->gid = wire_get_u32(&r.in);
	get_image(&r, &shift);
	refuse_unless(&r,
		      flags <= ALL_FLAGS && (r.plan->image || !(flags & IMAGE_NESTED)) && ids_are_sound(r.plan, user));
	r.plan->cwd = get_path(&r);
	get_limits(&r);
	get_executables(&r);
	get_writable(&r);
	get_listeners(&r);
	get_reach(&r);
	if (arena_failed(arena))
		return -ENOMEM;
	if (!wire_ok(&r.in))
		return -EBADMSG;
	r.plan->arena = arena;
	r.plan->restrict_exec = flags & RESTRICT_EXEC;
	r.plan->loopback = flags & LOOPBACK;
	*ret = (struct box_orders){.plan = r.plan,
				   .user = (enum box_user)user,
				   .memory_cgroup = flags & MEMORY_CGROUP,
				   .cpu_cgroup = flags & CPU_CGROUP,
				   .transparent = flags & TRANSPARENT,
				   .sends_fds = flags & SENDS_FDS,
				   .lingers = flags & LINGERS,
				   .shared_ipc = flags & SHARED_IPC,
				   .image_nested = flags & IMAGE_NESTED,
				   .image_shift = shift};
	return 0;
}

#include "model/box.h"

#include <errno.h>

#include "check.h"
#include "model/gate.h"
#include "wire/wire.h"

static const char *const executables[] = {"/usr/bin", "/opt/tool", NULL};

static struct plan_op ops[] = {
	{.kind = PLAN_BIND, .target = "/usr"},
	{.kind = PLAN_TMPFS, .target = "/tmp", .writable = true},
	{.kind = PLAN_BIND, .target = "/work", .writable = true, .host = true},
};

static struct plan_listener listeners[] = {
	{.kind = GATE_LISTEN_PROXY, .port = GATE_PROXY_PORT},
	{.kind = GATE_LISTEN_TRANSPARENT, .port = GATE_REDIRECT_PORT, .v6 = true},
	{.kind = GATE_LISTEN_INFERENCE, .port = GATE_INFERENCE_PORT, .provider = 7},
};

static struct plan sample(void)
{
	return (struct plan){
		.uid = 1000,
		.gid = 1001,
		.cwd = "/work",
		.restrict_exec = true,
		.executables = (const char **)(uintptr_t)executables,
		.loopback = true,
		.ops = ops,
		.n_ops = 3,
		.listeners = listeners,
		.n_listeners = 3,
		.reach = {.rows = {{.address = {10, 77}, .bits = 16, .port = 443},
				   {.address = {0xfd, [15] = 1}, .bits = 128, .v6 = true, .refuse = true}},
			  .n = 2,
			  .refuse_rest = true},
		.limits = {.memory = UINT64_C(5) << 32,
			   .processes = 256,
			   .cpu_thousandths = 1500,
			   .timeout_ms = 9,
			   .file_size = UINT64_MAX},
	};
}

/* box_get_orders() of what o encodes to. */
static int round_trip(const struct box_orders *o, struct arena *arena, struct box_orders *ret)
{
	AUTO_BUF b = {0};

	buf_init(&b, WIRE_MAX_BODY);
	box_put_orders(&b, o);
	CHECK(buf_failed(&b) == 0);
	return box_get_orders(buf_view(&b), arena, ret);
}

static void orders_arrive_as_they_were_given(void)
{
	struct plan p = sample();
	struct box_orders o = {.plan = &p,
			       .user = BOX_USER_BECOME,
			       .cpu_cgroup = true,
			       .transparent = true,
			       .shared_ipc = true,
			       .lingers = true},
			  got = {0};
	struct arena *arena = arena_new();

	CHECK(round_trip(&o, arena, &got) == 0);
	CHECK(got.user == BOX_USER_BECOME && !got.memory_cgroup && got.cpu_cgroup && got.transparent &&
	      got.shared_ipc && !got.sends_fds && got.lingers);
	CHECK(got.plan->uid == 1000 && got.plan->gid == 1001 && got.plan->restrict_exec && got.plan->loopback);
	CHECK_STR(got.plan->cwd, "/work");
	CHECK(memcmp(&got.plan->limits, &p.limits, sizeof(p.limits)) == 0);
	CHECK_STR(got.plan->executables[0], "/usr/bin");
	CHECK_STR(got.plan->executables[1], "/opt/tool");
	CHECK(!got.plan->executables[2]);
	CHECK(got.plan->n_listeners == 3 && got.plan->listeners[1].v6 &&
	      got.plan->listeners[1].port == GATE_REDIRECT_PORT);
	CHECK(memcmp(&got.plan->reach, &p.reach, sizeof(p.reach)) == 0);
	CHECK(got.plan->listeners[2].provider == 7 && got.plan->listeners[2].kind == GATE_LISTEN_INFERENCE);
	arena_free(arena);
}

static void the_root_of_an_image_is_somebody_only_where_there_is_one(void)
{
	struct image_root image = {
		.ids = {.count = 65536, .zero_uid = 1, .first_uid = 2}, .groups = {10, 65535}, .n_groups = 2};
	struct plan p = sample();
	struct box_orders o = {.plan = &p, .user = BOX_USER_BECOME, .image_nested = true, .image_shift = 1}, got = {0};
	struct arena *arena = arena_new();

	p.uid = p.gid = 0;
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	p.image = &image;
	CHECK(round_trip(&o, arena, &got) == 0);
	CHECK(got.plan->image && got.plan->image->ids.count == 65536 && got.image_nested && got.image_shift == 1 &&
	      got.plan->uid == 0);
	CHECK(got.plan->image->n_groups == 2 && got.plan->image->groups[0] == 10 &&
	      got.plan->image->groups[1] == 65535);
	image.groups[1] = 65536;
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	image.n_groups = 1;
	p.uid = 65536;
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	p.uid = 65535;
	CHECK(round_trip(&o, arena, &got) == 0);
	o.image_shift = 2;
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	arena_free(arena);
}

static void of_the_ops_what_is_writable_arrives(void)
{
	struct plan p = sample();
	struct box_orders o = {.plan = &p, .user = BOX_USER_IS}, got = {0};
	struct arena *arena = arena_new();

	CHECK(round_trip(&o, arena, &got) == 0);
	CHECK(got.plan->n_ops == 2);
	CHECK_STR(got.plan->ops[0].target, "/tmp");
	CHECK_STR(got.plan->ops[1].target, "/work");
	CHECK(got.plan->ops[0].writable && got.plan->ops[1].writable && got.plan->ops[1].kind == PLAN_BIND &&
	      !got.plan->ops[1].host);
	arena_free(arena);
}

static void a_plan_without_lists_arrives(void)
{
	struct plan p = {.uid = 5, .gid = 5, .cwd = "/"};
	struct box_orders o = {.plan = &p}, got = {0};
	struct arena *arena = arena_new();

	CHECK(round_trip(&o, arena, &got) == 0);
	CHECK(got.plan->n_ops == 0 && got.plan->n_listeners == 0 && !got.plan->executables[0] &&
	      !got.plan->restrict_exec && !got.plan->loopback);
	arena_free(arena);
}

static void nothing_that_was_cut_or_added_to_is_taken(void)
{
	struct plan p = sample();
	struct box_orders o = {.plan = &p}, got = {0};
	struct arena *arena = arena_new();
	AUTO_BUF b = {0};
	size_t n;

	buf_init(&b, WIRE_MAX_BODY);
	box_put_orders(&b, &o);
	for (n = 0; n < b.n; n++)
		CHECK(box_get_orders(sv_n(b.p, n), arena, &got) == -EBADMSG);
	CHECK(box_get_orders(buf_view(&b), arena, &got) == 0);
	(void)buf_char(&b, '\0');
	got.plan = NULL;
	CHECK(box_get_orders(buf_view(&b), arena, &got) == -EBADMSG && !got.plan);
	arena_free(arena);
}

static void ids_that_would_keep_root_are_refused(void)
{
	static const struct {
		uint32_t uid, gid;
		enum box_user user;
	} bad[] = {
		{0, 1, BOX_USER_BECOME},
		{1, 0, BOX_USER_BECOME},
		{0, 0, BOX_USER_NESTED},
		{UINT32_MAX, 1, BOX_USER_BECOME},
		{1, UINT32_MAX, BOX_USER_BECOME},
		{UINT32_MAX, 1, BOX_USER_IS},
		{1, 1, BOX_USERS},
	};
	struct arena *arena = arena_new();
	struct box_orders o, got;
	struct plan p;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = sample();
		p.uid = bad[i].uid;
		p.gid = bad[i].gid;
		o = (struct box_orders){.plan = &p, .user = bad[i].user};
		CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	}
	p.uid = p.gid = 0;
	o.user = BOX_USER_IS; /* in gVisor, where it stands for the user */
	CHECK(round_trip(&o, arena, &got) == 0);
	arena_free(arena);
}

static int with_listener(struct plan_listener l, size_t n)
{
	struct plan_listener v[GATE_MAX_LISTENERS + 1];
	struct plan p = sample();
	struct box_orders o = {.plan = &p}, got;
	struct arena *arena = arena_new();
	size_t i;
	int r;

	for (i = 0; i < n; i++)
		v[i] = l;
	p.listeners = v;
	p.n_listeners = n;
	r = round_trip(&o, arena, &got);
	arena_free(arena);
	return r;
}

static void ports_that_lead_nowhere_are_refused(void)
{
	CHECK(with_listener((struct plan_listener){.port = 1}, GATE_MAX_LISTENERS) == 0);
	CHECK(with_listener((struct plan_listener){.port = 1}, GATE_MAX_LISTENERS + 1) == -EBADMSG);
	CHECK(with_listener((struct plan_listener){.port = 0}, 1) == -EBADMSG);
	CHECK(with_listener((struct plan_listener){.port = 1, .kind = GATE_LISTEN_DOOR}, 1) == -EBADMSG);
}

static int with_row(struct redirect_row row, uint32_t n)
{
	struct plan p = sample();
	struct box_orders o = {.plan = &p}, got;
	struct arena *arena = arena_new();
	int r;

	p.reach.rows[0] = row;
	p.reach.n = n;
	r = round_trip(&o, arena, &got);
	arena_free(arena);
	return r;
}

static void ranges_that_are_none_are_refused(void)
{
	CHECK(with_row((struct redirect_row){.bits = 32}, REDIRECT_ROWS) == 0);
	CHECK(with_row((struct redirect_row){.bits = 33}, 1) == -EBADMSG);
	CHECK(with_row((struct redirect_row){.bits = 128, .v6 = true}, 1) == 0);
	CHECK(with_row((struct redirect_row){.bits = 129, .v6 = true}, 1) == -EBADMSG);
}

static void paths_are_absolute_and_whole(void)
{
	struct plan p = sample();
	struct box_orders o = {.plan = &p}, got;
	struct arena *arena = arena_new();
	AUTO_BUF b = {0};
	char *at;

	p.cwd = "work";
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	p.cwd = "";
	CHECK(round_trip(&o, arena, &got) == -EBADMSG);
	p.cwd = "/work";
	buf_init(&b, WIRE_MAX_BODY);
	box_put_orders(&b, &o);
	at = memmem(b.p, b.n, "/opt/tool", 9);
	at[4] = '\0';
	CHECK(box_get_orders(buf_view(&b), arena, &got) == -EBADMSG);
	arena_free(arena);
}

static void a_count_allocates_no_more_than_there_is(void)
{
	struct plan p = {.uid = 5, .gid = 5, .cwd = "/"};
	struct box_orders o = {.plan = &p}, got;
	struct arena *arena = arena_new();
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, WIRE_MAX_BODY);
	box_put_orders(&b, &o);
	for (i = 1; i <= 20; i++) {
		memset(b.p + b.n - i, 0xff,
		       1); /* the four counts stand last, with a word between them that is 0 or 1 */
		CHECK(box_get_orders(buf_view(&b), arena, &got) == -EBADMSG);
	}
	arena_free(arena);
}

static const struct check_case cases[] = {
	CASE(orders_arrive_as_they_were_given),
	CASE(the_root_of_an_image_is_somebody_only_where_there_is_one),
	CASE(of_the_ops_what_is_writable_arrives),
	CASE(a_plan_without_lists_arrives),
	CASE(nothing_that_was_cut_or_added_to_is_taken),
	CASE(ids_that_would_keep_root_are_refused),
	CASE(ports_that_lead_nowhere_are_refused),
	CASE(ranges_that_are_none_are_refused),
	CASE(paths_are_absolute_and_whole),
	CASE(a_count_allocates_no_more_than_there_is),
};

int main(void)
{
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

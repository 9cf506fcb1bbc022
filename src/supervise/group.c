#include "supervise/group.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "model/gate.h"
#include "model/inside.h"
#include "supervise/control.h"
#include "supervise/state.h"
#include "wire/wire.h"

enum { FDS = 4, ASK_AGAIN_MS = 10, TRUST_MAX = 16 << 20 };

static int in_memory(struct sv bytes)
{
	int fd = memfd_create("trust", MFD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes.p, bytes.n);
	if (r < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		(void)close(fd);
		return r < 0 ? r : -EIO;
	}
	return fd;
}

int group_answer(int client, const struct group_leader *l)
{
	bool spaces = l->spaces[0] >= 0 && l->spaces[1] >= 0;
	struct gate_inside inside = {0};
	int fds[FDS] = {-1, -1, l->spaces[0], l->spaces[1]};
	AUTO_FD bundle = -1;
	AUTO_FD java = -1;
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, WIRE_MAX_BODY);
	wire_put_u32(&b, l->network);
	wire_put_u32(&b, l->gate != NULL);
	wire_put_sv(&b, sv_of(l->runtime));
	if (!l->network)
		return wire_send(client, INSIDE_SPACES, buf_view(&b), NULL, 0);
	if (l->gate)
		gate_inside(l->gate, &inside);
	wire_put_u32(&b, (uint32_t)inside.n_placeholders);
	for (i = 0; i < inside.n_placeholders; i++) {
		wire_put_sv(&b, sv_of(inside.placeholders[i].variable));
		wire_put_sv(&b, sv_of(inside.placeholders[i].value));
	}
	fds[0] = bundle = in_memory(inside.bundle);
	fds[1] = java = in_memory(inside.java);
	if (bundle < 0 || java < 0 || buf_failed(&b))
		return -ENOMEM;
	return wire_send(client, INSIDE_SPACES, buf_view(&b), fds, spaces ? FDS : 2);
}

static int read_trust(struct group *g, int fd, struct sv *ret)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, TRUST_MAX);
	r = buf_read_fd(&b, fd);
	if (r < 0)
		return r;
	ret->p = arena_str(g->arena, buf_view(&b));
	ret->n = b.n;
	return ret->p ? 0 : -ENOMEM;
}

/* The leader's supervisor is ours, but for the length of what it says. */
static int read_placeholders(struct group *g, struct wire_in *w)
{
	uint32_t n = wire_get_u32(w), i;
	struct gate_placeholder *v = n > GATE_MAX_PLACEHOLDERS ? NULL : arena_array(g->arena, n + 1, sizeof(*v));

	if (!v)
		return -EPROTO;
	for (i = 0; i < n; i++) {
		v[i].variable = arena_str(g->arena, wire_get_sv(w));
		v[i].value = arena_str(g->arena, wire_get_sv(w));
	}
	g->inside.placeholders = v;
	g->inside.n_placeholders = n;
	return wire_ok(w) && !arena_failed(g->arena) ? 0 : -EPROTO;
}

static int take_answer(struct group *g, struct wire_message *m, struct wire_in *w)
{
	if (m->n_fds != FDS && m->n_fds != 2)
		return -EPROTO;
	if (m->n_fds == FDS) {
		g->spaces[0] = fd_take(&m->fds[2]);
		g->spaces[1] = fd_take(&m->fds[3]);
	}
	return read_placeholders(g, w) < 0 || read_trust(g, m->fds[0], &g->inside.bundle) < 0 ||
			       read_trust(g, m->fds[1], &g->inside.java) < 0
		       ? -EPROTO
		       : 1;
}

/* 1: it said all; 0: it does not know yet; -EXDEV: it is another runtime's. */
static int ask(struct group *g, const char *runtime)
{
	struct wire_message m;
	struct wire_in w;
	int r = wire_send(g->leader, INSIDE_JOIN, sv_n("", 0), NULL, 0);

	if (r < 0)
		return r;
	r = wire_receive(g->leader, &m);
	if (r <= 0)
		return r < 0 ? r : -ECONNRESET;
	wire_in_init(&w, buf_view(&m.body));
	r = m.type == INSIDE_SPACES ? (int)wire_get_u32(&w) : -EPROTO;
	g->gateway = wire_get_u32(&w);
	if (r == 1 && !sv_is(wire_get_sv(&w), runtime))
		r = -EXDEV;
	if (r == 1)
		r = take_answer(g, &m, &w);
	wire_message_done(&m);
	return r;
}

/* Nobody answers yet: because it is still being made? */
static bool still_comes(const char *id)
{
	struct state s = {.dir = -1, .lock = -1};
	AUTO_FREE char *root = NULL;
	struct error ignored;
	bool running = false;

	if (state_root(&root, &ignored) == 0 && state_open(root, id, &s, &running, &ignored) == 0)
		state_done(&s);
	return running;
}

int group_join(const char *id, const char *runtime, struct group *ret, struct error *err)
{
	const struct timespec pause = {0, ASK_AGAIN_MS * 1000000L};
	int64_t until = now_ms() + GROUP_WAIT_MS;
	int r = 0;

	*ret = (struct group){.leader = -1, .spaces = {-1, -1}, .arena = arena_new()};
	if (!ret->arena)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	while (r == 0 && now_ms() < until) {
		if (ret->leader < 0)
			ret->leader = control_connect(id);
		if (ret->leader >= 0)
			r = ask(ret, runtime);
		else if (ret->leader != -ECONNREFUSED || !still_comes(id))
			r = ret->leader;
		if (r == 0)
			(void)nanosleep(&pause, NULL);
	}
	if (r == 1)
		return 0;
	group_done(ret);
	if (r == -EXDEV)
		return error_set(err, ERROR_DENIED,
				 "the sandbox %s, whose network this one is to share, is not one of %s: sandboxes of a "
				 "group are made by one runtime",
				 id, runtime);
	return error_sys(err, r < 0 ? r : ETIMEDOUT, "the sandbox %s, whose network this one is to share", id);
}

void group_done(struct group *g)
{
	cleanup_fd(&g->leader);
	cleanup_fd(&g->spaces[0]);
	cleanup_fd(&g->spaces[1]);
	arena_free(g->arena);
	*g = (struct group){.leader = -1, .spaces = {-1, -1}};
}

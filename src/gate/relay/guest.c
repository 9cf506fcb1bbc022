#include "gate/relay/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/relay/ask.h"
#include "gate/relay/socks.h"
#include "http/h1.h"

/* The ends of two rings: newer is the oldest guest of it, older the newest. */
struct relay_guests {
	struct guest idle; /* we wait for them */
	struct guest busy; /* they wait for us */
};

static bool is_empty(const struct guest *ends)
{
	return ends->newer == ends;
}

static void enter(struct guest *ends, struct guest *g)
{
	g->newer = ends;
	g->older = ends->older;
	g->older->newer = g;
	ends->older = g;
}

static void leave(struct guest *g)
{
	g->newer->older = g->older;
	g->older->newer = g->newer;
}

struct relay_guests *relay_guests_new(void)
{
	struct relay_guests *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->idle.newer = all->idle.older = &all->idle;
	all->busy.newer = all->busy.older = &all->busy;
	return all;
}

void relay_guests_free(struct relay_guests *all)
{
	if (!all)
		return;
	while (!is_empty(&all->idle))
		guest_reset(all->idle.newer);
	while (!is_empty(&all->busy))
		guest_reset(all->busy.newer);
	free(all);
}

bool relay_guests_any(const struct relay *r)
{
	return !is_empty(&r->guests->idle) || !is_empty(&r->guests->busy);
}

bool relay_guests_shed(struct relay *r)
{
	if (!relay_guests_any(r))
		return false;
	guest_reset(is_empty(&r->guests->idle) ? r->guests->busy.newer : r->guests->idle.newer);
	return true;
}

static void no_event(void *arg, unsigned events)
{
	(void)arg;
	(void)events;
}

int guest_new(struct relay *r, int fd, uint32_t kind, uint32_t provider, struct guest **ret)
{
	struct guest *g = calloc(1, sizeof(*g));
	int e;

	if (!g) {
		(void)close(fd);
		return -ENOMEM;
	}
	*g = (struct guest){.relay = r, .kind = kind, .provider = provider, .upstream = -1};
	buf_init(&g->first, GUEST_BYTES);
	e = stream_new(r->loop, fd, no_event, g, &g->stream);
	if (e < 0) {
		free(g);
		return e;
	}
	enter(&r->guests->idle, g);
	r->n_connections++;
	*ret = g;
	return 0;
}

/* Lets go of all that it waited for; the stream is no longer its own. */
static void forget(struct guest *g)
{
	if (g->upstream >= 0) {
		(void)close(g->upstream);
		relay_call_over(g->relay->calls, g->upstream_id);
	}
	relay_call_cancel(&g->call);
	relay_leaf_cancel(&g->leaf);
	relay_ask_leave(g);
	loop_timer_cancel(&g->timer);
	leave(g);
	h1_free(g->h1);
	free(g->socks);
	buf_done(&g->first);
	free(g);
}

static void on_late(void *arg)
{
	guest_reset(arg);
}

void guest_phase(struct guest *g, stream_fn *fn)
{
	stream_listen(g->stream, fn, g);
	loop_timer_set(g->relay->loop, &g->timer, GUEST_MS, on_late, g);
	leave(g);
	enter(&g->relay->guests->idle, g);
}

void guest_wait(struct guest *g, stream_fn *fn)
{
	stream_listen(g->stream, fn, g);
	loop_timer_cancel(&g->timer);
	leave(g);
	enter(&g->relay->guests->busy, g);
}

int guest_read(struct guest *g)
{
	char room[GUEST_CHUNK];
	ssize_t n = stream_read(g->stream, room, sizeof(room));

	if (n == -EAGAIN)
		return 0;
	if (n <= 0 || buf_add(&g->first, room, (size_t)n) < 0)
		return -1;
	return 1;
}

void guest_used(struct guest *g, size_t n)
{
	g->first.n -= n;
	memmove(g->first.p, g->first.p + n, g->first.n);
}

/* A fresh connection has room for any answer of ours: one that has not was filled on purpose. */
int guest_answer(struct guest *g, struct sv bytes)
{
	return stream_write(g->stream, bytes.p, bytes.n) == (ssize_t)bytes.n ? 0 : -1;
}

void guest_close(struct guest *g)
{
	struct relay *r = g->relay;

	stream_close(g->stream);
	forget(g);
	relay_connection_over(r);
}

void guest_reset(struct guest *g)
{
	const struct linger now = {.l_onoff = 1};
	struct relay *r = g->relay;

	(void)setsockopt(stream_fd(g->stream), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	stream_free(g->stream);
	forget(g);
	relay_connection_over(r);
}

struct stream *guest_take_stream(struct guest *g)
{
	struct stream *s = g->stream;

	if (g->first.n && stream_unread(s, buf_view(&g->first)) < 0) {
		guest_reset(g);
		return NULL;
	}
	stream_listen(s, no_event, NULL);
	forget(g);
	return s;
}

int guest_take_fd(struct guest *g, struct buf *first, int *upstream)
{
	int fd;

	if (buf_sv(first, buf_view(&g->first)) < 0) {
		guest_reset(g);
		return -1;
	}
	fd = stream_take_fd(g->stream, first);
	*upstream = fd_take(&g->upstream);
	forget(g);
	return fd;
}

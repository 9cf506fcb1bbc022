#include "gate/relay/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages read before others get their turn. */
enum { BATCH = 64 };

struct waiting {
	struct waiting *next;
	uint16_t type;
	size_t n;
	char body[];
};

struct channel {
	struct loop *loop;
	struct loop_watch watch;
	struct loop_task task;
	const struct channel_events *events;
	void *user;
	int fd;
	bool ending, gone;
	bool *freed; /* set while an event runs: tells it that the channel is no more */
	struct waiting *first, **last;
	size_t bytes; /* of all that waits */
};

static void on_socket(void *arg, unsigned events);

int channel_new(struct loop *loop, int fd, const struct channel_events *events, void *user, struct channel **ret)
{
	struct channel *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		(void)close(fd);
		return -ENOMEM;
	}
	c->loop = loop;
	c->events = events;
	c->user = user;
	c->fd = fd;
	c->last = &c->first;
	r = loop_watch_add(loop, &c->watch, fd, LOOP_READ | LOOP_WRITE, on_socket, c);
	if (r < 0) {
		channel_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static void drop_waiting(struct channel *c)
{
	struct waiting *w;

	while ((w = c->first)) {
		c->first = w->next;
		free(w);
	}
	c->last = &c->first;
	c->bytes = 0;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	if (c->freed)
		*c->freed = true;
	loop_watch_remove(&c->watch);
	loop_task_cancel(&c->task);
	drop_waiting(c);
	(void)close(c->fd);
	free(c);
}

static void end(struct channel *c)
{
	bool freed = false;

	if (c->ending)
		return;
	c->ending = true;
	c->freed = &freed;
	c->events->gone(c->user);
	if (freed)
		return;
	c->freed = NULL;
	c->gone = true;
	loop_watch_remove(&c->watch);
	loop_task_cancel(&c->task);
	drop_waiting(c);
}

static void end_later(void *arg)
{
	end(arg);
}

/* Sending. */

static int wait_for_room(struct channel *c, uint16_t type, struct sv body)
{
	struct waiting *w;

	if (body.n > CHANNEL_MAX || c->bytes > CHANNEL_MAX - body.n)
		return -EAGAIN;
	w = malloc(sizeof(*w) + body.n);
	if (!w)
		return -ENOMEM;
	w->next = NULL;
	w->type = type;
	w->n = body.n;
	if (body.n)
		memcpy(w->body, body.p, body.n);
	*c->last = w;
	c->last = &w->next;
	c->bytes += sizeof(*w) + body.n;
	return 0;
}

int channel_send(struct channel *c, uint16_t type, struct sv body)
{
	int r = -EAGAIN;

	if (c->gone)
		return -EPIPE;
	if (!c->first)
		r = wire_send(c->fd, type, body, NULL, 0);
	if (r == -EAGAIN || r == -ENOBUFS)
		return wait_for_room(c, type, body);
	if (r < 0) /* not from inside of a call: the caller may hold what `gone` takes away */
		loop_task_post(c->loop, &c->task, end_later, c);
	return r < 0 ? -EPIPE : 0;
}

static int flush(struct channel *c)
{
	struct waiting *w;
	int r;

	while ((w = c->first)) {
		r = wire_send(c->fd, w->type, sv_n(w->body, w->n), NULL, 0);
		if (r < 0)
			return r;
		c->first = w->next;
		if (!c->first)
			c->last = &c->first;
		c->bytes -= sizeof(*w) + w->n;
		free(w);
	}
	return 0;
}

void channel_drain(struct channel *c)
{
	int flags = fcntl(c->fd, F_GETFL), r = 0;
	struct waiting *w;

	if (c->gone || flags < 0 || fcntl(c->fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return;
	for (w = c->first; w && r == 0; w = w->next)
		r = wire_send(c->fd, w->type, sv_n(w->body, w->n), NULL, 0);
	drop_waiting(c);
}

bool channel_busy(const struct channel *c)
{
	return c->gone || c->bytes > CHANNEL_BUSY;
}

bool channel_idle(const struct channel *c)
{
	return c->gone || !c->first;
}

/* Receiving. */

static void on_more(void *arg);

static void receive(struct channel *c)
{
	struct wire_message m;
	bool freed = false, fine;
	unsigned i;
	int r;

	for (i = 0; i < BATCH && !c->gone; i++) {
		r = wire_receive(c->fd, &m);
		if (r == -EPROTO && c->events->fds_may_be_lost)
			continue;
		if (r == -EAGAIN) {
			wire_message_done(&m);
			return;
		}
		if (r <= 0) {
			wire_message_done(&m);
			end(c);
			return;
		}
		c->freed = &freed;
		fine = c->events->message(c->user, &m);
		wire_message_done(&m);
		if (freed)
			return;
		c->freed = NULL;
		if (!fine) {
			end(c);
			return;
		}
	}
	if (!c->gone)
		loop_task_post(c->loop, &c->task, on_more, c);
}

static void on_more(void *arg)
{
	receive(arg);
}

static void on_socket(void *arg, unsigned events)
{
	struct channel *c = arg;
	int r = 0;

	if (events & LOOP_WRITE)
		r = flush(c);
	/* What a peer said before it went is still to be heard. */
	if (events & LOOP_READ)
		receive(c);
	else if (r < 0 && r != -EAGAIN)
		end(c);
}

/*
 * channel: messages (wire/wire.h) to and from another process over a SOCK_SEQPACKET socket, on the loop.
 *
 * What the socket does not take waits here, in order; past CHANNEL_MAX bytes a channel is full and takes nothing more.
 * Long before, channel_busy() says so: whoever makes work that ends in a message asks it first.
 *
 * Events come from the loop. After `gone` nothing comes, and sends fail with -EPIPE. Fds that a message brought are the
 * receiver's to take (set to -1); what is left is closed. The channel may be freed inside of its events.
 */
#ifndef CORDON_RELAY_CHANNEL_H
#define CORDON_RELAY_CHANNEL_H

#include <stdbool.h>

#include "base/sv.h"
#include "loop/loop.h"
#include "wire/wire.h"

enum { CHANNEL_BUSY = 256 * 1024, CHANNEL_MAX = 4 * 1024 * 1024 };

struct channel;

struct channel_events {
	/* False: the other side says what it must not. The channel is gone then. */
	bool (*message)(void *user, struct wire_message *m);
	/* What is sent from inside of it may still arrive: the other side may only have ended its own. */
	void (*gone)(void *user);
	/* A message whose fds found no room in our table is lost, and nothing else. Without it, it is the end. */
	bool fds_may_be_lost;
};

/* fd: non-blocking; the channel's from now on. 0 or -errno. */
int channel_new(struct loop *loop, int fd, const struct channel_events *events, void *user, struct channel **ret);
void channel_free(struct channel *c); /* NULL is fine */

/* 0, -EPIPE, -EAGAIN (full) or -ENOMEM. */
int channel_send(struct channel *c, uint16_t type, struct sv body);

/* More waits than a peer that reads would let wait; or it is gone. */
bool channel_busy(const struct channel *c);

/* The last act: sends what waits, however long the other side takes to read it. */
void channel_drain(struct channel *c);

/* Nothing waits to be sent. */
bool channel_idle(const struct channel *c);

#endif

/*
 * outbox: what the supervisor says to PID 1. It never waits for PID 1, which may be slow, stopped, or held up by what
 * it serves: the clock, the limits, the log and `cordon stop` go on without it.
 *
 * What the socket does not take waits here in its order, at most OUTBOX_MAX messages of OUTBOX_BODY bytes. Those are
 * signals and sizes of terminals: of more of them the last are lost, as a signal is that pends already. Whether PID 1
 * has taken nothing for so long that it is not waited for any more, outbox_is_stuck() says.
 */
#ifndef CORDON_SUPERVISE_OUTBOX_H
#define CORDON_SUPERVISE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { OUTBOX_MAX = 64, OUTBOX_BODY = 24, OUTBOX_STUCK_MS = 10000 };

struct outbox_message {
	uint16_t type;
	uint16_t n;
	char body[OUTBOX_BODY];
};

struct outbox {
	int sock;       /* borrowed */
	uint64_t since; /* ms: when the first of those that wait began to */
	size_t first, n;
	struct outbox_message v[OUTBOX_MAX];
};

void outbox_init(struct outbox *o, int sock);

/* 0 or -errno. -EAGAIN: it has fds, or is too long to wait, and cannot be sent now; -ENOBUFS: too many wait. fds stay
 * the caller's. */
int outbox_send(struct outbox *o, uint16_t type, const struct buf *body, const int *fds, size_t n_fds);

/* Something waits: for POLLOUT, and then outbox_flush(). */
bool outbox_waits(const struct outbox *o);
void outbox_flush(struct outbox *o);
bool outbox_is_stuck(const struct outbox *o, uint64_t now);
/* When that would be so, in ms; UINT64_MAX: nothing waits. */
uint64_t outbox_until(const struct outbox *o);

#endif

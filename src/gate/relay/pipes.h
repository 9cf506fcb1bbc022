/*
 * pipes: a pool of pipes to splice through. A tunnel has one only while bytes are on their way, so idle tunnels cost
 * none.
 */
#ifndef CORDON_RELAY_PIPES_H
#define CORDON_RELAY_PIPES_H

/* PIPE_BYTES: asked of the kernel; it gives less where a user has many. */
enum { PIPES_MAX = 128, PIPES_KEPT = 32, PIPE_BYTES = 512 * 1024 };

/* Two fds; -1: none. */
struct pipe_pair {
	int out, in; /* read from, write to */
};

struct pipes {
	unsigned n;
	unsigned taken;
	struct pipe_pair free[PIPES_KEPT];
};

/* 0 or -errno; -EMFILE past PIPES_MAX. */
int pipes_take(struct pipes *p, struct pipe_pair *ret);

/* empty: nothing is in it, so that it can be used again; else it is closed. */
void pipes_give(struct pipes *p, struct pipe_pair *pair, int empty);
void pipes_done(struct pipes *p);

#endif

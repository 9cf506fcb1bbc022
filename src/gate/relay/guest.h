/*
 * guest: a connection from inside that has not found its way yet: accepted, maybe half of a handshake, head or
 * ClientHello read.
 *
 * Guests are the cheap state that anybody inside can make many of, so they are bounded: in time (GUEST_MS for each
 * phase) and in number. When the table of connections is full, the guest that has let us wait longest makes room; one
 * that waits for us (for egress or the vault) only where there is no other. Sessions and tunnels, which have been
 * through the door, are not touched.
 *
 * A guest ends in one of guest_close(), guest_reset(), guest_take_stream() and guest_take_fd(); it is freed then, with
 * whatever it waited for. The functions of accept, proxy, transparent, route and intercept pass it on to each other by
 * guest_phase().
 */
#ifndef CORDON_RELAY_GUEST_H
#define CORDON_RELAY_GUEST_H

#include "base/buf.h"
#include "gate/relay/calls.h"
#include "gate/relay/leaves.h"
#include "gate/relay/relay.h"
#include "policy/net_rules.h"

enum { GUEST_MS = 10 * 1000, GUEST_BYTES = 32 * 1024, GUEST_CHUNK = 16 * 1024, GUEST_HOST = 256 };

struct guest;
struct h1;
struct socks;

/* How its answer is given. */
enum guest_door {
	DOOR_CONNECT, /* HTTP */
	DOOR_SOCKS,
	DOOR_DIRECT, /* none: it dialled by itself */
};

struct guest {
	struct relay *relay;
	struct guest *newer, *older; /* ring of those whom we wait for, or of those who wait for us */
	struct stream *stream;
	struct loop_timer timer;
	struct buf first; /* what was read and is not used up */
	uint32_t kind;	  /* enum gate_listener_kind */
	uint32_t provider;
	struct h1 *h1;	     /* while a CONNECT is read */
	struct socks *socks; /* while a SOCKS request is read */
	/* Where it wants to go, once that is known: */
	enum guest_door door;
	bool is_address;
	bool answered; /* it was told that it may speak */
	bool denied;   /* but what it says decides how it is told */
	uint16_t port;
	char host[GUEST_HOST]; /* canonical */
	enum net_way way;
	struct relay_call call;
	int upstream;	      /* dialled by egress; -1: not yet */
	uint64_t upstream_id; /* of its call */
	struct relay_leaf_wait leaf;
	struct relay_question *question; /* a person is being asked (ask.h) */
	struct guest *next_asking;
};

struct relay_guests *relay_guests_new(void); /* NULL: no memory */
void relay_guests_free(struct relay_guests *all); /* closes all of them; NULL is fine */

bool relay_guests_any(const struct relay *r);

/* Closes one, as said above. False: there is none. */
bool relay_guests_shed(struct relay *r);

/* fd: connected, non-blocking; taken, also on failure. 0 or -errno. */
int guest_new(struct relay *r, int fd, uint32_t kind, uint32_t provider, struct guest **ret);

/* From now on its stream's events go to fn(guest, events), and it has GUEST_MS before it is closed. */
void guest_phase(struct guest *g, stream_fn *fn);

/* The same, but it is others whom it waits for: they have time limits of their own. */
void guest_wait(struct guest *g, stream_fn *fn);

/* Reads what is there into `first`. 1: more is there now; 0: nothing came; -1: the end, a failure, or more than
 * GUEST_BYTES: end the guest. */
int guest_read(struct guest *g);

/* Forgets the first n bytes of what was read. */
void guest_used(struct guest *g, size_t n);

/* Writes an answer of ours. 0, or -1: end the guest. */
int guest_answer(struct guest *g, struct sv bytes);

/* The ends. close: in peace. reset: so that the client sees it at once. */
void guest_close(struct guest *g);
void guest_reset(struct guest *g);
/* The stream with what was read given back to it; NULL: no memory, and the guest is gone as well. It still counts as a
 * connection. */
struct stream *guest_take_stream(struct guest *g);
/* The socket, what was read in *first, and the upstream (-1: none); or -1. It still counts as a connection. */
int guest_take_fd(struct guest *g, struct buf *first, int *upstream);

#endif

/*
 * tunnel: bytes both ways between a client inside and a connection that egress dialled, spliced, so that they do not
 * pass through our memory.
 *
 * An end of one side is passed on after all that came before it; the other direction goes on. A failure of one side
 * resets the other. A tunnel is closed after TUNNEL_IDLE_MS without a byte (TUNNEL_HALF_MS once a side has ended), and
 * when a new policy no longer allows it. Egress is told of each end.
 *
 * Under network.max_bytes_out nothing goes up that egress has not granted: the bytes wait in the pipe while it is
 * asked.
 *
 * Where the client has not spoken yet (raw TCP, where the server may be first), its first bytes are looked at before
 * any of them goes up: a ClientHello must have the right name.
 */
#ifndef CORDON_RELAY_TUNNEL_H
#define CORDON_RELAY_TUNNEL_H

#include "base/buf.h"
#include "gate/relay/relay.h"

enum { TUNNEL_IDLE_MS = 60 * 60 * 1000, TUNNEL_HALF_MS = 5 * 60 * 1000 };

struct relay_tunnels *relay_tunnels_new(struct relay *r); /* NULL: no memory */
void relay_tunnels_free(struct relay_tunnels *all);	  /* closes all; NULL is fine */

struct tunnel_ends {
	int client, upstream; /* connected, non-blocking; taken */
	uint64_t id;	      /* of the call */
	const char *host;     /* canonical */
	bool is_address;
	uint16_t port;
	bool look;	  /* at the client's first bytes */
	struct buf first; /* what the client has sent so far; taken */
};

/* Judges once more. Whatever happens, the ends are taken, and the connection and the call are over in the end. */
void relay_tunnel_start(struct relay *r, struct tunnel_ends *ends);

/* Egress has answered. n: at most what it was asked for; none: it cuts the tunnel. False: that is no answer. */
bool relay_tunnel_granted(struct relay *r, uint64_t id, uint32_t n);

/* Brings the totals (events.h) up to date; else that is done once a second. */
void relay_tunnels_count(struct relay *r);

/* A new generation is in force: closes what it forbids. */
void relay_tunnels_judge_again(struct relay *r);

#endif

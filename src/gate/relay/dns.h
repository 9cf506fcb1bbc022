/*
 * dns: the sandbox's name server. Names that the policy allows, on whatever port, have synthetic addresses
 * (synthetic.h); all others do not exist. No query ever leaves.
 *
 * Over UDP, and over TCP with several queries on a connection, which is closed after GUEST_MS without one.
 */
#ifndef CORDON_RELAY_DNS_H
#define CORDON_RELAY_DNS_H

#include "base/buf.h"
#include "gate/relay/relay.h"

/* Answers are good for this long: a name keeps its address for the whole run, but policies change. */
enum { RELAY_DNS_TTL = 10 };

struct relay_dns *relay_dns_new(struct relay *r); /* NULL: no memory */
void relay_dns_free(struct relay_dns *d);	  /* closes its sockets; NULL is fine */

/* A UDP socket; taken. 0 or -errno. */
int relay_dns_listen(struct relay_dns *d, int fd);

/* Answers one query, at most udp_max bytes of its question where udp. Nothing is appended where it deserves no answer.
 */
void relay_dns_answer(struct relay *r, struct sv query, bool udp, struct buf *out);

/* A stream function: a guest that brings queries; one of GATE_LISTEN_DNS_UDP, through the door, carries them between
 * datagrams. */
void relay_dns_stream(void *guest, unsigned events);

#endif

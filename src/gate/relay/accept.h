/*
 * accept: takes connections from the sandbox's listeners, a few from each in turn, and makes guests of them.
 *
 * When the table of connections is full, guests make room (guest.h); where there is none, or the process has no
 * descriptor left, the listeners rest until a connection has ended, and clients wait in the kernel's queue.
 */
#ifndef CORDON_RELAY_ACCEPT_H
#define CORDON_RELAY_ACCEPT_H

#include "gate/relay/relay.h"

struct relay_listeners *relay_listeners_new(struct relay *r); /* NULL: no memory */
void relay_listeners_free(struct relay_listeners *all);	      /* closes them; NULL is fine */

/* fd: listening; taken. Not for DNS over UDP. 0 or -errno. */
int relay_listen(struct relay_listeners *all, int fd, const struct gate_listener *what);

/* There may be room again. */
void relay_listeners_wake(struct relay_listeners *all);

#endif

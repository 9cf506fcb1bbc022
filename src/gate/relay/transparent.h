/*
 * transparent: a guest that dialled by itself. The redirect's memory says whom it wanted; without a redirect it is the
 * address that it came to.
 */
#ifndef CORDON_RELAY_TRANSPARENT_H
#define CORDON_RELAY_TRANSPARENT_H

#include <sys/socket.h>

#include "gate/relay/guest.h"
#include "model/address.h"

/* Takes the guest over. At once, not at its first byte: the server may be the one to speak first. */
void transparent(struct guest *g);

/* Where a dial was meant to go. False: it is of another family. */
bool transparent_place(const struct sockaddr_storage *p, struct address *ret, uint16_t *ret_port);

/* The same, where it is cordon-init that was asked for the destination (base/door.h). */
void transparent_to(struct guest *g, const struct address *to, uint16_t port);

#endif

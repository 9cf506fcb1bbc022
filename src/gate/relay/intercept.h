/*
 * intercept: ends a guest's TLS here, with a leaf for its host, and hands the stream to HTTP.
 *
 * The ClientHello has been judged: its name is the host's. Its bytes are in g->first.
 */
#ifndef CORDON_RELAY_INTERCEPT_H
#define CORDON_RELAY_INTERCEPT_H

#include "gate/relay/guest.h"

/* Takes the guest over. */
void intercept(struct guest *g);

#endif

/*
 * proxy: a guest of the proxy port. Its first byte tells SOCKS 5 from HTTP; of HTTP, CONNECT is read here and
 * everything else goes to http.h with all its bytes.
 */
#ifndef CORDON_RELAY_PROXY_H
#define CORDON_RELAY_PROXY_H

#include "gate/relay/guest.h"

/* A stream function: from the first byte on. Takes the guest over. */
void proxy_first(void *guest, unsigned events);

#endif

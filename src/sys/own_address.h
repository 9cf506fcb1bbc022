/*
 * own_address: is an address one of this machine's, so that what is sent there never leaves it?
 *
 * The kernel is asked anew each time, since addresses come and go; nothing is sent, and nothing bound. A socket that is
 * connected to an address of the machine has that address itself, but for a second one of the same network of IPv4,
 * which gets the first: so of IPv4 the list of addresses is looked through, too.
 */
#ifndef CORDON_SYS_OWN_ADDRESS_H
#define CORDON_SYS_OWN_ADDRESS_H

#include <netinet/in.h>

/* IPv4 or IPv6; the port does not matter. 1, 0, or -errno: it is not known. -EAFNOSUPPORT: the machine has none of this
 * family. */
int own_address(const struct sockaddr *a);

#endif

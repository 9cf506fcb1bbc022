/*
 * own_address: is an address one of this machine's, so that what is sent there never leaves it?
 *
 * The kernel is asked anew each time, since addresses come and go; nothing is sent. A socket that is connected to an address of the machine has that address itself,
 * but for a second one of the same network, which gets the first. Such a one can be bound to, and no other can: unless the machine lets anybody bind to anything
 * (ip_nonlocal_bind), where only the first way is left.
 */
#ifndef CORDON_SYS_OWN_ADDRESS_H
#define CORDON_SYS_OWN_ADDRESS_H

#include <netinet/in.h>

/* IPv4 or IPv6; the port does not matter. 1, 0, or -errno: it is not known. -EAFNOSUPPORT: the machine has none of this family. */
int own_address(const struct sockaddr *a);

#endif

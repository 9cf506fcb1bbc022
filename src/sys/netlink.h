/*
 * netlink: what PID 1 tells the kernel about its own, empty network namespace. 0 or -errno.
 *
 * Both need CAP_NET_ADMIN over the namespace, and leave it unchanged or do all of what they say.
 */
#ifndef CORDON_SYS_NETLINK_H
#define CORDON_SYS_NETLINK_H

#include <stdint.h>

/* Every address is here: what is sent anywhere arrives at a socket of this namespace, or is refused at once. IPv4, and IPv6 where the kernel has it. */
int sys_route_everything_here(void);

/* TCP to any address but loopback's goes to this port of ours; SO_ORIGINAL_DST tells where it was meant to go. -EOPNOTSUPP and the like: the kernel lacks nf_tables or its nat. */
int sys_redirect_tcp(uint16_t port);

#endif

/*
 * netlink: what PID 1 tells the kernel about the routes of its own, empty network namespace. 0 or -errno.
 *
 * Needs CAP_NET_ADMIN over the namespace, and leaves it unchanged or does all of what it says.
 */
#ifndef CORDON_SYS_NETLINK_H
#define CORDON_SYS_NETLINK_H

/* Every address is here: what is sent anywhere arrives at a socket of this namespace, or is refused at once. IPv4, and
 * IPv6 where the kernel has it. */
int sys_route_everything_here(void);

#endif

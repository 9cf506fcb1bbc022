/*
 * gateway: the network inside, as far as there is one: loopback, the ports that lead to the door, and, where the
 * namespace allows, all that is dialled redirected to one of them.
 */
#ifndef CORDON_INIT_GATEWAY_H
#define CORDON_INIT_GATEWAY_H

#include <sys/resource.h>

#include "init/bridge.h"
#include "init/dns.h"
#include "sandbox/common/redirects.h"

struct gateway {
	int epoll;
	const char *door; /* NULL: there is no gateway; the other functions do nothing */
	struct listen_port ports[BRIDGE_PORTS];
	unsigned n_ports;
	const struct redirect *reach; /* what of all that is dialled comes to the port for it; NULL: all of it */
	struct bridge *bridge;
	struct dns *dns;
	bool redirected;	    /* what is dialled comes to that port, or is refused */
	struct redirects redirects; /* where it is so: the caller's sockets */
};

/* As many descriptors as it has use for, or as we may have; how many that are. now: RLIMIT_NOFILE as it is. */
unsigned long gateway_raise_limit(const struct rlimit *now);

/* epoll, door and ports are set. From now on the ports accept. 0, or -errno and *ret_port is the port that failed (0:
 * none in particular). */
int gateway_open(struct gateway *g, unsigned long max_fds, unsigned *ret_port);
void gateway_close(struct gateway *g); /* also after a failure */

/* After each watch_run(); the time limit of the next one, -1 for none. */
int gateway_tick(struct gateway *g);

#endif

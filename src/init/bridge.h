/*
 * bridge: carries what connects to the ports inside through the door, a stream for each, behind a header that says
 * which port it was (base/door.h).
 *
 * At most BRIDGE_CONNECTIONS at once, fewer where descriptors are short, each with BRIDGE_ROOM bytes per direction:
 * then clients wait in the kernel's queue, and streams that the relay has ended and whose client keeps silent make
 * room. An end of one side is passed on to the other. Where the relay closes without a word, it refuses: the client is
 * reset, as it would be by an address that nobody is at.
 *
 * It judges nothing, and nothing depends on it: a workload that goes to the door by itself meets the same relay.
 */
#ifndef CORDON_INIT_BRIDGE_H
#define CORDON_INIT_BRIDGE_H

#include "init/listen.h"

enum { BRIDGE_CONNECTIONS = 1024, BRIDGE_ROOM = 64 * 1024, BRIDGE_PORTS = 64 };

struct bridge;

/* door: its path, borrowed. max_fds: how many descriptors the process may have. NULL: no memory. */
struct bridge *bridge_new(int epoll, const char *door, unsigned long max_fds);
void bridge_free(struct bridge *b); /* ends all connections; NULL is fine */

/* fd: from listen_on(); taken. 0 or -errno. */
int bridge_listen(struct bridge *b, int fd, const struct listen_port *port);

/* After each watch_run(): frees what ended, goes on where it had to rest. The time limit of the next one, -1 for none.
 */
int bridge_tick(struct bridge *b);

#endif

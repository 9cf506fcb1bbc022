/*
 * listen: the ports on the sandbox's loopback behind which the door is.
 */
#ifndef CORDON_INIT_LISTEN_H
#define CORDON_INIT_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/door.h"

struct listen_port {
	enum door_kind kind; /* DOOR_DNS is TCP and UDP */
	uint16_t port;
	uint32_t provider;
};

/* KIND:PORT[:PROVIDER], the provider for inference only. */
bool listen_parse(const char *text, struct listen_port *ret);

/* On 127.0.0.1 or ::1, non-blocking. type: SOCK_STREAM, SOCK_DGRAM. The fd or -errno. */
int listen_on(uint16_t port, int type, bool v6);

/* Connects to the door, without waiting. The fd or -errno; -EAGAIN: too many are waiting there. */
int listen_dial(const char *door);

#endif

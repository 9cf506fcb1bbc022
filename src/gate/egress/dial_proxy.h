/*
 * dial_proxy: asks an upstream proxy for a tunnel (CONNECT) on a connected socket.
 *
 * Takes exactly the proxy's answer off the socket and not a byte more: whoever gets the socket next may be somebody
 * whose server speaks first.
 */
#ifndef CORDON_GATE_EGRESS_DIAL_PROXY_H
#define CORDON_GATE_EGRESS_DIAL_PROXY_H

#include <stdint.h>

#include "base/sv.h"
#include "loop/loop.h"
#include "model/gate.h"

struct dial_proxy;

typedef void dial_proxy_fn(void *arg, enum gate_failure why);

/* fd becomes its own, also on failure. fn comes once, from the loop; it takes the fd back. NULL: no memory. */
struct dial_proxy *dial_proxy_start(struct loop *loop, int fd, struct sv host, uint16_t port, dial_proxy_fn *fn,
				    void *arg);
int dial_proxy_take(struct dial_proxy *t);
void dial_proxy_free(struct dial_proxy *t); /* NULL is fine */

#endif

/*
 * redirects: what becomes of the connections that a sandbox's programs dial by themselves, as its first process sets it
 * up: in the network namespace, before any workload, with CAP_NET_ADMIN over it.
 *
 * What a rule could allow comes to a port of loopback; what none could is refused by the kernel. The two sockets are
 * for those outside (model/gate.h): whoever has them needs no process inside to hear of what was refused and to change
 * what is, and nothing inside is to keep them.
 */
#ifndef CORDON_SANDBOX_REDIRECTS_H
#define CORDON_SANDBOX_REDIRECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/redirect.h"

struct redirects {
	int refused; /* GATE_LISTEN_REFUSED */
	int changes; /* GATE_REDIRECTS */
};

/*
 * False: the kernel cannot redirect, and every dial fails. Both sockets are -1 then; and where it can redirect but
 * neither log nor reset, or reach is NULL, since nobody outside would take them: there all that is dialled comes to the
 * port, and what is refused is a connection that is cut.
 */
bool redirects_make(uint16_t port, const struct redirect *reach, struct redirects *ret);

#endif

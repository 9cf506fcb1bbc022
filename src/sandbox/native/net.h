/*
 * net: the sandbox's end of the gateway. Runs in PID 1, in its new network namespace, before any workload.
 *
 * The sockets are made here and listen in this namespace, but it is the relay outside that accepts from them: no
 * process inside stands between the workload and the relay, so there is none to trace, stop or impersonate. Connections
 * to any address end at one of them or are refused at once; there is no route out.
 */
#ifndef CORDON_NATIVE_NET_H
#define CORDON_NATIVE_NET_H

#include <stddef.h>

#include "base/error.h"
#include "model/gate.h"
#include "model/plan.h"

struct net_listeners {
	struct plan_listener what[GATE_MAX_LISTENERS];
	int fds[GATE_MAX_LISTENERS]; /* the caller's */
	size_t n;
};

/*
 * Those that the plan asks for, and, where the kernel refuses what no rule could allow, GATE_LISTEN_REFUSED and
 * GATE_REDIRECTS. Where the kernel cannot redirect connections, those for that are left out: proxies work all the same.
 */
int net_listen(const struct plan *p, struct net_listeners *ret, struct error *err);

#endif

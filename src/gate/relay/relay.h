/*
 * relay: the role that parses the workload's bytes. It holds no credential, has no way out of its own, and judges everything; egress judges again.
 *
 * One struct relay per process. Connections come from the sandbox's listeners (accept.c) and go, by kind and first bytes, to one of:
 *
 *	tunnel.h	bytes both ways, after the name was judged and, where TLS is spoken, the ClientHello's name equals it
 *	intercept.h	TLS that ends here, because a rule or a credential must look inside: then HTTP
 *	http.h		HTTP sessions (1.1 and 2): each request becomes an exchange that is judged, sent over the link, and answered
 *	dns.h		names that policy allows get synthetic addresses; others do not exist
 *
 * A generation of the policy is immutable and counted by reference: what was judged by an old one is judged again when a new one comes, and closed where that says no.
 */
#ifndef CORDON_RELAY_H
#define CORDON_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sv.h"
#include "http/link.h"
#include "loop/loop.h"
#include "model/gate.h"
#include "model/policy.h"
#include "tls/stream.h"

struct net_rules;	/* policy/net_rules.h */
struct placeholder_set; /* vault/placeholder_set.h */
struct synthetic;	/* gate/relay/synthetic.h */
struct relay_events;	/* gate/relay/events.h: verdicts to the supervisor, aggregated */
struct relay_leaves;	/* gate/relay/leaves.h: leaf certificates, cached or minted by the vault */
struct relay_tunnels;	/* gate/relay/tunnel.h */

/* One policy, as long as somebody uses it. */
struct generation {
	unsigned users;
	uint64_t number;
	struct policy *policy;
	struct net_rules *rules;
};

struct relay {
	struct loop *loop;
	struct link *link;
	struct generation *now;
	struct placeholder_set *placeholders;
	struct synthetic *synthetic; /* NULL: there is no transparent path */
	struct relay_events *events;
	struct relay_leaves *leaves;
	struct relay_tunnels *tunnels;
	struct tls_server *tls;
	bool quiet; /* nothing can be logged: refuse what is new */
	uint64_t n_connections;
};

enum { RELAY_MAX_CONNECTIONS = 16384 };

/* What a connection that carries HTTP is for. */
struct http_origin {
	bool proxy;	/* requests name their hosts themselves (plain http through the proxy port) */
	bool tls;	/* it ended here; host and port are those of the CONNECT, the SNI or the synthetic address */
	bool inference; /* provider's port */
	uint32_t provider;
	char host[256]; /* canonical; "" with proxy and inference */
	uint16_t port;
};

#endif

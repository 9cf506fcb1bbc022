/*
 * relay: the role that parses the workload's bytes. It holds no credential, has no way out of its own, and judges
 * everything; egress judges again.
 *
 * One struct relay per process. Connections come from the sandbox's listeners (accept.h) as guests (guest.h), of whom
 * only the kind is known. By kind and first bytes they become one of:
 *
 *	tunnel.h	bytes both ways, after the name was judged and, where TLS is spoken, the ClientHello's name
 *			equals it
 *	intercept.h	TLS that ends here, because a rule or a credential must look inside: then HTTP
 *	http.h		HTTP sessions (1.1 and 2): each request becomes an exchange that is judged, sent over the link,
 *			and answered
 *	dns.h		names that policy allows get synthetic addresses; others do not exist
 *
 *	accept -> proxy (CONNECT, SOCKS) or transparent -> route (judges host and port) -> calls (egress dials) ->
 *		tunnel
 *										     -> intercept -> http
 *
 * A generation of the policy is immutable and counted by reference: what was judged by an old one is judged again when
 * a new one comes, and closed where that says no.
 *
 * What http.h gives to the rest: http_serve(), http_judge_again(), and `extern const struct link_events
 * http_link_events`, whose user is the struct relay; setup.c makes r->link with it. Its `gone` calls relay_stop(). The
 * stream that http_serve() takes may have bytes that were read and given back: it reads at once, without waiting for
 * STREAM_READ. When it has ended the stream it calls relay_connection_over(), once.
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

struct channel;		/* gate/relay/channel.h: messages to and from another process */
struct ruleset;		/* policy/net_rules.h */
struct placeholder_set; /* vault/placeholder_set.h */
struct synthetic;	/* gate/relay/synthetic.h */
struct relay_events;	/* gate/relay/events.h: verdicts to the supervisor, aggregated; and usage */
struct relay_guests;	/* gate/relay/guest.h */
struct relay_ask;	/* gate/relay/ask.h */
struct relay_calls;	/* gate/relay/calls.h: tunnels asked of egress */
struct relay_leaves;	/* gate/relay/leaves.h: leaf certificates, cached or minted by the vault */
struct relay_tunnels;	/* gate/relay/tunnel.h */
struct relay_listeners; /* gate/relay/accept.h */
struct relay_dns;	/* gate/relay/dns.h */
struct relay_refused;	/* gate/relay/refused.h */
struct relay_http;	/* gate/relay/http.h: all sessions, and what they share */

/* One policy, as long as somebody uses it: relay_generation_ref(), relay_generation_unref() (gate/relay/generation.h).
 */
struct generation {
	unsigned users;
	uint64_t number;
	struct policy *policy;
	struct ruleset *rules;
	struct net_recent *recent;
};

struct relay {
	struct loop *loop;
	struct channel *control; /* the supervisor */
	struct link *link;
	struct generation *now;
	struct placeholder_set *placeholders; /* NULL: the run has none */
	struct synthetic *synthetic;	      /* NULL: there is neither DNS nor a transparent path */
	struct relay_events *events;
	struct relay_guests *guests;
	struct relay_ask *ask;
	struct relay_calls *calls;
	struct relay_leaves *leaves;
	struct relay_tunnels *tunnels;
	struct relay_listeners *listeners;
	struct relay_dns *dns;
	struct relay_refused *refused;
	struct relay_http *http; /* http_open() to http_done() */
	struct tls_server *tls;
	bool v6;    /* the sandbox can dial IPv6 */
	bool quiet; /* nothing can be logged: refuse what is new. Ask relay_takes_new(). */
	uint64_t n_connections, max_connections;
	int last_fd; /* accepted connections stay below: the rest is for what egress dials for those that are there */
	int status; /* of the process, when it stops */
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

/* False: nothing new may be served, because what is done could not be logged: refuse with 503. */
bool relay_takes_new(const struct relay *r);

/* A connection that was accepted has been closed. */
void relay_connection_over(struct relay *r);

/* Ends the process after this iteration: another role is gone, or says what it must not. */
void relay_stop(struct relay *r);

#endif

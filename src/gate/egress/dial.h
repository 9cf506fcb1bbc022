/*
 * dial: a connected TCP socket to a host that policy allowed, or why not.
 *
 * Resolves, marks the addresses that are this machine's own, lets the caller check every address, and dials those that
passed: what is connected to is an address that was checked, never a name that is looked up again. The
 * next address gets its turn when one fails, or after DIAL_STAGGER; the first that answers wins, the others are closed.
 *
 * With an upstream proxy the name is the proxy's to resolve: a tunnel is asked for with CONNECT, and nothing but the
proxy's answer is taken off the socket. It is resolved here first all the same, and where
 * one of its addresses does not pass the check, the proxy is not asked; where there is no answer within DIAL_SCREEN, it
is. (An address is its own answer.) These addresses are kept, so that who uses the connection later, or under another
policy, is held to them, too. Addresses of this machine and its
 * private networks, which is where people run models, and names with a fixed address are dialled directly in any case.
 *
 * The answer comes once, from the loop, never from inside dial_start(); after dial_cancel() it does not come. The fd is
the receiver's, non-blocking, with TCP_NODELAY.
 */
#ifndef CORDON_GATE_EGRESS_DIAL_H
#define CORDON_GATE_EGRESS_DIAL_H

#include "gate/egress/resolve.h"
#include "http/target.h"

enum { DIAL_TIMEOUT = 10000, DIAL_STAGGER = 250, DIAL_SCREEN = 2000 };

struct dialer {
	struct loop *loop;
	struct resolver *resolver;
	char proxy[HTTP_HOST_MAX + 3]; /* host; "": none */
	uint16_t proxy_port;
};

/* url: "http://host:port" or empty. 0, or -EINVAL. */
int dialer_set_proxy(struct dialer *d, struct sv url);

/* Would this host be reached through the proxy? */
bool dialer_uses_proxy(const struct dialer *d, struct sv host);

/* GATE_FAILURE_NONE: may be dialled. fixed: the operator's own answer for the name. */
typedef enum gate_failure dial_check_fn(void *arg, const struct address *a, bool fixed);

/*
 * Where a connection leads: to the address that was dialled; behind a proxy to any of those that the name has here, and
 * none is known where it has none. Who uses the connection must pass the check for all of them.
 */
enum { DIAL_PLACES = 2 * RESOLVE_MAX };

struct dial_places {
	struct dial_place {
		struct address address;
		bool fixed; /* as for the check; also where another place stands for this one, and only a denial counts
			     */
	} v[DIAL_PLACES];
	unsigned n;
};

struct dial_result {
	int fd; /* -1: there is none */
	enum gate_failure why;
	bool by_proxy;
	struct dial_places places;
};

typedef void dial_fn(void *arg, const struct dial_result *r);

struct dial_request {
	struct sv host; /* copied */
	uint16_t port;
	bool connect; /* where there is a proxy, ask it for a tunnel; else its own connection is wanted */
	dial_check_fn *check;
	dial_fn *done;
	void *arg;
};

struct dial;

struct dial *dial_start(const struct dialer *d, const struct dial_request *r); /* NULL: no memory */
void dial_cancel(struct dial *dial); /* NULL is fine */

#endif

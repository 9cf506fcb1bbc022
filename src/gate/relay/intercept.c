#include "gate/relay/intercept.h"

#include "gate/relay/route.h"
#include "gate/relay/session_h2.h"

static void on_handshake(void *arg, unsigned events)
{
	struct guest *g = arg;

	if (events & STREAM_OPEN)
		route_to_http(g, true);
	else if (events & STREAM_FAILED)
		guest_close(g); /* not reset: an alert says why */
}

static void on_leaf(void *arg, const struct tls_leaf *leaf)
{
	struct guest *g = arg;

	if (!leaf || stream_unread(g->stream, buf_view(&g->first)) < 0) {
		guest_reset(g);
		return;
	}
	buf_clear(&g->first);
	guest_phase(g, on_handshake);
	if (stream_tls_server(g->stream, g->relay->tls, leaf,
			      ALPN_H1 | ALPN_H10 | (session_h2_room(g->relay) ? ALPN_H2 : 0)) < 0)
		guest_reset(g);
}

/* The client waits for our part of the handshake: what it does meanwhile is of no interest, but that it is gone. */
static void on_waiting(void *arg, unsigned events)
{
	if (events & STREAM_FAILED)
		guest_reset(arg);
}

void intercept(struct guest *g)
{
	const struct tls_leaf *leaf = relay_leaf_find(g->relay->leaves, sv_of(g->host));

	if (leaf) {
		on_leaf(g, leaf);
		return;
	}
	guest_wait(g, on_waiting);
	if (relay_leaf_wait(g->relay->leaves, &g->leaf, sv_of(g->host), on_leaf, g) < 0)
		guest_reset(g);
}

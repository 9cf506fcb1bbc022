#include "gate/relay/proxy.h"

#include <stdio.h>
#include <stdlib.h>

#include "gate/relay/http.h"
#include "gate/relay/route.h"
#include "gate/relay/socks.h"
#include "gate/relay/tell.h"
#include "http/h1.h"
#include "http/h1_write.h"
#include "model/address.h"

enum { CONNECT_HEAD = 16 * 1024 };

static const char connect_is[] = "CONNECT ";

/* SOCKS. */

static void on_socks(void *arg, unsigned events)
{
	struct guest *g = arg;
	enum socks_step step;
	AUTO_BUF out = {0};
	size_t used = 0;
	int r = 1;

	(void)events;
	buf_init(&out, 1024);
	while ((step = socks_feed(g->socks, buf_view(&g->first), &used, &out)) == SOCKS_MORE) {
		guest_used(g, used);
		if (out.n && guest_answer(g, buf_view(&out)) < 0)
			break;
		buf_clear(&out);
		r = guest_read(g);
		if (r == 0)
			return;
		if (r < 0)
			break;
	}
	if (step == SOCKS_CONNECT) {
		guest_used(g, used);
		g->door = DOOR_SOCKS;
		route(g, socks_host(g->socks), g->socks->port);
		return;
	}
	if (step == SOCKS_REFUSE)
		tell_refused(g->relay, DOMAIN_NETWORK,
			     g->socks->host_n ? socks_host(g->socks) : sv_of("the proxy's port"),
			     "this is no SOCKS request that can be served");
	if (step == SOCKS_REFUSE && guest_answer(g, buf_view(&out)) == 0)
		guest_close(g);
	else
		guest_reset(g);
}

static void begin_socks(struct guest *g)
{
	g->socks = malloc(sizeof(*g->socks));
	if (!g->socks) {
		guest_reset(g);
		return;
	}
	socks_init(g->socks);
	guest_phase(g, on_socks);
	on_socks(g, STREAM_READ);
}

/* CONNECT. */

static void refuse_connect(struct guest *g)
{
	const struct h1_fault fault = h1_fault(g->h1);
	struct sv start, host;
	AUTO_BUF out = {0};

	h1_seen(g->h1, &start, &host);
	tell_malformed(g->relay, &(struct http_origin){.proxy = true}, start, host, fault.reason);
	buf_init(&out, 4096);
	if (h1_write_error(&out, fault.status, "bad_request", NULL, fault.reason, NULL) == 0 &&
	    guest_answer(g, buf_view(&out)) == 0)
		guest_close(g);
	else
		guest_reset(g);
}

static void on_connect(void *arg, unsigned events)
{
	struct guest *g = arg;
	const struct http_request *req;
	struct sv in, data;
	enum h1_event e;
	int r;

	(void)events;
	for (;;) {
		in = buf_view(&g->first);
		do
			e = h1_read(g->h1, &in, &data);
		while (e == H1_HEAD || e == H1_DATA);
		guest_used(g, g->first.n - in.n);
		if (e != H1_MORE)
			break;
		r = guest_read(g);
		if (r == 0)
			return;
		if (r < 0) {
			guest_reset(g);
			return;
		}
	}
	if (e == H1_ERROR) {
		refuse_connect(g);
		return;
	}
	req = h1_request(g->h1);
	g->door = DOOR_CONNECT;
	route(g, req->host, req->port);
}

static void begin_connect(struct guest *g)
{
	const struct h1_context context = {.proxy = true};
	const struct h1_limits limits = {.head = CONNECT_HEAD, .target = HTTP_MAX_TARGET, .fields = HTTP_MAX_FIELDS};

	g->h1 = h1_new_request(&context, &limits);
	if (!g->h1) {
		guest_reset(g);
		return;
	}
	guest_phase(g, on_connect);
	on_connect(g, STREAM_READ);
}

static void to_http(struct guest *g)
{
	const struct http_origin o = {.proxy = true};
	struct relay *r = g->relay;
	struct stream *s = guest_take_stream(g);

	if (s)
		http_serve(r, s, &o);
}

/* It knows no names. What there is of its request: version, command, port, address. */
static void refuse_socks4(struct guest *g)
{
	const unsigned char *p = (const unsigned char *)g->first.p;
	char subject[ADDRESS_TEXT + 8] = "the proxy's port", text[ADDRESS_TEXT];
	struct address a;

	if (g->first.n >= 8) {
		a = address_of4(p + 4);
		(void)snprintf(subject, sizeof(subject), "%s:%u", address_text(&a, text), (unsigned)p[2] << 8 | p[3]);
	}
	tell_refused(g->relay, DOMAIN_NETWORK, sv_of(subject), "SOCKS 4 is not served");
	guest_reset(g);
}

/* Which of them. */

void proxy_first(void *guest, unsigned events)
{
	struct guest *g = guest;
	size_t n;
	int r;

	(void)events;
	for (;;) {
		n = g->first.n < sizeof(connect_is) - 1 ? g->first.n : sizeof(connect_is) - 1;
		if (n && memcmp(g->first.p, connect_is, n) != 0)
			break;
		if (n == sizeof(connect_is) - 1) {
			begin_connect(g);
			return;
		}
		r = guest_read(g);
		if (r == 0)
			return;
		if (r < 0) {
			guest_reset(g);
			return;
		}
	}
	if (g->first.p[0] == 5)
		begin_socks(g);
	else if (g->first.p[0] == 4)
		refuse_socks4(g);
	else
		to_http(g);
}

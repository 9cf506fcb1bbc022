#include "gate/relay/dns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/relay/dns_message.h"
#include "gate/relay/events.h"
#include "gate/relay/guest.h"
#include "gate/relay/synthetic.h"
#include "policy/net_rules.h"

/* TURN: queries of one socket before others get their turn. */
enum { TURN = 32, SOCKETS = 4 };

struct socket {
	struct relay *relay;
	struct loop_watch watch;
	int fd;
};

struct relay_dns {
	struct relay *relay;
	unsigned n;
	struct socket v[SOCKETS];
};

struct relay_dns *relay_dns_new(struct relay *r)
{
	struct relay_dns *d = calloc(1, sizeof(*d));

	if (d)
		d->relay = r;
	return d;
}

void relay_dns_free(struct relay_dns *d)
{
	unsigned i;

	if (!d)
		return;
	for (i = 0; i < d->n; i++) {
		loop_watch_remove(&d->v[i].watch);
		(void)close(d->v[i].fd);
	}
	free(d);
}

static void tell_denied(struct relay *r, struct sv name)
{
	const struct relay_event e = {.domain = DOMAIN_NETWORK,
				      .lookup = true,
				      .subject = name,
				      .rule = sv_of("network.dns policy"),
				      .detail = sv_of("a name that no rule allows was looked up")};

	relay_events_tell(r->events, &e);
}

/* Where a person may be asked, the name must lead somewhere: the connection is what they are asked about. */
static bool may_be_asked(struct relay *r, struct sv name)
{
	struct net_verdict v;

	net_rules_name(r->now->rules, name, 443, &v);
	return v.ask;
}

static enum dns_code look_up(struct relay *r, const struct dns_question *q, struct address v[2], size_t *n)
{
	struct sv name = sv_n(q->name, q->n);

	if (!relay_takes_new(r))
		return DNS_SERVFAIL;
	if (q->n == 0 || !(net_rules_dns(r->now->rules, name) || may_be_asked(r, name))) {
		if (q->n)
			tell_denied(r, name);
		return DNS_NXDOMAIN;
	}
	if (synthetic_address(r->synthetic, name, &v[0], &v[1]) < 0)
		return DNS_SERVFAIL;
	*n = r->v6 ? 2 : 1;
	return DNS_OK;
}

void relay_dns_answer(struct relay *r, struct sv query, bool udp, struct buf *out)
{
	struct address v[2];
	struct dns_question q;
	size_t n = 0;
	int code = dns_parse(query, &q);

	if (code < 0)
		return;
	if (code == DNS_OK)
		code = (int)look_up(r, &q, v, &n);
	dns_answer(&q, (enum dns_code)code, v, n, RELAY_DNS_TTL, udp ? q.udp_max : DNS_TCP_MAX, out);
}

/* UDP. */

static void on_socket(void *arg, unsigned events)
{
	struct socket *s = arg;
	struct sockaddr_storage from;
	char query[DNS_QUERY_MAX + 1];
	AUTO_BUF out = {0};
	socklen_t n_from;
	unsigned i;
	ssize_t n;

	(void)events;
	buf_init(&out, DNS_TCP_MAX);
	for (i = 0; i < TURN; i++) {
		n_from = sizeof(from);
		n = recvfrom(s->fd, query, sizeof(query), 0, (struct sockaddr *)&from, &n_from);
		if (n < 0)
			return;
		buf_clear(&out);
		relay_dns_answer(s->relay, sv_n(query, (size_t)n), true, &out);
		if (out.n && !buf_failed(&out))
			(void)sendto(s->fd, out.p, out.n, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from,
				     n_from);
	}
}

int relay_dns_listen(struct relay_dns *d, int fd)
{
	struct socket *s = &d->v[d->n];
	int flags = fcntl(fd, F_GETFL), r;

	if (d->n == SOCKETS || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		(void)close(fd);
		return -EINVAL;
	}
	*s = (struct socket){.relay = d->relay, .fd = fd};
	r = loop_watch_add(d->relay->loop, &s->watch, fd, LOOP_READ | LOOP_LEVEL, on_socket, s);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	d->n++;
	return 0;
}

/* TCP. */

/* Answers the queries that are complete. 1; 0: there are none; -1: end the guest. */
static int answer_frames(struct guest *g)
{
	AUTO_BUF out = {0};
	AUTO_BUF answer = {0};
	struct sv message;
	ssize_t n;

	buf_init(&out, 4 * DNS_TCP_MAX);
	buf_init(&answer, DNS_TCP_MAX);
	while ((n = dns_frame(buf_view(&g->first), &message)) > 0) {
		buf_clear(&answer);
		relay_dns_answer(g->relay, message, g->kind == GATE_LISTEN_DNS_UDP, &answer);
		if (answer.n == 0)
			return -1;
		dns_frame_add(&out, buf_view(&answer));
		guest_used(g, (size_t)n);
	}
	if (n < 0 || buf_failed(&out) || buf_failed(&answer))
		return -1;
	if (out.n == 0)
		return 0;
	return guest_answer(g, buf_view(&out)) < 0 ? -1 : 1;
}

void relay_dns_stream(void *guest, unsigned events)
{
	struct guest *g = guest;
	int r, answered;

	(void)events;
	while ((r = guest_read(g)) > 0) {
		answered = answer_frames(g);
		if (answered < 0) {
			guest_reset(g);
			return;
		}
		if (answered)
			guest_phase(g, relay_dns_stream);
	}
	if (r < 0)
		guest_close(g);
}

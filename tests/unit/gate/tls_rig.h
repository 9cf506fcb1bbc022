/*
 * tls_rig: two ends of a connection on one loop, by real handshakes: what is written goes as far as it goes, and what
 * comes is collected.
 */
#ifndef CORDON_TESTS_TLS_RIG_H
#define CORDON_TESTS_TLS_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "loop/loop.h"
#include "tls/ca.h"
#include "tls/client.h"
#include "tls/leaf.h"
#include "tls/server.h"
#include "tls/stream.h"

/* Not every test uses all of it. */
#define MAYBE __attribute__((unused)) static

/* One end of a connection: writes `out` as far as it goes, and collects what comes. */
struct side {
	struct stream *stream;
	struct sv out;
	bool finish;   /* when out is written */
	size_t chunk;  /* bytes per write at most; 0: all */
	bool stopped;  /* reads nothing */
	struct buf in;
	bool open, ended, hangup, write_failed;
	unsigned failed; /* STREAM_FAILED seen */
	bool read_failed;
};

struct world {
	struct loop *loop;
	struct tls_ca *ca;
	struct tls_server *server;
	struct tls_client *client;
	struct side a, b; /* client and server */
};

static struct error err;

MAYBE void must(bool ok, const char *what)
{
	if (!ok) {
		printf("Bail out! %s: %s\n", what, err.text);
		exit(1);
	}
}

MAYBE void world_init(struct world *w)
{
	AUTO_BUF pem = {0};

	*w = (struct world){.loop = loop_new()};
	buf_init(&pem, 10000);
	buf_init(&w->a.in, 64 << 20);
	buf_init(&w->b.in, 64 << 20);
	must(w->loop && tls_ca_new(&w->ca, &err) == 0 && tls_ca_pem(w->ca, &pem, &err) == 0, "CA");
	must(tls_server_new(&w->server, &err) == 0, "server");
	must(tls_client_new(buf_view(&pem), &w->client, &err) == 0, "client");
}

MAYBE void side_done(struct side *s)
{
	stream_free(s->stream);
	buf_clear(&s->in);
	*s = (struct side){.in = s->in};
}

MAYBE void world_done(struct world *w)
{
	side_done(&w->a);
	side_done(&w->b);
	buf_done(&w->a.in);
	buf_done(&w->b.in);
	tls_server_free(w->server);
	tls_client_free(w->client);
	tls_ca_free(w->ca);
	loop_free(w->loop);
}

MAYBE void write_out(struct side *s)
{
	ssize_t r;

	while (s->out.n) {
		r = stream_write(s->stream, s->out.p, s->chunk && s->chunk < s->out.n ? s->chunk : s->out.n);
		if (r <= 0) {
			s->write_failed = r == -EIO;
			break;
		}
		s->out.p += r;
		s->out.n -= (size_t)r;
	}
	if (s->finish && s->out.n == 0)
		stream_finish(s->stream);
}

MAYBE void read_in(struct side *s)
{
	static char room[20000];
	ssize_t r;

	while (!s->stopped && (r = stream_read(s->stream, room, sizeof(room))) != -EAGAIN) {
		if (r > 0) {
			buf_add(&s->in, room, (size_t)r);
			continue;
		}
		s->ended = r == 0;
		s->read_failed = r < 0;
		break;
	}
}

MAYBE void on_stream(void *arg, unsigned events)
{
	struct side *s = arg;

	s->open |= (events & STREAM_OPEN) != 0;
	s->hangup |= (events & STREAM_HANGUP) != 0;
	s->failed += (events & STREAM_FAILED) != 0;
	if (events & (STREAM_OPEN | STREAM_WRITE))
		write_out(s);
	if (events & (STREAM_OPEN | STREAM_READ))
		read_in(s);
}

MAYBE void tcp_pair(int fds[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	AUTO_FD listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(bind(listener, (struct sockaddr *)&at, n) == 0 && listen(listener, 1) == 0, "listen");
	must(getsockname(listener, (struct sockaddr *)&at, &n) == 0, "getsockname");
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(connect(fds[0], (struct sockaddr *)&at, n) == 0, "connect");
	fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	must(fds[1] >= 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0, "accept");
}

MAYBE void unix_pair(int fds[2])
{
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0, "socketpair");
}

MAYBE void join(struct world *w, void (*pair)(int fds[2]))
{
	int fds[2];

	pair(fds);
	must(stream_new(w->loop, fds[0], on_stream, &w->a, &w->a.stream) == 0, "stream");
	must(stream_new(w->loop, fds[1], on_stream, &w->b, &w->b.stream) == 0, "stream");
}

MAYBE struct tls_leaf *new_leaf(const struct tls_ca *ca, const char *host)
{
	AUTO_BUF cert = {0}, key = {0};
	struct tls_leaf *leaf = NULL;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	must(tls_ca_mint(ca, sv_of(host), &cert, &key, &err) == 0, "mint");
	must(tls_leaf_new(buf_view(&cert), buf_view(&key), &leaf, &err) == 0, "leaf");
	return leaf;
}

MAYBE void serve(struct world *w, struct tls_leaf *leaf, unsigned alpn)
{
	CHECK(stream_tls_server(w->b.stream, w->server, leaf, alpn) == 0);
	tls_leaf_free(leaf);
}

MAYBE void secure(struct world *w, const char *leaf, const char *host)
{
	CHECK(stream_tls_client(w->a.stream, w->client, sv_of(host), ALPN_H1 | ALPN_H2) == 0);
	serve(w, new_leaf(w->ca, leaf), ALPN_H1 | ALPN_H2);
}

/* Runs until nothing happens any more. */
MAYBE void settle(struct world *w)
{
	size_t before = 0, now;
	int64_t last;

	loop_step(w->loop, 0);
	last = loop_now(w->loop);
	for (;;) {
		loop_step(w->loop, 30);
		now = w->a.in.n + w->b.in.n + w->a.out.n + w->b.out.n + w->a.open + w->b.open + w->a.failed +
		      w->b.failed + w->a.ended + w->b.ended;
		if (now != before)
			last = loop_now(w->loop);
		else if (loop_now(w->loop) - last >= 30)
			return;
		before = now;
	}
}

MAYBE bool side_got(const struct side *s, const char *text)
{
	return sv_is(buf_view(&s->in), text);
}

MAYBE void bytes_pass_both_ways(struct world *w)
{
	w->a.out = sv_of("request");
	w->b.out = sv_of("answer");
	settle(w);
	CHECK(w->a.open && w->b.open);
	CHECK(side_got(&w->b, "request") && side_got(&w->a, "answer"));
	CHECK(stream_failure(w->a.stream) == STREAM_FINE && stream_failure(w->b.stream) == STREAM_FINE);
	CHECK_STR(stream_failure_text(w->a.stream), "");
}

#endif

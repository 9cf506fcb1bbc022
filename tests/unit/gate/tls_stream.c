#include "check.h"

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
#include "loop/loop.h"
#include "tls/ca.h"
#include "tls/client.h"
#include "tls/leaf.h"
#include "tls/server.h"
#include "tls/stream.h"

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

static void must(bool ok, const char *what)
{
	if (!ok) {
		printf("Bail out! %s: %s\n", what, err.text);
		exit(1);
	}
}

static void world_init(struct world *w)
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

static void side_done(struct side *s)
{
	stream_free(s->stream);
	buf_clear(&s->in);
	*s = (struct side){.in = s->in};
}

static void world_done(struct world *w)
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

static void write_out(struct side *s)
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

static void read_in(struct side *s)
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

static void on_stream(void *arg, unsigned events)
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

static void tcp_pair(int fds[2])
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

static void unix_pair(int fds[2])
{
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0, "socketpair");
}

static void join(struct world *w, void (*pair)(int fds[2]))
{
	int fds[2];

	pair(fds);
	must(stream_new(w->loop, fds[0], on_stream, &w->a, &w->a.stream) == 0, "stream");
	must(stream_new(w->loop, fds[1], on_stream, &w->b, &w->b.stream) == 0, "stream");
}

static struct tls_leaf *new_leaf(const struct tls_ca *ca, const char *host)
{
	AUTO_BUF cert = {0}, key = {0};
	struct tls_leaf *leaf = NULL;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	must(tls_ca_mint(ca, sv_of(host), &cert, &key, &err) == 0, "mint");
	must(tls_leaf_new(buf_view(&cert), buf_view(&key), &leaf, &err) == 0, "leaf");
	return leaf;
}

static void serve(struct world *w, struct tls_leaf *leaf, unsigned alpn)
{
	CHECK(stream_tls_server(w->b.stream, w->server, leaf, alpn) == 0);
	tls_leaf_free(leaf);
}

static void secure(struct world *w, const char *leaf, const char *host)
{
	CHECK(stream_tls_client(w->a.stream, w->client, sv_of(host), ALPN_H1 | ALPN_H2) == 0);
	serve(w, new_leaf(w->ca, leaf), ALPN_H1 | ALPN_H2);
}

/* Runs until nothing happens any more. */
static void settle(struct world *w)
{
	size_t before = 0, now;
	int64_t last;

	loop_step(w->loop, 0);
	last = loop_now(w->loop);
	for (;;) {
		loop_step(w->loop, 30);
		now = w->a.in.n + w->b.in.n + w->a.out.n + w->b.out.n + w->a.open + w->b.open + w->a.failed + w->b.failed + w->a.ended + w->b.ended;
		if (now != before)
			last = loop_now(w->loop);
		else if (loop_now(w->loop) - last >= 30)
			return;
		before = now;
	}
}

static bool side_got(const struct side *s, const char *text)
{
	return sv_is(buf_view(&s->in), text);
}

static void bytes_pass_both_ways(struct world *w)
{
	w->a.out = sv_of("request");
	w->b.out = sv_of("answer");
	settle(w);
	CHECK(w->a.open && w->b.open);
	CHECK(side_got(&w->b, "request") && side_got(&w->a, "answer"));
	CHECK(stream_failure(w->a.stream) == STREAM_FINE && stream_failure(w->b.stream) == STREAM_FINE);
	CHECK_STR(stream_failure_text(w->a.stream), "");
}

static void a_minted_leaf_is_accepted_for_its_name_and_alpn_is_agreed_on(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "api.example.test", "api.example.test");
	bytes_pass_both_ways(&w);
	CHECK(stream_alpn(w.a.stream) == ALPN_H2 && stream_alpn(w.b.stream) == ALPN_H2);
	CHECK(stream_is_tls(w.a.stream) && !stream_resumed(w.a.stream));
	world_done(&w);
}

static void an_address_is_verified_as_one(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	secure(&w, "127.0.0.1", "127.0.0.1");
	bytes_pass_both_ways(&w);
	side_done(&w.a);
	side_done(&w.b);
	join(&w, tcp_pair);
	secure(&w, "127.0.0.1", "127.0.0.2");
	settle(&w);
	CHECK(stream_failure(w.a.stream) == STREAM_CERT_NAME);
	world_done(&w);
}

static void a_certificate_for_another_name_is_refused(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "other.example.test", "api.example.test");
	w.a.out = sv_of("request");
	settle(&w);
	CHECK(w.a.failed == 1 && !w.a.open && w.b.in.n == 0);
	CHECK(stream_failure(w.a.stream) == STREAM_CERT_NAME);
	CHECK(stream_failure(w.b.stream) == STREAM_ALERT);
	CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
	world_done(&w);
}

static void a_certificate_of_an_unknown_authority_is_refused(void)
{
	struct tls_ca *other = NULL;
	struct world w;

	world_init(&w);
	must(tls_ca_new(&other, &err) == 0, "CA");
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	serve(&w, new_leaf(other, "a.test"), ALPN_H1);
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_CERT_UNTRUSTED);
	CHECK(strlen(stream_failure_text(w.a.stream)) > 0);
	tls_ca_free(other);
	world_done(&w);
}

/* A leaf of ca whose time is moved by so many days. */
static struct tls_leaf *shifted_leaf(const struct tls_ca *ca, int days)
{
	AUTO_BUF cert = {0}, key = {0}, ca_cert = {0}, ca_key = {0};
	const unsigned char *p, *k;
	struct tls_leaf *leaf = NULL;
	unsigned char *der = NULL;
	EVP_PKEY *signer;
	time_t now = time(NULL);
	X509 *x;
	int n = 0;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	buf_init(&ca_cert, 10000);
	buf_init(&ca_key, 10000);
	must(tls_ca_mint(ca, sv_of("a.test"), &cert, &key, &err) == 0 && tls_ca_export(ca, &ca_cert, &ca_key, &err) == 0, "mint");
	p = (const unsigned char *)cert.p;
	k = (const unsigned char *)ca_key.p;
	x = d2i_X509(NULL, &p, (long)cert.n);
	signer = d2i_AutoPrivateKey(NULL, &k, (long)ca_key.n);
	X509_time_adj_ex(X509_getm_notBefore(x), days, 0, &now);
	X509_time_adj_ex(X509_getm_notAfter(x), days + 1, 0, &now);
	must(X509_sign(x, signer, EVP_sha256()) > 0 && (n = i2d_X509(x, &der)) > 0, "sign");
	must(tls_leaf_new(sv_n((char *)der, (size_t)n), buf_view(&key), &leaf, &err) == 0, "leaf");
	OPENSSL_free(der);
	X509_free(x);
	EVP_PKEY_free(signer);
	return leaf;
}

static void a_certificate_past_or_before_its_time_is_refused(void)
{
	static const int days[] = {-5, 5};
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < 2; i++) {
		join(&w, unix_pair);
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
		serve(&w, shifted_leaf(w.ca, days[i]), ALPN_H1);
		settle(&w);
		CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_CERT_EXPIRED);
		CHECK_STR(stream_failure_text(w.a.stream), i == 0 ? "certificate has expired" : "certificate is not yet valid");
		side_done(&w.a);
		side_done(&w.b);
	}
	world_done(&w);
}

/* A client of OpenSSL's own, over the other end of b's socket, in steps with the loop. */
static int old_client(struct world *w, int fd, int version)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl;
	int r, i;

	SSL_CTX_set_security_level(ctx, 0);
	SSL_CTX_set_min_proto_version(ctx, version);
	SSL_CTX_set_max_proto_version(ctx, version);
	ssl = SSL_new(ctx);
	SSL_set_fd(ssl, fd);
	for (i = 0; i < 50; i++) {
		r = SSL_connect(ssl);
		if (r == 1)
			break;
		loop_step(w->loop, 1);
	}
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	return r;
}

static void tls_1_0_and_1_1_are_refused(void)
{
	static const int versions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION};
	struct world w;
	int fds[2];
	size_t i;

	world_init(&w);
	for (i = 0; i < 3; i++) {
		unix_pair(fds);
		must(stream_new(w.loop, fds[1], on_stream, &w.b, &w.b.stream) == 0, "stream");
		serve(&w, new_leaf(w.ca, "a.test"), 0);
		CHECK((old_client(&w, fds[0], versions[i]) == 1) == (i == 2));
		CHECK(stream_failure(w.b.stream) == (i == 2 ? STREAM_FINE : STREAM_PROTOCOL));
		close(fds[0]);
		side_done(&w.b);
	}
	world_done(&w);
}

static void a_peer_without_tls_is_a_failure_of_protocol(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	CHECK(stream_write(w.b.stream, "HTTP/1.1 400 Bad Request\r\n\r\n", 28) == 28);
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_PROTOCOL);
	world_done(&w);
}

static void peers_with_nothing_in_common_to_speak_part(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H2) == 0);
	serve(&w, new_leaf(w.ca, "a.test"), ALPN_H1);
	settle(&w);
	CHECK(stream_failure(w.b.stream) == STREAM_NO_ALPN && stream_failure(w.a.stream) == STREAM_NO_ALPN);
	world_done(&w);
}

static void the_second_connection_to_a_host_resumes_and_to_another_does_not(void)
{
	static const char *const hosts[] = {"a.test", "a.test", "b.test"};
	struct tls_leaf *leaf;
	struct world w;
	size_t i;

	world_init(&w);
	leaf = new_leaf(w.ca, "a.test");
	for (i = 0; i < 3; i++) {
		join(&w, unix_pair);
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of(hosts[i]), ALPN_H1) == 0);
		if (i < 2)
			CHECK(stream_tls_server(w.b.stream, w.server, leaf, ALPN_H1) == 0);
		else
			serve(&w, new_leaf(w.ca, "b.test"), ALPN_H1);
		bytes_pass_both_ways(&w);
		CHECK(stream_resumed(w.a.stream) == (i == 1) && stream_resumed(w.b.stream) == (i == 1));
		side_done(&w.a);
		side_done(&w.b);
	}
	tls_leaf_free(leaf);
	world_done(&w);
}

/* The session of a leaf is no password for another: the same name with another certificate is verified anew. */
static void a_session_is_bound_to_its_leaf(void)
{
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < 2; i++) {
		join(&w, unix_pair);
		secure(&w, "a.test", "a.test");
		bytes_pass_both_ways(&w);
		CHECK(!stream_resumed(w.a.stream));
		side_done(&w.a);
		side_done(&w.b);
	}
	world_done(&w);
}

/* Carries bytes between two sockets one at a time. */
struct drip {
	int fds[2][2]; /* [direction][from, to] */
	struct loop *loop;
	struct loop_task task;
	int idle;
};

static void drip_some(void *arg)
{
	struct drip *d = arg;
	char c;
	int i;

	for (i = 0; i < 2; i++)
		if (recv(d->fds[i][0], &c, 1, MSG_DONTWAIT) == 1)
			must(send(d->fds[i][1], &c, 1, 0) == 1, "drip");
	loop_task_post(d->loop, &d->task, drip_some, d);
}

static void a_handshake_and_data_survive_delivery_byte_by_byte(void)
{
	struct world w;
	struct drip d = {0};
	int a[2], b[2], i;

	world_init(&w);
	unix_pair(a);
	unix_pair(b);
	must(stream_new(w.loop, a[0], on_stream, &w.a, &w.a.stream) == 0 && stream_new(w.loop, b[0], on_stream, &w.b, &w.b.stream) == 0, "stream");
	d = (struct drip){.fds = {{a[1], b[1]}, {b[1], a[1]}}, .loop = w.loop};
	drip_some(&d);
	secure(&w, "a.test", "a.test");
	w.a.out = sv_of("request");
	w.b.out = sv_of("answer");
	w.a.finish = w.b.finish = true;
	for (i = 0; i < 20000 && !(w.a.in.n == 6 && w.b.in.n == 7); i++)
		loop_step(w.loop, 1);
	CHECK(side_got(&w.b, "request") && side_got(&w.a, "answer"));
	loop_task_cancel(&d.task);
	close(a[1]);
	close(b[1]);
	world_done(&w);
}

static void sniffed_bytes_that_are_given_back_reach_the_engine(void)
{
	char sniffed[4096];
	struct world w;
	ssize_t n = -EAGAIN;
	int i;

	for (i = 0; i < 3; i++) {
		world_init(&w);
		join(&w, unix_pair);
		w.b.stopped = true;
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
		n = stream_read(w.b.stream, sniffed, sizeof(sniffed));
		CHECK(n > 100);
		if (n > 100) {
			/* as a whole, and in two pieces, the later one first */
			CHECK(stream_unread(w.b.stream, sv_n(sniffed + 50 * i, (size_t)n - 50 * (size_t)i)) == 0);
			CHECK(stream_unread(w.b.stream, sv_n(sniffed, 50 * (size_t)i)) == 0);
		}
		w.b.stopped = false;
		serve(&w, new_leaf(w.ca, "a.test"), ALPN_H1);
		bytes_pass_both_ways(&w);
		CHECK(stream_unread(w.b.stream, sv_of("x")) == -EINVAL);
		world_done(&w);
	}
}

static void given_back_bytes_leave_with_the_socket(void)
{
	AUTO_BUF unread = {0};
	char room[8];
	struct world w;
	AUTO_FD fd = -1;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	CHECK(stream_write(w.a.stream, "abcdef", 6) == 6);
	CHECK(stream_read(w.b.stream, room, 4) == 4);
	CHECK(stream_unread(w.b.stream, sv_n(room, 4)) == 0);
	CHECK(stream_read(w.b.stream, room, 1) == 1 && room[0] == 'a');
	buf_init(&unread, 100);
	fd = stream_take_fd(w.b.stream, &unread);
	w.b.stream = NULL;
	CHECK(fd >= 0 && sv_is(buf_view(&unread), "bcd"));
	CHECK(read(fd, room, sizeof(room)) == 2);
	world_done(&w);
}

enum { LARGE = 6 << 20 };

static char *large_text(void)
{
	char *p = malloc(LARGE);
	unsigned state = 1;
	size_t i;

	must(p, "memory");
	for (i = 0; i < LARGE; i++) {
		state = state * 1103515245u + 12345u;
		p[i] = (char)(state >> 16);
	}
	return p;
}

static void transfer(void (*pair)(int fds[2]), bool tls, size_t chunk)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	int i;

	world_init(&w);
	join(&w, pair);
	w.a.out = w.b.out = sv_n(text, LARGE);
	w.a.chunk = w.b.chunk = chunk;
	w.a.finish = w.b.finish = true;
	if (tls) {
		secure(&w, "a.test", "a.test");
	} else {
		write_out(&w.a);
		write_out(&w.b);
	}
	for (i = 0; i < 100000 && !((w.a.ended || w.a.read_failed) && (w.b.ended || w.b.read_failed)); i++)
		loop_step(w.loop, 1000);
	CHECK(w.a.ended && w.b.ended && !w.a.failed && !w.b.failed);
	CHECK(w.a.in.n == LARGE && memcmp(w.a.in.p, text, LARGE) == 0);
	CHECK(w.b.in.n == LARGE && memcmp(w.b.in.p, text, LARGE) == 0);
	world_done(&w);
}

static void large_transfers_both_ways_at_once_arrive_whole(void)
{
	transfer(unix_pair, false, 0);
	transfer(tcp_pair, false, 0);
	transfer(unix_pair, true, 0);
	transfer(tcp_pair, true, 0);
	transfer(unix_pair, true, 777);
	transfer(tcp_pair, true, 100000);
}

static void a_writer_is_held_back_by_a_reader_that_does_not_read(void)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	size_t left;
	int i;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	secure(&w, "a.test", "a.test");
	w.a.out = sv_n(text, LARGE);
	settle(&w);
	left = w.a.out.n;
	CHECK(w.a.open && left > LARGE / 2);
	CHECK(stream_write(w.a.stream, "x", 1) == -EAGAIN);
	settle(&w);
	CHECK(w.a.out.n == left);
	w.b.stopped = false;
	stream_resume(w.b.stream, STREAM_READ);
	for (i = 0; i < 100000 && w.b.in.n < LARGE; i++)
		loop_step(w.loop, 1000);
	CHECK(w.b.in.n == LARGE && memcmp(w.b.in.p, text, LARGE) == 0);
	world_done(&w);
}

static void pieces_of_an_iovec_arrive_in_order(void)
{
	AUTO_FREE char *text = large_text();
	char head[] = "head", middle[] = "";
	struct iovec v[] = {{head, 4}, {middle, 0}, {text, 40000}, {head, 4}};
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "a.test", "a.test");
	settle(&w);
	CHECK(stream_writev(w.a.stream, v, 4) == 40008);
	settle(&w);
	CHECK(w.b.in.n == 40008 && memcmp(w.b.in.p, "head", 4) == 0 && memcmp(w.b.in.p + 4, text, 40000) == 0 && memcmp(w.b.in.p + 40004, "head", 4) == 0);
	world_done(&w);
}

static void one_direction_can_end_while_the_other_goes_on(void)
{
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		CHECK(stream_write(w.a.stream, "request", 7) == 7);
		stream_finish(w.a.stream);
		CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
		settle(&w);
		CHECK(side_got(&w.b, "request") && w.b.ended && w.b.hangup);
		CHECK(stream_write(w.b.stream, "answer", 6) == 6);
		stream_finish(w.b.stream);
		settle(&w);
		CHECK(side_got(&w.a, "answer") && w.a.ended);
		CHECK(stream_failure(w.a.stream) == STREAM_FINE && stream_failure(w.b.stream) == STREAM_FINE);
		world_done(&w);
	}
}

static void an_end_that_tls_did_not_announce_is_not_taken_for_one(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	secure(&w, "a.test", "a.test");
	w.b.out = sv_of("half an ans");
	settle(&w);
	CHECK(shutdown(stream_fd(w.b.stream), SHUT_WR) == 0);
	settle(&w);
	CHECK(side_got(&w.a, "half an ans") && !w.a.ended && w.a.read_failed);
	CHECK(stream_failure(w.a.stream) == STREAM_CUT);
	world_done(&w);
}

static void a_reset_is_told_as_one(void)
{
	struct linger at_once = {1, 0};
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		CHECK(setsockopt(stream_fd(w.b.stream), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
		stream_free(w.b.stream);
		w.b.stream = NULL;
		settle(&w);
		CHECK(w.a.read_failed && w.a.hangup && stream_failure(w.a.stream) == STREAM_RESET);
		CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
		world_done(&w);
	}
}

static void a_peer_that_goes_in_the_middle_of_a_handshake_is_a_reset(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	stream_free(w.b.stream);
	w.b.stream = NULL;
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_RESET);
	world_done(&w);
}

/* A refusal is answered while the client still sends: a close() with unread bytes would reset the answer away. */
static void an_answer_before_a_close_arrives_though_the_request_was_not_read(void)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	int tls, i;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		w.b.stopped = true;
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		w.a.out = sv_n(text, 1 << 20);
		w.a.finish = true;
		write_out(&w.a);
		CHECK(stream_write(w.b.stream, "403", 3) == 3);
		stream_close(w.b.stream);
		w.b.stream = NULL;
		for (i = 0; i < 1000 && !w.a.ended && !w.a.read_failed; i++)
			loop_step(w.loop, 100);
		CHECK(side_got(&w.a, "403") && w.a.ended);
		settle(&w);
		world_done(&w);
	}
}

static void answers_are_read_though_writing_has_failed(void)
{
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, unix_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		w.a.stopped = true;
		CHECK(stream_write(w.b.stream, "413", 3) == 3);
		stream_finish(w.b.stream);
		stream_free(w.b.stream);
		w.b.stream = NULL;
		CHECK(stream_write(w.a.stream, "body", 4) == -EIO);
		CHECK(stream_failure(w.a.stream) == STREAM_RESET);
		w.a.stopped = false;
		read_in(&w.a);
		settle(&w);
		CHECK(side_got(&w.a, "413") && w.a.ended);
		world_done(&w);
	}
}

static void a_hangup_is_told_to_a_user_who_does_not_read(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	CHECK(stream_write(w.a.stream, "x", 1) == 1);
	settle(&w);
	CHECK(!w.b.hangup);
	stream_free(w.a.stream);
	w.a.stream = NULL;
	settle(&w);
	CHECK(w.b.hangup && !w.b.ended);
	world_done(&w);
}

static void hosts_that_are_none_are_refused_before_a_byte_is_sent(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of(""), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("*.test"), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_n("a.test\0b", 8), ALPN_H1) == -EINVAL);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("A.test"), ALPN_H1) == -EINVAL);
	settle(&w);
	CHECK(w.b.in.n == 0);
	world_done(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_minted_leaf_is_accepted_for_its_name_and_alpn_is_agreed_on),
		CASE(an_address_is_verified_as_one),
		CASE(a_certificate_for_another_name_is_refused),
		CASE(a_certificate_of_an_unknown_authority_is_refused),
		CASE(a_certificate_past_or_before_its_time_is_refused),
		CASE(tls_1_0_and_1_1_are_refused),
		CASE(a_peer_without_tls_is_a_failure_of_protocol),
		CASE(peers_with_nothing_in_common_to_speak_part),
		CASE(the_second_connection_to_a_host_resumes_and_to_another_does_not),
		CASE(a_session_is_bound_to_its_leaf),
		CASE(a_handshake_and_data_survive_delivery_byte_by_byte),
		CASE(sniffed_bytes_that_are_given_back_reach_the_engine),
		CASE(given_back_bytes_leave_with_the_socket),
		CASE(large_transfers_both_ways_at_once_arrive_whole),
		CASE(a_writer_is_held_back_by_a_reader_that_does_not_read),
		CASE(pieces_of_an_iovec_arrive_in_order),
		CASE(one_direction_can_end_while_the_other_goes_on),
		CASE(an_end_that_tls_did_not_announce_is_not_taken_for_one),
		CASE(a_reset_is_told_as_one),
		CASE(a_peer_that_goes_in_the_middle_of_a_handshake_is_a_reset),
		CASE(an_answer_before_a_close_arrives_though_the_request_was_not_read),
		CASE(answers_are_read_though_writing_has_failed),
		CASE(a_hangup_is_told_to_a_user_who_does_not_read),
		CASE(hosts_that_are_none_are_refused_before_a_byte_is_sent),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

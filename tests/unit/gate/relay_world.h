/*
 * relay_world: a relay as its program runs it, in a process of its own, and its other ends here: supervisor, egress,
 * vault, and the clients inside.
 *
 * With a program given on the command line (the real cordon-relay) that is started; else we fork, with a stub for HTTP
 * that says on what it was let loose.
 */
#ifndef CORDON_TESTS_RELAY_WORLD_H
#define CORDON_TESTS_RELAY_WORLD_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "gate/relay/http.h"
#include "gate/relay/session_h2.h"
#include "gate/relay/relay.h"
#include "gate/relay/setup.h"
#include "model/event.h"
#include "policy/policy_codec.h"
#include "policy_memory.h"
#include "sys/role.h"
#include "tls/ca.h"
#include "vault/vault.h"
#include "wire/wire.h"

enum { WAIT_MS = 20000 };

static const char *relay_program; /* NULL: fork */

struct world {
	pid_t pid;
	int control, link, calls, vault;
	uint16_t proxy, direct, dns_udp, dns_tcp, inference;
	struct sockaddr_un door;
	socklen_t n_door;
	uint64_t generation;
	rlim_t fds; /* 0: as many as we have */
	int room;   /* of the sockets of tunnels, both ways, in bytes; 0: what the kernel likes */
};

static inline void must(bool ok, const char *what)
{
	if (!ok) {
		printf("Bail out! %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* Sockets. */

static inline int tcp_listener(int type, uint16_t *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET}; /* any address: the direct one is dialled by several */
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	must(fd >= 0 && bind(fd, (struct sockaddr *)&at, n) == 0 && (type != SOCK_STREAM || listen(fd, 4096) == 0),
	     "listen");
	must(getsockname(fd, (struct sockaddr *)&at, &n) == 0, "getsockname");
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* A name that the kernel chooses, which leaves no file behind. */
static inline int door_listener(struct world *w)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	w->door.sun_family = AF_UNIX;
	w->n_door = sizeof(w->door);
	must(fd >= 0 && bind(fd, (struct sockaddr *)&w->door, sizeof(w->door.sun_family)) == 0 && listen(fd, 4096) == 0,
	     "door");
	must(getsockname(fd, (struct sockaddr *)&w->door, &w->n_door) == 0, "getsockname");
	return fd;
}

static inline void set_wait(int fd)
{
	const struct timeval t = {.tv_sec = WAIT_MS / 1000};

	must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0 &&
		     setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) == 0,
	     "timeout");
}

static inline int dial(const char *address, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = inet_addr(address)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	set_wait(fd);
	must(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0, "connect");
	return fd;
}

/* What a socket, and those that come from it when it listens, may hold each way; 0: what the kernel likes. */
static inline void set_room(int fd, int bytes)
{
	must(bytes == 0 || (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) == 0 &&
			    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) == 0),
	     "room");
}

/* A connection, as egress dials one: the relay's end is to be passed on and closed. */
static inline void tcp_pair(int room, int *ours, int *theirs)
{
	uint16_t port;
	AUTO_FD listener = tcp_listener(SOCK_STREAM, &port);

	set_room(listener, room);
	*ours = dial("127.0.0.1", port);
	set_room(*ours, room);
	*theirs = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	must(*theirs >= 0, "accept");
}

static inline void say(int fd, struct sv bytes)
{
	must(write_all(fd, bytes.p, bytes.n) == 0, "write");
}

/* Reads until n bytes, the end, a failure or the time limit. How many came. */
static inline size_t hear(int fd, char *p, size_t n)
{
	size_t got = 0;
	ssize_t r;

	while (got < n && (r = recv(fd, p + got, n - got, 0)) > 0)
		got += (size_t)r;
	return got;
}

/* All that comes until the end, as a string. Static room. */
static inline const char *hear_all(int fd)
{
	static char room[65536];
	size_t n = hear(fd, room, sizeof(room) - 1);

	room[n] = '\0';
	return room;
}

/* The other side closed, be it by a reset, and said nothing before. */
static inline bool is_closed(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, 0);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static inline bool is_reset(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) < 0 && errno == ECONNRESET;
}

static inline bool is_silent(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 0;
}

/* Policies. */

static inline int policy_fd(const char *text)
{
	struct error err;
	struct policy *p = memory_policy(text, NULL, &err);
	AUTO_BUF bytes = {0};
	int fd = memfd_create("policy", MFD_CLOEXEC);

	if (!p)
		printf("# %s\n", err.text);
	buf_init(&bytes, POLICY_CODEC_MAX);
	must(p && fd >= 0 && policy_encode(p, &bytes) == 0 && write_all(fd, bytes.p, bytes.n) == 0, "policy");
	policy_free(p);
	return fd;
}

/* Messages. */

static inline bool next(int sock, uint16_t type, struct wire_message *m)
{
	int r;

	set_wait(sock);
	r = wire_receive(sock, m);
	if (r == 1 && m->type == type)
		return true;
	printf("# wanted message %u, got %d/%u\n", type, r, r == 1 ? m->type : 0);
	return false;
}

/* The next event, past messages about usage. */
static inline bool next_event(struct world *w, struct wire_message *m, struct gate_event *e)
{
	set_wait(w->control);
	for (;;) {
		if (wire_receive(w->control, m) != 1)
			return false;
		if (m->type == GATE_EVENT)
			return gate_get_event(buf_view(&m->body), e) == 0;
		wire_message_done(m);
	}
}

/* For who reads why a test has failed: what the relay says about it. */
static inline void show_events(struct world *w)
{
	struct pollfd p = {.fd = w->control, .events = POLLIN};
	struct wire_message m;
	struct gate_event e;

	while (poll(&p, 1, 0) == 1 && wire_receive(w->control, &m) == 1) {
		if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &e) == 0)
			printf("# relay: %s %.*s | %.*s | %.*s\n", e.verdict ? "allow" : "deny", (int)e.subject.n,
			       e.subject.p, (int)e.rule.n, e.rule.p, (int)e.detail.n, e.detail.p);
		wire_message_done(&m);
	}
}

static inline size_t query(const char *name, uint16_t type, unsigned char *out)
{
	size_t n = 12;
	const char *dot;

	memset(out, 0, 12);
	out[1] = 7;
	out[2] = 1;
	out[5] = 1;
	for (; *name; name = *dot ? dot + 1 : dot) {
		dot = strchrnul(name, '.');
		out[n++] = (unsigned char)(dot - name);
		memcpy(out + n, name, (size_t)(dot - name));
		n += (size_t)(dot - name);
	}
	out[n++] = 0;
	out[n++] = (unsigned char)(type >> 8);
	out[n++] = (unsigned char)type;
	out[n++] = 0;
	out[n++] = 1;
	return n;
}

/* Asks over UDP. The length of the answer; the address is its last four bytes, where it has one. */
static inline size_t ask_udp(struct world *w, const char *name, uint16_t type, unsigned char answer[1500])
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(w->dns_udp), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t n = query(name, type, answer);
	ssize_t r;

	set_wait(fd);
	must(sendto(fd, answer, n, 0, (struct sockaddr *)&at, sizeof(at)) == (ssize_t)n, "sendto");
	r = recv(fd, answer, 1500, 0);
	return r > 12 ? (size_t)r : 0;
}

/*
 * What was said before is in force now: whoever is answered by a later query has been behind it in the relay's queues,
 * or beside it in one iteration.
 */
static inline void world_sync(struct world *w)
{
	unsigned char a[1500];

	CHECK(ask_udp(w, "sync.test", 1, a));
}

static inline void send_policy(struct world *w, const char *text)
{
	AUTO_FD fd = policy_fd(text);
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u64(&body, ++w->generation);
	must(wire_send(w->control, GATE_POLICY, buf_view(&body), &fd, 1) == 0, "GATE_POLICY");
	world_sync(w);
}

static inline void send_quiet(struct world *w, uint32_t quiet)
{
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u32(&body, quiet);
	must(wire_send(w->control, GATE_QUIET, buf_view(&body), NULL, 0) == 0, "GATE_QUIET");
	world_sync(w);
}

/* What egress is asked for: "host:port", and the id. Static room; "" where nothing was asked. */
static inline const char *asked(struct world *w, uint64_t *id)
{
	static char text[300];
	struct gate_tunnel t;
	struct wire_message m;

	text[0] = '\0';
	*id = 0;
	if (next(w->calls, GATE_TUNNEL, &m) && gate_get_tunnel(buf_view(&m.body), &t) == 0) {
		(void)snprintf(text, sizeof(text), "%.*s:%u", (int)t.host.n, t.host.p, t.port);
		*id = t.id;
	}
	wire_message_done(&m);
	if (!text[0])
		show_events(w);
	return text;
}

/* Egress has dialled. Our end of the connection. */
static inline int give_up(struct world *w, uint64_t id)
{
	AUTO_BUF body = {0};
	AUTO_FD theirs = -1;
	int ours;

	tcp_pair(w->room, &ours, &theirs);
	buf_init(&body, 16);
	wire_put_u64(&body, id);
	must(wire_send(w->calls, GATE_TUNNEL_UP, buf_view(&body), &theirs, 1) == 0, "GATE_TUNNEL_UP");
	return ours;
}

static inline void give_failure(struct world *w, uint64_t id, enum gate_failure why)
{
	AUTO_BUF body = {0};

	buf_init(&body, 64);
	wire_put_u64(&body, id);
	wire_put_u32(&body, why);
	wire_put_sv(&body, sv_of("a phrase"));
	must(wire_send(w->calls, GATE_TUNNEL_FAILED, buf_view(&body), NULL, 0) == 0, "GATE_TUNNEL_FAILED");
}

/* How many bytes it wants to send through that tunnel; 0: it does not ask. */
static inline uint32_t wanted(struct world *w, uint64_t id)
{
	struct wire_message m;
	struct wire_in in;
	uint32_t n = 0;

	if (next(w->calls, GATE_TUNNEL_WANT, &m)) {
		wire_in_init(&in, buf_view(&m.body));
		n = wire_get_u64(&in) == id ? wire_get_u32(&in) : 0;
	}
	wire_message_done(&m);
	return n;
}

static inline void give_grant(struct world *w, uint64_t id, uint32_t n)
{
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u64(&body, id);
	wire_put_u32(&body, n);
	must(wire_send(w->calls, GATE_TUNNEL_GRANT, buf_view(&body), NULL, 0) == 0, "GATE_TUNNEL_GRANT");
}

static inline bool is_over(struct world *w, uint64_t id)
{
	struct wire_message m;
	struct wire_in in;
	bool ok = next(w->calls, GATE_TUNNEL_OVER, &m);

	wire_in_init(&in, buf_view(&m.body));
	ok = ok && wire_get_u64(&in) == id;
	wire_message_done(&m);
	return ok;
}

/* The relay. */

static inline int be_relay(void)
{
	struct relay r = {0};
	struct error err = {0};

	(void)signal(SIGPIPE, SIG_IGN);
	if (relay_setup(&r, &err) < 0) {
		(void)fprintf(stderr, "# %s\n", err.text);
		return 125;
	}
	(void)loop_run(r.loop);
	relay_teardown(&r);
	return r.status;
}

static inline void become_relay(const struct world *w, int theirs[4])
{
	struct rlimit limit = {w->fds, w->fds};
	int i;

	for (i = 0; i < 4; i++)
		theirs[i] = fcntl(theirs[i], F_DUPFD, 100);
	for (i = 0; i < 4; i++)
		must(dup2(theirs[i], 3 + i) >= 0, "dup2");
	must(close_range(7, ~0u, 0) == 0, "close_range");
	if (w->fds)
		must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	if (relay_program) {
		(void)execl(relay_program, relay_program, (char *)NULL);
		_exit(127);
	}
	_exit(be_relay());
}

static inline void send_setup(struct world *w, const char *policy)
{
	struct gate_relay_setup setup = {.generation = ++w->generation, .n_listeners = 6};
	int fds[7] = {policy_fd(policy)};
	AUTO_BUF body = {0};
	size_t i;

	setup.listeners[0].kind = GATE_LISTEN_PROXY;
	setup.listeners[1].kind = GATE_LISTEN_TRANSPARENT;
	setup.listeners[2].kind = GATE_LISTEN_DNS_UDP;
	setup.listeners[3].kind = GATE_LISTEN_DNS_TCP;
	setup.listeners[4].kind = GATE_LISTEN_INFERENCE;
	setup.listeners[5].kind = GATE_LISTEN_DOOR;
	fds[1] = tcp_listener(SOCK_STREAM, &w->proxy);
	set_room(fds[1], w->room);
	fds[2] = tcp_listener(SOCK_STREAM, &w->direct);
	fds[3] = tcp_listener(SOCK_DGRAM, &w->dns_udp);
	fds[4] = tcp_listener(SOCK_STREAM, &w->dns_tcp);
	fds[5] = tcp_listener(SOCK_STREAM, &w->inference);
	fds[6] = door_listener(w);
	buf_init(&body, 4096);
	gate_put_relay_setup(&body, &setup);
	must(wire_send(w->control, GATE_RELAY_SETUP, buf_view(&body), fds, 7) == 0, "GATE_RELAY_SETUP");
	for (i = 0; i < 7; i++)
		(void)close(fds[i]);
}

/* The listeners are any address's: a policy that names ports of the test's own gets them by %u, which is the direct
 * listener's. */
static inline struct world world_start_with(const char *policy, rlim_t fds, int room)
{
	static const int types[4] = {SOCK_SEQPACKET, SOCK_STREAM, SOCK_SEQPACKET, SOCK_SEQPACKET};
	struct world w = {.fds = fds, .room = room};
	int *ours[4] = {&w.control, &w.link, &w.calls, &w.vault}, theirs[4], pair[2], i;
	struct wire_message m;

	for (i = 0; i < 4; i++) {
		must(socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
		*ours[i] = pair[0];
		theirs[i] = pair[1];
	}
	(void)fflush(stdout);
	w.pid = fork();
	if (w.pid == 0)
		become_relay(&w, theirs);
	for (i = 0; i < 4; i++)
		(void)close(theirs[i]);
	send_setup(&w, policy);
	CHECK(next(w.control, GATE_READY, &m));
	wire_message_done(&m);
	return w;
}

static inline struct world world_start(const char *policy)
{
	return world_start_with(policy, 0, 0);
}

/* The supervisor ends its side; the relay must end well. */
static inline void world_stop(struct world *w)
{
	int status = -1;

	(void)close(w->control);
	CHECK(waitpid(w->pid, &status, 0) == w->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (status)
		printf("# relay's wait status: %#x\n", (unsigned)status);
	(void)close(w->link);
	(void)close(w->calls);
	(void)close(w->vault);
}

/* Clients. */

static inline int connect_to(struct world *w, const char *target)
{
	char head[600];
	int fd = dial("127.0.0.1", w->proxy);

	set_room(fd, w->room);
	(void)snprintf(head, sizeof(head), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target);
	say(fd, sv_of(head));
	return fd;
}

static inline bool heard(int fd, const char *want)
{
	char room[256] = "";
	size_t n = strlen(want);

	if (hear(fd, room, n) == n && memcmp(room, want, n) == 0)
		return true;
	printf("# got \"%s\", want \"%s\"\n", room, want);
	return false;
}

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

/* From a CONNECT to an open tunnel, without a byte of the client's. */
static inline void open_tunnel(struct world *w, const char *target, int *client, int *upstream, uint64_t *id)
{
	*client = connect_to(w, target);
	CHECK_STR(asked(w, id), target);
	*upstream = give_up(w, *id);
	CHECK(heard(*client, established));
}

static inline int socks_to(struct world *w, const char *request, size_t n)
{
	int fd = dial("127.0.0.1", w->proxy);

	say(fd, sv_n("\5\1\0", 3));
	CHECK(heard(fd, "\5"));
	(void)heard(fd, ""); /* the second byte is 0 */
	say(fd, sv_n(request, n));
	return fd;
}

/* The reply's code; its ten bytes are taken. */
static inline int socks_code(int fd)
{
	unsigned char b[11];

	return hear(fd, (char *)b, sizeof(b)) == sizeof(b) && b[0] == 0 && b[1] == 5 ? b[2] : -1;
}

#define SOCKS_NAME(name, port) "\5\1\0\3" name port

/* TLS. */

/* The bytes of a ClientHello; name may be NULL. */
static inline void client_hello(const char *name, struct buf *out)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *hello = BIO_new(BIO_s_mem());
	char *p;
	long n;

	SSL_set_bio(ssl, in, hello);
	if (name)
		(void)SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)name);
	(void)SSL_connect(ssl);
	n = BIO_get_mem_data(hello, &p);
	must(n > 0 && buf_add(out, p, (size_t)n) == 0, "ClientHello");
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

/* An open tunnel, from the right ClientHello to its end: an end is passed on, and the other direction goes on. */
static inline void tunnel_carries(struct world *w, const char *name, int client, int up, uint64_t id)
{
	AUTO_BUF hello = {0};
	char room[4096];

	buf_init(&hello, sizeof(room));
	client_hello(name, &hello);
	say(client, buf_view(&hello));
	CHECK(hear(up, room, hello.n) == hello.n && memcmp(room, hello.p, hello.n) == 0);
	say(up, sv_of("server's"));
	CHECK(heard(client, "server's"));
	say(client, sv_of("client's"));
	CHECK(heard(up, "client's"));
	CHECK(shutdown(client, SHUT_WR) == 0 && is_closed(up));
	say(up, sv_of("still there"));
	CHECK(heard(client, "still there"));
	(void)close(up);
	CHECK(is_closed(client) && is_over(w, id));
	(void)close(client);
}

/* HTTP, as far as these tests look: says what it was let loose on, and the first line that it reads. */

static void on_stub(void *arg, unsigned events)
{
	(void)arg;
	(void)events;
}

void http_serve(struct relay *r, struct stream *s, const struct http_origin *o)
{
	char room[512] = "", text[1024];
	ssize_t n;
	int k;

	stream_listen(s, on_stub, NULL);
	n = stream_read(s, room, sizeof(room) - 1);
	room[n > 0 ? n : 0] = '\0';
	room[strcspn(room, "\r\n")] = '\0';
	k = snprintf(text, sizeof(text), "STUB proxy=%d tls=%d inference=%d %s:%u %s", o->proxy, o->tls, o->inference,
		     o->host, o->port, room);
	(void)stream_write(s, text, (size_t)k);
	stream_close(s);
	relay_connection_over(r);
}

int http_open(struct relay *r)
{
	(void)r;
	return 0;
}

void http_judge_again(struct relay *r)
{
	(void)r;
}

bool session_h2_room(const struct relay *r)
{
	(void)r;
	return true;
}

void http_done(struct relay *r)
{
	(void)r;
}

static void on_link_gone(void *user)
{
	relay_stop(user);
}

const struct link_events http_link_events = {.gone = on_link_gone};

/* What most tests run under. */
static const char usual_policy[] = "network:\n"
			     "  mode: allowlist\n"
			     "  allow:\n"
			     "    - {host: plain.test}\n"
			     "    - {host: \"*.wild.test\"}\n"
			     "    - {host: get.test, methods: [GET]}\n"
			     "    - {host: db.test, ports: [5432]}\n"
			     "    - {cidr: 127.0.0.88/32, ports: [443]}\n"
			     "  deny: [{host: no.wild.test}]\n";

/*
 * A network of our own, where it can be had: neither ports nor the packet filter of anybody else come into these tests.
 * Direct dials ask the kernel for the original destination, and a redirect on the host would answer.
 */
static inline void leave_network(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	AUTO_FD before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	AUTO_FD fd = -1;

	if (before < 0 || (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0))
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		must(setns(before, CLONE_NEWNET) == 0, "network");
}

/* Runs the cases; but the last n_stub of them only with the stub. */
static inline int world_main(int argc, char **argv, const struct check_case *cases, size_t n, size_t n_stub)
{
	leave_network();
	(void)signal(SIGPIPE, SIG_IGN);
	relay_program = argc > 1 ? argv[1] : NULL;
	return check_main(cases, n - (relay_program ? n_stub : 0));
}

#endif

/*
 * gate_load: asks an HTTPS server for things, straight or through a proxy, as its standard input says.
 *
 * One process stays for a whole benchmark, so that whoever measures can note the proxy's CPU time before and after each
 * part, and can go back and forth between several proxies. One line in, one line out, blanks between the words:
 *
 *	open COUNT ADDRESS TARGET NAME KIND
 *		connects to ADDRESS (IP:PORT, or "proxy": what HTTPS_PROXY says); with a TARGET (HOST:PORT, "-" for
 *		none) asks for a tunnel to it by CONNECT; NAME is the host asked for; KIND is tls or plain
 *		answer: open VERSION CIPHER
 *	load SECONDS PATH
 *		each connection has one request under way, always
 *		answer: load REQUESTS SECONDS P50 P99 BYTES RECONNECTS
 *	pace SECONDS PAUSE PATH
 *		one connection, a request every PAUSE microseconds; the answer is load's
 *	events COUNT PATH
 *		one connection; PATH gives an event that holds the server's CLOCK_MONOTONIC: how long was it under way?
 *		answer: events COUNT P50 P99 MAX
 *	close
 *		answer: close
 *
 * Times are in microseconds, the event's in nanoseconds. Where anything goes wrong, an answer other than 200 included:
 * "failed WHY", and the end. Certificates are checked against SSL_CERT_FILE. What -H gives is sent with each request,
 * "Name: value".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024, SAMPLES_MAX = 4000000, HEAD_MAX = 8192, READ_SIZE = 256 * 1024, PATIENCE_SECONDS = 10 };

enum part { PART_HEAD, PART_LENGTH, PART_CHUNK_SIZE, PART_CHUNK_DATA, PART_CHUNK_END, PART_TRAILER, PART_DONE };

struct connection {
	int fd;
	SSL *tls; /* NULL: plain */
	enum part part;
	char line[HEAD_MAX]; /* the head, or a line between chunks, as far as it was read */
	size_t line_size;
	uint64_t left; /* of the body, or of the chunk */
	double asked_us;
};

struct target {
	struct sockaddr_in address;
	char tunnel[256]; /* empty: none */
	char name[256];
	bool tls;
};

struct load {
	SSL_CTX *context;
	const char *header;
	struct target target;
	struct connection connections[CONNECTIONS_MAX];
	int count;
	char request[2048];
	size_t request_size;
	float *samples;
	size_t n_samples;
	uint64_t bytes;
	unsigned reconnects;
	char *buffer;
};

__attribute__((noreturn, format(printf, 1, 2))) static void failed(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)fputs("failed ", stdout);
	(void)vprintf(format, args);
	(void)putchar('\n');
	va_end(args);
	(void)fflush(stdout);
	exit(1);
}

static double now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* --- one connection --- */

static const char *tls_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "closed";
}

/* Bytes; 0 at the end; -1: later. */
static ssize_t take(struct connection *c, char *into, size_t size)
{
	ssize_t n;
	int error;

	if (!c->tls) {
		n = recv(c->fd, into, size, 0);
		return n < 0 && errno == ECONNRESET ? 0 : n;
	}
	n = SSL_read(c->tls, into, (int)size);
	if (n > 0)
		return n;
	error = SSL_get_error(c->tls, (int)n);
	if (error == SSL_ERROR_WANT_READ)
		return -1;
	ERR_clear_error();
	return 0;
}

/* Requests are small and one at a time: they fit into the socket's buffer. */
static bool put(struct connection *c, const char *bytes, size_t size)
{
	if (c->tls)
		return SSL_write(c->tls, bytes, (int)size) == (int)size;
	return send(c->fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* The CONNECT and its answer, on a blocking socket; byte by byte, as what follows belongs to TLS. */
static void ask_for_tunnel(const struct target *target, int fd)
{
	char text[1024];
	size_t n = (size_t)snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target->tunnel,
				    target->tunnel);

	if (send(fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
		failed("CONNECT: %s", strerror(errno));
	for (n = 0; n < 4 || memcmp(text + n - 4, "\r\n\r\n", 4) != 0; n++)
		if (n + 1 == sizeof(text) || recv(fd, text + n, 1, 0) != 1)
			failed("CONNECT %s: no answer", target->tunnel);
	text[n] = '\0';
	if (n < 12 || memcmp(text + 8, " 200", 4) != 0)
		failed("CONNECT %s: %.*s", target->tunnel, (int)strcspn(text, "\r"), text);
}

static void shake_hands(struct load *load, struct connection *c)
{
	c->tls = SSL_new(load->context);
	if (!c->tls || SSL_set_fd(c->tls, c->fd) != 1 || SSL_set1_host(c->tls, load->target.name) != 1 ||
	    SSL_set_tlsext_host_name(c->tls, load->target.name) != 1)
		failed("TLS could not be set up");
	if (SSL_connect(c->tls) != 1)
		failed("TLS with %s: %s", load->target.name, tls_reason());
}

static void connect_one(struct load *load, struct connection *c)
{
	struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	int on = 1;

	*c = (struct connection){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .part = PART_DONE};
	(void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(c->fd, (const struct sockaddr *)&load->target.address, sizeof(load->target.address)) < 0)
		failed("connect: %s", strerror(errno));
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (load->target.tunnel[0])
		ask_for_tunnel(&load->target, c->fd);
	if (load->target.tls)
		shake_hands(load, c);
	(void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

static void disconnect(struct connection *c)
{
	SSL_free(c->tls);
	(void)close(c->fd);
	*c = (struct connection){.fd = -1};
}

/* --- the answer --- */

static void parse_head(struct connection *c)
{
	char *length, *coding;

	c->line[c->line_size] = '\0';
	if (memcmp(c->line, "HTTP/1.1 200", 12) != 0)
		failed("%.*s", (int)strcspn(c->line, "\r"), c->line);
	length = strcasestr(c->line, "\r\ncontent-length:");
	coding = strcasestr(c->line, "\r\ntransfer-encoding: chunked");
	if (!length == !coding)
		failed("an answer without a length");
	c->left = length ? strtoull(length + strlen("\r\ncontent-length:"), NULL, 10) : 0;
	c->part = coding ? PART_CHUNK_SIZE : c->left ? PART_LENGTH : PART_DONE;
}

/* The head, and the lines between chunks: true when `end` was reached. */
static bool collect(struct connection *c, const char **at, const char *stop, const char *end)
{
	size_t n = strlen(end);

	while (*at < stop) {
		if (c->line_size + 1 == sizeof(c->line))
			failed("a line without end");
		c->line[c->line_size++] = *(*at)++;
		if (c->line_size >= n && memcmp(c->line + c->line_size - n, end, n) == 0)
			return true;
	}
	return false;
}

static void line_ended(struct connection *c)
{
	switch (c->part) {
	case PART_HEAD:
		parse_head(c);
		break;
	case PART_CHUNK_SIZE:
		c->left = strtoull(c->line, NULL, 16);
		c->part = c->left ? PART_CHUNK_DATA : PART_TRAILER;
		break;
	case PART_CHUNK_END:
		c->part = PART_CHUNK_SIZE;
		break;
	default:
		c->part = c->line_size == 2 ? PART_DONE : PART_TRAILER;
		break;
	}
	c->line_size = 0;
}

/* Bytes of the body among these. */
static uint64_t parse(struct connection *c, const char *at, size_t size)
{
	const char *stop = at + size;
	uint64_t body = 0, n;

	while (at < stop) {
		if (c->part == PART_DONE)
			failed("more than was asked for");
		if (c->part != PART_LENGTH && c->part != PART_CHUNK_DATA) {
			if (collect(c, &at, stop, c->part == PART_HEAD ? "\r\n\r\n" : "\r\n"))
				line_ended(c);
			continue;
		}
		n = (uint64_t)(stop - at) < c->left ? (uint64_t)(stop - at) : c->left;
		at += n;
		body += n;
		c->left -= n;
		if (c->left == 0)
			c->part = c->part == PART_LENGTH ? PART_DONE : PART_CHUNK_END;
	}
	return body;
}

/* A large body without TLS is thrown away by the kernel: what is measured is the way here, not a copy at its end. */
static ssize_t skip(struct connection *c)
{
	uint64_t want = c->left < (1 << 30) ? c->left : 1 << 30;
	ssize_t n = recv(c->fd, NULL, (size_t)want, MSG_TRUNC);

	if (n > 0) {
		c->left -= (uint64_t)n;
		if (c->left == 0)
			c->part = PART_DONE;
	}
	return n < 0 && errno == ECONNRESET ? 0 : n;
}

/* Reads what there is: false when the other side closed. */
static bool read_some(struct load *load, struct connection *c)
{
	ssize_t n;

	while (c->part != PART_DONE) {
		if (!c->tls && c->part == PART_LENGTH && c->left > READ_SIZE) {
			n = skip(c);
			load->bytes += n > 0 ? (uint64_t)n : 0;
		} else {
			n = take(c, load->buffer, READ_SIZE);
			load->bytes += n > 0 ? parse(c, load->buffer, (size_t)n) : 0;
		}
		if (n < 0)
			return true;
		if (n == 0)
			return false;
	}
	return true;
}

static void ask(struct load *load, struct connection *c)
{
	c->part = PART_HEAD;
	c->line_size = 0;
	c->asked_us = now_us();
	if (!put(c, load->request, load->request_size))
		failed("a request could not be sent: %s", strerror(errno));
}

static void answered(struct load *load, struct connection *c)
{
	if (load->n_samples < SAMPLES_MAX)
		load->samples[load->n_samples++] = (float)(now_us() - c->asked_us);
}

/* --- the commands --- */

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* In per mille, by the nearest rank. */
static double quantile(const struct load *load, unsigned q)
{
	return load->n_samples ? (double)load->samples[(load->n_samples - 1) * q / 1000] : 0;
}

static void begin(struct load *load, const char *path)
{
	int n = snprintf(load->request, sizeof(load->request),
			 "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nUser-Agent: bench\r\n%s%s\r\n", path,
			 load->target.name, load->header ? load->header : "", load->header ? "\r\n" : "");

	if (load->count == 0 || n < 0 || (size_t)n >= sizeof(load->request))
		failed("nothing to ask");
	load->request_size = (size_t)n;
	load->n_samples = 0;
	load->bytes = 0;
	load->reconnects = 0;
}

static void print_load(struct load *load, double seconds)
{
	size_t n = load->n_samples;

	qsort(load->samples, n, sizeof(load->samples[0]), by_size);
	printf("load %zu %.6f %.1f %.1f %llu %u\n", n, seconds, quantile(load, 500), quantile(load, 990),
	       (unsigned long long)load->bytes, load->reconnects);
	(void)fflush(stdout);
}

static void parse_address(const char *text, struct sockaddr_in *ret)
{
	char ip[64];
	unsigned port;

	if (strcmp(text, "proxy") == 0) {
		text = getenv("HTTPS_PROXY");
		if (!text || strncmp(text, "http://", 7) != 0)
			failed("no HTTPS_PROXY");
		text += 7;
	}
	if (sscanf(text, "%63[0-9.]:%u", ip, &port) != 2)
		failed("not an address: %s", text);
	*ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	if (inet_pton(AF_INET, ip, &ret->sin_addr) != 1)
		failed("not an address: %s", text);
}

static void close_all(struct load *load)
{
	while (load->count > 0)
		disconnect(&load->connections[--load->count]);
}

static void do_open(struct load *load, const char *line)
{
	char address[256], kind[16];
	struct target *t = &load->target;
	int count;
	SSL *tls;

	if (sscanf(line, "open %d %255s %255s %255s %15s", &count, address, t->tunnel, t->name, kind) != 5 ||
	    count < 1 || count > CONNECTIONS_MAX)
		failed("usage: open COUNT ADDRESS TARGET NAME KIND");
	close_all(load);
	parse_address(address, &t->address);
	if (strcmp(t->tunnel, "-") == 0)
		t->tunnel[0] = '\0';
	t->tls = strcmp(kind, "tls") == 0;
	while (load->count < count)
		connect_one(load, &load->connections[load->count++]);
	tls = load->connections[0].tls;
	printf("open %s %s\n", tls ? SSL_get_version(tls) : "-", tls ? SSL_get_cipher_name(tls) : "-");
}

/* A connection that was closed between two requests, or within one, is made anew; how often is told. */
static void renew(struct load *load, struct connection *c, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

	load->reconnects++;
	disconnect(c);
	connect_one(load, c);
	(void)epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
	ask(load, c);
}

static void wait_readable(const struct connection *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};

	if (poll(&p, 1, PATIENCE_SECONDS * 1000) != 1)
		failed("no answer within %d seconds", PATIENCE_SECONDS);
}

/* Reads the answer to its end; what TLS has read ahead is taken first. */
static void finish(struct load *load, struct connection *c)
{
	while (c->part != PART_DONE) {
		if (!read_some(load, c))
			failed("closed within an answer");
		if (c->part != PART_DONE)
			wait_readable(c);
	}
}

static void do_load(struct load *load, const char *line)
{
	struct epoll_event events[64], event = {.events = EPOLLIN};
	double seconds, start, until;
	int epoll = epoll_create1(EPOLL_CLOEXEC), i, n;
	char path[256];

	if (sscanf(line, "load %lf %255s", &seconds, path) != 2)
		failed("usage: load SECONDS PATH");
	begin(load, path);
	start = now_us();
	until = start + seconds * 1e6;
	for (i = 0; i < load->count; i++) {
		event.data.ptr = &load->connections[i];
		(void)epoll_ctl(epoll, EPOLL_CTL_ADD, load->connections[i].fd, &event);
		ask(load, &load->connections[i]);
	}
	while (now_us() < until) {
		n = epoll_wait(epoll, events, 64, PATIENCE_SECONDS * 1000);
		if (n == 0)
			failed("no answer within %d seconds", PATIENCE_SECONDS);
		for (i = 0; i < n; i++) {
			struct connection *c = events[i].data.ptr;

			if (!read_some(load, c)) {
				renew(load, c, epoll);
			} else if (c->part == PART_DONE) {
				answered(load, c);
				ask(load, c);
			}
		}
	}
	print_load(load, (now_us() - start) / 1e6);
	(void)close(epoll);
	for (i = 0; i < load->count; i++)
		finish(load, &load->connections[i]);
}

static void do_pace(struct load *load, const char *line)
{
	struct connection *c = &load->connections[0];
	double seconds, pause, start, until, next;
	char path[256];

	if (sscanf(line, "pace %lf %lf %255s", &seconds, &pause, path) != 3)
		failed("usage: pace SECONDS PAUSE PATH");
	begin(load, path);
	start = next = now_us();
	until = start + seconds * 1e6;
	for (; next < until; next += pause) {
		double rest = next - now_us();

		if (rest > 0)
			(void)usleep((useconds_t)rest);
		ask(load, c);
		finish(load, c);
		answered(load, c);
	}
	print_load(load, (now_us() - start) / 1e6);
}

/* The time in the first event of one answer, ns; reads the answer to its end. */
static void one_event(struct load *load, struct connection *c)
{
	char seen[4096], *at;
	size_t size = 0;
	bool found = false;
	ssize_t n;

	while (c->part != PART_DONE) {
		wait_readable(c);
		n = take(c, load->buffer, sizeof(seen) - 1);
		if (n == 0)
			failed("closed within an answer");
		if (n < 0)
			continue;
		if (!found && size + (size_t)n < sizeof(seen)) {
			memcpy(seen + size, load->buffer, (size_t)n);
			size += (size_t)n;
			seen[size] = '\0';
			at = strstr(seen, "data: ");
			if (at && strchr(at, '\n')) {
				load->samples[load->n_samples++] = (float)(now_us() - strtod(at + 6, NULL) / 1e3);
				found = true;
			}
		}
		(void)parse(c, load->buffer, (size_t)n);
	}
	if (!found)
		failed("an answer without an event");
}

static void do_events(struct load *load, const char *line)
{
	struct connection *c = &load->connections[0];
	char path[256];
	int count, i;

	if (sscanf(line, "events %d %255s", &count, path) != 2 || count < 1 || count > SAMPLES_MAX)
		failed("usage: events COUNT PATH");
	begin(load, path);
	for (i = 0; i < count; i++) {
		ask(load, c);
		one_event(load, c);
	}
	qsort(load->samples, load->n_samples, sizeof(load->samples[0]), by_size);
	printf("events %d %.1f %.1f %.1f\n", count, quantile(load, 500), quantile(load, 990), quantile(load, 1000));
}

static void do_close(struct load *load, const char *line)
{
	(void)line;
	close_all(load);
	puts("close");
}

static void command(struct load *load, const char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct load *load, const char *line);
	} table[] = {{"open ", do_open},
		     {"load ", do_load},
		     {"pace ", do_pace},
		     {"events ", do_events},
		     {"close", do_close}};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(line, table[i].name, strlen(table[i].name)) == 0) {
			table[i].run(load, line);
			(void)fflush(stdout);
			return;
		}
	}
	failed("unknown command");
}

/* One suite, so that nobody wins by another cipher; the upstream says the same for its side. */
static SSL_CTX *tls_context(void)
{
	static const unsigned char alpn[] = "\x08http/1.1";
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	if (!context || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
	    SSL_CTX_set_default_verify_paths(context) != 1 ||
	    SSL_CTX_set_alpn_protos(context, alpn, sizeof(alpn) - 1) != 0)
		failed("TLS could not be set up");
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
	return context;
}

int main(int argc, char **argv)
{
	static struct load load;
	char line[2048];
	int c;

	while ((c = getopt(argc, argv, "H:")) != -1) {
		if (c != 'H')
			return 2;
		load.header = optarg;
	}
	load.context = tls_context();
	load.samples = calloc(SAMPLES_MAX, sizeof(load.samples[0]));
	load.buffer = malloc(READ_SIZE);
	if (!load.samples || !load.buffer)
		failed("no memory");
	while (fgets(line, sizeof(line), stdin))
		command(&load, line);
	return 0;
}

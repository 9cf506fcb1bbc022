#include "init/dns.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/door.h"
#include "init/listen.h"
#include "init/watch.h"

/* FRAME: the length before a message on a stream. TURN: queries before others get theirs. TICK_MS: how late a limit may
 * be. */
enum { FRAME = 2, TURN = 16, TICK_MS = 100 };

/* Of a message: its head, and what is in bytes 2 and 3 of it. */
enum { HEAD = 12, IS_ANSWER = 0x80, CODE_MASK = 0x0f, SERVER_FAILED = 2 };

struct query {
	struct dns *dns;
	struct watch watch; /* of its stream; fd -1: none */
	struct sockaddr_in from;
	int64_t since;
	size_t n; /* bytes of the answer so far */
	unsigned char answer[FRAME + DNS_ANSWER];
};

struct dns {
	int epoll;
	const char *path;
	struct watch watch;
	struct query v[DNS_WAITING];
};

static void end(struct query *q)
{
	watch_drop(q->dns->epoll, &q->watch);
	(void)close(q->watch.fd);
	q->watch.fd = -1;
}

static void on_answer(void *arg, uint32_t events)
{
	struct query *q = arg;
	ssize_t n = read(q->watch.fd, q->answer + q->n, sizeof(q->answer) - q->n);
	size_t size;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end(q);
		return;
	}
	q->n += (size_t)n;
	size = q->n < FRAME ? DNS_ANSWER : (size_t)q->answer[0] << 8 | q->answer[1];
	if (q->n >= FRAME + size)
		(void)sendto(q->dns->watch.fd, q->answer + FRAME, size, MSG_DONTWAIT | MSG_NOSIGNAL,
			     (struct sockaddr *)&q->from, sizeof(q->from));
	if (q->n >= FRAME + size || q->n == sizeof(q->answer))
		end(q);
}

/* A place for one more. */
static struct query *take(struct dns *d)
{
	struct query *q = &d->v[0];
	size_t i;

	for (i = 0; i < DNS_WAITING && q->watch.fd >= 0; i++)
		if (d->v[i].watch.fd < 0 || d->v[i].since < q->since)
			q = &d->v[i];
	if (q->watch.fd >= 0)
		end(q);
	return q;
}

/* Nobody is behind the door: whoever asks need not wait to find out. The query itself, marked, is an answer that says
 * so. */
static void say_failed(const struct dns *d, unsigned char *query, size_t n, const struct sockaddr_in *from)
{
	if (n < HEAD || (query[2] & IS_ANSWER))
		return;
	query[2] |= IS_ANSWER;
	query[3] = (unsigned char)((query[3] & ~CODE_MASK) | SERVER_FAILED);
	(void)sendto(d->watch.fd, query, n, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)from, sizeof(*from));
}

/* bytes: the query, behind room for the header and the frame. */
static void pass_on(struct dns *d, unsigned char *bytes, size_t n, const struct sockaddr_in *from)
{
	const struct door_header h = {.kind = DOOR_DNS_DATAGRAMS};
	int fd = listen_dial(d->path);
	struct query *q;

	if (fd < 0) {
		say_failed(d, bytes + DOOR_HEADER + FRAME, n, from);
		return;
	}
	door_put(&h, bytes);
	bytes[DOOR_HEADER] = (unsigned char)(n >> 8);
	bytes[DOOR_HEADER + 1] = (unsigned char)n;
	n += DOOR_HEADER + FRAME;
	/* A fresh stream takes that much at once. */
	if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n) {
		(void)close(fd);
		return;
	}
	q = take(d);
	q->dns = d;
	q->watch = (struct watch){.fd = fd, .fn = on_answer, .arg = q};
	q->from = *from;
	q->since = now_ms();
	q->n = 0;
	if (watch_set(d->epoll, &q->watch, EPOLLIN) < 0)
		end(q);
}

static void on_query(void *arg, uint32_t events)
{
	unsigned char bytes[DOOR_HEADER + FRAME + DNS_QUERY + 1];
	struct dns *d = arg;
	struct sockaddr_in from;
	socklen_t n_from;
	ssize_t n;
	int i;

	(void)events;
	for (i = 0; i < TURN; i++) {
		n_from = sizeof(from);
		n = recvfrom(d->watch.fd, bytes + DOOR_HEADER + FRAME, DNS_QUERY + 1, 0, (struct sockaddr *)&from,
			     &n_from);
		if (n < 0)
			return;
		if (n > 0 && n <= DNS_QUERY)
			pass_on(d, bytes, (size_t)n, &from);
	}
}

int dns_new(int epoll, const char *door, int fd, struct dns **ret)
{
	struct dns *d = calloc(1, sizeof(*d));
	size_t i;
	int r;

	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	d->epoll = epoll;
	d->path = door;
	d->watch = (struct watch){.fd = fd, .fn = on_query, .arg = d};
	for (i = 0; i < DNS_WAITING; i++)
		d->v[i].watch.fd = -1;
	r = watch_set(epoll, &d->watch, EPOLLIN);
	if (r < 0) {
		(void)close(fd);
		free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void dns_free(struct dns *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < DNS_WAITING; i++)
		if (d->v[i].watch.fd >= 0)
			end(&d->v[i]);
	(void)close(d->watch.fd);
	free(d);
}

int dns_tick(struct dns *d)
{
	int64_t now = now_ms();
	int timeout = -1;
	size_t i;

	for (i = 0; i < DNS_WAITING; i++) {
		if (d->v[i].watch.fd < 0)
			continue;
		if (now - d->v[i].since >= DNS_MS)
			end(&d->v[i]);
		else
			timeout = TICK_MS;
	}
	return timeout;
}

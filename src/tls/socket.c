#include "tls/socket.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * UNREAD_MAX: a hello and what was sent right behind it. HELD_MAX: past this much the engine has to wait; two records
 * and some, since a record of its own (a key update) may come before one of the user's.
 */
enum { UNREAD_MAX = 64 * 1024, HELD_MAX = 40 * 1024 };

void socket_init(struct tls_socket *s, int fd)
{
	*s = (struct tls_socket){.fd = fd, .readable = true, .writable = true};
}

void socket_done(struct tls_socket *s)
{
	free(s->unread);
	free(s->held);
	free(s->host);
	if (s->fd >= 0)
		(void)close(s->fd);
	*s = (struct tls_socket){.fd = -1};
}

int socket_unread(struct tls_socket *s, struct sv bytes)
{
	size_t left = s->unread_n - s->unread_at;
	char *p;

	if (bytes.n == 0)
		return 0;
	if (bytes.n > UNREAD_MAX || left > UNREAD_MAX - bytes.n)
		return -EFBIG;
	p = malloc(bytes.n + left);
	if (!p)
		return -ENOMEM;
	memcpy(p, bytes.p, bytes.n);
	if (left)
		memcpy(p + bytes.n, s->unread + s->unread_at, left);
	free(s->unread);
	s->unread = p;
	s->unread_at = 0;
	s->unread_n = bytes.n + left;
	return 0;
}

static size_t read_unread(struct tls_socket *s, void *p, size_t n)
{
	size_t left = s->unread_n - s->unread_at;

	if (n > left)
		n = left;
	memcpy(p, s->unread + s->unread_at, n);
	s->unread_at += n;
	if (s->unread_at == s->unread_n) {
		free(s->unread);
		s->unread = NULL;
		s->unread_at = s->unread_n = 0;
	}
	return n;
}

/* Remembers an errno for good. */
static ssize_t fail(int *failed)
{
	*failed = errno;
	return -*failed;
}

ssize_t socket_read(struct tls_socket *s, void *p, size_t n)
{
	ssize_t r;

	if (n == 0)
		return -EINVAL;
	if (s->unread)
		return (ssize_t)read_unread(s, p, n);
	if (s->read_failed)
		return -s->read_failed;
	if (!s->readable)
		return -EAGAIN;
	do
		r = recv(s->fd, p, n, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != EAGAIN)
		return fail(&s->read_failed);
	if (r == 0)
		s->ended = true;
	if (r < 0 || (r > 0 && (size_t)r < n && !s->hangup))
		s->readable = false;
	return r < 0 ? -EAGAIN : r;
}

static ssize_t send_many(int fd, const struct iovec *v, int n)
{
	struct msghdr m = {.msg_iovlen = (size_t)(n < IOV_MAX ? n : IOV_MAX)};

	/* sendmsg() only reads what it points to. */
	memcpy(&m.msg_iov, &v, sizeof(v));
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

ssize_t socket_writev(struct tls_socket *s, const struct iovec *v, int n)
{
	size_t total = 0;
	ssize_t r;
	int i;

	if (s->write_failed)
		return -s->write_failed;
	if (!s->writable)
		return -EAGAIN;
	for (i = 0; i < n && i < IOV_MAX; i++)
		total += v[i].iov_len;
	/* records come one at a time, and send() has no lists for the kernel to copy and check first */
	do
		r = n == 1 ? send(s->fd, v->iov_base, total, MSG_NOSIGNAL) : send_many(s->fd, v, n);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != EAGAIN)
		return fail(&s->write_failed);
	if (r < 0 || (size_t)r < total)
		s->writable = false;
	return r < 0 ? -EAGAIN : r;
}

static ssize_t write_one(struct tls_socket *s, const char *p, size_t n)
{
	struct iovec v = {.iov_len = n};

	memcpy(&v.iov_base, &p, sizeof(p));
	return socket_writev(s, &v, 1);
}

int socket_flush(struct tls_socket *s)
{
	ssize_t r;

	while (s->held) {
		r = write_one(s, s->held + s->held_at, s->held_n - s->held_at);
		if (r == -EAGAIN)
			return -EAGAIN;
		s->held_at = r < 0 ? s->held_n : s->held_at + (size_t)r;
		if (s->held_at == s->held_n) {
			free(s->held);
			s->held = NULL;
			s->held_at = s->held_n = 0;
		}
	}
	return -s->write_failed;
}

static int hold(struct tls_socket *s, const char *p, size_t n)
{
	char *grown = realloc(s->held, s->held_n + n);

	if (!grown) {
		s->write_failed = ENOMEM;
		return 0;
	}
	memcpy(grown + s->held_n, p, n);
	s->held = grown;
	s->held_n += n;
	return 0;
}

int socket_put(struct tls_socket *s, const void *p, size_t n)
{
	const char *at = p;
	ssize_t r;

	if (socket_flush(s) == -EAGAIN)
		return n > HELD_MAX || s->held_n > HELD_MAX - n ? -EAGAIN : hold(s, at, n);
	while (n && !s->write_failed) {
		r = write_one(s, at, n);
		if (r == -EAGAIN)
			return hold(s, at, n);
		if (r < 0)
			break;
		at += r;
		n -= (size_t)r;
	}
	return 0;
}

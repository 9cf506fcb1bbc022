#include "tls/stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tls/engine.h"
#include "tls/failure.h"
#include "tls/socket.h"

enum { RECORD = 16 * 1024, CLOSE_WAIT_MS = 2000, CLOSE_MAX_BYTES = 4 * 1024 * 1024 };

struct stream {
	struct loop *loop;
	struct loop_watch watch;
	struct loop_task task;
	struct loop_timer timer;
	stream_fn *fn;
	void *arg;
	struct tls_socket socket;
	SSL *ssl; /* NULL: plain */
	unsigned posted; /* events for the task */
	bool opening;	 /* in the handshake */
	bool buffered;	 /* OpenSSL may hold buffers that it does not need: those of the handshake and of tickets */
	bool want_read, want_write;
	bool finish, finished; /* no more writes: asked for, and said to the peer */
	bool told_hangup, told_failed;
	bool broken; /* nothing can be read any more */
	size_t dropped; /* while closing */
	struct failure failure;
};

static void on_event(void *arg, unsigned events);

int stream_new(struct loop *loop, int fd, stream_fn *fn, void *arg, struct stream **ret)
{
	struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		(void)close(fd);
		return -ENOMEM;
	}
	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->want_read = true;
	socket_init(&s->socket, fd);
	r = loop_watch_add(loop, &s->watch, fd, LOOP_READ | LOOP_WRITE, on_event, s);
	if (r < 0) {
		stream_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	loop_watch_remove(&s->watch);
	loop_timer_cancel(&s->timer);
	loop_task_cancel(&s->task);
	/* Else OpenSSL would take the session for spoilt, since the peer was not told of the end, and not resume it. */
	if (s->ssl)
		SSL_set_shutdown(s->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(s->ssl);
	socket_done(&s->socket);
	free(s);
}

void stream_listen(struct stream *s, stream_fn *fn, void *arg)
{
	s->fn = fn;
	s->arg = arg;
}

static void run_posted(void *arg)
{
	struct stream *s = arg;
	unsigned events = s->posted;

	s->posted = 0;
	if (events & STREAM_READ)
		s->want_read = false;
	s->fn(s->arg, events);
}

void stream_resume(struct stream *s, unsigned events)
{
	s->posted |= events;
	loop_task_post(s->loop, &s->task, run_posted, s);
}

int stream_unread(struct stream *s, struct sv bytes)
{
	return s->ssl ? -EINVAL : socket_unread(&s->socket, bytes);
}

/* Failures. */

static ssize_t fail(struct stream *s, int ssl_error)
{
	if (s->failure.kind == STREAM_FINE)
		failure_set(&s->failure, s->ssl, ssl_error, s->socket.read_failed, s->opening);
	ERR_clear_error();
	s->opening = false;
	s->broken = true;
	return -EIO;
}

/* Reading goes on: a server that refuses a request may have answered before it closed. */
static ssize_t fail_write(struct stream *s)
{
	if (s->failure.kind == STREAM_FINE)
		failure_set(&s->failure, NULL, SSL_ERROR_SYSCALL, s->socket.write_failed, s->opening);
	return -EIO;
}

/* The handshake. */

/* Goes on with it. The events to tell. */
static unsigned handshake(struct stream *s)
{
	int r, e;

	ERR_clear_error();
	r = SSL_do_handshake(s->ssl);
	if (r == 1) {
		s->opening = false;
		s->buffered = true;
		return STREAM_OPEN;
	}
	e = SSL_get_error(s->ssl, r);
	if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
		return 0;
	(void)fail(s, e);
	s->told_failed = true;
	return STREAM_FAILED;
}

static int begin(struct stream *s, SSL *ssl)
{
	unsigned events;

	if (!ssl) {
		ERR_clear_error();
		return -ENOMEM;
	}
	s->ssl = ssl;
	s->opening = true;
	s->want_read = true;
	s->want_write = false;
	events = handshake(s);
	if (events)
		stream_resume(s, events | STREAM_READ);
	return 0;
}

int stream_tls_server(struct stream *s, struct tls_server *server, const struct tls_leaf *leaf, unsigned alpn)
{
	if (s->ssl || s->finish)
		return -EINVAL;
	s->socket.alpn = alpn;
	return begin(s, tls_server_open(server, leaf, &s->socket));
}

int stream_begin_client(struct stream *s, struct sv host, unsigned alpn, stream_open_fn *open, void *arg)
{
	if (s->ssl || s->finish)
		return -EINVAL;
	s->socket.alpn = alpn;
	free(s->socket.host);
	s->socket.host = strndup(host.p, host.n);
	return begin(s, s->socket.host ? open(arg, &s->socket) : NULL);
}

/* Reading and writing. */

static ssize_t no_read(struct stream *s)
{
	s->want_read = true;
	return -EAGAIN;
}

static ssize_t no_write(struct stream *s)
{
	s->want_write = true;
	return -EAGAIN;
}

static ssize_t read_tls(struct stream *s, char *p, size_t n)
{
	size_t got = 0, part;
	int r = 1, e = SSL_ERROR_WANT_READ;

	if (SSL_get_shutdown(s->ssl) & SSL_RECEIVED_SHUTDOWN)
		return 0;
	while (got < n && (SSL_has_pending(s->ssl) || socket_worth_reading(&s->socket))) {
		engine_forget_errors();
		r = SSL_read_ex(s->ssl, p + got, n - got, &part);
		if (r != 1)
			break;
		got += part;
	}
	/* OpenSSL says only once what is wrong: it is noted even where the caller hears of it with the next read. */
	if (r != 1) {
		e = SSL_get_error(s->ssl, r);
		s->buffered = true;
	}
	if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_WANT_WRITE && e != SSL_ERROR_ZERO_RETURN)
		(void)fail(s, e);
	if (got)
		return (ssize_t)got;
	if (s->broken)
		return -EIO;
	if (e == SSL_ERROR_ZERO_RETURN)
		return 0;
	/* An idle stream holds no buffer. After a request OpenSSL has none, and looking for them would take longer than
	 * reading it. */
	if (s->buffered)
		(void)SSL_free_buffers(s->ssl);
	s->buffered = false;
	return no_read(s);
}

ssize_t stream_read(struct stream *s, void *p, size_t n)
{
	ssize_t r;

	if (s->broken)
		return -EIO;
	if (s->opening)
		return no_read(s);
	if (s->ssl)
		return read_tls(s, p, n);
	r = socket_read(&s->socket, p, n);
	if (r == -EAGAIN)
		return no_read(s);
	return r < 0 ? fail(s, SSL_ERROR_SYSCALL) : r;
}

/* The next bytes of v from byte `at` on, as one run: in place where it is large or the last one, else collected in
 * room. */
static struct sv gather(const struct iovec *v, int n, size_t at, char room[RECORD])
{
	size_t part, have = 0;
	int i;

	for (i = 0; i < n && have < RECORD; i++) {
		if (at >= v[i].iov_len) {
			at -= v[i].iov_len;
			continue;
		}
		part = v[i].iov_len - at;
		if (have == 0 && (part >= RECORD || i == n - 1))
			return sv_n((const char *)v[i].iov_base + at, part);
		if (part > RECORD - have)
			part = RECORD - have;
		memcpy(room + have, (const char *)v[i].iov_base + at, part);
		have += part;
		at = 0;
	}
	return sv_n(room, have);
}

static ssize_t write_tls(struct stream *s, const struct iovec *v, int n, size_t total)
{
	char room[RECORD] __attribute__((uninitialized)); /* clearing it would cost more than filling it */
	size_t done = 0, part;
	struct sv run;
	int r, e;

	while (done < total && !socket_holds(&s->socket)) {
		run = gather(v, n, done, room);
		engine_forget_errors();
		r = SSL_write_ex(s->ssl, run.p, run.n < RECORD ? run.n : RECORD, &part);
		if (r != 1) {
			e = SSL_get_error(s->ssl, r);
			if (e != SSL_ERROR_WANT_READ && e != SSL_ERROR_WANT_WRITE)
				return fail(s, e);
			break;
		}
		if (s->socket.write_failed)
			return fail_write(s);
		done += part;
	}
	if (done < total)
		s->want_write = true;
	return done ? (ssize_t)done : -EAGAIN;
}

ssize_t stream_writev(struct stream *s, const struct iovec *v, int n)
{
	size_t total = 0;
	ssize_t r;
	int i;

	for (i = 0; i < n; i++)
		total += v[i].iov_len;
	if (s->broken || s->finish)
		return -EIO;
	if (s->socket.write_failed)
		return fail_write(s);
	if (total == 0)
		return 0;
	if (s->opening)
		return no_write(s);
	if (s->ssl)
		return write_tls(s, v, n, total);
	r = socket_writev(&s->socket, v, n);
	if (r == -EAGAIN)
		return no_write(s);
	if (r < 0)
		return fail_write(s);
	if ((size_t)r < total)
		s->want_write = true;
	return r;
}

ssize_t stream_write(struct stream *s, const void *p, size_t n)
{
	struct iovec v = {.iov_len = n};

	memcpy(&v.iov_base, &p, sizeof(p));
	return stream_writev(s, &v, 1);
}

/* Ending. */

static void say_end(struct stream *s)
{
	if (s->finish && !s->finished && !socket_holds(&s->socket)) {
		s->finished = true;
		(void)shutdown(s->socket.fd, SHUT_WR);
	}
}

void stream_finish(struct stream *s)
{
	if (s->finish)
		return;
	s->finish = true;
	if (s->ssl && !s->opening && !s->broken) {
		ERR_clear_error();
		(void)SSL_shutdown(s->ssl);
		ERR_clear_error();
	}
	say_end(s);
}

static void close_timeout(void *arg)
{
	stream_free(arg);
}

/* Drops what comes, as it is on the wire, until the peer has closed too. */
static void drain(void *arg, unsigned events)
{
	struct stream *s = arg;
	char room[RECORD];
	ssize_t r = 0;

	(void)events;
	while (s->dropped < CLOSE_MAX_BYTES && (r = socket_read(&s->socket, room, sizeof(room))) > 0)
		s->dropped += (size_t)r;
	s->want_read = true;
	if (s->socket.write_failed || (r != -EAGAIN && (r < 0 || !socket_holds(&s->socket))))
		stream_free(s);
}

void stream_close(struct stream *s)
{
	if (s->opening) {
		stream_free(s);
		return;
	}
	stream_finish(s);
	loop_task_cancel(&s->task);
	s->posted = 0;
	stream_listen(s, drain, s);
	loop_timer_set(s->loop, &s->timer, CLOSE_WAIT_MS, close_timeout, s);
	drain(s, 0);
}

int stream_take_fd(struct stream *s, struct buf *unread)
{
	int fd;

	if (s->ssl)
		return -EBUSY;
	if (s->socket.unread)
		(void)buf_add(unread, s->socket.unread + s->socket.unread_at, s->socket.unread_n - s->socket.unread_at);
	fd = s->socket.fd;
	loop_watch_remove(&s->watch);
	s->socket.fd = -1;
	stream_free(s);
	return fd;
}

/* Events of the loop. */

static unsigned note_socket(struct stream *s, unsigned events)
{
	if (events & LOOP_READ)
		s->socket.readable = true;
	if (events & LOOP_WRITE)
		s->socket.writable = true;
	if (events & LOOP_HANGUP)
		s->socket.hangup = true;
	if (!s->socket.hangup || s->told_hangup)
		return 0;
	s->told_hangup = true;
	return STREAM_HANGUP;
}

static bool has_input(const struct stream *s)
{
	return socket_worth_reading(&s->socket) || (s->ssl && SSL_has_pending(s->ssl));
}

static void on_event(void *arg, unsigned events)
{
	struct stream *s = arg;
	unsigned tell = note_socket(s, events) | s->posted;
	int r = socket_flush(&s->socket);

	if (r < 0 && r != -EAGAIN)
		(void)fail_write(s);
	say_end(s);
	if (s->opening)
		tell |= handshake(s);
	if (r < 0 && r != -EAGAIN && !s->told_failed) {
		s->told_failed = true;
		tell |= STREAM_FAILED;
	}
	if (!s->opening && s->want_read && (s->broken || has_input(s)))
		tell |= STREAM_READ;
	if (!s->opening && s->want_write && s->socket.writable && !socket_holds(&s->socket))
		tell |= STREAM_WRITE;
	if (tell & STREAM_READ)
		s->want_read = false;
	if (tell & STREAM_WRITE)
		s->want_write = false;
	loop_task_cancel(&s->task);
	s->posted = 0;
	if (tell)
		s->fn(s->arg, tell);
}

/* Questions. */

int stream_fd(const struct stream *s)
{
	return s->socket.fd;
}

bool stream_is_tls(const struct stream *s)
{
	return s->ssl;
}

unsigned stream_alpn(const struct stream *s)
{
	const unsigned char *name = NULL;
	unsigned n = 0;

	if (s->ssl)
		SSL_get0_alpn_selected(s->ssl, &name, &n);
	return alpn_of(name, n);
}

bool stream_resumed(const struct stream *s)
{
	return s->ssl && SSL_session_reused(s->ssl);
}

enum stream_failure stream_failure(const struct stream *s)
{
	return s->failure.kind;
}

const char *stream_failure_text(const struct stream *s)
{
	return s->failure.kind == STREAM_FINE ? "" : s->failure.text;
}

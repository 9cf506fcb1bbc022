#include "sandbox/docker/engine.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

enum { REQUEST_MAX = 64 << 20, READ_SIZE = 64 * 1024 };

/* 0, or -ETIMEDOUT, or -errno. */
static int wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left;
	int r;

	for (;;) {
		left = deadline - now_ms();
		if (left <= 0)
			return -ETIMEDOUT;
		r = poll(&p, 1, left > INT32_MAX ? INT32_MAX : (int)left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

static int connect_to(const char *path, int64_t deadline)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	/* EAGAIN: its queue is full, and nothing tells when it is not */
	while (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(-1, 0, deadline < now_ms() + 10 ? deadline : now_ms() + 10);
		if (r != -ETIMEDOUT || now_ms() >= deadline)
			return r;
	}
	return fd_take(&fd);
}

static int send_all(int fd, struct sv bytes, int64_t deadline)
{
	ssize_t n;
	int r;

	while (bytes.n) {
		n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
		if (n >= 0) {
			bytes = sv_n(bytes.p + n, bytes.n - (size_t)n);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline);
		if (r < 0)
			return r;
	}
	return 0;
}

/* -ECONNRESET: it ended before the answer was whole. */
static int receive(int fd, struct answer *a, int64_t deadline)
{
	char bytes[READ_SIZE];
	ssize_t n;
	int r = 0;

	while (r == 0) {
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n == 0)
			return -ECONNRESET;
		if (n > 0)
			r = answer_add(a, sv_n(bytes, (size_t)n));
		else if (errno == EAGAIN)
			r = wait_for(fd, POLLIN, deadline);
		else if (errno != EINTR)
			r = -errno;
	}
	return r < 0 ? r : 0;
}

static int write_head(const struct engine *e, const struct engine_request *req, uint64_t body, struct buf *out)
{
	(void)buf_printf(out, "%s ", req->method);
	if (e->api)
		(void)buf_printf(out, "/v1.%u", e->api);
	(void)buf_printf(
		out, "%s HTTP/1.1\r\nHost: docker\r\nUser-Agent: cordon/" CORDON_VERSION "\r\nConnection: close\r\n",
		req->path);
	if (req->type)
		(void)buf_printf(out, "Content-Type: %s\r\n", req->type);
	if (req->type || strcmp(req->method, "POST") == 0)
		(void)buf_printf(out, "Content-Length: %llu\r\n", (unsigned long long)body);
	(void)buf_str(out, "\r\n");
	return buf_failed(out);
}

/* Sending may fail because the engine has answered already, and listens no more. */
static int exchange(const struct engine *e, const struct engine_request *req, int fd, struct answer *a,
		    int64_t deadline)
{
	AUTO_BUF head = {0};
	int r, sent;

	buf_init(&head, 8192);
	r = write_head(e, req, req->body.n, &head);
	if (r < 0)
		return r;
	sent = send_all(fd, buf_view(&head), deadline);
	if (sent == 0)
		sent = send_all(fd, req->body, deadline);
	if (sent == -ETIMEDOUT)
		return sent;
	r = receive(fd, a, deadline);
	return r < 0 && sent < 0 ? sent : r;
}

static int no_connection(const struct engine *e, int code, struct error *err)
{
	struct text_shown shown;
	const char *path = text_show(&shown, sv_of(e->path));

	if (code == -EACCES || code == -EPERM)
		return error_set(err, ERROR_MISSING,
				 "Docker Engine's socket %s is not open to you: become a member of the group that owns "
				 "it (docker), or use sudo",
				 path);
	if (code == -ENOENT || code == -ENOTDIR)
		return error_set(
			err, ERROR_MISSING,
			"there is no Docker Engine at %s: is it installed and running? (DOCKER_HOST says where it is)",
			path);
	if (code == -ECONNREFUSED)
		return error_set(err, ERROR_MISSING, "Docker Engine does not run: nobody listens at %s", path);
	return error_sys(err, code, "Docker Engine at %s cannot be reached", path);
}

static int no_answer(const struct engine_request *req, int code, struct error *err)
{
	switch (code) {
	case -ETIMEDOUT:
		return error_set(err, ERROR_SYSTEM, "Docker Engine did not answer within %d s",
				 (req->timeout_ms + 999) / 1000);
	case -ECONNRESET:
	case -EPIPE:
		return error_set(err, ERROR_SYSTEM, "Docker Engine ended in the middle of an answer");
	case -EBADMSG:
		return error_set(err, ERROR_SYSTEM,
				 "what answers for Docker Engine does not speak its language (HTTP/1.1)");
	case -EFBIG:
		return error_set(err, ERROR_SYSTEM, "Docker Engine's answer is too long");
	default:
		return error_sys(err, code, "Docker Engine");
	}
}

static int call(const struct engine *e, const struct engine_request *req, struct answer *a, uint32_t *ret_uid,
		struct error *err)
{
	int64_t deadline = now_ms() + req->timeout_ms;
	AUTO_FD fd = connect_to(e->path, deadline);
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int r;

	answer_init(a, ENGINE_ANSWER_MAX);
	if (fd < 0)
		return no_connection(e, fd, err);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return error_sys(err, errno, "Docker Engine's socket");
	*ret_uid = peer.uid;
	r = exchange(e, req, fd, a, deadline);
	return r < 0 ? no_answer(req, r, err) : 0;
}

int engine_call(const struct engine *e, const struct engine_request *req, struct answer *a, struct error *err)
{
	uint32_t uid;

	return call(e, req, a, &uid, err);
}

static int send_file(int fd, const struct engine_transfer *t, int timeout_ms)
{
	char bytes[READ_SIZE];
	uint64_t at = 0;
	ssize_t n;
	int r = 0;

	while (r == 0 && at < t->size) {
		n = pread(t->from, bytes, sizeof(bytes) < t->size - at ? sizeof(bytes) : (size_t)(t->size - at),
			  (off_t)at);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = send_all(fd, sv_n(bytes, (size_t)n), now_ms() + timeout_ms);
		at += (uint64_t)n;
	}
	return r;
}

/* What has arrived is handed on and forgotten. */
static int receive_pieces(int fd, const struct engine_transfer *t, struct answer *a, int timeout_ms)
{
	char bytes[READ_SIZE];
	int r = 0, handed = 0;
	ssize_t n;

	while (r == 0 && handed == 0) {
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n == 0)
			return -ECONNRESET;
		if (n > 0)
			r = answer_add(a, sv_n(bytes, (size_t)n));
		else if (errno == EAGAIN)
			r = wait_for(fd, POLLIN, now_ms() + timeout_ms);
		else if (errno != EINTR)
			r = -errno;
		if (r >= 0 && a->status == 200 && t->take && a->body.n) {
			handed = t->take(t->arg, buf_view(&a->body));
			buf_clear(&a->body);
		}
		if (a->body.n > ENGINE_ANSWER_MAX)
			return -EFBIG;
	}
	return r < 0 ? r : handed;
}

int engine_transfer(const struct engine *e, const struct engine_request *req, const struct engine_transfer *t,
		    struct answer *a, struct error *err)
{
	AUTO_FD fd = connect_to(e->path, now_ms() + req->timeout_ms);
	AUTO_BUF head = {0};
	int r, sent;

	answer_init(a, t->take ? (size_t)1 << 40 : ENGINE_ANSWER_MAX);
	if (fd < 0)
		return no_connection(e, fd, err);
	buf_init(&head, 8192);
	if (write_head(e, req, t->from < 0 ? req->body.n : t->size, &head) < 0)
		return error_sys(err, ENOMEM, "Docker Engine");
	sent = send_all(fd, buf_view(&head), now_ms() + req->timeout_ms);
	if (sent == 0)
		sent = t->from < 0 ? send_all(fd, req->body, now_ms() + req->timeout_ms)
				   : send_file(fd, t, req->timeout_ms);
	r = sent == -ETIMEDOUT ? sent : receive_pieces(fd, t, a, req->timeout_ms);
	return r < 0 ? no_answer(req, sent < 0 ? sent : r, err) : 0;
}

/* "1.41"; 0: no version 1. */
static unsigned minor_version(const char *s)
{
	unsigned v = 0, n;

	if (strncmp(s, "1.", 2) != 0)
		return 0;
	for (s += 2, n = 0; s[n] >= '0' && s[n] <= '9' && n < 4; n++)
		v = 10 * v + (unsigned)(s[n] - '0');
	return n && !s[n] ? v : 0;
}

/* Its files are its own user's: with root's, or with ours, folders of ours can be shown. */
static int check_owner(struct engine *e, uint32_t uid, struct error *err)
{
	e->rootless = uid != 0 && uid == geteuid();
	if (uid == 0 || e->rootless)
		return 0;
	return error_set(err, ERROR_MISSING,
			 "the Docker Engine at this socket runs as user %u, who is neither root nor you", uid);
}

int engine_init(struct engine *e, const char *path, int timeout_ms, struct error *err)
{
	const struct engine_request ping = {.method = "GET", .path = "/_ping", .timeout_ms = timeout_ms};
	AUTO_ANSWER a = {0};
	uint32_t uid = 0;
	unsigned theirs;

	*e = (struct engine){.path = strdup(path)};
	if (!e->path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (call(e, &ping, &a, &uid, err) < 0 || check_owner(e, uid, err) < 0)
		return -1;
	if (a.status != 200)
		return engine_refused(&a, "Docker Engine is not ready", err);
	theirs = minor_version(a.api_version);
	if (theirs == 0)
		return error_set(err, ERROR_MISSING,
				 "what answers at Docker Engine's socket does not say which version of its API it has");
	if (theirs < ENGINE_API_LEAST)
		return error_set(err, ERROR_MISSING,
				 "this Docker Engine is too old: it has version 1.%u of its API, and 1.%d is needed "
				 "(Docker 19.03)",
				 theirs, ENGINE_API_LEAST);
	e->api = theirs < ENGINE_API_MOST ? theirs : ENGINE_API_MOST;
	return 0;
}

void engine_done(struct engine *e)
{
	free(e->path);
	*e = (struct engine){0};
}

void engine_message(const struct answer *a, char *out, size_t size)
{
	json_t *root = json_loadb(a->body.p ? a->body.p : "", a->body.n, 0, NULL);
	const char *message = json_string_value(json_object_get(root, "message"));
	AUTO_BUF shown = {0};

	buf_init(&shown, 4096);
	if (message)
		text_escape(&shown, sv_of(message), 400);
	if (shown.n)
		(void)snprintf(out, size, "%s", shown.p);
	else
		(void)snprintf(out, size, "status %d", a->status);
	json_decref(root);
}

int engine_refused(const struct answer *a, const char *what, struct error *err)
{
	char message[400];

	engine_message(a, message, sizeof(message));
	return error_set(err, ERROR_SYSTEM, "%s: Docker Engine says: %s", what, message);
}

#include "agent/post.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "agent/reply.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "http/h1.h"
#include "http/target.h"

enum { HEAD_MAX = 8192, READ_SIZE = 64 * 1024 };

static bool is_loopback(const struct http_authority *a, struct post_base *to)
{
	static const struct in6_addr one = IN6ADDR_LOOPBACK_INIT;
	const char *host = strcmp(a->host, "localhost") == 0 ? "127.0.0.1" : a->host;

	if (!a->v6 && inet_pton(AF_INET, host, &to->address.v4.sin_addr) == 1) {
		to->address.v4.sin_family = AF_INET;
		to->address.v4.sin_port = htons(a->port ? a->port : 80);
		to->n_address = sizeof(to->address.v4);
		return ntohl(to->address.v4.sin_addr.s_addr) >> 24 == 127;
	}
	to->address.v6.sin6_family = AF_INET6;
	to->address.v6.sin6_port = htons(a->port ? a->port : 80);
	to->address.v6.sin6_addr = one;
	to->n_address = sizeof(to->address.v6);
	return a->v6 && strcmp(host, "::1") == 0;
}

static bool is_plain_path(struct sv path)
{
	size_t i;

	for (i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] <= 0x20 || (unsigned char)path.p[i] >= 0x7f || strchr("?#%\\", path.p[i]))
			return false;
	return true;
}

int post_base_parse(const char *name, const char *url, struct post_base *ret, struct error *err)
{
	static const char scheme[] = "http://";
	struct post_base to = {.host = ""};
	struct http_authority a;
	struct text_shown shown;
	struct sv rest = sv_of(url), path;
	size_t n;

	if (!sv_starts(rest, scheme))
		return error_set(
			err, ERROR_INPUT,
			"%s is %s; the gateway's port is plain HTTP on loopback, such as http://127.0.0.1:3130", name,
			text_show(&shown, rest));
	rest = sv_of(url + strlen(scheme));
	n = strcspn(rest.p, "/?#");
	path = sv_n(rest.p + n, rest.n - n);
	while (sv_ends(path, "/"))
		path.n--;
	if (http_authority(sv_n(rest.p, n), &a) || !is_loopback(&a, &to) || n >= sizeof(to.host) ||
	    path.n >= sizeof(to.path) || !is_plain_path(path))
		return error_set(err, ERROR_INPUT,
				 "%s is %s, which is not a loopback address; run this inside a sandbox whose policy "
				 "has a provider",
				 name, text_show(&shown, sv_of(url)));
	(void)snprintf(to.host, sizeof(to.host), "%.*s", (int)n, rest.p);
	(void)snprintf(to.path, sizeof(to.path), "%.*s", (int)path.n, path.p);
	*ret = to;
	return 0;
}

/* 0, or -ETIMEDOUT, or -errno. */
static int wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int r;

	do
		r = poll(&p, 1, left_ms(deadline));
	while (r < 0 && errno == EINTR);
	return r > 0 ? 0 : r == 0 ? -ETIMEDOUT : -errno;
}

static int dial(const struct post_base *base, int64_t deadline)
{
	AUTO_FD fd = socket(base->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(int);
	int r, code = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, &base->address.any, base->n_address) < 0) {
		if (errno != EINPROGRESS)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline);
		if (r < 0)
			return r;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) < 0 || code)
			return code ? -code : -errno;
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

static bool is_printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
			return false;
	return true;
}

static int write_head(const struct post_base *base, const struct post_request *req, struct buf *out)
{
	size_t i;

	(void)buf_printf(out,
			 "POST %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: cordon-agent/" CORDON_VERSION
			 "\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nConnection: close\r\n",
			 base->path, req->path, base->host);
	(void)buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", req->body.n);
	for (i = 0; i < req->n_fields; i++)
		if (req->fields[i].value && is_printable(req->fields[i].value))
			(void)buf_printf(out, "%s: %s\r\n", req->fields[i].name, req->fields[i].value);
	(void)buf_str(out, "\r\n");
	return buf_failed(out);
}

static bool field_is(const struct http_fields *f, const char *name, const char *value)
{
	const struct sv *v = http_field(f, name);

	return v && sv_is(*v, value);
}

static void take_head(const struct http_response *head, struct post_answer *to)
{
	const struct sv *after = http_field(&head->fields, "retry-after");
	size_t i;

	to->status = head->status;
	to->denied = head->status == 403 && http_field(&head->fields, "x-proxy-error") != NULL;
	to->final = field_is(&head->fields, "x-should-retry", "false");
	to->retry_after = 0;
	for (i = 0; after && i < after->n && i < 6; i++) {
		if (after->p[i] < '0' || after->p[i] > '9')
			return;
		to->retry_after = to->retry_after * 10 + (unsigned)(after->p[i] - '0');
	}
}

/* 1: the answer is complete; 0: there must be more; -EPROTO: it is no answer, -EFBIG, -ENOMEM. */
static int take_bytes(struct h1 *h, struct sv in, struct post_answer *to)
{
	struct sv data;

	for (;;) {
		switch (h1_read(h, &in, &data)) {
		case H1_MORE:
			return 0;
		case H1_HEAD:
			take_head(h1_response(h), to);
			break;
		case H1_DATA:
			if (buf_sv(&to->body, data) < 0)
				return buf_failed(&to->body);
			break;
		case H1_END:
			if (to->status >= 200)
				return 1;
			h1_next(h);
			break;
		case H1_ERROR:
			return -EPROTO;
		}
	}
}

static int receive(int fd, struct h1 *h, struct post_answer *to, int64_t deadline)
{
	char bytes[READ_SIZE];
	ssize_t n;
	int r = 0;

	while (r == 0) {
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n > 0)
			r = take_bytes(h, sv_n(bytes, (size_t)n), to);
		else if (n == 0)
			return h1_eof(h) == H1_END ? 0 : -ECONNRESET;
		else if (errno == EAGAIN)
			r = wait_for(fd, POLLIN, deadline);
		else if (errno != EINTR)
			r = -errno;
	}
	return r < 0 ? r : 0;
}

/* Sending may fail because there is an answer already, which is worth more. */
static int exchange(const struct post_base *base, const struct post_request *req, struct h1 *h, struct post_answer *to)
{
	int64_t deadline = now_ms() + req->timeout_ms;
	AUTO_FD fd = -1;
	AUTO_BUF head = {0};
	int sent, r;

	buf_init(&head, HEAD_MAX);
	r = write_head(base, req, &head);
	if (r < 0)
		return r;
	fd = dial(base, deadline);
	if (fd < 0)
		return fd;
	sent = send_all(fd, buf_view(&head), deadline);
	if (sent == 0)
		sent = send_all(fd, req->body, deadline);
	if (sent == -ETIMEDOUT)
		return sent;
	r = receive(fd, h, to, deadline);
	return r < 0 && sent < 0 ? sent : r;
}

int post_send(const struct post_base *base, const struct post_request *req, struct post_answer *ret, struct error *err)
{
	struct post_answer to = {0};
	struct h1 *h = h1_new_response(NULL);
	int r;

	buf_init(&to.body, REPLY_MAX);
	if (h)
		h1_expect(h, (struct h1_asked){0});
	r = h ? exchange(base, req, h, &to) : -ENOMEM;
	h1_free(h);
	if (r == 0) {
		*ret = to;
		return 0;
	}
	buf_done(&to.body);
	if (r == -EPROTO)
		return error_set(err, ERROR_SYSTEM, "%s sent no HTTP that can be trusted", base->host);
	return error_sys(err, r, "no answer from %s", base->host);
}

#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

void wire_put_strings(struct buf *b, char *const *v)
{
	uint32_t n = 0, i;

	while (v && v[n])
		n++;
	wire_put_u32(b, n);
	for (i = 0; i < n; i++)
		wire_put_sv(b, sv_of(v[i]));
}

char **wire_get_strings(struct wire_in *in, size_t max)
{
	size_t n = wire_get_u32(in), i;
	char **v, *to;
	struct sv s;

	/* each string takes at least its length field, so n is bounded by what is there */
	if (in->failed || n > max || n > in->rest.n / 4) {
		in->failed = true;
		return NULL;
	}
	v = malloc((n + 1) * sizeof(*v) + in->rest.n + n);
	if (!v)
		return NULL;
	to = (char *)(v + n + 1);
	for (i = 0; i < n; i++) {
		s = wire_get_sv(in);
		if (in->failed || memchr(s.p, '\0', s.n)) {
			in->failed = true;
			free(v);
			return NULL;
		}
		v[i] = to;
		memcpy(to, s.p, s.n);
		to[s.n] = '\0';
		to += s.n + 1;
	}
	v[n] = NULL;
	return v;
}

bool wire_ok(const struct wire_in *in)
{
	return !in->failed && in->rest.n == 0;
}

void wire_put_error(struct buf *b, const struct error *err)
{
	wire_put_u32(b, (uint32_t)err->kind);
	wire_put_u32(b, (uint32_t)err->code);
	wire_put_sv(b, sv_of(err->text));
}

int wire_get_error(struct sv body, struct wire_error *ret)
{
	struct wire_in in;
	uint32_t kind, code;
	struct sv text;

	wire_in_init(&in, body);
	kind = wire_get_u32(&in);
	code = wire_get_u32(&in);
	text = wire_get_sv(&in);
	if (!wire_ok(&in) || kind < ERROR_USAGE || kind > ERROR_SYSTEM || text.n == 0 ||
	    text.n >= sizeof(((struct error *)NULL)->text))
		return -EBADMSG;
	*ret = (struct wire_error){(enum error_kind)kind, (int)code, text};
	return 0;
}

int wire_error_set(const struct wire_error *said, struct error *err)
{
	struct text_shown whole;
	AUTO_BUF shown = {0};

	buf_init(&shown, 4 * sizeof(err->text));
	text_escape(&shown, said->text, sizeof(err->text));
	(void)error_set(err, said->kind, "%s", buf_failed(&shown) ? text_show(&whole, said->text) : shown.p);
	err->code = said->code;
	return -1;
}

static int send_message(int sock, uint16_t type, struct sv body, const int *fds, size_t n_fds, int flags)
{
	unsigned char head[2] = {(unsigned char)type, (unsigned char)(type >> 8)};
	struct iovec iov[2] = {{head, sizeof(head)}, {(void *)(uintptr_t)body.p, body.n}};
	union {
		char room[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	struct cmsghdr *c;

	if (body.n > WIRE_MAX_BODY || n_fds > WIRE_MAX_FDS)
		return -EMSGSIZE;
	if (n_fds) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL | flags) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int wire_send(int sock, uint16_t type, struct sv body, const int *fds, size_t n_fds)
{
	return send_message(sock, type, body, fds, n_fds, 0);
}

int wire_send_now(int sock, uint16_t type, struct sv body, const int *fds, size_t n_fds)
{
	return send_message(sock, type, body, fds, n_fds, MSG_DONTWAIT);
}

static void take_fds(struct wire_message *m, struct msghdr *msg)
{
	struct cmsghdr *c;
	size_t n, i;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (m->n_fds < WIRE_MAX_FDS)
				m->fds[m->n_fds++] = fd;
			else
				(void)close(fd);
		}
	}
}

int wire_receive(int sock, struct wire_message *m)
{
	unsigned char head[2];
	union {
		char room[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
		struct cmsghdr align;
	} control;
	struct iovec iov[2];
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2, .msg_control = control.room, .msg_controllen = sizeof(control)};
	ssize_t size, n;
	bool reset = false;

	*m = (struct wire_message){0};
	buf_init(&m->body, WIRE_MAX_BODY);
	/* how large is it? then one allocation of that size, not of the maximum */
	while ((size = recv(sock, head, sizeof(head), MSG_PEEK | MSG_TRUNC)) < 0) {
		/* The other side went without reading all of ours. What it said before is still there, behind this
		 * error. */
		if (errno == ECONNRESET && !reset)
			reset = true;
		else if (errno != EINTR)
			return -errno;
	}
	if (size == 0)
		return 0;
	if (size > WIRE_MAX_BODY + 2)
		size = 2; /* falls to MSG_TRUNC below */
	m->body.p = malloc((size_t)size + 1);
	if (!m->body.p)
		return -ENOMEM;
	m->body.cap = (size_t)size + 1;
	iov[0] = (struct iovec){head, sizeof(head)};
	iov[1] = (struct iovec){m->body.p, (size_t)size};
	while ((n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC)) < 0 && (errno == EINTR || (errno == ECONNRESET && !reset)))
		reset = reset || errno == ECONNRESET;
	if (n <= 0) { /* whoever else reads there took it */
		n = n < 0 ? -errno : 0;
		buf_done(&m->body);
		return (int)n;
	}
	take_fds(m, &msg);
	if (n < 2 || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		wire_message_done(m);
		return -EPROTO;
	}
	m->type = (uint16_t)(head[0] | head[1] << 8);
	m->body.n = (size_t)n - 2;
	m->body.p[m->body.n] = '\0';
	return 1;
}

void wire_message_done(struct wire_message *m)
{
	size_t i;

	for (i = 0; i < m->n_fds; i++)
		if (m->fds[i] >= 0)
			(void)close(m->fds[i]);
	m->n_fds = 0;
	buf_done(&m->body);
}

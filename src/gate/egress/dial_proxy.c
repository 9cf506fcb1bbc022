#include "gate/egress/dial_proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "http/h1_write.h"

enum { ANSWER_MAX = 16 * 1024 };

struct dial_proxy {
	struct loop *loop;
	int fd;
	struct loop_watch watch;
	struct buf out;
	size_t sent;
	struct buf answer;
	dial_proxy_fn *fn;
	void *arg;
};

static void over(struct dial_proxy *t, enum gate_failure why)
{
	loop_watch_remove(&t->watch);
	t->fn(t->arg, why);
}

/* The head is complete: is it a yes? */
static enum gate_failure judge(const struct dial_proxy *t)
{
	struct h1 *h = h1_new_response(NULL);
	struct sv in = buf_view(&t->answer), data;
	enum gate_failure why = GATE_FAILURE_PROTOCOL;

	if (!h)
		return GATE_FAILURE_INTERNAL;
	h1_expect(h, (struct h1_asked){.connect = true});
	if (h1_read(h, &in, &data) == H1_HEAD) {
		uint16_t status = h1_response(h)->status;

		if (status / 100 == 2)
			why = GATE_FAILURE_NONE;
		else if (status == 504)
			why = GATE_FAILURE_TIMEOUT;
		else
			why = status == 403 || status == 407 ? GATE_FAILURE_REFUSED : GATE_FAILURE_UNREACHABLE;
	}
	h1_free(h);
	return why;
}

/* How many of the n bytes that were added behind `before` belong to the head; *ret_whole: it ends there. */
static size_t head_part(const struct buf *b, size_t before, bool *ret_whole)
{
	size_t from = before > 3 ? before - 3 : 0;
	const char *end = memmem(b->p + from, b->n - from, "\r\n\r\n", 4);

	*ret_whole = end != NULL;
	return end ? (size_t)(end - b->p) + 4 - before : b->n - before;
}

static void receive(struct dial_proxy *t)
{
	char piece[2048];
	bool whole = false;

	while (!whole) {
		size_t before = t->answer.n, take;
		ssize_t n = recv(t->fd, piece, sizeof(piece), MSG_PEEK);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0 || buf_add(&t->answer, piece, (size_t)n) < 0) {
			over(t, n <= 0 ? GATE_FAILURE_CUT : GATE_FAILURE_PROTOCOL);
			return;
		}
		take = head_part(&t->answer, before, &whole);
		t->answer.n = before + take;
		if (recv(t->fd, piece, take, 0) != (ssize_t)take) {
			over(t, GATE_FAILURE_CUT);
			return;
		}
	}
	over(t, judge(t));
}

static void on_socket(void *arg, unsigned events)
{
	struct dial_proxy *t = arg;

	while ((events & LOOP_WRITE) && t->sent < t->out.n) {
		ssize_t n = send(t->fd, t->out.p + t->sent, t->out.n - t->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno != EINTR) {
			over(t, GATE_FAILURE_CUT);
			return;
		}
		t->sent += n > 0 ? (size_t)n : 0;
	}
	if (events & LOOP_READ)
		receive(t);
}

struct dial_proxy *dial_proxy_start(struct loop *loop, int fd, struct sv host, uint16_t port, dial_proxy_fn *fn,
				    void *arg)
{
	const struct http_request request = {.method = {"CONNECT", 7}, .host = host, .port = port};
	struct dial_proxy *t = calloc(1, sizeof(*t));
	enum h1_body body;

	if (!t) {
		(void)close(fd);
		return NULL;
	}
	*t = (struct dial_proxy){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
	buf_init(&t->out, ANSWER_MAX);
	buf_init(&t->answer, ANSWER_MAX);
	if (h1_write_request(&t->out, &request, true, &body) < 0 ||
	    loop_watch_add(loop, &t->watch, fd, LOOP_READ | LOOP_WRITE, on_socket, t) < 0) {
		dial_proxy_free(t);
		return NULL;
	}
	return t;
}

int dial_proxy_take(struct dial_proxy *t)
{
	loop_watch_remove(&t->watch);
	return fd_take(&t->fd);
}

void dial_proxy_free(struct dial_proxy *t)
{
	if (!t)
		return;
	loop_watch_remove(&t->watch);
	if (t->fd >= 0)
		(void)close(t->fd);
	buf_done(&t->out);
	buf_done(&t->answer);
	free(t);
}

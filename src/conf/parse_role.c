#include "conf/parse_role.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/role.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

/* The first byte of what the child says; the rest, up to its end, is the answer, or an error's kind, errno and text. */
enum { SAID_ANSWER = 'A', SAID_ERROR = 'E' };

enum { ERROR_MAX = 4096, CHUNK = 16384 };

/* ---- the child ---- */

struct child {
	const struct parse_role *role;
	struct sv in;
	size_t most;
};

static int child_main(void *arg, int sock)
{
	const struct child *c = arg;
	struct error err = {0};
	AUTO_BUF out = {0};
	char said = SAID_ANSWER;
	int r;

	buf_init(&out, c->most);
	r = c->role->parse(c->in, &out, &err);
	if (r == 0 && buf_failed(&out))
		r = error_sys(&err, buf_failed(&out), "%s says more than can be taken in", c->role->what);
	if (r < 0) {
		said = SAID_ERROR;
		buf_done(&out);
		buf_init(&out, ERROR_MAX);
		wire_put_error(&out, &err);
	}
	if (write_all(sock, &said, 1) < 0 || write_all(sock, buf_view(&out).p, out.n) < 0)
		return 1;
	return 0;
}

/* ---- the parent: it trusts no length and no promptness ---- */

struct parent {
	int socket;
	struct timespec end;
};

static void set_end(struct parent *p, unsigned ms)
{
	(void)clock_gettime(CLOCK_MONOTONIC, &p->end);
	p->end.tv_sec += ms / 1000;
	p->end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (p->end.tv_nsec >= 1000000000) {
		p->end.tv_sec++;
		p->end.tv_nsec -= 1000000000;
	}
}

static int wait_for(const struct parent *p)
{
	struct pollfd fd = {.fd = p->socket, .events = POLLIN};
	struct timespec now;
	int64_t left;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	left = (int64_t)(p->end.tv_sec - now.tv_sec) * 1000 + (p->end.tv_nsec - now.tv_nsec) / 1000000;
	if (left <= 0)
		return -ETIMEDOUT;
	return poll(&fd, 1, (int)left) < 0 && errno != EINTR ? -errno : 0;
}

/* Bytes of a piece; 0: it has ended; or -errno. */
static ssize_t receive(const struct parent *p, void *to, size_t max)
{
	ssize_t n;
	int r;

	for (;;) {
		n = recv(p->socket, to, max, MSG_DONTWAIT);
		if (n >= 0)
			return n;
		if (errno == ECONNRESET)
			return 0;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		r = wait_for(p);
		if (r < 0)
			return r;
	}
}

static int receive_all(const struct parent *p, struct buf *out)
{
	char chunk[CHUNK];
	ssize_t n;

	while ((n = receive(p, chunk, sizeof(chunk))) > 0)
		if (buf_add(out, chunk, (size_t)n) < 0)
			return buf_failed(out);
	return (int)n;
}

/* SAID_ANSWER with the answer in out, SAID_ERROR with the error in failure, or -errno. */
static int listen_to(const struct parent *p, struct buf *out, struct buf *failure)
{
	unsigned char said = 0;
	ssize_t n = receive(p, &said, 1);
	int r;

	if (n <= 0)
		return n < 0 ? (int)n : -ECONNRESET;
	if (said != SAID_ANSWER && said != SAID_ERROR)
		return -EBADMSG;
	r = receive_all(p, said == SAID_ANSWER ? out : failure);
	return r < 0 ? r : said;
}

static int fail_nonsense(const char *what, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s could not be parsed safely: its parser said nothing that makes sense",
			 what);
}

static int take_error(const char *what, struct sv body, struct error *err)
{
	struct wire_error said;

	return wire_get_error(body, &said) < 0 ? fail_nonsense(what, err) : wire_error_set(&said, err);
}

static int fail_role(const char *what, int code, int status, struct error *err)
{
	static const char unsafe[] = "could not be parsed safely";

	if (code == -EBADMSG)
		return fail_nonsense(what, err);
	if (code == -ETIMEDOUT)
		return error_set(err, ERROR_INPUT, "%s %s: it took too long; make it smaller", what, unsafe);
	if (code == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s %s: it says more than can be taken in; make it smaller", what,
				 unsafe);
	if (code != 0 && code != -ECONNRESET)
		return error_sys(err, code, "%s %s", what, unsafe);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == ROLE_NOT_CONFINED)
		return error_set(err, ERROR_MISSING, "%s %s: its parser could not be confined; %s", what, unsafe,
				 seccomp_lack());
	if (status >= 0 && WIFSIGNALED(status))
		return error_set(err, ERROR_INPUT, "%s %s: its parser was ended by signal %d (%s)", what, unsafe,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_set(err, ERROR_INPUT, "%s %s: its parser ended without an answer", what, unsafe);
}

int parse_role_run(const struct parse_role *role, struct sv in, struct buf *out, struct error *err)
{
	unsigned ms = role->ms ? role->ms : PARSE_ROLE_MS;
	struct role_bounds bounds = {.memory = role->memory ? role->memory : PARSE_ROLE_MEMORY,
				     .cpu_seconds = ms / 1000 + 1};
	struct child child = {.role = role, .in = in, .most = out->max - out->n};
	struct parent p = {.socket = -1};
	AUTO_BUF failure = {0};
	AUTO_FD sock = -1;
	pid_t pid;
	int r, status;

	buf_init(&failure, ERROR_MAX);
	set_end(&p, ms);
	pid = role_fork(&bounds, child_main, &child, &sock);
	if (pid < 0)
		return error_sys(err, (int)pid, "%s could not be parsed safely", role->what);
	p.socket = sock;
	r = listen_to(&p, out, &failure);
	/* Who ended what it says is on its way out: how it ends tells whether it was whole. */
	status = role_end(pid, r < 0 && r != -ECONNRESET);
	if (r > 0 && status == 0)
		return r == SAID_ANSWER ? 0 : take_error(role->what, buf_view(&failure), err);
	return fail_role(role->what, r < 0 ? r : 0, status, err);
}

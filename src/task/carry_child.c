#include "task/carry_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/ids.h"
#include "sys/process.h"

/* A message: a rule and a path, or the end and an error. */
struct head {
	uint32_t kind; /* enum carry_rule; CARRY_RULES: the end */
	uint32_t n;    /* bytes that follow */
};

struct child {
	struct carry *c;
	int to, pipe;
	int (*work)(struct carry *c, int to);
};

static int send_message(int fd, uint32_t kind, const void *p, size_t n)
{
	struct head h = {kind, (uint32_t)n};
	int r = write_all(fd, &h, sizeof(h));

	return r < 0 ? r : write_all(fd, p, n);
}

static void send_report(void *arg, enum carry_rule rule, struct sv path)
{
	const struct child *k = arg;

	(void)send_message(k->pipe, rule, path.p, path.n); /* where nobody reads, SIGPIPE or the parent's end is ours */
}

/* Upper folder, destination, pipe and layers get the first numbers; nothing else stays. */
static int keep_ours(struct child *k, struct carry_request *req)
{
	int *all[2 * VIEW_LAYERS_MAX + 3] = {&req->upper, &k->to, &k->pipe};
	size_t n = 3, i;

	for (i = 0; i < k->c->root.n; i++)
		all[n++] = &k->c->root.fds[i];
	for (i = 0; i < k->c->had.n; i++)
		all[n++] = &k->c->had.fds[i];
	for (i = 0; i < n; i++) {
		*all[i] = fcntl(*all[i], F_DUPFD_CLOEXEC, (int)n + 3);
		if (*all[i] < 0)
			return -errno;
	}
	for (i = 0; i < n; i++) {
		*all[i] = dup3(*all[i], (int)i + 3, O_CLOEXEC);
		if (*all[i] < 0)
			return -errno;
	}
	return sys_close_from((int)n + 3);
}

static int in_child(void *arg)
{
	struct child *k = arg;
	struct carry_request req = *k->c->req;
	struct error err = {0};
	int r = keep_ours(k, &req);

	k->c->req = &req;
	k->c->err = &err;
	k->c->report = send_report;
	k->c->report_arg = k;
	k->c->caller = 0;
	r = r < 0 ? error_sys(&err, r, "descriptors") : k->work(k->c, k->to);
	if (r == 0)
		err.kind = ERROR_NONE;
	return send_message(k->pipe, CARRY_RULES, &err, sizeof(err)) < 0;
}

/* Waits until there is something to read. -EINTR: somebody wants us to end. */
static int wait_for(const struct carry *c, int fd)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = c->req->stop ? *c->req->stop : -1, .events = POLLIN}};

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return p[1].revents ? -EINTR : 0;
}

/* n bytes. 0, or -errno (-EPIPE: the other side ended). */
static int read_all(int fd, void *to, size_t n)
{
	size_t done = 0;
	ssize_t r;

	while (done < n) {
		r = read(fd, (char *)to + done, n - done);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -EPIPE;
		done += (size_t)r;
	}
	return 0;
}

static int take_error(struct carry *c, struct error *said)
{
	size_t i;

	if (said->kind == ERROR_NONE)
		return 0;
	said->text[sizeof(said->text) - 1] = '\0';
	for (i = 0; said->text[i]; i++)
		if ((unsigned char)said->text[i] < 0x20 || said->text[i] == 0x7f)
			said->text[i] = '?';
	return error_set(c->err, ERROR_SYSTEM, "%s", said->text);
}

/* What the child says, up to its end. */
static int listen_to(struct carry *c, int fd)
{
	char path[PATH_MAX];
	struct error said;
	struct head h;

	while (wait_for(c, fd) == 0 && read_all(fd, &h, sizeof(h)) == 0) {
		if (h.kind == CARRY_RULES && h.n == sizeof(said) && read_all(fd, &said, sizeof(said)) == 0)
			return take_error(c, &said);
		if (h.kind >= CARRY_RULES || h.n > sizeof(path) || read_all(fd, path, h.n) < 0)
			break;
		c->report(c->report_arg, (enum carry_rule)h.kind, sv_n(path, h.n));
	}
	return error_set(c->err, ERROR_SYSTEM, "who carries changes to the verifier ended too early");
}

int carry_in_child(struct carry *c, int to, int (*work)(struct carry *c, int to))
{
	struct child k = {.c = c, .to = to, .work = work};
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_sys(c->err, errno, "pipe");
	k.pipe = fds[1];
	pid = image_ids_fork(c->req->ids, 0, in_child, &k, c->err);
	(void)close(fds[1]);
	r = pid < 0 ? -1 : listen_to(c, fds[0]);
	(void)close(fds[0]);
	if (pid > 0 && r < 0)
		(void)kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

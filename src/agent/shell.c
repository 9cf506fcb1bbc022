#include "agent/shell.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum { GRACE_MS = 2000, READ_SIZE = 64 * 1024 };

struct running {
	pid_t pid;
	int out;     /* -1: its end was seen */
	int signals; /* SIGCHLD */
	int64_t deadline;
	bool killed; /* SIGKILL was sent */
	struct shell_result *r;
};

/* What there is now, but not for ever: a loop that prints must not keep us from the clock. */
static void take_output(struct running *w)
{
	char bytes[READ_SIZE];
	unsigned i;
	ssize_t n;

	for (i = 0; i < 16 && w->out >= 0; i++) {
		n = read(w->out, bytes, sizeof(bytes));
		if (n > 0)
			clip_add(&w->r->output, sv_n(bytes, (size_t)n));
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			(void)close(fd_take(&w->out));
		else
			return;
	}
}

static void take_signals(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
}

static bool is_over(struct running *w)
{
	int status;

	if (waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	w->r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

static void out_of_time(struct running *w)
{
	(void)kill(-w->pid, w->r->timed_out ? SIGKILL : SIGTERM);
	w->killed = w->r->timed_out;
	w->r->timed_out = true;
	w->deadline = w->killed ? INT64_MAX : now_ms() + GRACE_MS;
}

static void wait_for_it(struct running *w)
{
	struct pollfd p[2] = {{.fd = w->signals, .events = POLLIN}, {.events = POLLIN}};

	while (!is_over(w)) {
		p[1].fd = w->out;
		(void)poll(p, 2, left_ms(w->deadline));
		take_signals(w->signals);
		take_output(w);
		if (now_ms() >= w->deadline)
			out_of_time(w);
	}
	/* what was printed before the end; what is left in the background is not waited for */
	take_output(w);
	if (w->r->timed_out)
		(void)kill(-w->pid, SIGKILL);
}

int shell_run(const char *command, const struct shell_limits *limits, const sigset_t *mask, struct shell_result *ret,
	      struct error *err)
{
	char sh[] = "/bin/sh", dash_c[] = "-c";
	AUTO_FREE char *copy = strdup(command);
	char *argv[] = {sh, dash_c, copy, NULL};
	struct spawn s = {.argv = argv, .mask = mask, .in = -1, .err = -1};
	struct shell_result r = {.output = {0}};
	int64_t started = now_ms();
	struct running w = {.out = -1, .r = &r, .deadline = started + limits->timeout_ms};
	AUTO_FD signals = -1;
	sigset_t children;

	(void)sigemptyset(&children);
	(void)sigaddset(&children, SIGCHLD);
	signals = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
	w.signals = signals;
	if (!copy || signals < 0 || clip_init(&r.output, limits->output / 2, limits->output - limits->output / 2) < 0)
		return error_sys(err, errno, "a command cannot be started");
	w.pid = spawn(&s, &w.out);
	if (w.pid < 0) {
		clip_done(&r.output);
		return error_sys(err, (int)w.pid, "/bin/sh cannot be started");
	}
	wait_for_it(&w);
	if (w.out >= 0)
		(void)close(w.out);
	r.ms = now_ms() - started;
	*ret = r;
	return 0;
}

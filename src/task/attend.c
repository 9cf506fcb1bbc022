#include "task/attend.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { TICK_MS = 250 };

struct output {
	int from, log;
	size_t kept; /* bytes in the log */
	bool cut;
	char line[ATTEND_LINE];
	size_t n_line;
};

static void keep(struct output *o, const char *p, size_t n)
{
	static const char note[] = "\n[cordon: the output is cut here]\n";
	size_t fits = n < ATTEND_OUTPUT_MAX - o->kept ? n : ATTEND_OUTPUT_MAX - o->kept;

	if (o->log < 0 || o->cut)
		return;
	if (write_all(o->log, p, fits) < 0 || fits < n) {
		(void)write_all(o->log, note, sizeof(note) - 1);
		o->cut = true;
	}
	o->kept += fits;
}

/* The last whole line, or what there is of it. */
static void note_line(struct output *o, const char *p, size_t n, const struct task_progress *to)
{
	struct text_shown shown;
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] == '\n' || p[i] == '\r') {
			if (o->n_line && to && to->line)
				to->line(to->arg, text_show(&shown, sv_n(o->line, o->n_line)));
			o->n_line = 0;
		} else if (o->n_line < sizeof(o->line)) {
			o->line[o->n_line++] = p[i];
		}
	}
}

/* False: there is no more, or no more for now. */
static bool read_some(struct output *o, const struct task_progress *to)
{
	char bytes[16384];
	ssize_t n = read(o->from, bytes, sizeof(bytes));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	keep(o, bytes, (size_t)n);
	note_line(o, bytes, (size_t)n, to);
	return true;
}

int attend_signals(struct attend *a, struct error *err)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signals < 0 ? error_sys(err, errno, "signals") : 0;
}

static bool take_signal(int signals, pid_t pid)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return false;
	(void)kill(pid, SIGTERM);
	return true;
}

static void watch(const struct attend *a, struct output *o, pid_t pid, int ended, bool *interrupted)
{
	struct pollfd p[] = {{.fd = ended, .events = POLLIN}, {.fd = o->from, .events = POLLIN}, {.fd = a->signals, .events = POLLIN}};
	bool first = true;

	while (!(p[0].revents & (POLLIN | POLLHUP))) {
		int n = poll(p, 3, TICK_MS);

		if (n < 0 && errno != EINTR)
			return;
		if (n <= 0) {
			p[0].revents = 0;
			if (a->progress && a->progress->line)
				a->progress->line(a->progress->arg, NULL);
			continue;
		}
		if (p[1].revents && !read_some(o, a->progress) && (p[1].revents & POLLHUP))
			p[1].fd = -1;
		if ((p[2].revents & POLLIN) && take_signal(a->signals, pid)) {
			*interrupted = true;
			/* once more, and nothing is waited for */
			if (!first)
				(void)kill(pid, SIGKILL);
			first = false;
		}
	}
}

int attend(const struct attend *a, struct task_sandbox *s, int log, struct task_ended *ret, bool *ret_interrupted, struct error *err)
{
	struct output o = {.from = -1, .log = log};
	AUTO_FD from = -1;
	AUTO_FD to = -1;
	struct task_running run = {.fd = -1};
	int p[2], r;

	*ret_interrupted = false;
	if (pipe2(p, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	from = p[0];
	to = p[1];
	(void)fcntl(from, F_SETFL, O_NONBLOCK);
	o.from = from;
	s->out = to;
	if (a->launcher->start(a->launcher->arg, s, &run, err) < 0)
		return -1;
	(void)close(fd_take(&to)); /* the end of all writers is the end of the stream */
	s->out = -1;
	watch(a, &o, run.pid, run.fd, ret_interrupted);
	r = a->launcher->end(a->launcher->arg, &run, ret, err);
	while (read_some(&o, a->progress))
		;
	return r;
}

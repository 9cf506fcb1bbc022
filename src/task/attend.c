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
#include "base/clock.h"
#include "base/text.h"
#include "supervise/client.h"
#include "supervise/control.h"

enum { TICK_MS = 250, LOST_MS = 15000 };

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
	/* nohup: nobody is to be ended by it */
	if (signal(SIGHUP, SIG_DFL) == SIG_IGN)
		(void)signal(SIGHUP, SIG_IGN);
	else
		(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signals < 0 ? error_sys(err, errno, "signals") : 0;
}

int attend_signal(const struct attend *a)
{
	struct signalfd_siginfo info;

	return read(a->signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

void attend_stop(const struct task_running *run, uint32_t grace_ms)
{
	AUTO_FD sock = run->run[0] ? control_connect(run->run) : -1;

	/* one that does not stand yet has nobody to ask but its supervisor */
	if (sock < 0 || client_stop(sock, grace_ms) < 0)
		(void)kill(run->pid, SIGTERM);
}

/* The first is passed on; a second, or a supervisor that does not answer, and nothing is waited for. */
static void end_run(const struct attend *a, const struct task_running *run, int *first, int64_t *kill_at)
{
	int sig = attend_signal(a);

	if (sig && *first) {
		*kill_at = 0;
	} else if (sig) {
		attend_stop(run, ATTEND_GRACE_MS);
		*first = sig;
		*kill_at = now_ms() + LOST_MS;
	}
	if (*first && now_ms() >= *kill_at)
		(void)kill(run->pid, SIGKILL);
}

static void watch(const struct attend *a, struct output *o, const struct task_running *run, int *ret_signal)
{
	struct pollfd p[] = {{.fd = run->fd, .events = POLLIN},
			     {.fd = o->from, .events = POLLIN},
			     {.fd = a->signals, .events = POLLIN}};
	int64_t kill_at = 0;

	while (!(p[0].revents & (POLLIN | POLLHUP))) {
		int n = poll(p, 3, TICK_MS);

		if (n < 0 && errno != EINTR)
			return;
		end_run(a, run, ret_signal, &kill_at);
		if (n <= 0) {
			p[0].revents = 0;
			if (a->progress && a->progress->line)
				a->progress->line(a->progress->arg, NULL);
			continue;
		}
		if (p[1].revents && !read_some(o, a->progress) && (p[1].revents & POLLHUP))
			p[1].fd = -1;
	}
}

int attend(const struct attend *a, struct task_sandbox *s, int log, struct task_ended *ret, int *ret_signal,
	   struct error *err)
{
	struct output o = {.from = -1, .log = log};
	AUTO_FD from = -1;
	AUTO_FD to = -1;
	struct task_running run = {.fd = -1};
	int p[2], r;

	*ret_signal = 0;
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
	watch(a, &o, &run, ret_signal);
	r = a->launcher->end(a->launcher->arg, &run, ret, err);
	while (read_some(&o, a->progress))
		;
	return r;
}

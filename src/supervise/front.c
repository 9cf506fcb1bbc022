#include "supervise/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/process_stat.h"
#include "sys/signals.h"

/*
 * What was sent to both at once has come on both ways by then. RACE: the kernel has sent it to the supervisor when the
 * front has hardly had the time to pass it on; the other way round the front may be slow (TOGETHER).
 */
enum { LOST = 125, TOGETHER_MS = 1000, RACE_MS = 50, SHELL_MS = 1000, FIRST_QUEUED = 32 /* SIGRTMIN of the kernel */ };

static void only(sigset_t *set, int sig)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, sig);
}

static void end_as(int status) __attribute__((noreturn));
static void end_as(int status)
{
	sigset_t set;

	if (WIFSIGNALED(status)) {
		(void)signal(WTERMSIG(status), SIG_DFL);
		only(&set, WTERMSIG(status));
		(void)raise(WTERMSIG(status));
		(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

struct front {
	pid_t child;
	int signals;   /* but SIGTSTP */
	int stop;      /* that is pending; it is never read */
	bool stopping; /* the child was told to */
};

/* Stops here, where the SIGTSTP is still pending. In a job that nobody could continue the kernel stops nobody: all goes
 * on. */
static void let_stop(struct front *f)
{
	sigset_t set;

	only(&set, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	f->stopping = false;
	if (sigpending(&set) == 0 && !sigismember(&set, SIGCONT))
		(void)kill(f->child, SIGCONT);
}

/* Before it watches a sandbox the child stops by itself, as any program does: so do we. */
static void look_at(struct front *f)
{
	int status = 0;
	pid_t r;

	while ((r = waitpid(f->child, &status, WNOHANG | WUNTRACED)) > 0) {
		if (!WIFSTOPPED(status))
			end_as(status);
		if (!f->stopping)
			(void)kill(getpid(), SIGSTOP);
		else
			let_stop(f);
		(void)kill(f->child, SIGCONT);
	}
	if (r < 0 && errno != EINTR)
		_exit(LOST);
}

/* The kernel's: -1. */
static void pass_on(pid_t child, const struct signalfd_siginfo *info)
{
	bool kernels = info->ssi_code == SI_KERNEL;
	union sigval sender = {.sival_int = kernels ? -1 : (int)info->ssi_pid};

	switch (info->ssi_signo) {
	case SIGTTIN:
	case SIGTTOU:
		return;
	case SIGWINCH:
	case SIGINT:
	case SIGQUIT:
		/* what is typed goes to all of the job, and so does a new size; but a terminal that is hung up tells
		 * the session's leader only, and a timer of ours is ours alone */
		if (kernels)
			return;
		break;
	}
	if (kernels || (pid_t)info->ssi_pid != child)
		(void)sigqueue(child, (int)info->ssi_signo, sender);
}

static void on_signal(struct front *f, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD)
		return;
	if (info->ssi_signo == FRONT_MAY_STOP && (pid_t)info->ssi_pid == f->child) {
		if (f->stopping)
			let_stop(f);
		return;
	}
	if (info->ssi_signo == SIGCONT)
		f->stopping = false;
	pass_on(f->child, info);
}

static void stand(pid_t child) __attribute__((noreturn));
static void stand(pid_t child)
{
	struct front f = {.child = child};
	struct signalfd_siginfo info;
	sigset_t set;

	sys_signals_all(&set);
	(void)sigdelset(&set, SIGTSTP);
	f.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	only(&set, SIGTSTP);
	f.stop = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f.signals < 0 || f.stop < 0)
		_exit(LOST);
	for (;;) {
		struct pollfd p[] = {{.fd = f.signals, .events = POLLIN},
				     {.fd = f.stopping ? -1 : f.stop, .events = POLLIN}};

		look_at(&f);
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents) {
			f.stopping = true;
			(void)kill(child, SIGTSTP);
		}
		while (read(f.signals, &info, sizeof(info)) == sizeof(info))
			on_signal(&f, &info);
	}
}

static int64_t sender_of(pid_t front, const struct signalfd_siginfo *info, bool *ret_passed_on)
{
	*ret_passed_on = front && info->ssi_code == SI_QUEUE && (pid_t)info->ssi_pid == front;
	return *ret_passed_on ? info->ssi_int : info->ssi_code == SI_KERNEL ? -1 : (int64_t)info->ssi_pid;
}

bool front_heard(struct front_ear *e, pid_t front, const struct signalfd_siginfo *info, uint64_t now)
{
	struct front_last *last = &e->last[info->ssi_signo % NSIG];
	bool passed_on, waits;
	int64_t sender = sender_of(front, info, &passed_on);

	if (!front || info->ssi_signo >= NSIG)
		return false;
	waits = now < last->until && last->n && last->sender == sender;
	if (waits && last->passed_on != passed_on) {
		last->n--;
		return true;
	}
	/* of those that queue, each comes on both ways; of others as many as were not merged */
	last->n = waits && (int)info->ssi_signo >= FIRST_QUEUED ? last->n + 1 : 1;
	last->sender = sender;
	last->passed_on = passed_on;
	last->until = now + (passed_on ? RACE_MS : TOGETHER_MS);
	return false;
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* A script is of the job itself, and leaves it running when it ends. */
void front_shells_note(struct front_shells *s, pid_t front)
{
	struct sys_process_stat is;
	pid_t session = getsid(0), at = front;

	*s = (struct front_shells){.front = front};
	while (front && at != session && s->n < FRONT_SHELLS && sys_process_stat(at, &is) && is.parent > 0 &&
	       is.session == session) {
		at = is.parent;
		if (getpgid(at) != getpgrp())
			s->v[s->n++] = at;
	}
}

static bool is_shells(const struct front_shells *s, int64_t sender)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i] == sender)
			return true;
	return false;
}

/* The kernel tells the jobs of a shell that has ended, too, but of two at once only the first is seen. 0: somebody
 * outside our PID namespace. */
bool front_is_sent(struct front_shells *s, const struct signalfd_siginfo *info, uint64_t now)
{
	bool passed_on, shells;
	int64_t sender = sender_of(s->front, info, &passed_on);

	if (passed_on ? sender < 0 : info->ssi_code != SI_USER)
		return false;
	shells = is_shells(s, sender);
	if (s->front && (sender == 0 || shells) && !has_terminal())
		return false;
	s->sender = shells ? (pid_t)sender : 0;
	s->until = shells ? now + SHELL_MS : 0;
	return true;
}

bool front_shell_ended(struct front_shells *s, uint64_t now)
{
	struct sys_process_stat is;
	bool ended;

	if (!s->until)
		return false;
	ended = !sys_process_stat(s->sender, &is) || is.dead || !has_terminal();
	if (ended || now >= s->until)
		s->until = 0;
	return ended;
}

int front_stand(pid_t *ret, struct error *err)
{
	pid_t front = getpid(), child;
	sigset_t before;

	*ret = 0;
	if (!has_terminal())
		return 0;
	if (sys_signals_block(&before) < 0)
		return error_sys(err, errno, "sigprocmask");
	(void)signal(SIGCHLD, SIG_DFL); /* who inherited that it is ignored would not be told */
	child = fork();
	if (child > 0)
		stand(child);
	if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != front))
		_exit(LOST);
	/* what is left to say when the shell has the terminal is said: nothing stops the supervisor */
	(void)sigaddset(&before, SIGTTOU);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	*ret = front;
	return child < 0 ? error_sys(err, errno, "fork") : 0;
}

/*
 * kill_at [-f] [-p PID] N COUNT_FILE [CMD [ARG...]]
 *
 * Kills CMD, or with -p the process PID, with SIGKILL when it is about to make its Nth system call: a power cut between
 * any two steps of a program. With -f the calls of its children count too, as long as they run the same program, and
 * the one that makes the Nth is killed. N 0: none. COUNT_FILE gets the number of calls that were counted (with -p it is
 * there as soon as they are counted); when it is less than N, nobody was killed.
 *
 * Exits 0 when somebody was killed; with 1 when CMD ended before that (with -f: it and all that went on in its
 * children), and 125 on its own failures. What survives runs on untraced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracees.h"

enum { EXIT_OWN_FAILURE = 125, QUIET_MS = 300, LATER_MS = 3000, STEP_MS = 20 };

struct work {
	long wanted, counted;
	bool follow;
	pid_t first; /* CMD, or PID */
	bool first_ended, killed;
	long ended_at;
	char program[PATH_MAX];
	struct tracees tracees;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "kill_at: %s: %s\n", what, strerror(errno));
	exit(EXIT_OWN_FAILURE);
}

static void program_of(pid_t pid, char out[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, out, PATH_MAX - 1);
	out[n < 0 ? 0 : n] = '\0';
}

/* False: it is another program now, and not our business. */
static bool still_ours(struct work *w, pid_t pid)
{
	char now[PATH_MAX];

	program_of(pid, now);
	if (pid == w->first && !w->program[0])
		memcpy(w->program, now, PATH_MAX);
	return strcmp(now, w->program) == 0;
}

static void let_go(struct work *w, pid_t pid)
{
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	forget(&w->tracees, pid);
}

static void count_call(struct work *w, pid_t pid)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    !w->program[0])
		return;
	if (++w->counted == w->wanted) {
		(void)kill(pid, SIGKILL);
		w->killed = true;
	}
}

static void stopped(struct work *w, pid_t pid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	long pass = 0;

	remember(&w->tracees, pid);
	if (signal == (SIGTRAP | 0x80)) {
		count_call(w, pid);
	} else if (event == PTRACE_EVENT_EXEC) {
		if (!still_ours(w, pid)) {
			let_go(w, pid);
			return;
		}
	} else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	} else if (!event) {
		pass = signal;
	}
	(void)ptrace(PTRACE_SYSCALL, pid, NULL, pass);
}

static long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False: nothing happened for a step. */
static bool turn(struct work *w)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	sigset_t set;
	pid_t pid;
	int status;
	bool any = false;

	while (!w->killed && (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		any = true;
		if (WIFSTOPPED(status)) {
			stopped(w, pid, status);
			continue;
		}
		forget(&w->tracees, pid);
		if (pid == w->first) {
			w->first_ended = true;
			w->ended_at = now_ms();
		}
	}
	if (any)
		return true;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigtimedwait(&set, NULL, &step) > 0;
}

/* A tracee can only be let go where it stands still. */
static void let_all_go(struct work *w)
{
	size_t i, n = w->tracees.n;
	pid_t pids[TRACEES_MAX];
	int status;

	memcpy(pids, w->tracees.v, sizeof(pids));
	for (i = 0; i < n; i++)
		if (ptrace(PTRACE_INTERRUPT, pids[i], NULL, NULL) == 0 &&
		    waitpid(pids[i], &status, __WALL) == pids[i] && WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, pids[i], NULL,
				     (status >> 16) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80)
					     ? (long)WSTOPSIG(status)
					     : 0);
}

static void trace(struct work *w, pid_t pid)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
		       (w->follow ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE : 0);

	if (ptrace(PTRACE_SEIZE, pid, NULL, options) < 0)
		fail("PTRACE_SEIZE");
	w->first = pid;
	remember(&w->tracees, pid);
}

static void start(struct work *w, char **argv)
{
	int go[2];
	char c = 0;
	pid_t pid;

	if (pipe(go) < 0 || (pid = fork()) < 0)
		fail("fork");
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		close(go[1]);
		(void)!read(go[0], &c, 1);
		close(go[0]);
		execvp(argv[0], argv);
		fail(argv[0]);
	}
	close(go[0]);
	trace(w, pid);
	/* it goes on from one stop to the next */
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
		fail("PTRACE_INTERRUPT");
	close(go[1]);
}

static void write_count(const struct work *w, const char *file)
{
	FILE *f = fopen(file, "w");

	if (!f || fprintf(f, "%ld\n", w->counted) < 0 || fclose(f) != 0)
		fail(file);
}

int main(int argc, char **argv)
{
	struct work w = {0};
	pid_t attach = 0;
	sigset_t set;
	const char *file;
	int option, quiet = 0;

	while ((option = getopt(argc, argv, "+fp:")) != -1) {
		if (option == 'f')
			w.follow = true;
		else if (option == 'p')
			attach = (pid_t)atoi(optarg);
		else
			return EXIT_OWN_FAILURE;
	}
	if (argc - optind < (attach ? 2 : 3))
		return EXIT_OWN_FAILURE;
	w.wanted = atol(argv[optind]);
	file = argv[optind + 1];
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (attach) {
		program_of(attach, w.program);
		trace(&w, attach);
		if (ptrace(PTRACE_INTERRUPT, attach, NULL, NULL) < 0)
			fail("PTRACE_INTERRUPT");
		write_count(&w, file);
	} else {
		start(&w, argv + optind + 2);
	}
	/* with -f what its children do behind its end counts too, until nothing happens any more, or nothing but what
	 * happens all the time */
	while (!w.killed && w.tracees.n &&
	       (!w.first_ended || (w.follow && quiet < QUIET_MS && now_ms() < w.ended_at + LATER_MS)))
		quiet = turn(&w) ? 0 : quiet + STEP_MS;
	let_all_go(&w);
	write_count(&w, file);
	return w.killed ? 0 : 1;
}

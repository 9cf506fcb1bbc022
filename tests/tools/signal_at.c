/*
 * signal_at stop|term CALL N CMD [ARG...]
 *
 * Sends a signal to CMD's whole job at the moment in which CMD, or what it started, is about to make its Nth CALL
 * (setsid, socketpair); a job that was stopped is continued a moment later. Who is stopped amid setsid() stands still
 * when it has left the job, and what continues the job does not reach it.
 *
 * Exits as CMD does; with 98 when there was no Nth, with 99 on its own failures.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracees.h"

enum { EXIT_NONE = 98, EXIT_OWN_FAILURE = 99, PAUSE_MS = 200 };

struct work {
	int signal;
	uint64_t call;
	long left;   /* calls to come */
	pid_t first; /* CMD, and its job */
	struct tracees tracees;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "signal_at: %s: %s\n", what, strerror(errno));
	exit(EXIT_OWN_FAILURE);
}

/* The signal that a stop is about to deliver; 0: it is another kind of stop. */
static long delivered(int status)
{
	return status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80) ? WSTOPSIG(status) : 0;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool is_call(const struct work *w, pid_t pid)
{
	struct __ptrace_syscall_info info = {0};

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY &&
	       info.entry.nr == w->call;
}

/* Until somebody stands before the call; who it is. */
static pid_t find(struct work *w)
{
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			forget(&w->tracees, pid);
			if (pid == w->first)
				exit(EXIT_NONE);
			continue;
		}
		remember(&w->tracees, pid);
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && is_call(w, pid) && --w->left == 0)
			return pid;
		if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
			(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		else
			(void)ptrace(PTRACE_SYSCALL, pid, NULL, delivered(status));
	}
	fail("waitpid");
}

/* The job has its signal by now; a tracee can only be let go where it stands still. */
static void let_all_go(struct work *w, pid_t last)
{
	size_t i;
	int status;

	for (i = 0; i < w->tracees.n; i++)
		if (w->tracees.v[i] != last && ptrace(PTRACE_INTERRUPT, w->tracees.v[i], NULL, NULL) == 0 &&
		    waitpid(w->tracees.v[i], &status, __WALL) == w->tracees.v[i] && WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, w->tracees.v[i], NULL, delivered(status));
	(void)ptrace(PTRACE_DETACH, last, NULL, NULL);
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	(void)nanosleep(&t, NULL);
}

/* Those that were born meanwhile, and nobody had seen yet, are let go too; and who ended must be heard of by us before
 * its parent is. */
static bool serve(const struct work *w, int *ret)
{
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, pid, NULL, delivered(status));
		else if (pid == w->first) {
			*ret = status_of(status);
			return false;
		}
	}
	return true;
}

static void start(struct work *w, char **argv)
{
	int go[2];
	char c = 0;

	if (pipe(go) < 0 || (w->first = fork()) < 0)
		fail("fork");
	if (w->first == 0) {
		(void)setpgid(0, 0);
		(void)close(go[1]);
		(void)!read(go[0], &c, 1);
		(void)close(go[0]);
		(void)execvp(argv[0], argv);
		fail(argv[0]);
	}
	(void)close(go[0]);
	(void)setpgid(w->first, w->first);
	if (ptrace(PTRACE_SEIZE, w->first, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			   PTRACE_O_TRACECLONE) < 0 ||
	    ptrace(PTRACE_INTERRUPT, w->first, NULL, NULL) < 0)
		fail("ptrace");
	(void)!write(go[1], &c, 1);
	(void)close(go[1]);
}

int main(int argc, char **argv)
{
	struct work w = {0};
	int status = 0;
	pid_t at;

	if (argc < 5 || (w.left = strtol(argv[3], NULL, 10)) < 1) {
		fprintf(stderr, "usage: signal_at stop|term setsid|socketpair N CMD [ARG...]\n");
		return EXIT_OWN_FAILURE;
	}
	w.signal = strcmp(argv[1], "stop") == 0 ? SIGSTOP : SIGTERM;
	w.call = strcmp(argv[2], "setsid") == 0 ? SYS_setsid : SYS_socketpair;
	start(&w, argv + 4);
	at = find(&w);
	(void)kill(-w.first, w.signal);
	let_all_go(&w, at);
	pause_ms(PAUSE_MS);
	if (serve(&w, &status)) {
		(void)kill(-w.first, SIGCONT);
		while (serve(&w, &status))
			pause_ms(10);
	}
	return status;
}

/*
 * cordon-init: PID 1 inside the sandboxes of backends that bring none of their own.
 *
 *     cordon-init [--] CMD [ARG...]
 *
 * It starts CMD in a process group of its own (the terminal's foreground, where stdin is one), passes every signal it gets on to that group, reaps every orphan, and
 * ends with CMD's status: its exit code, 128+N after signal N, 126 where CMD cannot be executed, 127 where it is not found, 125 for its own failures. As
 * PID 1 its end is the end of everything in the namespace; elsewhere it makes itself the reaper of its descendants.
 *
 * Signals are blocked and taken with sigwaitinfo(), never handled: there is no moment at which one is lost, and a blocked signal reaches even a PID 1.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_EXEC = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list ap;

	(void)fputs("cordon-init: ", stderr);
	va_start(ap, format);
	(void)vfprintf(stderr, format, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

/* Never returns. CMD must find the signals as cordon-init found them. */
static _Noreturn void become(char **command, const sigset_t *mask)
{
	int code;

	(void)setpgid(0, 0);
	/* SIGTTOU is still blocked, else a background group could not take the terminal. */
	if (isatty(STDIN_FILENO))
		(void)tcsetpgrp(STDIN_FILENO, getpgrp());
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	(void)execvp(command[0], command);
	code = errno;
	complain("cannot execute the command: %s", strerror(code));
	_exit(code == ENOENT || code == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXEC);
}

/* Reaps all that is dead. True, with *ret_status set, once CMD is among them. */
static int reap(pid_t child, int *ret_status)
{
	int status, found = 0;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return found;
		if (pid == child) {
			*ret_status = status;
			found = 1;
		}
	}
}

static int supervise(pid_t child, const sigset_t *all)
{
	int status = 0;
	siginfo_t info;

	for (;;) {
		int sig = sigwaitinfo(all, &info);

		if (sig < 0 && errno == EINTR)
			continue;
		if (sig < 0) {
			complain("sigwaitinfo: %s", strerror(errno));
			return EXIT_OWN_FAILURE;
		}
		if (sig != SIGCHLD)
			(void)kill(-child, sig);
		else if (reap(child, &status))
			break;
	}
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(char **command)
{
	sigset_t all, before;
	pid_t child;

	(void)sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0 || (getpid() != 1 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)) {
		complain("cannot become a reaper: %s", strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	child = fork();
	if (child < 0) {
		complain("fork: %s", strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	if (child == 0)
		become(command, &before);
	/* In both processes: whoever comes first, the group is there before a signal can be passed on. */
	(void)setpgid(child, child);
	return supervise(child, &all);
}

int main(int argc, char **argv)
{
	char **command = argv + 1;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("cordon-init " CORDON_VERSION) < 0 || fflush(stdout) != 0 ? EXIT_OWN_FAILURE : 0;
	if (argc > 1 && strcmp(argv[1], "--") == 0)
		command++;
	else if (argc > 1 && argv[1][0] == '-')
		command = argv + argc;
	if (!*command) {
		complain("usage: cordon-init [--] CMD [ARG...]");
		return EXIT_OWN_FAILURE;
	}
	return run(command);
}

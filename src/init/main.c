/*
 * cordon-init: PID 1 inside the sandboxes of backends that bring none of their own.
 *
 *     cordon-init --control PATH
 *     cordon-init --probe PORT
 *     cordon-init [--door PATH --listen KIND:PORT[:PROVIDER]...] [--] CMD [ARG...]
 *
 * In the first form it does what a supervisor outside says through the socket at PATH (serve.h). In the second it is no
 * PID 1 but a command, and tells what it sees (probe.h). In the third there is nobody to ask: it starts CMD in a
 * process group of its own (the terminal's foreground, where stdin is one), passes every signal it gets on to that
 * group, reaps every orphan, and ends with CMD's status: its exit code, 128+N after signal N, 126 where CMD cannot be
 * executed, 127 where it is not found, 125 for its own failures. As PID 1 its end is the end of everything in the
 * namespace; elsewhere it makes itself the reaper of its descendants.
 *
 * With a door, the UNIX socket at PATH on which the gateway's relay listens, it carries to it what connects to the
 * ports of loopback: proxy (HTTP and SOCKS5), transparent (all TCP, where the namespace allows a redirect, else
 * nothing), dns (TCP and UDP) and inference (of the provider with that number). They are open before CMD starts.
 *
 * Signals are blocked and read from a descriptor, never handled: there is no moment at which one is lost, and a blocked
 * signal reaches even a PID 1. It cannot be dumped, and so not be traced by what has no power over its namespace. As
 * PID 1 it cannot be killed or stopped from inside either; elsewhere CMD, which has its user, could do that, and would
 * be left without ports: all that it holds is the way to a door that CMD may use as well, and that trusts neither.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init/gateway.h"
#include "init/probe.h"
#include "init/serve.h"
#include "init/watch.h"
#include "sys/exec_search.h"
#include "sys/signals.h"

enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_EXEC = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* What CMD must find as cordon-init found it. */
struct inherited {
	sigset_t mask;
	struct rlimit descriptors;
};

struct command {
	struct watch signals;
	pid_t pid;
	bool over;
	int status;
};

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

static _Noreturn void become(char **command, const struct inherited *before)
{
	int code;

	(void)setpgid(0, 0);
	/* SIGTTOU is still blocked, else a background group could not take the terminal. */
	if (isatty(STDIN_FILENO))
		(void)tcsetpgrp(STDIN_FILENO, getpgrp());
	(void)setrlimit(RLIMIT_NOFILE, &before->descriptors);
	(void)sigprocmask(SIG_SETMASK, &before->mask, NULL);
	code = -sys_exec_search(command, environ);
	complain("cannot execute the command: %s", strerror(code));
	_exit(code == ENOENT || code == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXEC);
}

static void reap(struct command *c)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (pid == c->pid) {
			c->status = status;
			c->over = true;
		}
	}
}

static void on_signal(void *arg, uint32_t events)
{
	struct command *c = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(c->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(c);
		else
			(void)kill(-c->pid, (int)info.ssi_signo);
	}
}

static int supervise(struct command *c, struct gateway *g)
{
	int r = watch_set(g->epoll, &c->signals, EPOLLIN);

	while (r == 0 && !c->over)
		r = watch_run(g->epoll, gateway_tick(g));
	if (r < 0) {
		complain("waiting: %s", strerror(-r));
		return EXIT_OWN_FAILURE;
	}
	return WIFSIGNALED(c->status) ? EXIT_SIGNAL + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

static int prepare(struct command *c, struct gateway *g, struct inherited *before)
{
	sigset_t all;

	sys_signals_all(&all);
	if (sys_signals_block(&before->mask) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    getrlimit(RLIMIT_NOFILE, &before->descriptors) < 0 ||
	    (getpid() != 1 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0))
		return -errno;
	*c = (struct command){
		.signals = {.fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC), .fn = on_signal, .arg = c}};
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	return c->signals.fd < 0 || g->epoll < 0 ? -errno : 0;
}

static int run(char **command, struct gateway *g)
{
	struct inherited before;
	struct command c;
	unsigned port;
	int r = prepare(&c, g, &before);

	if (r < 0) {
		complain("cannot become a reaper: %s", strerror(-r));
		return EXIT_OWN_FAILURE;
	}
	r = gateway_open(g, g->door ? gateway_raise_limit(&before.descriptors) : 0, &port);
	if (r < 0) {
		complain("cannot listen on port %u: %s", port, strerror(-r));
		return EXIT_OWN_FAILURE;
	}
	c.pid = fork();
	if (c.pid < 0) {
		complain("fork: %s", strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	if (c.pid == 0)
		become(command, &before);
	/* In both processes: whoever comes first, the group is there before a signal can be passed on. */
	(void)setpgid(c.pid, c.pid);
	return supervise(&c, g);
}

/* CMD, or NULL: that is no command line of ours. */
static char **read_options(char **argv, struct gateway *g)
{
	for (argv++; *argv && argv[0][0] == '-'; argv += 2) {
		if (strcmp(argv[0], "--") == 0) {
			argv++;
			break;
		}
		if (!argv[1])
			return NULL;
		if (strcmp(argv[0], "--door") == 0 && !g->door)
			g->door = argv[1];
		else if (strcmp(argv[0], "--listen") == 0 && g->n_ports < BRIDGE_PORTS &&
			 listen_parse(argv[1], &g->ports[g->n_ports]))
			g->n_ports++;
		else
			return NULL;
	}
	return *argv && (g->door || !g->n_ports) ? argv : NULL;
}

int main(int argc, char **argv)
{
	struct gateway g = {0};
	struct error err = {0};
	char **command;
	int status;

	if (argc == 3 && strcmp(argv[1], "--control") == 0 && serve(argv[2], &err) < 0) {
		complain("%s", err.text);
		return EXIT_OWN_FAILURE;
	}
	if (argc == 3 && strcmp(argv[1], "--probe") == 0)
		return probe(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("cordon-init " CORDON_VERSION) < 0 || fflush(stdout) != 0 ? EXIT_OWN_FAILURE : 0;
	command = argc > 0 ? read_options(argv, &g) : NULL;
	if (!command) {
		complain("usage: cordon-init --control PATH, or cordon-init [--door PATH --listen "
			 "KIND:PORT[:PROVIDER]...] [--] CMD [ARG...]");
		return EXIT_OWN_FAILURE;
	}
	status = run(command, &g);
	gateway_close(&g);
	return status;
}

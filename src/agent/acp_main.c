/*
 * cordon-acp: gives an instruction to an agent that speaks the Agent Client Protocol, inside of a sandbox.
 *
 *	cordon-acp [--trajectory FILE] --instruction FILE -- COMMAND [ARGUMENT...]
 *
 * The agent is started as COMMAND, in the current folder and with the same environment; what it prints to standard
 * error passes through. acp.h says what is answered.
 *
 * Exit: 0 when the agent ended its turn, 2 when it stopped at a limit of tokens or requests, 3 when it refuses, breaks
 * the protocol or ends early, 126 and 127 when it cannot be executed or is not found, 125 for failures of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/acp.h"
#include "agent/spawn.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

static const char usage[] =
	"Usage: cordon-acp [OPTION...] --instruction FILE -- COMMAND [ARGUMENT...]\n"
	"Starts an agent that speaks the Agent Client Protocol on its standard input and\n"
	"output, gives it the instruction and all permissions, and keeps what it tells.\n\n"
	"  --instruction FILE  what is to be done\n"
	"  --trajectory FILE   what the agent told, as lines of JSON\n"
	"  --help, --version\n\n"
	"Exits 0 when the agent ended by itself, 2 when it says that a limit did, 3 when\n"
	"it broke the protocol or ended early, 126 and 127 where COMMAND cannot be\n"
	"executed or is not there, 125 otherwise. See cordon-agents(5).\n";

enum { INSTRUCTION_MAX = 1 << 20, START_MS = 5 * 60 * 1000, GRACE_MS = 5000, DRAIN_MS = 500 };

struct client {
	struct acp acp;
	pid_t pid;
	int to, from, signals;
	sigset_t mask; /* from before */
	bool gone;     /* the agent's process has ended */
	bool silent;   /* its output has */
	int status;
};

static void take_lines(struct client *c)
{
	AUTO_BUF line = {0};
	int r;

	buf_init(&line, RPC_LINE_MAX + 1);
	do {
		r = rpc_fill(&c->acp.rpc);
		while (c->acp.step != ACP_OVER && rpc_line(&c->acp.rpc, &line))
			acp_take(&c->acp, &line);
	} while (r == 1 && c->acp.step != ACP_OVER);
	if (r == -EFBIG)
		acp_fail(&c->acp, "protocol", "the agent sent a line of more than 16 MiB");
	else if (r != 1 && r != -EAGAIN)
		c->silent = true;
}

static void take_signals(struct client *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	if (!c->gone && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->gone = true;
}

static void serve_once(struct client *c, int timeout_ms)
{
	struct pollfd p[3 + TERMINALS_MAX] = {
		{.fd = c->signals, .events = POLLIN},
		{.fd = c->silent ? -1 : c->from, .events = POLLIN},
		{.fd = c->acp.rpc.unsent.n ? c->to : -1, .events = POLLOUT},
	};

	(void)poll(p, 3 + terminals_poll(&c->acp.terminals, p + 3), timeout_ms);
	take_signals(c);
	if (p[1].revents)
		take_lines(c);
	if (terminals_serve(&c->acp.terminals, &c->acp.rpc) < 0 || (p[2].revents && rpc_flush(&c->acp.rpc) < 0))
		acp_fail(&c->acp, "agent", "the agent closed its input");
}

static void ended_early(struct client *c)
{
	char words[128];

	if (c->gone && WIFSIGNALED(c->status))
		(void)snprintf(words, sizeof(words), "the agent was ended by signal %d before it was done",
			       WTERMSIG(c->status));
	else if (c->gone)
		(void)snprintf(words, sizeof(words), "the agent ended with status %d before it was done",
			       WEXITSTATUS(c->status));
	else
		(void)snprintf(words, sizeof(words), "the agent closed its output before it was done");
	acp_fail(&c->acp, "agent", words);
}

/* Until it is over. Where the process or its output ends, the other is waited for a little: last words count, and its
 * status tells why. */
static void serve(struct client *c)
{
	int64_t start_by = now_ms() + START_MS, drain_by = INT64_MAX;

	acp_start(&c->acp);
	while (c->acp.step != ACP_OVER) {
		bool starting = c->acp.step != ACP_PROMPT;

		serve_once(c, left_ms(starting && start_by < drain_by ? start_by : drain_by));
		if ((c->gone || c->silent) && drain_by == INT64_MAX)
			drain_by = now_ms() + DRAIN_MS;
		if ((c->silent && c->gone) || now_ms() >= drain_by)
			ended_early(c);
		else if (starting && now_ms() >= start_by)
			acp_fail(&c->acp, "agent", "the agent made no session within five minutes");
	}
}

/* It has done its work: its input ends, then its time. */
static void send_off(struct client *c)
{
	static const int how[] = {0, SIGTERM, SIGKILL};
	struct pollfd p = {.fd = c->signals, .events = POLLIN};
	int64_t until;
	size_t i;

	(void)close(fd_take(&c->to));
	(void)close(fd_take(&c->from));
	for (i = 0; i < ARRAY_LEN(how) && !c->gone; i++) {
		if (how[i])
			(void)kill(-c->pid, how[i]);
		for (until = now_ms() + GRACE_MS; !c->gone && now_ms() < until;) {
			(void)poll(&p, 1, left_ms(until));
			take_signals(c);
		}
	}
}

static int start_agent(struct client *c, char **command, struct error *err)
{
	struct spawn s = {.argv = command, .mask = &c->mask, .err = STDERR_FILENO};
	struct text_shown shown;
	sigset_t blocked;
	int in[2];

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGCHLD);
	(void)signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &blocked, &c->mask) < 0 || pipe2(in, O_CLOEXEC) < 0)
		return error_sys(err, errno, "the agent cannot be started");
	s.in = in[0];
	c->to = in[1];
	c->signals = signalfd(-1, &blocked, SFD_NONBLOCK | SFD_CLOEXEC);
	c->pid = spawn(&s, &c->from);
	(void)close(in[0]);
	if (c->pid < 0) {
		(void)error_sys(err, (int)c->pid, "%s", text_show(&shown, sv_of(command[0])));
		err->kind = c->pid == -ENOENT || c->pid == -ENOTDIR ? ERROR_NOT_FOUND : ERROR_NOT_EXEC;
		return -1;
	}
	if (c->signals < 0 || fcntl(c->to, F_SETFL, O_NONBLOCK) < 0)
		return error_sys(err, errno, "the agent cannot be started");
	return 0;
}

static int prepare(struct agent_options *o, char **argv, struct trail *trail, struct buf *instruction,
		   struct error *err)
{
	struct text_shown shown;
	int r;

	if (agent_options_parse(argv, o, err) < 0)
		return -1;
	if (!o->command)
		return error_set(err, ERROR_USAGE, "no command is named: write it behind --");
	r = buf_read_file(instruction, o->instruction);
	if (r < 0)
		return error_sys(err, r, "--instruction %s", text_show(&shown, sv_of(o->instruction)));
	if (trail_open(trail, o->trajectory, err) < 0)
		(void)fprintf(stderr, "cordon-acp: %s\n", err->text);
	return 0;
}

static int fail(const struct error *err)
{
	(void)fprintf(stderr, "cordon-acp: %s\n", err->text);
	return err->kind == ERROR_NOT_FOUND  ? AGENT_NOT_FOUND
	       : err->kind == ERROR_NOT_EXEC ? AGENT_NOT_EXEC
					     : AGENT_FAILED;
}

int main(int argc, char **argv)
{
	struct agent_options options;
	struct client c = {.to = -1, .from = -1, .signals = -1};
	struct trail trail = {.fd = -1};
	struct error err = {0};
	AUTO_BUF instruction = {0};
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	if (agent_options_asks(argv, "cordon-acp", usage))
		return AGENT_ENDED;
	buf_init(&instruction, INSTRUCTION_MAX);
	if (argc < 1 || prepare(&options, argv, &trail, &instruction, &err) < 0 ||
	    start_agent(&c, options.command, &err) < 0)
		return fail(&err);
	acp_init(&c.acp, c.from, c.to, &c.mask);
	c.acp.trail = &trail;
	c.acp.cwd = cwd ? cwd : "/";
	c.acp.instruction = buf_view(&instruction);
	trail_words(&trail, "user", buf_view(&instruction));
	serve(&c);
	send_off(&c);
	trail_end(&trail, c.acp.reason, c.acp.status == AGENT_ENDED ? "" : c.acp.why.text, c.acp.status);
	if (c.acp.status != AGENT_ENDED)
		(void)fprintf(stderr, "cordon-acp: %s\n", c.acp.why.text);
	acp_done(&c.acp);
	trail_close(&trail);
	return c.acp.status;
}

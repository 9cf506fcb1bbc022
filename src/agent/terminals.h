/*
 * terminals: the commands that an agent of ACP starts with terminal/create and asks about later.
 *
 * Each has a process group of its own and one pipe for what it prints, of which the last bytes are kept. A command is
 * over when its first process is; what it left in the background goes on without a reader. Asked for while a command
 * runs, its end is told later: the id of such a request is kept with it.
 */
#ifndef CORDON_AGENT_TERMINALS_H
#define CORDON_AGENT_TERMINALS_H

#include <poll.h>
#include <signal.h>

#include "agent/clip.h"
#include "agent/rpc.h"

enum { TERMINALS_MAX = 64, TERMINAL_WAITS_MAX = 8, TERMINAL_OUTPUT_MAX = 1 << 20 };

struct terminal {
	bool used;
	unsigned number; /* its id is "t" and this */
	pid_t pid;
	int fd; /* -1: its end was seen */
	bool over;
	int status; /* as waitpid() gives it; once over */
	struct clip output;
	char *waits[TERMINAL_WAITS_MAX]; /* ids, as JSON */
	unsigned n_waits;
};

struct terminals {
	const sigset_t *mask; /* for commands */
	unsigned last;
	struct terminal v[TERMINALS_MAX];
};

/* Requests; params may be 0. Each answers through r, now or later. 0, or -errno of r. */
typedef int terminals_fn(struct terminals *t, struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id);
terminals_fn terminals_create, terminals_output, terminals_wait, terminals_kill, terminals_release;

/* Fills p (room for TERMINALS_MAX); how many. */
unsigned terminals_poll(const struct terminals *t, struct pollfd *p);
/* Takes output, notices ends and tells those who wait. 0, or -errno of r. */
int terminals_serve(struct terminals *t, struct rpc *r);
void terminals_done(struct terminals *t);

#endif

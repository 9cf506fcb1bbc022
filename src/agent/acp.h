/*
 * acp: one prompt to an agent that speaks the Agent Client Protocol, version 1, on its standard input and output.
 *
 * We are the protocol's client: initialize, session/new in the current folder, session/prompt with the instruction;
 * then the agent's requests are answered until it says why it stopped. Every permission is given, since the sandbox is
 * the boundary and nobody is there to ask. Files and terminals are offered (files.h, terminals.h). What it tells
 * (session/update) goes to the trajectory. Where a session needs authentication, the agent's methods that take a key
 * are tried: it finds a placeholder in its environment, and the gateway does the rest.
 *
 * A line that cannot be read is noted and passed over, since some programs greet; too many of them end it.
 */
#ifndef CORDON_AGENT_ACP_H
#define CORDON_AGENT_ACP_H

#include <signal.h>

#include "agent/options.h"
#include "agent/rpc.h"
#include "agent/terminals.h"
#include "agent/trail.h"

enum acp_step { ACP_INITIALIZE, ACP_NEW_SESSION, ACP_AUTHENTICATE, ACP_PROMPT, ACP_OVER };

enum { ACP_METHODS_MAX = 8, ACP_UNREADABLE_MAX = 1000 };

struct acp {
	struct rpc rpc;
	struct terminals terminals;
	const struct trail *trail;
	struct sv instruction;
	const char *cwd;
	enum acp_step step;
	unsigned call;			     /* the id of the last request of ours; the only one that is open */
	char *methods[ACP_METHODS_MAX];	     /* of authentication, those with a key first; as JSON strings */
	unsigned n_methods, tried;
	unsigned unreadable;
	/* how it ended, once ACP_OVER */
	enum agent_exit status;
	char reason[32];
	struct error why;
};

/* The fds are the agent's pipes, borrowed; trail, instruction and cwd are set before acp_start(), and borrowed too. */
void acp_init(struct acp *c, int in, int out, const sigset_t *mask);
void acp_start(struct acp *c); /* the first request */
void acp_done(struct acp *c);

/* One line of the agent's. */
void acp_take(struct acp *c, struct buf *line);

/* It is over for a reason of ours. */
void acp_fail(struct acp *c, const char *reason, const char *words);

#endif

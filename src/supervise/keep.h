/*
 * keep: a sandbox that stays when its commands have ended (`cordon run --keep`, --owner, --warm). It has no first
 * command; all come by the control socket, as those of `cordon exec` do.
 *
 * It ends when nothing has run in it for idle_ms, when its owner stops it, or, once somebody took it for one use
 * (INSIDE_TAKE), with the connection of whoever did. process.timeout holds for each command by itself: SIGTERM, then
 * SIGKILL after a grace, when all that comes of it ends with it, whether anybody waits for it or not; to the one who
 * does its exit status is 124. A command whose end is not told then takes the sandbox with it.
 */
#ifndef CORDON_SUPERVISE_KEEP_H
#define CORDON_SUPERVISE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/control.h"

enum { KEEP_LOST_MS = 10000 };

struct keep_request {
	const char *owner; /* whose it is; NULL: nobody's in particular */
	uint64_t idle_ms;  /* 0: for ever */
	uint64_t grace_ms; /* from SIGTERM to SIGKILL */
	bool prepared;	   /* nobody's yet: commands are refused to all but who takes it, so that it is new to them */
	int ready; /* the run's id and a newline are written here when commands can come; the other end knows nothing
		      before */
};

struct keep {
	const struct keep_request
		*req; /* NULL: the sandbox ends with its first command, and nothing here does anything */
	struct control *control;
	uint64_t command_ms; /* process.timeout; 0: none */
	bool lost; /* PID 1 has not told the end of a command for KEEP_LOST_MS after it was to kill it: the sandbox
		      cannot keep its limits */
};

void keep_init(struct keep *k, const struct keep_request *req, struct control *control, uint64_t command_ms,
	       uint64_t now);

/* PID 1 is there: says so to whoever waits for it. */
void keep_is_ready(struct keep *k, const char *id, uint64_t now);

/* Ends commands whose time is over, and tells who waits for them; *ret_timed_out: there was one. True: nobody needs the
 * sandbox any more. */
bool keep_check(struct keep *k, uint64_t now, bool *ret_timed_out);
/* Kept, and no command runs in it. */
bool keep_is_empty(const struct keep *k);
/* When keep_check() has to be called again, in ms; UINT64_MAX: never. */
uint64_t keep_until(const struct keep *k);

#endif

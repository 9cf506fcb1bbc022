/*
 * supervise: watches over one sandbox until it has ended.
 *
 * The backend has been started; this carries its terminal, passes signals on, keeps the limits that the kernel does not
 * keep (wall clock, memory without a cgroup, the disk), writes the audit log, and serves `cordon exec` and `cordon
 * stop`, which reach it by an abstract UNIX socket that answers to the same user only.
 *
 * A log that can no longer be written ends the run.
 */
#ifndef CORDON_SUPERVISE_H
#define CORDON_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/plan.h"
#include "model/policy.h"
#include "supervise/keep.h"
#include "supervise/watch.h"

struct gate;
struct landlock_log;

/* How the policy can change while the run goes on. */
struct supervise_policies {
	const char *const *files; /* to be watched */
	size_t n_files;
	/* Loads the policy anew, from path or, where that is NULL, from where it came from, and puts it in force; or
	 * changes nothing. 1: it is in force, and err has what of it waits for a restart. */
	int (*load)(void *arg, const char *path, char digest[65], struct error *err);
	/* One more host and port, for as long as the run lasts. */
	int (*allow)(void *arg, const char *host, uint16_t port, struct error *err);
	void *arg;
};

struct supervise_request {
	const struct plan *plan;
	const char *id;
	pid_t init;   /* PID 1 of the sandbox, on the host, or the process whose descendants are all that runs in it; 0:
			 there is none */
	int pidfd;    /* ends with the sandbox; -1: only the socket tells */
	bool from_job; /* that one is PID 1, and was born in our own job */
	int socket;   /* to PID 1; messages of model/inside.h */
	/* The backend's: the command may start (everything outside is ready); and all that is inside is killed, at
	 * once. */
	int (*go)(void *sandbox, struct error *err);
	void (*kill)(void *sandbox);
	void *sandbox;
	struct audit *audit;
	struct watch_limits watch; /* what must be watched; all zero: nothing */
	struct gate *gate;	   /* PID 1 waits until it is ready; NULL: there is none */
	const struct policy *policy; /* the gate's */
	void (*denied)(void *arg, const struct event *e); /* told of each denial that is logged; NULL: nobody asks */
	void *denied_arg;
	const struct supervise_policies *policies; /* NULL: it cannot change */
	const char *policy_digest; /* of the one that it starts with */
	const struct keep_request *keep; /* it stays when commands end; NULL: it ends with its first */
	struct landlock_log *landlock; /* reads what the kernel records of Landlock's denials; NULL: nothing does */
	int leader;		   /* when this connection ends, so does the sandbox; -1: it has no leader */
	int covers; /* tells of names that were covered again, or could not be (sandbox/common/cover_watch.h); -1:
		       nothing does */
	pid_t front;		   /* stopped and continued in our place, see supervise/front.h; 0: none */
	int tty_in, tty_out;	   /* ours, where the sandbox gets its own in their place; else -1 */
	bool carries; /* terminals are carried by PID 1, through streams: it cannot send descriptors (INSIDE_RESIZE of
			 model/inside.h) */
	int terminal;		   /* then: our end of the command's, borrowed; or -1 */
};

struct supervise_result {
	bool started;
	int status; /* wait status of the command */
	bool timed_out;
	bool alone; /* it was ended, after its start, because the sandbox whose network it shared had ended */
	const char *limit; /* which limit ended it, or NULL */
	uint64_t user_us, system_us, max_rss_kib, denials;
	bool unwatched;	    /* no watches were left: what the host replaced was covered by the search only */
	bool blind;	    /* memory was to be watched, and could not be */
	struct buf gateway; /* what went through it, with the use of each model, as a JSON object; empty: nothing. The
			       caller's. */
	int upper;     /* what the run changed in its copy of the work folder, where the sandbox kept it; else -1. The
			  caller's. */
	bool network;  /* of a sandbox with an image: its network stands, and others may join it */
	int spaces[2]; /* ... the user and the network namespace that it was made in; -1: they are not the host's. The
			  caller's. */
	struct buf places;   /* mount points that were made in the upper folder of an image, each with its NUL, in their
				order. The caller's. */
	struct error failed; /* kind not NONE: PID 1 could not make the sandbox or start the command */
};

/* Blocks the signals that supervise() takes, from before the sandbox is made. The old mask is not restored: we end
 * afterwards. */
void supervise_block_signals(void);
/* The same, and an fd to read them from (O_NONBLOCK), or -errno. */
int supervise_signals(void);

/* -1: the supervisor itself failed (audit, poll); the sandbox must then be killed by the caller. */
int supervise(const struct supervise_request *req, struct supervise_result *ret, struct error *err);

#endif

/*
 * launcher: what the task runner asks of whoever starts sandboxes.
 *
 * The runner (run.h) decides what runs in which phase; cli/launch_task.c starts it, as `cordon run` would, each sandbox
 * by a child of its own that is its supervisor. A table of functions stands between them, because the runner lies below
 * the command line.
 */
#ifndef CORDON_TASK_LAUNCHER_H
#define CORDON_TASK_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/image.h"

/* A variable of the verifier whose value is a credential of the operator's; it is fetched by the sandbox's supervisor
 * and by nobody else. */
struct task_grant {
	const char *variable;
	const char *credential;
};

struct task_sandbox {
	const char *name;   /* "agent", "verify": in messages and names of files */
	const char *phase;  /* build, setup, agent or verify: the operator's `phases` */
	const char *bounds; /* a policy file, written by the runner: what the task asks for, which the operator's policy
			       is cut down to */
	struct image_root root;
	char *const *argv;
	int in, out; /* standard input; standard output and error. Borrowed */
	const struct task_grant *grants;
	size_t n_grants;
	const char *const
		*profiles; /* of the operator's agent, on top of the command line's; NULL-terminated, or NULL */
	const char *policy;	     /* likewise a file; NULL: none */
	const char *const *pass;     /* variables whose value is the operator's; NULL-terminated, or NULL */
	const char *events; /* a file to which the run's events are appended */
	const char *join;   /* the run of the group whose network it shares; NULL: it has its own */
	bool first;	    /* to join it: as struct launch_request has it */
	bool holds; /* no command is run in it: it stays until it is stopped, for others to join; argv is only what is
		       shown */
	/* Of one that others will join: what all of them may use, where they live in one kernel; 0: not said. */
	uint64_t group_memory, group_cpus; /* bytes, thousandths */
};

enum { TASK_RUN_ID = 16 };

/* How a sandbox ended. */
struct task_ended {
	int status;	    /* as `cordon run` exits: 124 time, 125 Cordon's failure, 126, 127 */
	bool timed_out;	    /* it was ended because its time was over: a command may say 124, too */
	bool lost; /* it had started, and was gone without a word of how its command ended, or with the sandbox whose
		      network it shared: `error` says which */
	uint64_t denials;
	char runtime[16];   /* "" where none was reached */
	char isolation[96]; /* what holds it, in a few words */
	struct error error; /* with 125 to 127 */
	size_t n_usage;
	char usage[16384]; /* what went through the gateway, as a JSON object; n_usage 0: nothing */
};

/* One that was started. */
struct task_running {
	pid_t pid; /* of its supervisor */
	int fd;	   /* readable when it has ended */
	char run[TASK_RUN_ID]; /* its id in `cordon ps`; "" where it could not be made: end() says why */
};

struct task_launcher {
	/* Does the operator's policy refuse every sandbox of that phase, as for a runtime that is not its ceiling's?
	 * Nothing is started. */
	int (*check)(void *arg, const char *phase, struct error *err);
	/* Forks the sandbox's supervisor, and waits until the sandbox stands. */
	int (*start)(void *arg, const struct task_sandbox *s, struct task_running *ret, struct error *err);
	/* Waits for it. Its fd is closed. */
	int (*end)(void *arg, struct task_running *r, struct task_ended *ret, struct error *err);
	void *arg;
};

#endif

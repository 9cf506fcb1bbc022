/*
 * confine: the last steps of a workload before its execve(), and what they need, prepared once.
 *
 * In this order: session, signals, limits, user id and capabilities, no_new_privs, seccomp; then, when the root stands,
 * terminal, fds, folder, Landlock, execve: all of these the filter allows. Runs in a child that shares PID 1's memory,
 * so nothing here allocates; failures are told through that memory.
 */
#ifndef CORDON_SANDBOX_CONFINE_H
#define CORDON_SANDBOX_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/sv.h"
#include "model/box.h"
#include "model/plan.h"

/* What the kernel can do, and does for us. */
struct confine_features {
	int landlock_abi; /* or negative: missing */
	bool notify;	  /* seccomp notifications */
	bool memory_cgroup; /* memory is counted by the kernel: nothing must be refused for want of counting */
	bool cpu_cgroup;
	bool shared_ipc;  /* the IPC namespace is other sandboxes', too: its calls are refused */
	uint64_t caps_gone; /* of PID 1's bounding set: see sys_lock_caps() */
};

struct confine;

/* For who has all capabilities in the sandbox's user namespace: limits of that namespace, for what no rlimit bounds.
 * Best effort: seccomp refuses namespaces too. Leaves errno alone. */
void confine_limit_objects(enum box_user user);

/* Builds the filter, and a Landlock ruleset without rules. plan is borrowed. user: how a command gets the plan's ids.
 */
int confine_new(const struct plan *plan, enum box_user user, const struct confine_features *features,
		struct confine **ret, struct error *err);

/*
 * Commands of an image's sandbox: in this user namespace, a child of PID 1's that it owns (borrowed), with the plan's
 * ids in it. Its root has the capabilities that files, ids and processes of the sandbox need, others have none.
 */
void confine_enter_user(struct confine *c, int userns);
/* These capabilities: what root needs of root inside, over files, ids and processes of the sandbox. Not: mounts,
 * devices, networks, others' memory, or more capabilities. */
uint64_t confine_image_caps(void);

/* After the root was entered, and before anything is started: the rules. */
int confine_rules(struct confine *c, struct error *err);

/* Files among what the run was given as standard input, output and error may be opened again (/dev/stdin), for what
 * they were opened for. */
void confine_allow_again(struct confine *c, const int stdio[3]);

/* Denials of commands that are started from now on are to be recorded by the kernel (sys/kaudit.h), where it can; they
 * have this name when they make their domain, and no longer than that. */
void confine_record(struct confine *c, struct sv name);

struct confine_start {
	char *const *argv;
	char *const *env;
	const char *cwd;
	int stdio[3];
	int terminal; /* the slave to make the controlling terminal, or -1 */
};

/*
 * Starts one. *ret_listener: its notification fd, or -1. ERROR_NOT_FOUND, ERROR_NOT_EXEC for the command itself. 1:
 * others had ended its process before it began, or stopped it, and so it was ended; from the moment in which it has
 * their user they may, and they are not waited for.
 */
int confine_start(const struct confine *c, const struct confine_start *start, pid_t *ret_pid, int *ret_listener,
		  struct error *err);

/*
 * A command's process ahead of its command: it works beside us, and confines itself as far as it can until it is told
 * what to run, which saves a command that comes later the time for that. fds and memory are shared, user and
 * capabilities are ours of the moment (BOX_USER_IS). The sandbox's first is there from the beginning, and its root
 * becomes the new one with pivot_root.
 *
 * Where commands run already, they may kill it or stop it, as they may each other, or change how it is scheduled, and
 * it is not used then; they cannot look into it, since our memory is not theirs to see.
 */
struct confine_ahead;
int confine_ahead_start(const struct confine *c, struct confine_ahead **ret, struct error *err);
/* As confine_start(); 1: others had ended or changed it before it began. Frees a; our own fds 0 to 2 may be those of
 * start afterwards. */
int confine_ahead_go(struct confine_ahead *a, const struct confine_start *start, pid_t *ret_pid, int *ret_listener,
		     struct error *err);
pid_t confine_ahead_pid(const struct confine_ahead *a);
bool confine_ahead_is_there(const struct confine_ahead *a);
/* It is not there any more. Frees a. */
void confine_ahead_forget(struct confine_ahead *a);

#endif

/*
 * spawn: starts a command whose output is read here.
 *
 * It gets a session, and so a process group, of its own, an empty standard input, and one pipe for what it prints.
 * Signals are as this program found them when it started.
 */
#ifndef CORDON_AGENT_SPAWN_H
#define CORDON_AGENT_SPAWN_H

#include <signal.h>
#include <sys/types.h>

struct spawn {
	char *const *argv;
	char *const *env;    /* NULL: this program's */
	const char *cwd;     /* NULL: this program's */
	const sigset_t *mask;
	int in;		     /* standard input; -1: /dev/null */
	int err;	     /* standard error; -1: where the output goes */
};

/* The pid, and the end of the pipe to read from (not blocking); -errno: what exec and chdir say, too. */
pid_t spawn(const struct spawn *s, int *ret_fd);

#endif

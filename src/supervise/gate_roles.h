/*
 * gate_roles: starting the gateway's programs. For gate.c only.
 */
#ifndef CORDON_SUPERVISE_GATE_ROLES_H
#define CORDON_SUPERVISE_GATE_ROLES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* An O_PATH fd of cordon-NAME: beside our own executable, or in ../libexec/cordon from there. */
int gate_find_program(const char *name, struct error *err);

struct gate_role {
	const char *name; /* "relay" */
	pid_t pid;	  /* 0: not started, or ended */
	int control;	  /* our end; -1: none */
};

/* Starts it with its end of a new control socket as descriptor 3 and fds behind it. argv NULL: its name alone; env
 * NULL: empty. */
int gate_role_start(struct gate_role *r, char *const *argv, char *const *env, const int *fds, size_t n,
		    struct error *err);
void gate_role_kill(struct gate_role *r); /* what it has said can still be read */
/* How it ended, in a word or two: "signal 9"; NULL where it runs. It stays to be waited for. *ret_killed: by a signal.
 */
const char *gate_role_ended(const struct gate_role *r, char *text, size_t size, bool *ret_killed);
void gate_role_end(struct gate_role *r);

/* What roles leave behind when they are killed (the vault's runner) comes to us, and is waited for: on a machine whose
 * init does not, it would stay as a zombie. */
void gate_roles_adopt(void);
void gate_roles_bury(void);

#endif

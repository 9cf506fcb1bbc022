/*
 * commands: what runs in a sandbox, as its first process sees it. Starts commands, confined and with a terminal of the
 * sandbox's where they are to have one, passes signals on, waits for them, and answers for their system calls that are
 * refused; tells the supervisor of all of it.
 *
 * At most COMMANDS_MAX at once. The command with id 0 is the run: what its end means is the caller's.
 */
#ifndef CORDON_SANDBOX_COMMANDS_H
#define CORDON_SANDBOX_COMMANDS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "model/inside.h"
#include "sandbox/common/carry.h"
#include "sandbox/common/confine.h"
#include "sandbox/common/tell.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

enum { COMMANDS_MAX = 64, COMMANDS_POLL = (1 + CARRY_POLL) * COMMANDS_MAX };

struct command {
	uint64_t id;
	pid_t pid;    /* 0: it has ended */
	int listener; /* of its filter, for as long as anybody uses that; or -1 */
	bool listened; /* it had one */
	bool unused;   /* nobody uses that filter any more */
	bool expired; /* its time is over: nothing that comes of it outlives it */
	uint64_t since; /* when it began, as descent.h has it; set late where its process began with it */
	struct carry *carry; /* its terminal, where it cannot be sent out, for as long as anybody is at the other end;
				or NULL */
};

struct commands {
	struct tell *tell;
	const struct confine *confine; /* set before the first start */
	mode_t umask;		       /* theirs */
	uid_t owner;		       /* of their terminals */
	bool pretended;		       /* a call was made to look successful, and told */
	bool id_missed;		       /* one asked for an id that there is not, and was told */
	int oom;		       /* our own oom_score_adj */
	bool goes_first;	       /* ... says already that we, and so they, go first */
	bool beside;		       /* their processes may work beside us; set before the first start */
	struct confine_ahead *ahead;   /* the process of the next one, if it is there already */
	struct command v[COMMANDS_MAX];
};

/* Before /proc is another one. */
void commands_init(struct commands *c, struct tell *tell);

/* The process of the next command, ahead of its start; confine must be set. */
int commands_make_ahead(struct commands *c, struct error *err);

/*
 * stdio: in the places of which tty_bits says so it gets its terminal, and these may be -1. stream: through which that
 * terminal is carried, taken; -1: it can be sent out. INSIDE_STARTED is told, a failure is not.
 */
int commands_start(struct commands *c, const struct inside_spawn *s, const int stdio[3], int stream, struct error *err);

/* Messages of the supervisor. False: the command with id 0 was to be started and was not, of which the supervisor
 * knows. */
bool commands_on_spawn(struct commands *c, struct wire_message *m);
void commands_on_signal(struct commands *c, const struct wire_message *m);
void commands_on_expired(struct commands *c, const struct wire_message *m);
void commands_on_resize(struct commands *c, const struct wire_message *m);

struct commands_reaped {
	pid_t pid;
	struct command *command; /* NULL: none of them, but an orphan */
	int status;		 /* as wait4() has it; it may have stopped only */
	struct rusage usage;
};

/* The next child that ended or stopped; false: none just now. */
bool commands_reap(struct commands *c, struct commands_reaped *ret);
/* Tells of a command. Its children may live on, unless its time was over: where that cannot be made so, all in the
 * sandbox ends. */
void commands_tell_reaped(struct commands *c, const struct commands_reaped *r);

/* What may answer a system call itself; true: it has. Others are refused, and told. */
struct commands_guard {
	bool (*answer)(void *arg, int listener, const struct seccomp_call *call);
	void *arg;
};

size_t commands_poll(const struct commands *c, struct pollfd *p); /* room for COMMANDS_POLL */
int commands_wait(const struct commands *c); /* how long that poll() may wait, in milliseconds; -1: for ever */
/* With the same entries, before anything is started or reaped. */
void commands_serve(struct commands *c, const struct pollfd *p, const struct commands_guard *guard);
/* Last of all, for the kernel takes its time for it: somebody waits to hear of the command whose filter it was. */
void commands_close_unused(struct commands *c);

/* Blocks all signals; an fd that tells of children (O_NONBLOCK), or -errno. */
int commands_signals(void);

#endif

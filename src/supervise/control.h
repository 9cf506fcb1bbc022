/*
 * control: clients of a running sandbox. One listening socket, up to CONTROL_CLIENTS connections, each of the same user
 * (SO_PEERCRED).
 *
 * Nobody is waited for: a client that reads nothing, as one that was stopped, is dropped when its socket is full, and
 * its command hung up on.
 */
#ifndef CORDON_SUPERVISE_CONTROL_H
#define CORDON_SUPERVISE_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/plan.h"
#include "supervise/gate_likeness.h"
#include "supervise/outbox.h"
#include "wire/wire.h"

/* What INSIDE_PUSHED says first. */
enum { CONTROL_NOT_PUSHED, CONTROL_PUSHED, CONTROL_NO_GATEWAY };

/* What INSIDE_TAKEN says. */
enum { CONTROL_OTHER_POLICY, CONTROL_TAKEN, CONTROL_OTHER_CREDENTIALS };

/* What control_tell_limit() says where no limit ended it but the gateway's end. */
#define CONTROL_GATEWAY "gateway"

enum { CONTROL_CLIENTS = 32, CONTROL_TIMED_OUT = 124 /* exit status of a command that policy ended */ };

struct control_client {
	int fd;	     /* -1: free, or, with an id, gone */
	uint64_t id; /* of the command it started; 0: none */
	int terminal; /* the client's end of that command's, until it has started; -1: none */
	bool took;   /* the whole sandbox is for it alone */
	bool looks;  /* it only asks what runs here */
	uint64_t question; /* its INSIDE_TAKE waits for the answer to this one; 0: none does */
	bool alone;	   /* ... by which it wants the whole sandbox, */
	char policy[65];   /* ... under this policy */
	uint64_t started, kill_at; /* ms */
	bool timed_out;
	bool killed;  /* it should have ended by kill_at */
	bool stopped; /* it was told that its command stopped, and has sent it no signal since */
};

struct control {
	int listener;
	bool open; /* clients are served: PID 1 has started its first command, and takes others */
	const struct plan *plan;
	struct outbox *out; /* to PID 1 */
	uint64_t next_id;
	bool carries; /* PID 1 carries terminals, see struct supervise_request */
	struct control_client clients[CONTROL_CLIENTS];
	bool timed;    /* commands have a time limit each, also when nobody waits for them any more */
	bool prepared; /* it runs nothing before it is taken */
	bool ending; /* it is to end, and takes no command any more */
	bool taken; /* by a client, for itself alone: nobody else gets in */
	char policy[65]; /* the digest of the policy that is in force */
	uint64_t questions; /* asked so far */
	void (*compare)(void *arg, uint64_t question,
			const struct gate_likeness *theirs); /* answered by control_compared(); NULL: there is no
								gateway, and nothing to compare */
	void *compare_arg;
	bool left;  /* the one who took it is gone */
	int64_t (*now)(void);
	uint64_t last_used; /* ms: when a command was started or ended last */
	char last[256];	    /* that command, escaped */
	/* A client asks for the end; grace in milliseconds. */
	bool stop, stop_again; /* stop_again: with each time it is asked for; the supervisor takes it back */
	uint32_t stop_grace;
	void (*started)(void *arg, char *const *argv); /* PID 1 was asked for it: for the audit */
	int (*push)(void *arg, const char *path, struct error *err); /* a new policy */
	bool fixed; /* there is no gateway that could take one: push() refuses it, and says so in the log */
	int (*join)(void *arg, int client); /* another sandbox asks for our network; -errno: it is turned away */
	void *arg;
};

/* -1 as listener where the socket cannot be had: exec and stop are then not possible, the run is. */
void control_init(struct control *c, const char *run_id, const struct plan *plan, struct outbox *out,
		  int64_t (*now)(void));
void control_done(struct control *c);

size_t control_poll(const struct control *c, struct pollfd *p); /* room for CONTROL_CLIENTS + 1 */
void control_serve(struct control *c, const struct pollfd *p, size_t n);

/* To one command, or to all (INSIDE_ALL). */
void control_signal(const struct control *c, uint64_t id, int sig);

/* Its time is over: all that comes of it ends with it. */
void control_expire(const struct control *c, uint64_t id);

/* Tells whoever waits for a command which limit ends it; id INSIDE_ALL: everybody. */
void control_tell_limit(const struct control *c, uint64_t id, const char *key);

/* The answer to compare(): whoever waits for it takes the sandbox, or does not. */
void control_compared(struct control *c, uint64_t question, bool same);

/* Passes a message of PID 1 on to the client whose command it is about. */
void control_pass(struct control *c, uint64_t id, const struct wire_message *m);

/* For clients: a connection to a run's supervisor, or -errno. */
int control_connect(const char *run_id);

#endif

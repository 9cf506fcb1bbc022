/*
 * gate: the gateway's processes of one run, seen from the supervisor (model/gate.h has who they are and what they say).
 *
 * gate_start() starts vault and egress, waits until the credentials that the policy names are there, and knows then
 * what the sandbox must be told: placeholders and certificates. When PID 1 has made the listening sockets,
 * gate_listen() gives them to the relay; `ready` comes when all roles serve and are confined, and nothing inside runs
 * before it.
 *
 * A role that ends takes the gateway with it: `lost`, and from then on nothing gets out. The supervisor itself sees no
 * credential and none of the workload's bytes but what events quote.
 */
#ifndef CORDON_SUPERVISE_GATE_H
#define CORDON_SUPERVISE_GATE_H

#include <poll.h>
#include <stdbool.h>

#include "base/error.h"
#include "model/gate.h"
#include "model/policy.h"

struct gate;
struct gate_likeness;

struct gate_request {
	const struct policy *policy;
	const char *config; /* the operator's folder: credentials.yaml and gateway.yaml */
	const char *home;   /* what ~ means there */
	char **environment; /* the operator's: for the vault alone */
};

struct gate_placeholder {
	const char *variable; /* "": none */
	const char *value;
	const char *owner; /* the credential's name; the gate's alone */
};

/* What programs inside must have. All of it is the gate's. */
struct gate_inside {
	const struct gate_placeholder *placeholders;
	size_t n_placeholders;
	struct sv bundle; /* certificates to trust, in PEM; empty: the system's are enough */
	struct sv java;
	const char *missing; /* a sentence about credentials that could not be had, though the run may start without;
				NULL: none */
};

struct gate_events {
	void (*ready)(void *arg);
	void (*event)(void *arg, const struct gate_event *e);
	void (*usage)(void *arg, const struct gate_usage *u);
	void (*lost)(void *arg, const char *role, const char *how); /* "egress", "signal 9" */
	void (*ask)(void *arg, uint64_t question, struct sv host, uint32_t port); /* answered by gate_answer() */
	void (*compared)(void *arg, uint64_t question, bool same);
};

/* Does the policy need a gateway at all? */
bool gate_needed(const struct policy *p);

int gate_start(const struct gate_request *req, struct gate **ret, struct error *err);
void gate_free(struct gate *g); /* ends the roles; NULL is fine */

void gate_inside(const struct gate *g, struct gate_inside *ret);
bool gate_is_ready(const struct gate *g);
void gate_listen_events(struct gate *g, const struct gate_events *events, void *arg);

/* The sandbox's sockets; listeners[i] and fds[i] belong together. The fds stay the caller's. A second time, where the
 * first were a door: what is known only when the sandbox stands, GATE_LISTEN_REFUSED and GATE_REDIRECTS. */
int gate_listen(struct gate *g, const struct policy *p, const struct gate_listener *listeners, const int *fds, size_t n,
		struct error *err);

/* A new policy for relay and egress, and for the vault the credentials it names. Where these cannot be had, it is
 * refused and the last one stays. */
int gate_reload(struct gate *g, const struct policy *p, struct error *err);

/* After gate_reload() where the answer is yes: what waits for it is judged again. */
void gate_answer(struct gate *g, uint64_t question, bool yes);
/* Would another run have the credentials that are in force here, and the gateway.yaml that this one was started with?
 * Answered by `compared`, unless the gateway is lost. */
void gate_compare(struct gate *g, uint64_t question, const struct gate_likeness *theirs);
/* There is nobody who could be asked, in this whole run. */
void gate_nobody(struct gate *g);

/* Nothing can be logged any more: the relay refuses what is new. */
void gate_quiet(struct gate *g);

enum { GATE_POLL = 3 };
size_t gate_poll(const struct gate *g, struct pollfd *p);
void gate_serve(struct gate *g, const struct pollfd *p, size_t n);
/* The same, of what there is by now: a command may have ended because a role did, and have been heard of first. NULL is
 * fine. */
void gate_serve_last(struct gate *g);

/* The run is over: the roles say what they have only counted so far, until they are silent for GATE_FINISH_MS, or
 * GATE_FINISH_MAX_MS passed. NULL is fine. */
enum { GATE_FINISH_MS = 500, GATE_FINISH_MAX_MS = 5000 };
void gate_finish(struct gate *g);

#endif

/*
 * egress: the role that reaches out. One per run, one thread.
 *
 * It gets judged wishes from the relay (tunnels over `calls`, HTTP exchanges over the link), believes none of them,
 * judges again by the same policy, dials, and is the only process that puts credentials into requests. Nothing of the
 * workload's bytes is parsed here but bodies that a rule wants judged; upstream answers are, by the strict readers of
 * http/.
 *
 * When the supervisor or the relay is gone, the program ends: without them it has nothing to do. A vault that is gone
 * leaves the grants as they were.
 *
 * This header is for the files of this folder: the parts and who owns them.
 */
#ifndef CORDON_GATE_EGRESS_EGRESS_H
#define CORDON_GATE_EGRESS_EGRESS_H

#include "gate/egress/dial.h"
#include "gate/egress/events.h"
#include "gate/egress/generation.h"
#include "gate/egress/grants.h"
#include "gate/egress/quota.h"
#include "gate/inference/budget.h"
#include "http/link.h"
#include "tls/client.h"

struct pool;
struct h1_recent;
struct tunnels;
struct exchange;

/* SCRATCH: a record of TLS. SPARE: about as many exchanges as begin in one turn of a busy loop. */
enum { EGRESS_SCRATCH = 16 * 1024, EGRESS_SPARE = 16 };

struct egress {
	struct loop *loop;
	int control, calls, vault; /* vault: -1 when it is gone */
	struct loop_watch on_control, on_calls, on_vault;
	struct loop_timer tell_usage;
	struct loop_timer patience; /* armed: credentials of a new policy may still come */
	struct loop_task over_quota;
	struct generation *now;
	struct grants grants;
	struct events *events;
	struct quota quota;
	struct budget *budget;
	struct resolver *resolver;
	struct dialer dialer;
	struct tls_client *tls;
	struct tunnels *tunnels;
	struct pool *pool;
	struct link *link;
	struct exchange *exchanges; /* all that are open */
	struct arena *spare[EGRESS_SPARE]; /* empty: of exchanges that are over, for the next ones */
	unsigned n_spare;
	struct h1_recent *recent;   /* heads of answers (http/h1.h) */
	size_t collected;	    /* bytes of their bodies that are held until they are complete */
	uint64_t requests, denied;
	int exit_status; /* of the program, when the loop was stopped */
	char *scratch;	 /* EGRESS_SCRATCH bytes, for whoever runs; empty between calls */
	char *cooked;	 /* as many, for bodies on their way from an upstream */
};

/* Ends the program after this iteration. */
void egress_stop(struct egress *e, int status);

/* So many bytes more were sent. Where that was all that may be, what goes on is cut at the end of this iteration; and
 * the supervisor is told soon. */
void egress_count_out(struct egress *e, uint64_t bytes);
/* The same for bytes that are about to be sent. False: there is not so much left; do not. */
bool egress_may_send(struct egress *e, uint64_t bytes);
/* The same for bytes that were reserved before (quota_reserve()). */
void egress_spend(struct egress *e, uint64_t bytes);

/* Totals have changed: the supervisor is told within a second. */
void egress_changed(struct egress *e);

/* A policy has come: what it forbids is closed. Takes the reference. */
void egress_follow(struct egress *e, struct generation *g);

/* Serves what is set up, until it is stopped. The program's exit status. */
int egress_run(struct egress *e);

/* Gives back all that it holds. */
void egress_done(struct egress *e);

#endif

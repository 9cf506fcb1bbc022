/*
 * resolve: from names to addresses, for names that a policy allowed. c-ares on the loop.
 *
 * In this order: an address is itself; a pin of the operator's gateway.yaml (`fixed`); the machine's hosts file as it
 * was at start-up; DNS, by the servers that resolv.conf named at start-up. Names are taken as they are: no search
 * domains, which would ask for, and trust, names that nobody judged. No file is opened after resolver_new().
 *
 * A query lives in the caller's struct, zeroed before first use. Its answer comes once, from the loop, never from
 * inside resolve_start(); after resolve_cancel() it does not come.
 */
#ifndef CORDON_GATE_EGRESS_RESOLVE_H
#define CORDON_GATE_EGRESS_RESOLVE_H

#include "base/error.h"
#include "loop/loop.h"
#include "model/address.h"
#include "model/gate.h"

enum { RESOLVE_MAX = 16, RESOLVE_TIMEOUT = 5000 };

struct resolver;

struct resolve_answer {
	struct address v[RESOLVE_MAX]; /* IPv6 and IPv4 in turn */
	unsigned n;
	bool fixed;
};

/* why: GATE_FAILURE_NONE, or there is no answer. */
typedef void resolve_fn(void *arg, enum gate_failure why, const struct resolve_answer *answer);

struct resolve_query {
	struct resolver *resolver; /* NULL: idle */
	resolve_fn *fn;
	void *arg;
	struct loop_timer timer;
	struct resolve_lookup *lookup; /* what c-ares holds */
	enum gate_failure why;
	struct resolve_answer answer;
};

/* pins: copied. */
int resolver_new(struct loop *loop, const struct gate_pin *pins, uint32_t n, struct resolver **ret, struct error *err);
void resolver_free(struct resolver *r); /* NULL is fine. Queries are forgotten, not answered. */

/*
 * Who is asked before a question goes to DNS, with how many bytes it has: a name is the workload's own words, and they
 * arrive somewhere. False: it does not go (GATE_FAILURE_QUOTA). Each time that it is asked again counts as well.
 */
typedef bool resolve_charge_fn(void *arg, uint64_t bytes);
void resolver_charge(struct resolver *r, resolve_charge_fn *fn, void *arg);

/* Did the operator fix an address for this name? */
bool resolver_has_pin(const struct resolver *r, struct sv host);

void resolve_start(struct resolver *r, struct resolve_query *q, struct sv host, resolve_fn *fn, void *arg);
void resolve_cancel(struct resolve_query *q);

#endif

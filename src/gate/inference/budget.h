/*
 * budget: how much of each provider a run has used, and whether it may use more.
 *
 * One per run, in egress, which knows what was sent: nobody else counts. A request is admitted before it is dialled and
 * counts from then on, whatever becomes of it; tokens count as the reply reports them, and those that a reply was
 * charged for because it was cut (usage.h) count as well, apart from them. The request that crosses a token budget may
 * finish, the next is refused. Requests that run side by side cannot cross it together, as far as their bodies say how
 * long replies may be: each reserves that (output.h; without a limit OUTPUT_USUAL, which a reply may pass) until it is
 * over, and another is admitted only while what was used and what is reserved leave something. One alone is admitted
 * while anything is left, whatever it asks for.
 *
 * Counters are kept by the provider's name and only ever grow: a reload changes limits, never what was used, also of a
 * provider that goes and comes back. Use per model is kept for the report: BUDGET_MODELS names for each provider, the
 * rest is added up under "(other)".
 *
 * All sums saturate. Memory is bounded by BUDGET_PROVIDERS; one provider more than that is refused.
 */
#ifndef CORDON_GATE_INFERENCE_BUDGET_H
#define CORDON_GATE_INFERENCE_BUDGET_H

#include "gate/inference/ruling.h"
#include "gate/inference/usage.h"

enum { BUDGET_PROVIDERS = 256, BUDGET_MODELS = 32 };

struct budget;

struct budget *budget_new(void); /* NULL: no memory */
void budget_free(struct budget *b);

/* A request that was admitted: plain data, kept with the request. */
struct budget_ticket {
	uint32_t provider, model;
	uint64_t reserved; /* what is left of it */
	struct usage_tokens counted;
};

/* Limits are those of the provider as the policy in force has it. reserve: tokens. 0, or -1 and the ruling. Each one
 * that is admitted ends in budget_over(). */
int budget_admit(struct budget *b, const struct provider *p, const char *model, uint64_t reserve,
		 struct budget_ticket *ret, struct ruling *no);

/* Counts by how much `now` has grown since the last call with this ticket; call as often as is handy, and at the
 * reply's end. */
void budget_count(struct budget *b, struct budget_ticket *t, const struct usage_tokens *now);

/* The request is over: what it reserved and did not use is free. */
void budget_over(struct budget *b, struct budget_ticket *t);

struct budget_row {
	const char *provider;
	const char *model; /* NULL: the provider as a whole */
	uint64_t requests;
	struct usage_tokens tokens;
};

/* Calls back for each provider, followed by its models, in the order of their first use. */
void budget_report(const struct budget *b, void (*row)(void *ctx, const struct budget_row *r), void *ctx);

#endif

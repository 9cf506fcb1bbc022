/*
 * parity: what each key of a policy means on each runtime. One table, which code, documents and tests read.
 *
 * A key is enforced by a runtime, or enforced by other means (the cell says how it differs), or refused: a run whose
 * policy asks for it does not start there. No key is ever passed over. Keys that are settled before there is a runtime
 * (`extends`, `tests`) are marked as such. What a workload or a person can notice besides the keys stands in a second
 * table of the same shape.
 *
 * A row holds for its key and for all keys below it. parity_refused() is the code behind the cells that refuse: it
 * knows values and who runs it, where a cell knows only the key.
 */
#ifndef CORDON_POLICY_PARITY_H
#define CORDON_POLICY_PARITY_H

#include "base/buf.h"
#include "base/error.h"
#include "model/policy.h"
#include "policy/runtime_choice.h"

enum parity_state { PARITY_ENFORCED, PARITY_OTHERWISE, PARITY_REFUSED, PARITY_LOAD };

struct parity_cell {
	enum parity_state state;
	const char *how; /* a few words; NULL where it is simply enforced */
};

struct parity_row {
	const char *key;		 /* as in a file, or what is noticed; NULL ends a table */
	struct parity_cell on[RUNTIMES]; /* by enum runtime; of RUNTIME_AUTO nothing is said */
};

extern const struct parity_row parity_keys[];
extern const struct parity_row parity_rest[];
extern const char *const parity_state_names[]; /* by enum parity_state */

/* The row of a key, dotted, or of the key that it is below; NULL: none. */
const struct parity_row *parity_find(const char *key);

/* Refuses, by the first key that the runtime cannot enforce as this policy has it: ERROR_DENIED with key, place and
 * what would do it. root: cordon runs as root. */
int parity_refused(const struct policy *p, enum runtime runtime, bool root, struct error *err);

/* What is weaker, or other, on a runtime than on native, as sentences for people: those of the keys that the policy
 * uses (NULL: all). Calls say once for each. */
void parity_notes(const struct policy *p, enum runtime runtime,
		  void (*say)(void *arg, const char *what, const char *how), void *arg);

/* For `cordon policy parity`: all, or (runtime not RUNTIME_AUTO) one column. */
void parity_print(enum runtime runtime, struct buf *out);
void parity_print_json(struct buf *out);

#endif

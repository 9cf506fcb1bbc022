/*
 * audit_chain: what a reader of the log carries from one line to the next.
 *
 * A line follows when it is sound in itself, has the next number, names the last hash as its `prev`, belongs to the
 * same run, and no exit event came before it.
 */
#ifndef CORDON_AUDIT_CHAIN_H
#define CORDON_AUDIT_CHAIN_H

#include "audit/audit.h"
#include "audit/audit_line.h"

struct audit_chain {
	uint64_t n; /* lines so far */
	bool ended; /* the last one was an exit event */
	char last[SHA256_HEX];
	char run[SHA256_HEX]; /* digest of the run's id: it has no limit in a forged line */
};

static inline void audit_chain_init(struct audit_chain *c)
{
	*c = (struct audit_chain){0};
	memcpy(c->last, AUDIT_NO_HASH, SHA256_HEX);
}

static inline bool audit_chain_same_run(const struct audit_chain *c, const struct audit_line *l)
{
	char run[SHA256_HEX];

	sha256_hex_of(l->run, run);
	return c->n == 0 || memcmp(run, c->run, sizeof(run)) == 0;
}

static inline bool audit_chain_follows(const struct audit_chain *c, const struct audit_line *l)
{
	return l->seq == c->n + 1 && sv_is(l->prev, c->last) && audit_chain_same_run(c, l);
}

/* Is it the first line of another run, in a file that several have appended to (--json-events)? */
static inline bool audit_chain_begins(const struct audit_chain *c, const struct audit_line *l)
{
	return c->n > 0 && l->seq == 1 && sv_is(l->prev, AUDIT_NO_HASH) && sv_is(l->event, "\"start\"") &&
	       !audit_chain_same_run(c, l);
}

static inline void audit_chain_add(struct audit_chain *c, const struct audit_line *l)
{
	if (c->n == 0)
		sha256_hex_of(l->run, c->run);
	c->n++;
	c->ended = sv_is(l->event, "\"exit\"");
	memcpy(c->last, l->hash.p, AUDIT_HEX);
}

#endif

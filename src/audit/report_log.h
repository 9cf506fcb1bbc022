/*
 * report_log: what a report needs to know of a log: its first and last line, denials counted by rule, and what else is
 * worth telling.
 *
 * Reads good lines only, up to the first bad one. Memory is bounded: REPORT_GROUPS rules and REPORT_ROWS other events
 * are kept, more are counted. Values are as jansson reads them; the struct owns them (report_log_done()).
 */
#ifndef CORDON_AUDIT_REPORT_LOG_H
#define CORDON_AUDIT_REPORT_LOG_H

#include <jansson.h>

#include "audit/audit.h"

enum { REPORT_GROUPS = 64, REPORT_EXAMPLES = 40, REPORT_ROWS = 100 };

/* Denials by one rule. */
struct report_group {
	json_t *first; /* the line of the first one: domain, rule */
	uint64_t count;
	json_t *examples[REPORT_EXAMPLES]; /* targets, of requests to models what was wrong with them; no two alike */
	unsigned n_examples;
	bool more; /* targets than those */
};

struct report_log {
	struct audit_report chain;
	json_t *start, *end; /* NULL: missing */
	struct report_group groups[REPORT_GROUPS];
	unsigned n_groups;
	uint64_t denials;   /* all that were logged */
	uint64_t ungrouped; /* of further rules */
	json_t *limits;     /* an array of lines */
	json_t *others;     /* the same: exec, signal, note */
	uint64_t others_left;
};

int report_log_read(const char *path, const char *last_hash, struct report_log *ret, struct error *err);
void report_log_done(struct report_log *l);

/* A member's text, or "" where there is none of that kind; borrowed. object may be NULL. */
const char *report_text(const json_t *object, const char *key);
/* A member's number, or 0. */
uint64_t report_number(const json_t *object, const char *key);

#endif

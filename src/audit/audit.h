/*
 * audit: the hash-chained log of a run.
 *
 * One JSON object per line; `prev` is the hash of the line before (64 zeros for the first), `hash` = SHA-256(prev || the line's canonical JSON without `hash`),
 * where prev is its 64 hex digits and canonical is the text as written, minus the trailing ,"hash":"..." member: keys in the order written, no white space. `seq` counts from 1.
 *
 * A writer owns its fd (O_APPEND, 0600). audit_write() writes one whole line with one write(2); a short or failed write is an error
 * and the writer stays failed: the caller must stop the run (fail closed). A line is at most AUDIT_LINE_MAX bytes; longer values are cut and marked.
 *
 * Dropping lines at the end cannot be seen from the chain alone: a finished log ends in an `exit` event, and audit_verify() reports a log without one as
 * unfinished. The last hash is also kept in the run's state file, and verify takes it as `expect_last`.
 */
#ifndef CORDON_AUDIT_H
#define CORDON_AUDIT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/sha256.h"
#include "model/event.h"

enum { AUDIT_LINE_MAX = 65536 };

struct audit;

/* Creates (O_EXCL) and opens path. copy_fd: a second place for every line (--json-events), or -1; borrowed. */
int audit_new(const char *path, const char *run_id, int copy_fd, struct audit **ret, struct error *err);
void audit_free(struct audit *a);

int audit_write(struct audit *a, const struct event *e, struct error *err);
const char *audit_last_hash(const struct audit *a);
uint64_t audit_count(const struct audit *a);

enum audit_state { AUDIT_GOOD, AUDIT_UNFINISHED, AUDIT_BROKEN };

struct audit_report {
	enum audit_state state;
	uint64_t lines;	     /* good ones */
	uint64_t bad_line;   /* line number of the first bad one, from 1 */
	char what[160];	     /* "changed", "dropped", "added", "reordered" and the like, in a sentence */
	char last_hash[SHA256_HEX];
};

/* Reads the whole log. -1 only where it cannot be read at all. expect_last may be NULL. */
int audit_verify(const char *path, const char *expect_last, struct audit_report *ret, struct error *err);

/* Prints the log for a person, one line an event, everything escaped. */
int audit_show(const char *path, FILE *out, bool color, struct error *err);

#endif

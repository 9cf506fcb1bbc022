/*
 * audit: the hash-chained log of a run.
 *
 * One JSON object per line; `prev` is the hash of the line before (64 zeros for the first), `hash` = SHA-256(prev ||
 * the line's canonical JSON without `hash`), where prev is its 64 hex digits and canonical is the text as written,
 * minus the trailing ,"hash":"..." member: keys in the order written, no white space. `seq` counts from 1. See
 * audit_line.h.
 *
 * A writer owns its fd (O_APPEND, 0600). audit_write() writes one whole line with one write(2), and never waits for the
 * disk; a short or failed write is an error and the writer stays failed: the caller must stop the run (fail closed).
 * The same holds for the copy. A line is at most AUDIT_LINE_MAX bytes with its newline; longer values are cut, end in
 * "[cut]", and are counted in the member `cut`. Nothing can be written behind an exit event.
 *
 * Further fields of an event must not be named as a member that every line has (-1 with EINVAL, nothing written). JSON
 * text in them must be as base/json writes it (compact); what is not is kept as a string.
 *
 * Dropping lines at the end cannot be seen from the chain alone: a finished log ends in an `exit` event, and
 * audit_verify() reports a log without one as unfinished. A log whose end was written anew by someone who computed its
 * hashes, too, is shown only by the last hash, where somebody has kept it elsewhere (a report names it): verify takes
 * it as `expect_last`.
 */
#ifndef CORDON_AUDIT_H
#define CORDON_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
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
	uint64_t runs;              /* whose events there are, where no line is bad */
	uint64_t lines;             /* good ones, before the first bad one */
	uint64_t bad_line;          /* line number of the first bad one, from 1; 0: none */
	char what[160];             /* "changed", "dropped", "added", "reordered" and the like, in a sentence */
	char last_hash[SHA256_HEX]; /* of the last good line; 64 zeros where there is none */
};

/* Reads the whole log. -1 only where it cannot be read at all. expect_last may be NULL. */
int audit_verify(const char *path, const char *expect_last, struct audit_report *ret, struct error *err);
/*
 * The same of a file that several runs have appended to, one after the other (--json-events): each has a chain of its
 * own. That one of them was taken out as a whole cannot be seen. expect_last is the last one's.
 */
int audit_verify_all(const char *path, const char *expect_last, struct audit_report *ret, struct error *err);

/*
 * Prints the log for a person, one line an event, everything escaped; or, the other one, the lines as they are. Both
 * print the good lines only, and then fail with ERROR_INPUT where a bad one follows. An unfinished log is fine: its run
 * may still be on. all: as audit_verify_all().
 */
int audit_show(const char *path, bool all, FILE *out, bool color, struct error *err);
int audit_show_json(const char *path, bool all, FILE *out, struct error *err);

#endif

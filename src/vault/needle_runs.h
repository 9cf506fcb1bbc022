/*
 * needle_runs: needles in what is base64 or hexadecimal, and encoded once more within.
 *
 * A run is a row of characters of base64 (either alphabet) as a stream has them once its escapes are undone
 * (needle_decode.h); it goes on over line breaks behind NEEDLE_LINE of them or more, with blanks and tabs before and
 * behind the break or none, NEEDLE_GAP bytes in all. Where it is as long as the shortest needle's encoding, it is
 * undone while it goes by: at each of the four places where a group can begin, and where its characters are hexadecimal
 * digits, of any case, at both. What comes out is searched for all forms, as it is and with its escapes undone. So
 * base64 in lines is found, hexadecimal in mixed case, and any two of base64, hexadecimal and escapes within each other
 * (but for the edges, as needle.h says), in lines or not; not mixed case within base64 or hexadecimal.
 *
 * Texts without such runs cost a look at every few bytes. Hits are kept until they are asked for, in the order in which
 * they were found: they and those of needle.h are told by one rule, however a stream is cut. One that covers more than
 * needle_set_reach() is none.
 */
#ifndef CORDON_VAULT_NEEDLE_RUNS_H
#define CORDON_VAULT_NEEDLE_RUNS_H

#include <stddef.h>

#include "vault/needle.h"

enum { NEEDLE_LINE = 48, NEEDLE_GAP = 40, NEEDLE_VALUES = 64 + 1 };

struct needle_runs;

/*
 * A bit for each two neighbours in a run, by their values of 6 bits and one more, the second's modulo 64: set where all
 * bytes that are complete with the second one, in base64 wherever a group begins and in hexadecimal, are skipped. The
 * first row, for what is no character of a run, stays empty.
 */
void needle_runs_prepare(const bool skip[256], uint64_t dull[NEEDLE_VALUES]);

struct needle_found {
	uint32_t needle;
	uint64_t start, end;
	uint64_t at; /* the offset behind the byte that it was found with */
};

/* Where in p, from i on, a run that is long enough may begin; n: nowhere. For streams that have no needle_runs yet. */
size_t needle_runs_begin(const struct needle_set *set, const char *p, size_t i, size_t n);

struct needle_runs *needle_runs_new(const struct needle_set *set); /* NULL: no memory. Borrows the set. */
void needle_runs_free(struct needle_runs *r);

/* The next bytes of the stream. 0 or -ENOMEM. */
int needle_runs_feed(struct needle_runs *r, uint64_t offset, const char *p, size_t n);
int needle_runs_end(struct needle_runs *r); /* the stream is over; the next bytes are another's */

/* The next one that was found at `at` or before. */
bool needle_runs_next(struct needle_runs *r, uint64_t at, struct needle_found *ret);

/* A byte that can be in a run, be it as part of an escape. */
bool needle_runs_may_have(unsigned char c);

#endif

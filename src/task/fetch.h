/*
 * fetch: files that a sandbox left, out of its folders into the results.
 *
 * Whoever made them may have meant harm to whoever looks at them later: only folders and regular files come out, under
 * names that are plain text, as new files without owners, modes and attributes; never a link, a device or a pipe, so
 * nothing in the results leads elsewhere, and of these nothing that something on the host would take orders from
 * (orders.h). What is there already stays: nobody who left a file may say what becomes of another. What is left out is
 * counted.
 */
#ifndef CORDON_TASK_FETCH_H
#define CORDON_TASK_FETCH_H

#include <stdint.h>

#include "base/error.h"
#include "model/policy.h"

struct orders;

struct fetch_limits {
	uint64_t bytes, entries; /* what is left of both; counted down. Holes are no bytes, and stay holes */
	unsigned depth;
	uint64_t left_out;
	const struct pol_list *exclude; /* patterns (fnmatch) of names below what is fetched that are not wanted, and
					   not counted; NULL: none */
	struct orders *orders; /* for what comes to the host: the place at hand is `to`, and what is refused is not
				  counted. NULL: the files are a sandbox's again */
	uint64_t tries; /* how often a name is still compared with one; then nothing more is fetched. Counted down */
};

#define FETCH_LIMITS {.bytes = 1ULL << 30, .entries = 20000, .depth = 32, .tries = 1 << 22}

/* The content of folder `from` into folder `to`, which only we write to. -1: what is ours failed (a full disk). */
int fetch_folder(int from, int to, struct fetch_limits *limits, struct error *err);

/* One file, `name` in `from`, a path without links, to a new file `as` in `to`. 1: there is none that could be fetched.
 */
int fetch_file(int from, const char *name, int to, const char *as, struct fetch_limits *limits, struct error *err);

#endif

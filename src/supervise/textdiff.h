/*
 * textdiff: one file's change as a unified diff, in the form git prints and `git apply` and `patch -p1` take.
 *
 * Three lines of context, "\ No newline at end of file", /dev/null for a file that is new or gone, "old mode" and "new
 * mode" lines, links as files of mode 120000 that hold their target. Content with a NUL byte is binary: "Binary files
 * a/x and b/x differ". A pair of texts that would take more than max_work steps is "too different: N lines before, M
 * after". Neither of these two can be applied.
 *
 * The content comes from a workload. With `escape` nothing in it or in the name can reach a terminal but plain text and
 * tabs; without it content is printed as it is and names are quoted as git quotes them.
 *
 * Borrows everything. Write errors stay with `out`: check ferror() there.
 */
#ifndef CORDON_SUPERVISE_TEXTDIFF_H
#define CORDON_SUPERVISE_TEXTDIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sv.h"

enum { TEXTDIFF_CONTEXT = 3, TEXTDIFF_WORK = 50000000 };

struct textdiff_side {
	unsigned mode;  /* type and permissions: 0100644, 0120777 (a link); 0: does not exist */
	struct sv text; /* p NULL: there is content, but it is not shown */
	uint64_t size;  /* used where text.p is NULL */
};

struct textdiff_style {
	bool escape;
	uint64_t max_work; /* 0: TEXTDIFF_WORK */
	uint64_t *left;	   /* the work that several files may take together, counted down; NULL: each its own */
};

/* 0 or -ENOMEM. Sides that are equal print nothing. */
int textdiff_print(FILE *out, const char *path, const struct textdiff_side *before, const struct textdiff_side *after,
		   const struct textdiff_style *style);

#endif

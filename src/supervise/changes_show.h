/*
 * changes_show: a list of changes for a person, and as a unified diff.
 *
 * The list has one line a change: kind, path (a folder with "/" behind it), what became what, and why it is refused.
 * Everything in it is escaped.
 *
 * The diff has the files and links, with the modes that git knows (0755 and 0644); folders have no place in one.
 * Content is read as the scan saw it; a file that is another by now fails the call. Files beyond max_file, and all
 * files once max_total bytes were read, are named without content. Refused changes are left out unless asked for, so
 * that what is printed may be applied with other tools as well.
 */
#ifndef CORDON_SUPERVISE_CHANGES_SHOW_H
#define CORDON_SUPERVISE_CHANGES_SHOW_H

#include <stdio.h>

#include "supervise/changes.h"

enum { CHANGES_DIFF_FILE = 8 << 20, CHANGES_DIFF_TOTAL = 256 << 20, CHANGES_REFUSED_SAID = 20 };

struct changes_diff_options {
	bool escape;        /* out is a terminal */
	bool refused;       /* show refused changes too */
	uint64_t max_file;  /* 0: CHANGES_DIFF_FILE */
	uint64_t max_total; /* 0: CHANGES_DIFF_TOTAL */
};

/* Write errors stay with `out`. 0, or -1: no memory. changes_print_refused: those alone that are refused for their own
 * sake, the first CHANGES_REFUSED_SAID, and how many more there are. */
int changes_print_list(const struct changes *c, FILE *out, struct error *err);
int changes_print_refused(const struct changes *c, FILE *out, struct error *err);
int changes_print_diff(const struct changes *c, int lower_fd, int upper_fd, const struct changes_diff_options *options,
		       FILE *out, struct error *err);

#endif

/*
 * report: one run as a page that a person can read in any browser, send on, and keep.
 *
 * The page is one file without a script, an image, a font or a link to anywhere: its only style sheet is named by its
 * digest in a Content-Security-Policy that forbids all else. Whatever comes from a run is escaped twice: control bytes
 * and bidirectional marks as base/text.h does it, and then as HTML.
 *
 * The place is taken before the run, so that a folder that cannot be written is known then; it holds the folder by fd,
 * which a run that renames folders cannot change. The page appears whole (a temporary file and a rename) or not at all,
 * with mode 0600.
 */
#ifndef CORDON_AUDIT_REPORT_H
#define CORDON_AUDIT_REPORT_H

#include <limits.h>

#include "base/error.h"
#include "base/sv.h"

struct report_place {
	int dir; /* -1: none */
	char name[NAME_MAX + 1];
};

/* Proves that a file can be made there. A file of that name is replaced in the end, a folder is refused. */
int report_place_open(const char *path, struct report_place *ret, struct error *err);
void report_place_done(struct report_place *p);

struct report_request {
	const char *log;       /* path of the audit log */
	const char *last_hash; /* that its writer knows; NULL: not known */
	struct sv policy;      /* what it allowed: JSON {"title": ["sentence", ...], ...} */
};

int report_write(const struct report_place *place, const struct report_request *req, struct error *err);

#endif

/*
 * report: one run as a page that a person can read in any browser, send on, and keep.
 *
 * The page is one file without a script, an image, a font or a link to anywhere: its only style sheet is named by its
 * digest in a Content-Security-Policy that forbids all else. Whatever comes from a run is escaped twice: control bytes
 * and bidirectional marks as base/text.h does it, and then as HTML.
 */
#ifndef CORDON_AUDIT_REPORT_H
#define CORDON_AUDIT_REPORT_H

#include "base/error.h"
#include "base/place.h"
#include "base/sv.h"

struct report_request {
	const char *log;       /* path of the audit log */
	const char *last_hash; /* that its writer knows; NULL: not known */
	struct sv policy;      /* what it allowed: JSON {"title": ["sentence", ...], ...} */
};

int report_write(const struct place *place, const struct report_request *req, struct error *err);

#endif

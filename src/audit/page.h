/*
 * page: what the pages that Cordon writes have in common (audit/report.h has what they are): one file without a script
 * or an image, its style named by its digest in a policy that forbids all else.
 *
 * Text of others goes through page_line() and its kin, which escape it twice: for a terminal's sake, and as HTML.
 * Failure is the buffer's.
 */
#ifndef CORDON_AUDIT_PAGE_H
#define CORDON_AUDIT_PAGE_H

#include <stdint.h>

#include "base/buf.h"

/* Up to the beginning of its body; title is text of others, too. */
void page_head(struct buf *out, const char *title);
void page_end(struct buf *out);

void page_line(struct buf *out, struct sv s);
void page_text(struct buf *out, const char *s);
void page_lines(struct buf *out, struct sv s); /* with its line ends, for <pre> */
void page_duration(struct buf *out, uint64_t ms);
void page_row(struct buf *out, const char *name, const char *value); /* of a <dl>; name is ours */

/* A link to a file below the page's folder: a relative path without "..", which is also its text. Whatever its bytes
 * are, it names no other place. */
void page_link(struct buf *out, const char *path);

#endif

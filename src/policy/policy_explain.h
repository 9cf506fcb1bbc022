/*
 * policy_explain: an effective policy in sentences, for a person who has half a minute.
 *
 * Text is grouped by domain and wrapped at 96 columns; JSON is {"filesystem": ["sentence", ...], ...}. Untrusted text
 * is escaped. Failure is the buffer's (buf_failed()).
 */
#ifndef CORDON_POLICY_EXPLAIN_H
#define CORDON_POLICY_EXPLAIN_H

#include "base/buf.h"
#include "model/policy.h"

/* workdir: the folder to name, or NULL: "the work folder". home: written as ~, or NULL. category: of the command, or
 * NULL: any. */
void policy_explain(const struct policy *p, const char *workdir, const char *home, const char *category, bool as_json,
		    struct buf *out);

#endif

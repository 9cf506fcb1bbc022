/*
 * verb_audit: `cordon audit verify FILE` and `cordon audit show FILE`.
 *
 * Both exit 0 when the log is good, 1 when a line is bad (and name it), 125 when it cannot be read. A log without an
 * exit event is 1 for verify, with a sentence of its own, and fine for show.
 */
#ifndef CORDON_VERB_AUDIT_H
#define CORDON_VERB_AUDIT_H

#include "cli/cli.h"

extern const struct option verb_audit_verify_options[];
extern const struct option verb_audit_show_options[];

int verb_audit_verify(struct call *call, struct error *err);
int verb_audit_show(struct call *call, struct error *err);

#endif

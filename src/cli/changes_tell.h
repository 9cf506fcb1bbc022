/*
 * changes_tell: what became of applies that were interrupted, said to the person.
 */
#ifndef CORDON_CLI_CHANGES_TELL_H
#define CORDON_CLI_CHANGES_TELL_H

#include "cli/cli.h"
#include "supervise/changes_apply.h"

void changes_recovered_tell(const struct call *call, enum changes_recovered way);
void changes_others_tell(const struct call *call, const char *folder, const struct changes_others *o);

#endif

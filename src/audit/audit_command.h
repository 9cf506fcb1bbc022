/*
 * audit_command: a command as the log has it, a JSON list of its words.
 *
 * It has at most AUDIT_COMMAND_MAX bytes, so that padding keeps no command out of the log: a word that is too long
 * keeps its beginning and its end, with
 * "[cut: N bytes, sha256 H]" of the whole word between them; words that find no room stand in one such mark, by the
 * hash of all of them with a NUL behind each.
 */
#ifndef CORDON_AUDIT_COMMAND_H
#define CORDON_AUDIT_COMMAND_H

#include "base/buf.h"

enum { AUDIT_COMMAND_MAX = 32768 };

/* out: empty, with room for AUDIT_COMMAND_MAX. */
void audit_put_command(struct buf *out, char *const *argv);

#endif

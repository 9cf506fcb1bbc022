/*
 * carry_text: files that are half data and half orders. Pure functions of their bytes; strict where they are not sure.
 */
#ifndef CORDON_TASK_CARRY_TEXT_H
#define CORDON_TASK_CARRY_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/sv.h"

/* Do both say the same to pytest, of setup.cfg and tox.ini? */
bool carry_same_for_pytest(struct sv ours, struct sv theirs);

/* Digits and dots, as in "3.12.1", and no path. */
bool carry_is_version(struct sv text);

/* A text of Python with nothing in it but comments and a string that tells of it? */
bool carry_python_blank(struct sv text);

/* Keys of a git configuration that cannot make git run anything. *ret_cut: there were others. */
void carry_git_config(struct sv text, struct buf *out, bool *ret_cut);

/* entry_points.txt without plugins of pytest? */
bool carry_entry_points(struct sv text);

/* Accounts that were only added to: the image's text comes first, unchanged; passwd: and nobody new is root. */
bool carry_accounts(struct sv text, struct sv image, bool passwd);

#endif

/*
 * carry_text: files that are half data and half orders. Pure functions of their bytes; strict where they are not sure.
 */
#ifndef CORDON_TASK_CARRY_TEXT_H
#define CORDON_TASK_CARRY_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/sv.h"

/* Do setup.cfg or tox.ini say the same, but for sections that run nothing? Those of tools that judge (mypy's,
 * coverage's, tox's own) may be new, without what makes them run something. */
bool carry_same_sections(struct sv ours, struct sv image);

/* Settings of a tool that judges (mypy.ini, .pylintrc): may they make it run something, by a plugin, a hook, a program
 * or an expression? */
bool carry_orders_code(struct sv text);

/* Which versions of tools a project wants (rust-toolchain.toml), and no folder of one. */
bool carry_names_no_path(struct sv text);

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

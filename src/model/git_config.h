/*
 * git_config: a configuration file as git reads it (git-config(1), "Syntax"): names in any case, quotes, escapes,
 * comments, continued lines, a section and a key in one line, a byte order mark.
 *
 * Git stops at the first thing that it does not understand, and refuses the file; what stands before it is told all the
 * same. Blanks within a value were one space each up to git 2.44, and are as they stand since: where that differs, the
 * value is told both ways.
 */
#ifndef CORDON_MODEL_GIT_CONFIG_H
#define CORDON_MODEL_GIT_CONFIG_H

#include "base/sv.h"

/* name: "core.hookspath", "includeif.gitdir:/.path": in small letters but for what stands in quotes. value: "" where
 * there is none. Both end at a NUL in the file, as they do for git. Return 0, or -1 to stop. */
typedef int git_config_told(void *arg, const char *name, const char *value);

/* 0: read to its end; 1: up to what git would refuse; -1: told() stopped it; -ENOMEM. */
int git_config_read(struct sv text, git_config_told *told, void *arg);

#endif

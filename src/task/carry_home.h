/*
 * carry_home: places outside of the system's folders that programs load from: home folders, and wherever an image has
 * an interpreter of its own (~/.pyenv, ~/miniconda3, /srv/ruby).
 */
#ifndef CORDON_TASK_CARRY_HOME_H
#define CORDON_TASK_CARRY_HOME_H

#include "task/carry_judge.h"

/* Reads the image's users. What cannot be read names nobody: /root, /home/NAME and HOME are homes all the same. */
void carry_homes_init(struct carry *c);

/* Is the folder somebody's home? */
bool carry_home(const struct carry *c, struct sv folder);

/* Would tools read c->at when they start? In homes that is every name with a dot but those of data; in .config all but
 * git's, which has rules of its own. */
bool carry_home_startup(const struct carry *c, const struct spot *s, const struct entry *e);

/* A link is no way round that: is c->at a place in a home where none is carried? */
bool carry_home_link(const struct carry *c, const struct spot *s, const struct entry *e);

/* Is c->at, a folder of the image, one of bin and lib that programs load from: on the PATH, or with an interpreter in
 * it? */
bool carry_prefix(const struct carry *c, const struct spot *s);

/* The same of what an interpreter has below lib, where all beside it is somebody's: such a folder that is a home, or
 * the work folder or above it. */
bool carry_interpreter(const struct carry *c, const struct spot *s);

/* Is c->at the lib of a prefix on the PATH that has an interpreter? */
bool carry_interpreters_lib(const struct carry *c);

#endif

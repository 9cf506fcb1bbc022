/*
 * carry_new: what the image does not have, in folders that programs load from. The entry's path is c->at.
 */
#ifndef CORDON_TASK_CARRY_NEW_H
#define CORDON_TASK_CARRY_NEW_H

#include "task/carry_judge.h"

/* The folder's path: what is before the last slash of c->at; its own name. */
struct sv carry_parent(const struct carry *c);
struct sv carry_base(struct sv path);

/* Is it a folder that commands are run from? */
bool carry_command_folder(const struct carry *c, const struct spot *s);

enum carry_rule carry_new_command(const struct carry *c, const struct entry *e);
enum carry_rule carry_new_library(const struct carry *c, const struct entry *e);
enum carry_rule carry_new_system(struct carry *c, const struct spot *s, const struct entry *e);

/* Do the tests make it themselves: a virtual environment, or a project? */
bool carry_new_tests(const struct carry *c, const struct spot *s, const struct entry *e);

/* Calls fn for each folder that Pythons of the image load from. */
void carry_pythons(struct carry *c, void (*fn)(struct carry *c, const struct layered *folder));

/* Does some Python of the image have a module or package of that name? */
bool carry_image_module(struct carry *c, const char *name);

/* Is the path itself, where it is a folder, one that programs are loaded from, or on the way to one? Then no link takes
 * its place. */
bool carry_way_to_programs(const struct carry *c);

/* Folders that every system may have: where one is new, what comes into it is judged as if it had been there. */
bool carry_frame_folder(struct sv name);

/* Is the folder lib, or a Python's in it, of PYTHONUSERBASE? */
bool carry_user_lib(const struct carry *c, struct sv folder);

/* site-packages, dist-packages; node_modules, and scopes in one. */
bool carry_python_folder(struct sv base);
bool carry_node_folder(struct sv path);

#endif

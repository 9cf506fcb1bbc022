/*
 * plan_exec: process.allow_exec and process.deny_exec.
 *
 * A denied program must not be readable either, or a copy of it could be run: deny_exec is a mask and a guard. Where a
 * name leads through links to another (/bin/sh, /usr/bin/python3), that is what is denied, under all its names. Where
 * allow_exec is a list, everything is mounted so that nothing can be executed or mapped as code, but for the listed
 * programs, the loader, and the folders of shared libraries and of interpreters' modules, from which what is a program
 * itself and not listed is masked; a link leads to a program only where its maker is trusted (plan_links.h). Landlock
 * then refuses execve() of all but the listed programs and the loader. memfd_create without the no-exec seal is refused
 * by the backend.
 */
#ifndef CORDON_PLAN_EXEC_H
#define CORDON_PLAN_EXEC_H

#include "plan/plan_draft.h"

/* Before the search for denied names: guards for deny_exec. */
int plan_exec_guards(struct draft *d);
/* After it: what is done about programs. */
int plan_exec_add(struct draft *d);

/* The entry of deny_exec one of whose names leads to the program (by its real name) on this machine; NULL: none.
 * Patterns that float cost a walk through the base system. */
const struct pol_str *plan_exec_leads(const struct policy *p, const char *program);

/* Is it no list of programs at all? */
bool plan_exec_allows_all(const struct pol_list *allow);

#endif

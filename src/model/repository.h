/*
 * repository: what git takes for a repository, whatever the folder is called.
 *
 * Git looks for one in the current folder and in all above it, and obeys its config and hooks: to merely enter a folder
 * that somebody has made to look like one can run a program. It asks for HEAD, and for objects and refs, which may both
 * be elsewhere: a file commondir says where, and then the config is read there. A config need not be there at all.
 *
 * What is called .git, and what is below .git/modules, is a repository by its place; patterns protect that
 * (policy/policy_mandatory.c), and this file says nothing about it.
 */
#ifndef CORDON_MODEL_REPOSITORY_H
#define CORDON_MODEL_REPOSITORY_H

#include <stdbool.h>

#include "base/sv.h"

enum { REPOSITORY_PARTS = 4 };

/* Their names; a set of them has bit i for part i. */
extern const char *const repository_parts[REPOSITORY_PARTS];

/* The parts make a repository. */
bool repository_is(unsigned parts);

/* In a repository git takes orders from what has this name. */
bool repository_is_order(struct sv name);

/* The folder is one that the patterns protect. */
bool repository_has_patterns(struct sv folder);

/* The parts that stand in a folder, and those that would with what is judged. */
struct repository_view {
	unsigned before, after;
};

typedef struct repository_view repository_look(void *arg, struct sv folder);

/*
 * Something is to be made or changed at path (absolute, canonical). Why it must not: it makes a repository out of its
 * folder, or git would take orders from it, or from the folder it is in, in one that is there; else NULL.
 */
const char *repository_judge(struct sv path, repository_look *look, void *arg);

extern const char repository_order_rule[];

#endif

/*
 * cover_known: which names are covered in a container, and what stood there when they were.
 *
 * A mask goes with the file that it is laid over. So a name is covered as long as the same file stands there: same
 * inode, born at the same moment (inodes are used again). Sorted by name; owns its memory.
 */
#ifndef CORDON_SANDBOX_COVER_KNOWN_H
#define CORDON_SANDBOX_COVER_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/names.h"

struct cover_name {
	char *target;        /* inside */
	struct sys_facts is; /* dev 0, inode 0: nothing was there */
};

struct cover_known {
	struct cover_name *v;
	size_t n, room;
};

/* The same file, not one with the same number. */
bool cover_is_same(const struct sys_facts *a, const struct sys_facts *b);

/* 0 or -ENOMEM. */
int cover_known_set(struct cover_known *k, const char *target, const struct sys_facts *is);
/* What comes there is not covered, whatever it is. */
void cover_known_forget(struct cover_known *k, const char *target);
bool cover_known_is(const struct cover_known *k, const char *target, const struct sys_facts *is);
void cover_known_done(struct cover_known *k);

#endif

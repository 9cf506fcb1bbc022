/*
 * name_set: a small set of names, to ask quickly whether one is in it. Borrows their bytes, allocates nothing, takes
 * none away.
 *
 * It holds at most NAME_SET_MAX. One that was given more is full, and says yes to everything: right for who asks in
 * order to leave out work.
 */
#ifndef CORDON_BASE_NAME_SET_H
#define CORDON_BASE_NAME_SET_H

#include <stdbool.h>

#include "base/sv.h"

enum { NAME_SET_MAX = 512, NAME_SET_ROOM = 1024 };

struct name_set {
	struct sv names[NAME_SET_ROOM]; /* a hash table, open addressing */
	unsigned n;
};

/* Empty at first: {0}. Not the empty name. */
void name_set_add(struct name_set *s, struct sv name);
bool name_set_has(const struct name_set *s, struct sv name);

/* Some component of the path is in it. */
bool name_set_has_part(const struct name_set *s, struct sv path);

#endif

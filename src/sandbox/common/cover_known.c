#include "sandbox/common/cover_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cover_is_same(const struct sys_facts *a, const struct sys_facts *b)
{
	return a->inode == b->inode && a->dev == b->dev && a->born.tv_sec == b->born.tv_sec &&
	       a->born.tv_nsec == b->born.tv_nsec;
}

/* Where it is, or would be. */
static size_t find(const struct cover_known *k, const char *target, bool *ret_there)
{
	size_t low = 0, high = k->n, middle;
	int c;

	*ret_there = false;
	while (low < high) {
		middle = low + (high - low) / 2;
		c = strcmp(k->v[middle].target, target);
		if (c == 0) {
			*ret_there = true;
			return middle;
		}
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct cover_known *k)
{
	size_t room = k->room ? 2 * k->room : 16;
	struct cover_name *more;

	if (k->n < k->room)
		return 0;
	more = reallocarray(k->v, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->v = more;
	k->room = room;
	return 0;
}

int cover_known_set(struct cover_known *k, const char *target, const struct sys_facts *is)
{
	bool there;
	size_t at = find(k, target, &there);
	char *name;

	if (there) {
		k->v[at].is = *is;
		return 0;
	}
	name = strdup(target);
	if (!name || make_room(k) < 0) {
		free(name);
		return -ENOMEM;
	}
	memmove(k->v + at + 1, k->v + at, (k->n - at) * sizeof(*k->v));
	k->v[at] = (struct cover_name){.target = name, .is = *is};
	k->n++;
	return 0;
}

void cover_known_forget(struct cover_known *k, const char *target)
{
	bool there;
	size_t at = find(k, target, &there);

	if (there)
		k->v[at].is = (struct sys_facts){0};
}

bool cover_known_is(const struct cover_known *k, const char *target, const struct sys_facts *is)
{
	bool there;
	size_t at = find(k, target, &there);

	return there && cover_is_same(&k->v[at].is, is);
}

void cover_known_done(struct cover_known *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		free(k->v[i].target);
	free(k->v);
	*k = (struct cover_known){0};
}

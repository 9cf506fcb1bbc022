#include "plan/guard_names.h"

#include <errno.h>
#include <stdlib.h>

enum { HASH_BEGIN = 1, ROOM_BEGIN = 64 };

/* A repository chooses the names: like ones must not come to like places. */
static uint64_t hash_char(uint64_t h, char c)
{
	h = (h ^ (unsigned char)c) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t hash_of(struct sv s)
{
	uint64_t h = HASH_BEGIN;
	size_t i;

	for (i = 0; i < s.n; i++)
		h = hash_char(h, s.p[i]);
	return h;
}

/* Its place, or the free one where it would go. */
static struct guard_name *place_of(const struct guard_names *s, struct sv name, uint64_t hash)
{
	size_t at = hash & (s->room - 1);

	while (s->v[at].name.n && !sv_eq(s->v[at].name, name))
		at = (at + 1) & (s->room - 1);
	return &s->v[at];
}

static void free_table(struct guard_names *s)
{
	if (!s->arena)
		free(s->v);
}

static int grow(struct guard_names *s, size_t room)
{
	struct guard_names more = *s;
	size_t i;

	more.room = room;
	more.v = s->arena ? arena_array(s->arena, more.room, sizeof(*more.v)) : calloc(more.room, sizeof(*more.v));
	if (!more.v)
		return -ENOMEM;
	for (i = 0; i < s->room; i++)
		if (s->v[i].name.n)
			*place_of(&more, s->v[i].name, hash_of(s->v[i].name)) = s->v[i];
	free_table(s);
	*s = more;
	return 0;
}

int guard_names_expect(struct guard_names *s, size_t n)
{
	size_t room = ROOM_BEGIN;

	while (room <= 2 * n)
		room *= 2;
	return room <= s->room ? 0 : grow(s, room);
}

static struct guard_name *entry_for(struct guard_names *s, struct sv name, uint64_t hash)
{
	struct guard_name *e;

	if (2 * s->n >= s->room && grow(s, s->room ? 2 * s->room : ROOM_BEGIN) < 0)
		return NULL;
	e = place_of(s, name, hash);
	if (!e->name.n) {
		*e = (struct guard_name){name, GUARD_NONE, GUARD_NONE, GUARD_NONE, GUARD_NONE};
		s->n++;
	}
	return e;
}

static int add_wild(struct guard_names *s, uint32_t number)
{
	size_t room = s->wild_room ? 2 * s->wild_room : 96;
	uint32_t *more;

	if (s->n_wild == s->wild_room) {
		more = realloc(s->wild, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->wild = more;
		s->wild_room = room;
	}
	s->wild[s->n_wild++] = number;
	return 0;
}

int guard_names_add(struct guard_names *s, const struct plan_guard *guard, uint32_t number)
{
	struct sv name = glob_whole(&guard->glob);
	bool plain = glob_is_plain(&guard->glob);
	uint64_t hash = HASH_BEGIN;
	struct guard_name *e;
	uint32_t *first;
	size_t i;

	for (i = 0; i < name.n; i++) {
		if (plain && i && name.p[i] == '/') {
			e = entry_for(s, sv_n(name.p, i), hash);
			if (!e)
				return -ENOMEM;
			e->way = e->way == GUARD_NONE ? number : e->way;
		}
		hash = hash_char(hash, name.p[i]);
	}
	e = entry_for(s, name, hash);
	if (!e || (!plain && add_wild(s, number) < 0))
		return -ENOMEM;
	first = guard->hidden ? &e->hides : guard->yields ? &e->yields : &e->protects;
	*first = *first == GUARD_NONE ? number : *first;
	return 0;
}

const struct guard_name *guard_names_find(const struct guard_names *s, struct sv name)
{
	const struct guard_name *e = s->n && name.n ? place_of(s, name, hash_of(name)) : NULL;

	return e && e->name.n ? e : NULL;
}

void guard_names_done(struct guard_names *s)
{
	free_table(s);
	free(s->wild);
	*s = (struct guard_names){0};
}

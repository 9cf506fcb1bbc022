#include "base/name_set.h"

#include <string.h>

static unsigned hash(struct sv s)
{
	unsigned h = 2166136261U;
	size_t i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619U;
	return h % NAME_SET_ROOM;
}

/* Its place, or the free one where it would go. */
static unsigned find(const struct name_set *s, struct sv name)
{
	unsigned h = hash(name);

	while (s->names[h].n && !sv_eq(s->names[h], name))
		h = (h + 1) % NAME_SET_ROOM;
	return h;
}

void name_set_add(struct name_set *s, struct sv name)
{
	unsigned at = find(s, name);

	if (s->names[at].n || s->n > NAME_SET_MAX)
		return;
	if (s->n++ < NAME_SET_MAX)
		s->names[at] = name;
}

bool name_set_has(const struct name_set *s, struct sv name)
{
	return s->n > NAME_SET_MAX || s->names[find(s, name)].n;
}

bool name_set_has_part(const struct name_set *s, struct sv path)
{
	size_t at, end;

	for (at = 0; at < path.n; at = end + 1) {
		for (end = at; end < path.n && path.p[end] != '/'; end++)
			;
		if (end > at && name_set_has(s, sv_n(path.p + at, end - at)))
			return true;
	}
	return false;
}

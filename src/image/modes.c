#include "image/modes.h"

#include <errno.h>
#include <stdlib.h>

void modes_done(struct modes *m)
{
	free(m->v);
	*m = (struct modes){0};
}

int modes_add(struct modes *m, const struct stat *copy, mode_t was)
{
	size_t cap = m->cap ? 2 * m->cap : 64;
	struct mode_was *v;

	if (m->n == m->cap) {
		v = reallocarray(m->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		m->v = v;
		m->cap = cap;
	}
	m->v[m->n++] = (struct mode_was){.dev = copy->st_dev, .ino = copy->st_ino, .mode = was & 07777};
	m->sorted = false;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct mode_was *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void modes_sort(struct modes *m)
{
	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), by_number);
	m->sorted = true;
}

mode_t modes_of(const struct modes *m, const struct stat *copy)
{
	const struct mode_was key = {.dev = copy->st_dev, .ino = copy->st_ino}, *was = NULL;

	if (m && m->n && m->sorted)
		was = bsearch(&key, m->v, m->n, sizeof(*m->v), by_number);
	return was ? (copy->st_mode & S_IFMT) | was->mode : copy->st_mode;
}

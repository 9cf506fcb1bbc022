#include "supervise/copied.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int copied_add(struct copied *c, const char *path, const struct stat *st)
{
	size_t cap = c->cap ? c->cap * 2 : 64;
	struct copied_folder *v;
	char *own;

	if (c->n == c->cap) {
		v = reallocarray(c->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		c->v = v;
		c->cap = cap;
	}
	own = strdup(path);
	if (!own)
		return -ENOMEM;
	c->v[c->n++] = (struct copied_folder){.path = own, .dev = st->st_dev, .ino = st->st_ino};
	c->sorted = false;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct copied_folder *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int compare(const void *key, const void *member)
{
	const struct copied_folder *f = member;

	return strcmp(key, f->path);
}

bool copied_has(struct copied *c, const char *path, dev_t dev, ino_t ino)
{
	const struct copied_folder *f;

	if (!c->n)
		return false;
	if (!c->sorted)
		qsort(c->v, c->n, sizeof(*c->v), by_path);
	c->sorted = true;
	f = bsearch(path, c->v, c->n, sizeof(*c->v), compare);
	return f && f->dev == dev && f->ino == ino;
}

void copied_done(struct copied *c)
{
	while (c->n)
		free(c->v[--c->n].path);
	free(c->v);
	*c = (struct copied){0};
}

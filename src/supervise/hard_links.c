#include "supervise/hard_links.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct hard_link *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

int hard_links_add(struct hard_links *h, dev_t dev, ino_t ino, const char *path, ino_t made, const void *made_of)
{
	size_t n = strlen(path) + 1;
	struct hard_link *l = malloc(sizeof(*l) + n);
	struct hard_link **in;

	if (!l)
		return -ENOMEM;
	*l = (struct hard_link){.dev = dev, .ino = ino, .made = made, .made_of = made_of};
	memcpy(l->path, path, n);
	in = tsearch(l, &h->root, compare);
	if (!in || *in != l)
		free(l);
	return in ? 0 : -ENOMEM;
}

const struct hard_link *hard_links_find(const struct hard_links *h, dev_t dev, ino_t ino)
{
	const struct hard_link key = {.dev = dev, .ino = ino};
	struct hard_link *const *in = tfind(&key, &h->root, compare);

	return in ? *in : NULL;
}

void hard_links_done(struct hard_links *h)
{
	tdestroy(h->root, free);
	h->root = NULL;
}

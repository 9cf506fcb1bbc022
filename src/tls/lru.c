#include "tls/lru.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
	struct node *chain; /* of the same bucket */
	struct node *newer, *older;
	void *object;
	size_t bucket;
	size_t n;
	char name[];
};

struct lru {
	lru_free_fn *free_object;
	size_t max, n;
	struct node *newest, *oldest;
	size_t buckets; /* a power of two */
	struct node *v[];
};

struct lru *lru_new(size_t max, lru_free_fn *free_object)
{
	size_t buckets = 16;
	struct lru *lru;

	while (buckets < max && buckets < SIZE_MAX / 2 / sizeof(struct node *))
		buckets *= 2;
	lru = calloc(1, sizeof(*lru) + buckets * sizeof(struct node *));
	if (!lru)
		return NULL;
	lru->free_object = free_object;
	lru->max = max;
	lru->buckets = buckets;
	return lru;
}

/* FNV-1a. Whoever makes names collide slows down a search among max entries, not more. */
static size_t bucket_of(const struct lru *lru, struct sv name)
{
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)name.p[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 32) & (lru->buckets - 1);
}

static struct node *find(const struct lru *lru, struct sv name)
{
	struct node *n;

	for (n = lru->v[bucket_of(lru, name)]; n; n = n->chain)
		if (sv_eq(sv_n(n->name, n->n), name))
			return n;
	return NULL;
}

static void unlink_node(struct lru *lru, struct node *n)
{
	*(n->newer ? &n->newer->older : &lru->newest) = n->older;
	*(n->older ? &n->older->newer : &lru->oldest) = n->newer;
}

static void link_newest(struct lru *lru, struct node *n)
{
	n->newer = NULL;
	n->older = lru->newest;
	*(n->older ? &n->older->newer : &lru->oldest) = n;
	lru->newest = n;
}

static void drop(struct lru *lru, struct node *n)
{
	struct node **p = &lru->v[n->bucket];

	while (*p != n)
		p = &(*p)->chain;
	*p = n->chain;
	unlink_node(lru, n);
	lru->n--;
	lru->free_object(n->object);
	free(n);
}

void lru_free(struct lru *lru)
{
	if (!lru)
		return;
	while (lru->oldest)
		drop(lru, lru->oldest);
	free(lru);
}

void *lru_find(struct lru *lru, struct sv name)
{
	struct node *n = find(lru, name);

	if (!n)
		return NULL;
	unlink_node(lru, n);
	link_newest(lru, n);
	return n->object;
}

int lru_take(struct lru *lru, struct sv name, void *object)
{
	struct node *n;

	lru_remove(lru, name);
	n = malloc(sizeof(*n) + name.n);
	if (!n) {
		lru->free_object(object);
		return -ENOMEM;
	}
	while (lru->n >= lru->max && lru->oldest)
		drop(lru, lru->oldest);
	n->object = object;
	n->n = name.n;
	memcpy(n->name, name.p, name.n);
	n->bucket = bucket_of(lru, name);
	n->chain = lru->v[n->bucket];
	lru->v[n->bucket] = n;
	link_newest(lru, n);
	lru->n++;
	return 0;
}

void lru_remove(struct lru *lru, struct sv name)
{
	struct node *n = find(lru, name);

	if (n)
		drop(lru, n);
}

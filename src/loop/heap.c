#include "loop/heap.h"

#include <stddef.h>

/* Joins two trees, neither of which has siblings; the smaller key becomes the parent. */
static struct loop_timer *meld(struct loop_timer *a, struct loop_timer *b)
{
	struct loop_timer *tmp;

	if (!a || !b)
		return a ? a : b;
	if (b->key < a->key) {
		tmp = a;
		a = b;
		b = tmp;
	}
	b->prev = a;
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	a->child = b;
	return a;
}

/* Joins the trees of a list of siblings: in pairs from left to right, then the pairs from right to left. */
static struct loop_timer *meld_all(struct loop_timer *first)
{
	struct loop_timer *pairs = NULL, *a, *b, *rest, *all = NULL;

	for (a = first; a; a = rest) {
		b = a->next;
		rest = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	for (a = pairs; a; a = rest) {
		rest = a->next;
		a->next = NULL;
		all = meld(all, a);
	}
	return all;
}

void heap_add(struct loop_timer **root, struct loop_timer *timer)
{
	timer->child = timer->next = timer->prev = NULL;
	*root = meld(*root, timer);
}

void heap_remove(struct loop_timer **root, struct loop_timer *timer)
{
	struct loop_timer *below = meld_all(timer->child);

	if (timer == *root) {
		*root = below;
	} else {
		if (timer->prev->child == timer)
			timer->prev->child = timer->next;
		else
			timer->prev->next = timer->next;
		if (timer->next)
			timer->next->prev = timer->prev;
		*root = meld(*root, below);
	}
	timer->child = timer->next = timer->prev = NULL;
}

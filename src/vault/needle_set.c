#include "vault/needle_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret_memory.h"
#include "vault/needle_decode.h"
#include "vault/needle_forms.h"
#include "vault/needle_runs.h"

static uint32_t add_child(struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k = set->n++;

	set->nodes[k] =
		(struct needle_node){.byte = c, .depth = set->nodes[at].depth + 1, .sibling = set->nodes[at].child};
	set->nodes[at].child = k;
	if (at == 0)
		set->root[c] = k;
	if (set->nodes[k].depth > set->longest)
		set->longest = set->nodes[k].depth;
	return k;
}

struct adding {
	struct needle_set *set;
	uint32_t needle;
};

static int add_form(void *arg, struct sv form)
{
	struct adding *a = arg;
	uint32_t at = 0, k;
	unsigned char c;
	size_t i;

	if (form.n < NEEDLE_MIN || a->set->room - a->set->n < form.n)
		return form.n < NEEDLE_MIN ? 0 : -ENOMEM;
	for (i = 0; i < form.n; i++) {
		c = needle_fold(a->set, (unsigned char)form.p[i]);
		k = needle_child(a->set, at, c);
		at = k ? k : add_child(a->set, at, c);
	}
	if (!a->set->nodes[at].whole)
		a->set->nodes[at].needle = a->needle;
	a->set->nodes[at].whole = true;
	return 0;
}

/* n has a parent that is not the root. */
static void note_pair(struct needle_set *set, const struct needle_node *parent, const struct needle_node *n)
{
	uint8_t *stride = &set->stride[needle_hash(parent->byte, n->byte)];

	if (n->depth <= NEEDLE_MIN && NEEDLE_MIN - n->depth < *stride)
		*stride = (uint8_t)(NEEDLE_MIN - n->depth);
}

/* Breadth first: a node's suffixes are shallower than itself. */
static int link_nodes(struct needle_set *set)
{
	uint32_t *queue = malloc((size_t)set->n * sizeof(*queue)), head = 0, tail = 0, at, k;
	struct needle_node *n;

	if (!queue)
		return -ENOMEM;
	for (queue[tail++] = 0; head < tail; head++) {
		at = queue[head];
		for (k = set->nodes[at].child; k; k = set->nodes[k].sibling) {
			n = &set->nodes[k];
			n->fail = at == 0 ? 0 : needle_step(set, set->nodes[at].fail, n->byte);
			n->hit = n->whole ? k : set->nodes[n->fail].hit;
			n->live = n->child ? k : set->nodes[n->fail].live;
			if (at)
				note_pair(set, &set->nodes[at], n);
			queue[tail++] = k;
		}
	}
	free(queue);
	return 0;
}

static int fill(struct needle_set *set, const struct sv *needles, size_t n)
{
	struct adding a = {.set = set};
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		a.needle = (uint32_t)i;
		r = needle_forms(needles[i], set->deep, add_form, &a);
		if (r < 0)
			return r;
	}
	for (i = 0; i < 256; i++)
		set->skip[i] = set->root[i] == 0 && !needle_starts_escape((unsigned char)i);
	if (set->deep)
		needle_runs_prepare(set->skip, set->dull);
	memset(set->stride, NEEDLE_STRIDE, sizeof(set->stride));
	return link_nodes(set);
}

static int new_set(const struct sv *needles, size_t n, bool lower, bool deep, struct needle_set **ret)
{
	struct needle_set *set;
	bool backslash = false;
	size_t room = 1, shortest = NEEDLE_MAX, word = 0, i;
	int r;

	if (n > NEEDLE_COUNT)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (needles[i].n < NEEDLE_MIN || needles[i].n > NEEDLE_MAX)
			return -EINVAL;
		room += needle_forms_bytes(needles[i].n, deep);
		word = needle_forms_word(needles[i].n) > word ? needle_forms_word(needles[i].n) : word;
		shortest = needles[i].n < shortest ? needles[i].n : shortest;
		backslash = backslash || memchr(needles[i].p, '\\', needles[i].n);
	}
	set = secret_memory_new(sizeof(*set));
	if (!set)
		return -ENOMEM;
	*set = (struct needle_set){.references = 1,
				   .lower = lower,
				   .backslash = backslash,
				   .deep = deep && n,
				   .n = 1,
				   .room = (uint32_t)room,
				   .shortest = (uint32_t)shortest,
				   .word = (uint32_t)word};
	set->nodes = secret_memory_new(room * sizeof(*set->nodes));
	r = set->nodes ? fill(set, needles, n) : -ENOMEM;
	if (r < 0) {
		needle_set_unref(set);
		return r;
	}
	*ret = set;
	return 0;
}

int needle_set_new(const struct sv *needles, size_t n, struct needle_set **ret)
{
	return new_set(needles, n, false, false, ret);
}

int needle_set_new_lower(const struct sv *needles, size_t n, struct needle_set **ret)
{
	return new_set(needles, n, true, false, ret);
}

int needle_set_new_deep(const struct sv *needles, size_t n, struct needle_set **ret)
{
	return new_set(needles, n, false, true, ret);
}

struct needle_set *needle_set_ref(struct needle_set *set)
{
	set->references++;
	return set;
}

void needle_set_unref(struct needle_set *set)
{
	if (!set || --set->references > 0)
		return;
	secret_memory_free(set->nodes, set->room * sizeof(*set->nodes));
	secret_memory_free(set, sizeof(*set));
}

size_t needle_set_reach(const struct needle_set *set)
{
	/* more than any row of numbers */
	return (size_t)set->word * NEEDLE_SPAN;
}

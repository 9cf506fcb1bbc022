#include "gate/relay/synthetic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"

/* The first 256 of each range are left alone: some stacks do not like an address that ends in many zeros. */
enum { FIRST = 256, NAME_MAX_TEXT = 253, SLOTS_LEAST = 64 };

struct synthetic {
	struct arena *arena; /* the names' text */
	struct sv *names;    /* by their number */
	uint32_t n;
	uint32_t *slots; /* hash table: number + 1; 0: free. At most half of it is taken */
	uint32_t n_slots;
};

struct synthetic *synthetic_new(void)
{
	struct synthetic *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->arena = arena_new();
	s->n_slots = SLOTS_LEAST;
	s->slots = calloc(s->n_slots, sizeof(*s->slots));
	s->names = calloc(s->n_slots / 2, sizeof(*s->names));
	if (!s->arena || !s->slots || !s->names) {
		synthetic_free(s);
		return NULL;
	}
	return s;
}

void synthetic_free(struct synthetic *s)
{
	if (!s)
		return;
	arena_free(s->arena);
	free(s->slots);
	free(s->names);
	free(s);
}

/* FNV-1a. A workload that makes names collide slows down its own gateway, and nobody else's. */
static uint32_t hash_of(struct sv s)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < s.n; i++)
		hash = (hash ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32);
}

/* Where the name is, or would be. */
static uint32_t *slot_for(const struct synthetic *s, struct sv name)
{
	uint32_t i = hash_of(name);

	for (;; i++) {
		uint32_t *slot = &s->slots[i & (s->n_slots - 1)];

		if (*slot == 0 || sv_eq(s->names[*slot - 1], name))
			return slot;
	}
}

/* Doubles both tables. */
static int grow(struct synthetic *s)
{
	uint32_t i, n_slots = 2 * s->n_slots, *old = s->slots;
	struct sv *names = realloc(s->names, (n_slots / 2) * sizeof(*names));

	if (!names)
		return -ENOMEM;
	s->names = names;
	s->slots = calloc(n_slots, sizeof(*s->slots));
	if (!s->slots) {
		s->slots = old;
		return -ENOMEM;
	}
	s->n_slots = n_slots;
	free(old);
	for (i = 0; i < s->n; i++)
		*slot_for(s, s->names[i]) = i + 1;
	return 0;
}

static int add(struct synthetic *s, struct sv name)
{
	char *text;

	if (s->n == SYNTHETIC_NAMES)
		return -ENOSPC;
	if (s->n == s->n_slots / 2 && grow(s) < 0)
		return -ENOMEM;
	text = arena_str(s->arena, name);
	if (!text)
		return -ENOMEM;
	s->names[s->n] = sv_n(text, name.n);
	*slot_for(s, name) = s->n + 1;
	s->n++;
	return 0;
}

static struct address address4(uint32_t number)
{
	uint32_t v = (UINT32_C(198) << 24 | UINT32_C(18) << 16) + FIRST + number;
	const uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

	return address_of4(b);
}

static struct address address6(uint32_t number)
{
	uint32_t v = FIRST + number;
	const uint8_t b[16] = {0x01, 0, [13] = (uint8_t)(v >> 16), [14] = (uint8_t)(v >> 8), [15] = (uint8_t)v};

	return address_of6(b);
}

int synthetic_address(struct synthetic *s, struct sv name, struct address *ret4, struct address *ret6)
{
	uint32_t slot;
	int r;

	if (name.n == 0 || name.n > NAME_MAX_TEXT)
		return -EINVAL;
	slot = *slot_for(s, name);
	if (slot == 0) {
		r = add(s, name);
		if (r < 0)
			return r;
		slot = s->n;
	}
	*ret4 = address4(slot - 1);
	*ret6 = address6(slot - 1);
	return 0;
}

bool synthetic_is(const struct address *a)
{
	static const uint8_t prefix6[8] = {0x01};

	return a->is4 ? a->b[12] == 198 && (a->b[13] & 0xfe) == 18 : memcmp(a->b, prefix6, sizeof(prefix6)) == 0;
}

bool synthetic_name(const struct synthetic *s, const struct address *a, struct sv *ret)
{
	uint32_t number = ((uint32_t)(a->b[13] & 1) << 16 | (uint32_t)a->b[14] << 8 | a->b[15]) - FIRST;
	struct address again;

	if (!synthetic_is(a) || number >= s->n)
		return false;
	/* Only the very address that was handed out. */
	again = a->is4 ? address4(number) : address6(number);
	if (!address_same(a, &again))
		return false;
	*ret = s->names[number];
	return true;
}

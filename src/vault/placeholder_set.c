#include "vault/placeholder_set.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/arena.h"
#include "vault/needle.h"

struct placeholder_set {
	struct needle_set *needles;
	struct arena *arena;
	struct sv *owners; /* by needle */
};

struct placeholder_scan {
	struct needle_scan *scan;
	uint64_t fed;
	int found;
};

/* -ENOMEM must not look like "none". */
_Static_assert(PLACEHOLDER_NONE != -ENOMEM, "two meanings of one number");

static int keep_owners(struct placeholder_set *set, const struct sv *owners, size_t n)
{
	size_t i;

	set->arena = arena_new();
	set->owners = set->arena ? arena_array(set->arena, n + 1, sizeof(*set->owners)) : NULL;
	for (i = 0; set->owners && i < n; i++)
		set->owners[i] = sv_n(arena_str(set->arena, owners[i]), owners[i].n);
	return set->owners && !arena_failed(set->arena) ? 0 : -ENOMEM;
}

int placeholder_set_new(const struct sv *placeholders, const struct sv *owners, size_t n, struct placeholder_set **ret)
{
	struct placeholder_set *set = calloc(1, sizeof(*set));
	int r = set ? keep_owners(set, owners, n) : -ENOMEM;

	if (r == 0)
		r = needle_set_new(placeholders, n, &set->needles);
	if (r < 0) {
		placeholder_set_free(set);
		return r;
	}
	*ret = set;
	return 0;
}

void placeholder_set_free(struct placeholder_set *set)
{
	if (!set)
		return;
	needle_set_unref(set->needles);
	arena_free(set->arena);
	free(set);
}

static void found(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	struct placeholder_scan *s = arg;

	(void)start;
	(void)end;
	if (s->found == PLACEHOLDER_NONE)
		s->found = (int)needle;
}

struct placeholder_scan *placeholder_scan_new(struct placeholder_set *set)
{
	struct placeholder_scan *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->found = PLACEHOLDER_NONE;
	s->scan = needle_scan_new(set->needles, found, s);
	if (!s->scan) {
		free(s);
		return NULL;
	}
	return s;
}

int placeholder_scan_feed(struct placeholder_scan *s, struct sv bytes)
{
	s->fed += bytes.n;
	if (needle_scan_feed(s->scan, bytes.p, bytes.n) < 0)
		return -ENOMEM;
	return s->found;
}

size_t placeholder_scan_held(const struct placeholder_scan *s)
{
	return (size_t)(s->fed - needle_scan_safe(s->scan));
}

int placeholder_scan_end(struct placeholder_scan *s)
{
	(void)needle_scan_end(s->scan);
	return s->found;
}

void placeholder_scan_free(struct placeholder_scan *s)
{
	if (!s)
		return;
	needle_scan_free(s->scan);
	free(s);
}

int placeholder_find(struct placeholder_set *set, struct sv bytes)
{
	struct placeholder_scan *s = placeholder_scan_new(set);
	int r;

	if (!s)
		return -ENOMEM;
	r = placeholder_scan_feed(s, bytes);
	if (r != -ENOMEM)
		r = placeholder_scan_end(s);
	placeholder_scan_free(s);
	return r;
}

struct others {
	const struct placeholder_set *set;
	placeholder_owner_fn *may;
	void *arg;
	bool found;
};

static void found_other(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	struct others *o = arg;

	(void)start;
	(void)end;
	o->found = o->found || !o->may(o->arg, o->set->owners[needle]);
}

bool placeholder_find_other(struct placeholder_set *set, struct sv bytes, placeholder_owner_fn *may, void *arg)
{
	struct others o = {.set = set, .may = may, .arg = arg};
	struct needle_scan *s = needle_scan_new(set->needles, found_other, &o);

	if (!s || needle_scan_feed(s, bytes.p, bytes.n) < 0 || needle_scan_end(s) < 0)
		o.found = true;
	if (s)
		needle_scan_free(s);
	return o.found;
}

struct mask {
	char *text;
	int n;
};

/* Does a backslash before it take its first byte for an escape? */
static bool is_escaped(const char *text, uint64_t start)
{
	uint64_t n = 0;

	while (n < start && text[start - 1 - n] == '\\')
		n++;
	return n % 2;
}

static void mask(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	struct mask *m = arg;
	size_t n = (size_t)(end - start);

	(void)needle;
	if (memchr(m->text + start, '"', n) || memchr(m->text + start, '\\', n) || is_escaped(m->text, start))
		return;
	memset(m->text + start, 'x', n);
	m->n += m->n < INT_MAX;
}

int placeholder_mask_json(struct placeholder_set *set, char *text, size_t n)
{
	struct mask m = {.text = text};
	struct needle_scan *s = needle_scan_new(set->needles, mask, &m);
	int r;

	if (!s)
		return -ENOMEM;
	r = needle_scan_feed(s, text, n);
	if (r == 0)
		(void)needle_scan_end(s);
	needle_scan_free(s);
	return r < 0 ? r : m.n;
}

#include "policy/policy_cover.h"

#include "policy/net_match.h"

static bool is_bit(uint64_t bits, unsigned i)
{
	return bits >> i & 1;
}

/* Every name that inner's component k matches is matched by outer's component i. */
static bool component_covers(const struct glob *outer, unsigned i, const struct glob *inner, unsigned k)
{
	struct sv o = glob_at(outer, i), n = glob_at(inner, k);

	return sv_is(o, "*") || sv_eq(o, n) || (is_bit(inner->literal, k) && glob_component(o, n));
}

/* A "**" may stand for nothing. */
static uint64_t skip_stars(const struct glob *g, uint64_t states)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (is_bit(states, i) && is_bit(g->stars, i))
			states |= UINT64_C(1) << (i + 1);
	return states;
}

/*
 * Runs outer's automaton over inner's components instead of a path's. A state stays only if it can be kept for every
 * path that inner's component stands for, so what is left at the end holds for all of them. Once outer is used up
 * everything below is covered.
 */
static bool glob_covers(const struct glob *outer, const struct glob *inner)
{
	uint64_t states = skip_stars(outer, 1), next;
	unsigned k, i;

	for (k = 0; k < inner->n && !is_bit(states, outer->n); k++) {
		next = 0;
		for (i = 0; i < outer->n; i++) {
			if (!is_bit(states, i))
				continue;
			if (is_bit(outer->stars, i))
				next |= UINT64_C(1) << i;
			else if (!is_bit(inner->stars, k) && component_covers(outer, i, inner, k))
				next |= UINT64_C(1) << (i + 1);
		}
		states = skip_stars(outer, next);
	}
	return is_bit(states, outer->n);
}

static bool path_covers(const char *outer, const char *inner)
{
	struct glob o = {0}, n = {0};
	bool r = false;

	if (glob_init(&o, sv_of(outer)) == 0 && glob_init(&n, sv_of(inner)) == 0)
		r = glob_covers(&o, &n);
	glob_done(&o);
	glob_done(&n);
	return r;
}

static bool is_below(struct sv path, struct sv folder)
{
	if (folder.n == 1)
		return true;
	return path.n >= folder.n && memcmp(path.p, folder.p, folder.n) == 0 &&
	       (path.n == folder.n || path.p[folder.n] == '/');
}

/* All matches of a pattern are below its base. */
static bool path_apart(const char *a, const char *b)
{
	struct glob x = {0}, y = {0};
	bool r = false;

	if (glob_init(&x, sv_of(a)) == 0 && glob_init(&y, sv_of(b)) == 0)
		r = !is_below(glob_base(&x), glob_base(&y)) && !is_below(glob_base(&y), glob_base(&x));
	glob_done(&x);
	glob_done(&y);
	return r;
}

/* Up to their first wildcards the two say different things. */
static bool prefix_differs(const char *a, const char *b, const char *wildcards)
{
	size_t x = strcspn(a, wildcards), y = strcspn(b, wildcards), n = x < y ? x : y;

	return memcmp(a, b, n) != 0;
}

static bool url_apart(const char *a, const char *b)
{
	static const char wildcards[] = "*?[\\";

	if (!strpbrk(a, wildcards))
		return !net_path_matches(b, sv_of(a));
	if (!strpbrk(b, wildcards))
		return !net_path_matches(a, sv_of(b));
	return prefix_differs(a, b, wildcards);
}

static bool model_covers(const char *outer, const char *inner)
{
	size_t fixed = strcspn(outer, "*?");

	if (strcmp(outer, inner) == 0)
		return true;
	if (!strpbrk(inner, "*?"))
		return glob_component(sv_of(outer), sv_of(inner));
	return strcmp(outer + fixed, "*") == 0 && strncmp(outer, inner, fixed) == 0;
}

static bool model_apart(const char *a, const char *b)
{
	if (!strpbrk(a, "*?"))
		return !glob_component(sv_of(b), sv_of(a));
	if (!strpbrk(b, "*?"))
		return !glob_component(sv_of(a), sv_of(b));
	return prefix_differs(a, b, "*?");
}

const struct cover_kind cover_path = {path_covers, path_apart};
const struct cover_kind cover_url = {net_path_covers, url_apart};
const struct cover_kind cover_model = {model_covers, model_apart};

bool cover_by_list(const struct cover_kind *kind, const struct pol_list *list, const char *inner)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (kind->covers(list->v[i].s, inner))
			return true;
	return false;
}

/* Adds to out the patterns of x that y covers. What out covers already is left out. */
static void add_covered(const struct cover_kind *kind, const struct pol_list *x, const struct pol_list *y,
			struct pol_list *out)
{
	uint32_t i;

	for (i = 0; i < x->n; i++)
		if (cover_by_list(kind, y, x->v[i].s) && !cover_by_list(kind, out, x->v[i].s))
			out->v[out->n++] = x->v[i];
}

/* The two patterns meet, but what they have in common is in no pattern of out. */
static bool unclear(const struct cover_kind *kind, const char *a, const char *b, const struct pol_list *out)
{
	return !kind->apart(a, b) && !cover_by_list(kind, out, a) && !cover_by_list(kind, out, b);
}

int cover_intersect(const struct cover_kind *kind, struct arena *a, const struct pol_list *x, const struct pol_list *y,
		    struct pol_list *out, const struct pol_str **ret_a, const struct pol_str **ret_b)
{
	struct pol_list both = {.set = true};
	uint32_t i, k;

	both.v = arena_array(a, (size_t)x->n + y->n, sizeof(*both.v));
	if (!both.v)
		return -1;
	add_covered(kind, x, y, &both);
	add_covered(kind, y, x, &both);
	for (i = 0; i < x->n; i++)
		for (k = 0; k < y->n; k++)
			if (unclear(kind, x->v[i].s, y->v[k].s, &both)) {
				*ret_a = &x->v[i];
				*ret_b = &y->v[k];
				return 1;
			}
	*out = both;
	return 0;
}

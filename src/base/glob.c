#include "base/glob.h"

#include <errno.h>
#include <stdlib.h>

/* Each start asks this of every byte of some two hundred patterns: no call for each. */
static bool is_wildcard(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

static bool has_wildcard(struct sv c)
{
	size_t i;

	for (i = 0; i < c.n && !is_wildcard(c.p[i]); i++)
		;
	return i < c.n;
}

/* The end of a bracket expression that starts at p[at], or 0 where it never closes. */
static size_t bracket_end(struct sv p, size_t at)
{
	size_t i = at + 1;

	if (i < p.n && (p.p[i] == '!' || p.p[i] == '^'))
		i++;
	if (i < p.n && p.p[i] == ']')
		i++;
	while (i < p.n && p.p[i] != ']')
		i++;
	return i < p.n ? i : 0;
}

static int component_ok(struct sv c)
{
	size_t i;

	if (c.n == 0 || sv_is(c, ".") || sv_is(c, ".."))
		return -EINVAL;
	if (c.n > 255)
		return -E2BIG;
	for (i = 0; i < c.n; i++) {
		if (c.p[i] == '\0')
			return -EINVAL;
		if (c.p[i] == '*' && i + 1 < c.n && c.p[i + 1] == '*' && c.n != 2)
			return -EINVAL;
		if (c.p[i] == '\\') {
			if (++i == c.n || !is_wildcard(c.p[i]))
				return -EILSEQ;
			continue; /* a "[" that is meant as such opens nothing */
		}
		if (c.p[i] == '[') {
			i = bracket_end(c, i);
			if (i == 0)
				return -EINVAL;
		}
	}
	return 0;
}

/* Fills in all but the memory; parts has room for GLOB_MAX. */
static int take_apart(struct glob *g, struct sv pattern, struct glob_part *parts)
{
	size_t at = pattern.p[0] == '/' ? 1 : 0, end;
	struct sv c;
	int r;

	for (; at < pattern.n; at = end + 1) {
		for (end = at; end < pattern.n && pattern.p[end] != '/'; end++)
			;
		c = sv_n(pattern.p + at, end - at);
		if (g->n == GLOB_MAX)
			return -E2BIG;
		r = component_ok(c);
		if (r < 0)
			return r;
		parts[g->n] = (struct glob_part){(uint16_t)at, (uint16_t)c.n};
		if (sv_is(c, "**"))
			g->stars |= UINT64_C(1) << g->n;
		else if (!has_wildcard(c))
			g->literal |= UINT64_C(1) << g->n;
		g->n++;
	}
	return 0;
}

/* arena NULL: memory of its own. */
static int init(struct glob *g, struct sv pattern, struct arena *arena)
{
	struct glob_part parts[GLOB_MAX] __attribute__((uninitialized)); /* few of them are used */
	size_t size;
	int r;

	*g = (struct glob){0};
	if (pattern.n == 0 || pattern.n > 4095)
		return pattern.n ? -E2BIG : -EINVAL;
	if (pattern.p[0] != '/' && !sv_starts(pattern, "**"))
		return -EINVAL;
	if (pattern.n > 1 && pattern.p[pattern.n - 1] == '/')
		pattern.n--;
	r = take_apart(g, pattern, parts);
	if (r < 0)
		return r;
	size = g->n * sizeof(*parts);
	g->parts = arena ? arena_alloc(arena, size + pattern.n + 1) : malloc(size + pattern.n + 1);
	if (!g->parts)
		return -ENOMEM;
	memcpy(g->parts, parts, size);
	g->text = (char *)g->parts + size;
	memcpy(g->text, pattern.p, pattern.n);
	g->text[pattern.n] = '\0';
	/* "X" and "X/" + "**" cover the same subtree: a match covers all below it. */
	while (g->n > 1 && (g->stars >> (g->n - 1) & 1))
		g->n--;
	return 0;
}

int glob_init(struct glob *g, struct sv pattern)
{
	return init(g, pattern, NULL);
}

int glob_init_in(struct glob *g, struct sv pattern, struct arena *arena)
{
	return init(g, pattern, arena);
}

void glob_done(struct glob *g)
{
	free(g->parts);
	*g = (struct glob){0};
}

static bool bracket_has(struct sv p, size_t at, size_t end, char c)
{
	bool negate = false, found = false;
	size_t i = at + 1;

	if (p.p[i] == '!' || p.p[i] == '^') {
		negate = true;
		i++;
	}
	for (; i < end; i++) {
		if (i + 2 < end && p.p[i + 1] == '-') {
			found = found || ((unsigned char)c >= (unsigned char)p.p[i] &&
					  (unsigned char)c <= (unsigned char)p.p[i + 2]);
			i += 2;
		} else {
			found = found || c == p.p[i];
		}
	}
	return found != negate;
}

bool glob_component(struct sv p, struct sv s)
{
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0, end;

	for (;;) {
		if (i < p.n && p.p[i] == '*') {
			star = i++;
			mark = j;
			continue;
		}
		if (j == s.n)
			return i == p.n;
		if (i < p.n) {
			end = 0;
			if (p.p[i] == '?') {
				i++;
				j++;
				continue;
			}
			if (p.p[i] == '[' && (end = bracket_end(p, i)) && bracket_has(p, i, end, s.p[j])) {
				i = end + 1;
				j++;
				continue;
			}
			if (p.p[i] == '\\' && i + 1 < p.n && p.p[i + 1] == s.p[j]) {
				i += 2;
				j++;
				continue;
			}
			if (p.p[i] != '[' && p.p[i] != '\\' && p.p[i] == s.p[j]) {
				i++;
				j++;
				continue;
			}
		}
		if (star == SIZE_MAX)
			return false;
		i = star + 1; /* let the last star take one byte more */
		j = ++mark;
	}
}

struct sv glob_at(const struct glob *g, unsigned i)
{
	return sv_n(g->text + g->parts[i].start, g->parts[i].len);
}

struct sv glob_between(const struct glob *g, unsigned from, unsigned last)
{
	return sv_n(g->text + g->parts[from].start,
		    (size_t)g->parts[last].start + g->parts[last].len - g->parts[from].start);
}

/* From its beginning to the end of a component. */
static struct sv up_to(const struct glob *g, unsigned last)
{
	return sv_n(g->text, (size_t)g->parts[last].start + g->parts[last].len);
}

/* A "**" may stand for nothing: whoever is before it is also behind it. */
static uint64_t skip_stars(const struct glob *g, uint64_t states)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if ((states >> i & 1) && (g->stars >> i & 1))
			states |= UINT64_C(1) << (i + 1);
	return states;
}

static uint64_t step(const struct glob *g, uint64_t states, struct sv name)
{
	uint64_t next = 0, todo = states;
	unsigned i;
	bool hit;

	for (; todo; todo &= todo - 1) {
		i = (unsigned)__builtin_ctzll(todo);
		if (i >= g->n)
			break;
		if (g->stars >> i & 1) {
			next |= UINT64_C(1) << i;
			continue;
		}
		hit = g->literal >> i & 1 ? sv_eq(glob_at(g, i), name) : glob_component(glob_at(g, i), name);
		if (hit)
			next |= UINT64_C(1) << (i + 1);
	}
	return skip_stars(g, next);
}

/* Walks the path; stops early, with only the accept bit, at the first component where the pattern is used up. */
static uint64_t walk(const struct glob *g, struct sv path, bool stop_at_hit)
{
	uint64_t states = skip_stars(g, 1), accept = UINT64_C(1) << g->n;
	size_t at = 1, end;

	for (; at < path.n && states; at = end + 1) {
		if (stop_at_hit && (states & accept))
			return accept;
		for (end = at; end < path.n && path.p[end] != '/'; end++)
			;
		states = step(g, states, sv_n(path.p + at, end - at));
	}
	return states;
}

uint64_t glob_states(const struct glob *g, struct sv path)
{
	return walk(g, path, true);
}

bool glob_hit(const struct glob *g, struct sv path)
{
	return walk(g, path, true) >> g->n & 1;
}

/* Where the pattern stands behind the path, as far as a name got it there. */
static uint64_t ways(const struct glob *g, struct sv path)
{
	uint64_t states = walk(g, path, true), below = (UINT64_C(1) << g->n) - 1;

	if (path.n <= 1 || (states >> g->n & 1))
		return 0;
	/* A state behind a "**" that floats says nothing about where we are. */
	states &= below & ~g->stars;
	states &= ~(g->stars << 1);
	return states & ~UINT64_C(1);
}

bool glob_on_way(const struct glob *g, struct sv path)
{
	return ways(g, path) != 0;
}

static unsigned rests_of(const struct glob *g, uint64_t states, struct sv ret[GLOB_MAX])
{
	unsigned n = 0, i;

	for (; states; states &= states - 1) {
		i = (unsigned)__builtin_ctzll(states);
		ret[n++] = glob_between(g, i, g->n - 1u);
	}
	return n;
}

unsigned glob_rests(const struct glob *g, struct sv path, struct sv ret[GLOB_MAX])
{
	/* behind a name that a "**" follows: the "**" is left */
	return rests_of(g, ways(g, path), ret);
}

unsigned glob_leaves(const struct glob *g, struct sv path, struct sv ret[GLOB_MAX])
{
	uint64_t states = walk(g, path, true), below = (UINT64_C(1) << g->n) - 1;

	if (states >> g->n & 1)
		return 0;
	/* a pattern that floats says so anywhere, as long as none of its names was met */
	return rests_of(g, states & below & ~UINT64_C(1) & ~((g->stars & 1) << 1), ret);
}

bool glob_below_star(const struct glob *g, struct sv path)
{
	return (glob_states(g, path) & g->stars & ~UINT64_C(1)) != 0;
}

struct sv glob_base(const struct glob *g)
{
	unsigned i = 0;

	if (g->text[0] != '/')
		return sv_of("/");
	while (i < g->n && (g->literal >> i & 1))
		i++;
	if (i == 0)
		return sv_n(g->text, 1);
	return up_to(g, i - 1);
}

struct sv glob_whole(const struct glob *g)
{
	return g->n ? up_to(g, g->n - 1u) : sv_of(g->text);
}

struct sv glob_first_name(const struct glob *g)
{
	return (g->stars & 1) && g->n > 1 && (g->literal >> 1 & 1) ? glob_at(g, 1) : sv_n("", 0);
}

bool glob_is_plain(const struct glob *g)
{
	uint64_t all = g->n ? (UINT64_C(1) << g->n) - 1 : 0;

	return g->text[0] == '/' && (g->literal & all) == all;
}

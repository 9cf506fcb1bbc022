#include "policy/net_path.h"

#include "base/coding.h"
#include "base/glob.h"

static struct sv next_segment(struct sv *rest)
{
	const char *slash = memchr(rest->p, '/', rest->n);
	struct sv s = slash ? sv_n(rest->p, (size_t)(slash - rest->p)) : *rest;

	*rest = slash ? sv_n(slash + 1, rest->n - s.n - 1) : sv_n(NULL, 0);
	return s;
}

/*
 * Both without their leading slash; p == NULL: used up (an empty string still holds one empty segment). Only the last
 * "**" ever needs to take more, so the work is bounded by the product of the lengths whatever the path says.
 */
static bool segments_match(struct sv pattern, struct sv path)
{
	struct sv star_pattern = {0}, star_path = {0}, p, s;

	for (;;) {
		struct sv pattern_rest = pattern, path_rest = path;

		if (!pattern.p && !path.p)
			return true;
		if (pattern.p) {
			p = next_segment(&pattern_rest);
			if (sv_is(p, "**") && !pattern_rest.p)
				return path.p != NULL;
			if (sv_is(p, "**")) {
				star_pattern = pattern = pattern_rest;
				star_path = path;
				continue;
			}
			if (!path.p)
				return false;
			s = next_segment(&path_rest);
			if (glob_component(p, s)) {
				pattern = pattern_rest;
				path = path_rest;
				continue;
			}
		}
		if (!star_path.p)
			return false;
		(void)next_segment(&star_path);
		pattern = star_pattern;
		path = star_path;
	}
}

static struct sv skip_slash(struct sv s)
{
	return s.n && s.p[0] == '/' ? sv_n(s.p + 1, s.n - 1) : s;
}

static struct sv cut_query(struct sv path)
{
	const char *query = path.n ? memchr(path.p, '?', path.n) : NULL;

	return query ? sv_n(path.p, (size_t)(query - path.p)) : path;
}

bool net_path_matches(const char *pattern, struct sv path)
{
	path = cut_query(path);
	if (path.n == 0)
		path = sv_of("/");
	return segments_match(skip_slash(sv_of(pattern)), skip_slash(path));
}

/* The byte that "%XX" at the start of s stands for, or -1. */
static int percent(struct sv s)
{
	return s.n >= 3 && s.p[0] == '%' ? hex_byte(s.p[1], s.p[2]) : -1;
}

/* The next byte of a path, decoded; or decoded twice, where it is encoded twice. */
static int next_byte(struct sv *s, bool twice)
{
	int c = percent(*s), again = twice && c == '%' && s->n >= 5 ? hex_byte(s->p[3], s->p[4]) : -1;
	size_t used = c < 0 ? 1 : again < 0 ? 3 : 5;

	c = again >= 0 ? again : c >= 0 ? c : (unsigned char)s->p[0];
	*s = sv_n(s->p + used, s->n - used);
	return c;
}

/* One way to read a path. A pattern is read in the same way as the path that it is held against. */
struct reading {
	bool twice;   /* percent-encoding is decoded twice */
	bool folded;  /* in lower case, and "+" is a blank, as some servers have it in paths too */
	bool trimmed; /* without the dots and blanks behind a segment */
	bool pattern; /* wildcards are kept */
};

/* What a reading has written so far. */
struct written {
	char *to;
	size_t n;
	size_t segment; /* where the last one starts */
	size_t solid;   /* and where it would end without dots and blanks */
	bool wild;      /* there is a wildcard before that end */
};

/* Stands for what means something else to a pattern, in a byte that no path has. 0: it does not. */
static char stand_in(int c)
{
	static const char special[] = "*?[\\/";
	const char *at = c ? strchr(special, c) : NULL;

	return at ? (char)(at - special + 1) : 0;
}

static void end_segment(struct written *w, const struct reading *how)
{
	/* "*." would become "*", and "..." nothing at all */
	if (how->trimmed && !(how->pattern && (w->wild || w->solid == w->segment)))
		w->n = w->solid;
}

static void write_byte(struct written *w, int c, bool plain, const struct reading *how)
{
	bool wild = plain && how->pattern && stand_in(c);
	bool loose = c == '.' || c == ' ';

	if (stand_in(c) && !wild)
		c = stand_in(c);
	else if (how->folded)
		c = c >= 'A' && c <= 'Z' ? c | 0x20 : c == '+' ? ' ' : c;
	w->to[w->n++] = (char)c;
	if (loose)
		return;
	w->solid = w->n;
	w->wild = wild;
}

/* to has path.n bytes. */
static struct sv read_path(struct sv path, const struct reading *how, char *to)
{
	struct written w = {.to = to};
	bool plain;
	int c;

	while (path.n) {
		plain = path.p[0] != '%';
		c = next_byte(&path, how->twice);
		if (c != '/' || !plain) {
			write_byte(&w, c, plain, how);
			continue;
		}
		end_segment(&w, how);
		to[w.n++] = '/';
		w.segment = w.solid = w.n;
		w.wild = false;
	}
	end_segment(&w, how);
	return sv_n(to, w.n);
}

/* As far as the first "?" or "#" that is encoded: a server that decodes first ends the path there. */
static struct sv cut_mark(struct sv path)
{
	size_t i;
	int c;

	for (i = 0; i < path.n; i++) {
		c = percent(sv_n(path.p + i, path.n - i));
		if (c == '?' || c == '#')
			return sv_n(path.p, i);
	}
	return path;
}

static bool is_encoded(struct sv path)
{
	return path.n && memchr(path.p, '%', path.n);
}

static bool is_encoded_twice(struct sv path)
{
	return path.n && memmem(path.p, path.n, "%25", 3);
}

typedef bool match_fn(struct sv pattern, struct sv path);

static bool match_plainly(struct sv pattern, struct sv path)
{
	return segments_match(skip_slash(pattern), skip_slash(path));
}

static bool match_generously(struct sv pattern, struct sv path)
{
	struct sv p = skip_slash(pattern), s = skip_slash(path);

	if (segments_match(p, s))
		return true;
	if (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	/* who denies all below a path means the path, too */
	return segments_match(p, s) || (sv_ends(p, "/**") && segments_match(sv_n(p.p, p.n - 3), s));
}

/* Both fit into NET_PATH_FOLDED. */
static bool match_as(struct sv pattern, struct sv path, struct reading how, match_fn *match)
{
	char read[NET_PATH_FOLDED] __attribute__((uninitialized)),
		read_pattern[NET_PATH_FOLDED] __attribute__((uninitialized));
	struct sv s = read_path(path, &how, read);

	how.pattern = true;
	return match(read_path(pattern, &how, read_pattern), s);
}

/* All who read it must find it there. */
static bool is_allowed(struct sv pattern, struct sv path)
{
	if (!match_plainly(pattern, path))
		return false;
	if (!is_encoded(path))
		return true;
	if (path.n > NET_PATH_FOLDED || pattern.n > NET_PATH_FOLDED)
		return false;
	return match_as(pattern, path, (struct reading){0}, match_plainly) &&
	       (!is_encoded_twice(path) || match_as(pattern, path, (struct reading){.twice = true}, match_plainly));
}

bool net_path_allowed(const char *pattern, struct sv path)
{
	struct sv p = sv_of(pattern), s = cut_query(path), cut = cut_mark(s);

	if (s.n == 0)
		s = cut = sv_of("/");
	return is_allowed(p, s) && (cut.n == s.n || is_allowed(cut_mark(p), cut));
}

/* It is enough that one who reads it may find it there. */
static bool is_denied(struct sv pattern, struct sv path)
{
	bool twice;

	for (twice = false;; twice = true) {
		if (match_as(pattern, path, (struct reading){.twice = twice, .folded = true}, match_generously) ||
		    match_as(pattern, path, (struct reading){.twice = twice, .folded = true, .trimmed = true},
			     match_generously))
			return true;
		if (twice || !is_encoded_twice(path))
			return false;
	}
}

bool net_path_denied(const char *pattern, struct sv path)
{
	struct sv p = sv_of(pattern), s = cut_query(path), cut = cut_mark(s);

	if (net_path_matches(pattern, path))
		return true;
	if (s.n > NET_PATH_FOLDED || p.n > NET_PATH_FOLDED)
		return s.n > NET_PATH_FOLDED;
	return is_denied(p, s) || (cut.n < s.n && is_denied(p, cut));
}

bool net_path_covers(const char *outer, const char *inner)
{
	struct sv in = sv_of(inner), out = sv_of(outer);
	size_t fixed = strcspn(inner, "*?[\\");

	if (sv_eq(in, out) || sv_is(out, "**") || sv_is(out, "/**"))
		return true;
	if (fixed == in.n)
		return net_path_allowed(outer, in);
	/* "/a/" + "**" covers whatever begins with "/a/" in plain letters. */
	return sv_ends(out, "/**") && strcspn(outer, "*?[\\") == out.n - 2 && fixed >= out.n - 2 &&
	       memcmp(inner, outer, out.n - 2) == 0;
}

/* Encoded, it is either something else than it looks like or needed no encoding. */
static bool is_odd_byte(int c)
{
	return c <= 0 || c == '/' || c == '\\' || c == ';' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("-._~", c);
}

static bool is_odd_escape(struct sv s)
{
	int c = percent(s), twice;
	char again[3];

	if (c < 0 || is_odd_byte(c) || s.p[1] >= 'a' || s.p[2] >= 'a')
		return true;
	if (c != '%' || s.n < 5)
		return false;
	again[0] = '%';
	memcpy(again + 1, s.p + 3, 2);
	twice = percent(sv_n(again, sizeof(again)));
	/* what the gateway refuses in any case (http/target.c) */
	return twice >= 0 && (is_odd_byte(twice) || strchr("%?#", twice));
}

/* One dot or two; or dots with blanks behind them, which some servers cut off. */
static bool is_dots(struct sv segment)
{
	bool blanks = false;
	size_t i = 0;

	if (segment.n == 0 || segment.p[0] != '.')
		return false;
	while (i < segment.n) {
		if (segment.p[i] != '.' && !sv_starts(sv_n(segment.p + i, segment.n - i), "%20"))
			return false;
		blanks = blanks || segment.p[i] == '%';
		i += segment.p[i] == '.' ? 1 : 3;
	}
	return blanks || segment.n <= 2;
}

bool net_path_is_odd(struct sv path)
{
	struct sv rest, segment;
	size_t i;

	if (path.n == 0 || path.p[0] != '/')
		return true;
	for (i = 0; i < path.n; i++)
		if (path.p[i] <= ' ' || path.p[i] >= 0x7f || path.p[i] == '\\' || path.p[i] == '#' ||
		    path.p[i] == ';' || (path.p[i] == '%' && is_odd_escape(sv_n(path.p + i, path.n - i))))
			return true;
	for (rest = sv_n(path.p + 1, path.n - 1); rest.p;) {
		segment = next_segment(&rest);
		if (is_dots(segment) || (segment.n == 0 && rest.p))
			return true;
	}
	return false;
}

enum { SHORT_STEM = 6, SHORT_NAME = 12 }; /* "SECRET~1.TXT" */

/* What Windows makes of a long name: at most six letters, "~" and a number, and at most three more behind a dot. */
static bool is_short_name(const char *name, size_t n)
{
	size_t tilde = 0, i;

	while (tilde < n && name[tilde] != '~')
		tilde++;
	if (tilde == 0 || tilde > SHORT_STEM || n > SHORT_NAME)
		return false;
	for (i = tilde + 1; i < n && name[i] >= '0' && name[i] <= '9'; i++)
		;
	return i > tilde + 1 && (i == n || name[i] == '.');
}

static bool is_folded_segment(struct sv segment, bool twice)
{
	char name[SHORT_NAME + 1] = {0};
	int c, before = 0;
	size_t n = 0;

	while (segment.n) {
		c = next_byte(&segment, twice);
		if (before == ':' && c == '$')
			return true;
		before = c;
		if (n < sizeof(name))
			name[n++] = (char)c;
	}
	if (n >= 3 && name[0] == '(' && (name[1] | 0x20) >= 'a' && (name[1] | 0x20) <= 'z' && name[2] == '(')
		return true;
	return is_short_name(name, n);
}

bool net_path_is_folded(struct sv path)
{
	bool twice = is_encoded_twice(path);
	struct sv rest, segment;

	for (rest = skip_slash(path); rest.p;) {
		segment = next_segment(&rest);
		if (is_folded_segment(segment, false) || (twice && is_folded_segment(segment, true)))
			return true;
	}
	return false;
}

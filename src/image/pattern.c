#include "image/pattern.h"

#include "base/text.h"

/* The character at p, whole. */
static struct sv character(struct sv p)
{
	size_t n = text_utf8(p);

	return sv_n(p.p, n ? n : 1);
}

static struct sv behind(struct sv s, size_t n)
{
	return sv_n(s.p + n, s.n - n);
}

static unsigned code(struct sv c)
{
	unsigned v = 0;
	size_t i;

	/* bytes of one length compare as the characters do, and longer ones are greater */
	for (i = 0; i < c.n; i++)
		v = v << 8 | (unsigned char)c.p[i];
	return v;
}

/* One end of a range in a class; takes it off p. */
static bool class_character(struct sv *p, struct sv *c)
{
	if (!p->n || p->p[0] == '-' || p->p[0] == ']')
		return false;
	if (p->p[0] == '\\') {
		*p = behind(*p, 1);
		if (!p->n)
			return false;
	}
	*c = character(*p);
	*p = behind(*p, c->n);
	return true;
}

/* The class behind "[", taken off p: is c in it? -1: it has no end. */
static int in_class(struct sv *p, struct sv c)
{
	bool negated = p->n && p->p[0] == '^', hit = false, any = false;
	struct sv low, high;

	*p = behind(*p, negated);
	while (p->n && !(any && p->p[0] == ']')) {
		if (!class_character(p, &low))
			return -1;
		high = low;
		if (p->n && p->p[0] == '-') {
			*p = behind(*p, 1);
			if (!class_character(p, &high))
				return -1;
		}
		hit = hit || (code(low) <= code(c) && code(c) <= code(high));
		any = true;
	}
	if (!p->n)
		return -1;
	*p = behind(*p, 1);
	return hit != negated;
}

/* One element that is no star, taken off p, against the character at s. 1: they match; 0; -1: malformed. */
static int one(struct sv *p, struct sv s)
{
	struct sv c = s.n ? character(s) : sv_n("/", 1), want;
	bool slash = c.p[0] == '/';

	if (p->p[0] == '?') {
		*p = behind(*p, 1);
		return s.n && !slash;
	}
	if (p->p[0] == '[') {
		int r;

		*p = behind(*p, 1);
		r = in_class(p, c);
		return r < 0 ? r : r && s.n && !slash;
	}
	if (p->p[0] == '\\') {
		*p = behind(*p, 1);
		if (!p->n)
			return -1;
	}
	want = character(*p);
	*p = behind(*p, want.n);
	return s.n && sv_eq(want, c);
}

bool pattern_is_valid(struct sv p)
{
	while (p.n)
		if (p.p[0] == '*')
			p = behind(p, 1);
		else if (one(&p, sv_n("a", 1)) < 0)
			return false;
	return true;
}

bool pattern_is_magic(struct sv p)
{
	size_t i;

	for (i = 0; i < p.n; i++)
		if (memchr("*?[\\", p.p[i], 4))
			return true;
	return false;
}

static bool match(struct sv p, struct sv s, uint64_t *work)
{
	struct sv star_p = {0}, star_s = {0}, rest;
	bool starred = false, hit;

	for (;;) {
		++*work;
		if (p.n && p.p[0] == '*') {
			starred = true;
			star_p = p = behind(p, 1);
			star_s = s;
			continue;
		}
		if (!p.n && !s.n)
			return true;
		rest = p;
		hit = p.n && one(&rest, s) > 0;
		*work += p.n - rest.n; /* a class may be long */
		if (hit) {
			p = rest;
			s = behind(s, character(s).n);
			continue;
		}
		/* the last star takes one character more */
		if (!starred || !star_s.n || star_s.p[0] == '/')
			return false;
		s = star_s = behind(star_s, character(star_s).n);
		p = star_p;
	}
}

bool pattern_match(struct sv p, struct sv s, uint64_t *work)
{
	return match(p, s, work);
}

static struct sv component(struct sv *path)
{
	const char *slash = memchr(path->p, '/', path->n);
	struct sv c = sv_n(path->p, slash ? (size_t)(slash - path->p) : path->n);

	*path = behind(*path, c.n + (slash != NULL));
	return c;
}

const char *pattern_clean(struct arena *a, struct sv path, bool *ret_left)
{
	char *out = arena_alloc(a, path.n + 2);
	size_t n = 0;
	struct sv c;

	*ret_left = false;
	if (!out)
		return NULL;
	while (path.n) {
		c = component(&path);
		if (!c.n || sv_is(c, "."))
			continue;
		if (!sv_is(c, "..")) {
			if (n)
				out[n++] = '/';
			memcpy(out + n, c.p, c.n);
			n += c.n;
			continue;
		}
		*ret_left = *ret_left || !n;
		while (n && out[n - 1] != '/')
			n--;
		n -= n > 0;
	}
	if (!n)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

/* Components of an ignore pattern against those of a path; below: what lies below a match is a match, too. Stars of
 * components go back as those of characters do. */
static bool ignore_hits(struct sv p, struct sv path, bool below, uint64_t *work)
{
	struct sv star_p = {0}, star_path = {0}, rest_p, rest;
	bool starred = false;

	for (;;) {
		++*work;
		rest_p = p;
		if (p.n && sv_is(component(&rest_p), "**")) {
			starred = true;
			star_p = p = rest_p;
			star_path = path;
			if (!p.n)
				return path.n > 0;
			continue;
		}
		if (!p.n && (!path.n || below))
			return true;
		rest = path;
		rest_p = p;
		if (p.n && path.n && match(component(&rest_p), component(&rest), work)) {
			p = rest_p;
			path = rest;
			continue;
		}
		if (!starred || !star_path.n)
			return false;
		(void)component(&star_path);
		path = star_path;
		p = star_p;
	}
}

bool pattern_ignored(const char *const *patterns, struct sv path, uint64_t *work)
{
	bool ignored = false;

	for (; patterns && *patterns; patterns++) {
		const char *p = *patterns;
		bool back = *p == '!';

		if (back == ignored && ignore_hits(sv_of(p + back), path, true, work))
			ignored = !back;
	}
	return ignored;
}

bool pattern_may_return(const char *const *patterns, struct sv folder, uint64_t *work)
{
	struct sv p, f, c;

	for (; patterns && *patterns; patterns++) {
		++*work;
		if (**patterns != '!')
			continue;
		p = sv_of(*patterns + 1);
		f = folder;
		while (p.n && f.n) {
			c = component(&p);
			if (sv_is(c, "**") || !match(c, component(&f), work)) {
				p.n = sv_is(c, "**") ? 1 : 0;
				break;
			}
		}
		if (p.n)
			return true;
	}
	return false;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			return true;
	return false;
}

const char *pattern_ignore_line(struct arena *a, struct sv line, bool *ret_valid)
{
	const char *clean;
	bool back, left;

	*ret_valid = true;
	if (line.n && line.p[0] == '#')
		return NULL;
	line = text_trim(line);
	back = line.n && line.p[0] == '!';
	if (back)
		line = text_trim(behind(line, 1));
	if (!line.n) {
		*ret_valid = !back;
		return NULL;
	}
	clean = pattern_clean(a, line, &left);
	if (!clean || left || strcmp(clean, ".") == 0) /* nothing is called so */
		return NULL;
	/* stars with text behind them pass slashes, too: "**.o" */
	if (clean[0] == '*' && clean[1] == '*' && clean[2] && clean[2] != '/')
		clean = arena_printf(a, "**/%s", clean + 1);
	*ret_valid = clean && !has_control(clean) && pattern_is_valid(sv_of(clean));
	return back ? arena_printf(a, "!%s", clean) : clean;
}

#include "gate/inference/graphql.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"

struct reader {
	struct graphql *g;
	struct sv s;
	size_t at;
	uint32_t open[GRAPHQL_DEPTH];
	unsigned depth;
	const char *why;
};

static int fail(struct reader *r, int code, const char *why)
{
	r->why = why;
	return code;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char peek(const struct reader *r, size_t ahead)
{
	return r->at + ahead < r->s.n ? r->s.p[r->at + ahead] : '\0';
}

static bool starts(const struct reader *r, const char *text)
{
	return sv_starts(sv_n(r->s.p + r->at, r->s.n - r->at), text);
}

static int add_token(struct reader *r, char kind, size_t at, size_t len)
{
	struct graphql *g = r->g;
	struct graphql_token *t;

	if (g->n == GRAPHQL_TOKENS)
		return fail(r, -EFBIG, "is too long");
	if (g->n == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 256;
		t = reallocarray(g->t, g->cap, sizeof(*t));
		if (!t)
			return -ENOMEM;
		g->t = t;
	}
	g->t[g->n++] = (struct graphql_token){(uint32_t)at, (uint32_t)len, 0, kind};
	return 0;
}

static int skip_comment(struct reader *r)
{
	char c;

	for (; r->at < r->s.n; r->at++) {
		c = r->s.p[r->at];
		if (c == '\n' || c == '\r')
			return 0;
		if (((unsigned char)c < 0x20 && c != '\t') || starts(r, "\xe2\x80\xa8") || starts(r, "\xe2\x80\xa9") ||
		    starts(r, "\xc2\x85"))
			return fail(r, -EINVAL, "has a line end in a comment that not all agree about");
	}
	return 0;
}

static int skip_block_string(struct reader *r)
{
	char c;

	for (r->at += 3; r->at < r->s.n; r->at++) {
		c = r->s.p[r->at];
		if (starts(r, "\\\"\"\"")) {
			r->at += 3;
		} else if (starts(r, "\"\"\"")) {
			r->at += 3;
			return 0;
		} else if ((unsigned char)c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
			return fail(r, -EINVAL, "has a control character");
		}
	}
	return fail(r, -EINVAL, "ends inside a string");
}

static int skip_string(struct reader *r)
{
	char c;

	if (starts(r, "\"\"\""))
		return skip_block_string(r);
	for (r->at++; r->at < r->s.n; r->at++) {
		c = r->s.p[r->at];
		if (c == '"') {
			r->at++;
			return 0;
		}
		if ((unsigned char)c < 0x20 && c != '\t')
			return fail(r, -EINVAL, "has a control character");
		if (c == '\\' && (unsigned char)peek(r, 1) > ' ')
			r->at++;
	}
	return fail(r, -EINVAL, "ends inside a string");
}

static int read_bracket(struct reader *r, char c)
{
	static const char pairs[] = "()[]{}";
	const char *p = strchr(pairs, c);
	uint32_t self = r->g->n, other;
	int e;

	e = add_token(r, c, r->at++, 1);
	if (e < 0)
		return e;
	if ((p - pairs) % 2 == 0) {
		if (r->depth == GRAPHQL_DEPTH)
			return fail(r, -EFBIG, "is nested too deeply");
		r->open[r->depth++] = self;
		return 0;
	}
	if (r->depth == 0 || r->g->t[r->open[r->depth - 1]].kind != p[-1])
		return fail(r, -EINVAL, "has brackets that do not match");
	other = r->open[--r->depth];
	r->g->t[other].match = self;
	r->g->t[self].match = other;
	return 0;
}

static int read_token(struct reader *r)
{
	size_t from = r->at;
	char c = peek(r, 0);
	int e;

	if (c && strchr("()[]{}", c))
		return read_bracket(r, c);
	if (c == '"') {
		e = skip_string(r);
		return e < 0 ? e : add_token(r, 's', from, r->at - from);
	}
	if (is_letter(c)) {
		while (is_letter(peek(r, 0)) || is_digit(peek(r, 0)))
			r->at++;
		return add_token(r, 'n', from, r->at - from);
	}
	if (is_digit(c) || c == '-') {
		for (r->at++; is_digit(peek(r, 0)) || (peek(r, 0) && strchr(".eE+-", peek(r, 0)));)
			r->at++;
		return add_token(r, '0', from, r->at - from);
	}
	if (starts(r, "...")) {
		r->at += 3;
		return add_token(r, '.', from, 3);
	}
	if (c && strchr("!$&:=@|", c))
		return add_token(r, c, r->at++, 1);
	return fail(r, -EINVAL, "is not GraphQL");
}

/* Overlong forms and the like could be a quote to someone else. */
static bool is_utf8(struct sv s)
{
	size_t i, n;

	for (i = 0; i < s.n; i += n) {
		n = text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0)
			return false;
	}
	return true;
}

static int read_tokens(struct reader *r)
{
	int e = 0;
	char c;

	if (!is_utf8(r->s))
		return fail(r, -EINVAL, "is not UTF-8");
	while (e == 0 && r->at < r->s.n) {
		c = r->s.p[r->at];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',')
			r->at++;
		else
			e = c == '#' ? skip_comment(r) : read_token(r);
	}
	if (e == 0 && r->depth)
		return fail(r, -EINVAL, "has brackets that do not match");
	return e;
}

static struct sv token_text(const struct graphql *g, uint32_t i)
{
	return i < g->n ? sv_n(g->text.p + g->t[i].at, g->t[i].len) : sv_n("", 0);
}

static char kind_at(const struct graphql *g, uint32_t i)
{
	return i < g->n ? g->t[i].kind : '\0';
}

/* Behind arguments and directives, if there are any: @name(arguments) */
static uint32_t skip_extras(const struct graphql *g, uint32_t i)
{
	if (kind_at(g, i) == '(')
		i = g->t[i].match + 1;
	while (kind_at(g, i) == '@' && kind_at(g, i + 1) == 'n') {
		i += 2;
		if (kind_at(g, i) == '(')
			i = g->t[i].match + 1;
	}
	return i;
}

static int definition_type(struct sv word)
{
	static const char *const words[] = {"query", "mutation", "subscription", "fragment"};
	int i;

	for (i = 0; i < 4; i++)
		if (sv_is(word, words[i]))
			return i;
	return -1;
}

static int read_definition(struct reader *r, uint32_t *at)
{
	struct graphql *g = r->g;
	struct graphql_definition d = {.type = GRAPHQL_QUERY, .name = sv_n("", 0)};
	uint32_t i = *at;
	int type;

	if (kind_at(g, i) == 'n') {
		type = definition_type(token_text(g, i++));
		if (type < 0)
			return fail(r, -EINVAL, "defines something other than operations and fragments");
		d.type = (enum graphql_type)type;
		if (kind_at(g, i) == 'n')
			d.name = token_text(g, i++);
		if (d.type == GRAPHQL_FRAGMENT) {
			i = kind_at(g, i) == '(' ? g->t[i].match + 1 : i;
			if (d.name.n == 0 || sv_is(d.name, "on") || !sv_is(token_text(g, i), "on") ||
			    kind_at(g, i + 1) != 'n')
				return fail(r, -EINVAL, "has a fragment without name or type");
			i += 2;
		}
		i = skip_extras(g, i);
	}
	if (kind_at(g, i) != '{')
		return fail(r, -EINVAL, "is not GraphQL");
	if (g->n_definitions == GRAPHQL_DEFINITIONS)
		return fail(r, -EFBIG, "has too many definitions");
	d.body = i;
	g->d[g->n_definitions++] = d;
	*at = g->t[i].match + 1;
	return 0;
}

static int check_definitions(struct reader *r)
{
	const struct graphql *g = r->g;
	uint32_t i, k, operations = 0, anonymous = 0;

	for (i = 0; i < g->n_definitions; i++) {
		bool fragment = g->d[i].type == GRAPHQL_FRAGMENT;

		operations += !fragment;
		anonymous += g->d[i].name.n == 0;
		for (k = 0; k < i; k++)
			if (g->d[i].name.n && fragment == (g->d[k].type == GRAPHQL_FRAGMENT) &&
			    sv_eq(g->d[i].name, g->d[k].name))
				return fail(r, -EINVAL, "has a name twice");
	}
	if (operations == 0)
		return fail(r, -EINVAL, "has no operation");
	if (anonymous && operations > 1)
		return fail(r, -EINVAL, "has an operation without a name beside others");
	return 0;
}

int graphql_read(struct graphql *g, struct sv text, const char **ret_why)
{
	struct reader r = {.g = g, .s = text};
	uint32_t at = 0;
	int e;

	*g = (struct graphql){.text = text};
	e = text.n > UINT32_MAX ? fail(&r, -EFBIG, "is too long") : read_tokens(&r);
	while (e == 0 && at < g->n)
		e = read_definition(&r, &at);
	if (e == 0)
		e = check_definitions(&r);
	if (e < 0) {
		*ret_why = r.why ? r.why : "could not be read";
		graphql_done(g);
	}
	return e;
}

void graphql_done(struct graphql *g)
{
	free(g->t);
	*g = (struct graphql){0};
}

struct visit {
	struct graphql *g;
	int (*field)(void *ctx, struct sv name);
	void *ctx;
	unsigned depth; /* of calls: fragments in fragments, selections in selections */
	const char *why;
};

static int visit_set(struct visit *v, uint32_t open);

static int visit_spread(struct visit *v, struct sv name)
{
	struct graphql *g = v->g;
	uint32_t i;
	int e;

	for (i = 0; i < g->n_definitions; i++)
		if (g->d[i].type == GRAPHQL_FRAGMENT && sv_eq(g->d[i].name, name))
			break;
	if (i == g->n_definitions || g->d[i].state == FRAGMENT_OPEN) {
		v->why = i == g->n_definitions ? "uses a fragment that is not there" : "has fragments in a circle";
		return -EINVAL;
	}
	/* Once is enough: fragments that each use the next one twice would take for ever. */
	if (g->d[i].state == FRAGMENT_DONE)
		return 0;
	g->d[i].state = FRAGMENT_OPEN;
	e = visit_set(v, g->d[i].body);
	g->d[i].state = FRAGMENT_DONE;
	return e;
}

/* "..." Name, or "..." [on Type] directives "{"; *at stands behind the dots and is moved behind it all. */
static int visit_fragment(struct visit *v, uint32_t *at)
{
	const struct graphql *g = v->g;
	uint32_t i = *at;

	if (kind_at(g, i) == 'n' && !sv_is(token_text(g, i), "on")) {
		*at = skip_extras(g, i + 1);
		return visit_spread(v, token_text(g, i));
	}
	if (kind_at(g, i) == 'n')
		i += kind_at(g, i + 1) == 'n' ? 2 : 1;
	i = skip_extras(g, i);
	if (kind_at(g, i) != '{') {
		v->why = "is not GraphQL";
		return -EINVAL;
	}
	*at = g->t[i].match + 1;
	return visit_set(v, i);
}

static int visit_set(struct visit *v, uint32_t open)
{
	const struct graphql *g = v->g;
	uint32_t i = open + 1, end = g->t[open].match;
	int e;

	if (i == end || v->depth == GRAPHQL_DEPTH) {
		v->why = i == end ? "has an empty selection" : "is nested too deeply";
		return -EINVAL;
	}
	v->depth++;
	while (i < end) {
		if (kind_at(g, i) == '.') {
			i++;
			e = visit_fragment(v, &i);
			if (e < 0)
				return e;
			continue;
		}
		if (kind_at(g, i) == 'n' && kind_at(g, i + 1) == ':')
			i += 2; /* the alias */
		if (kind_at(g, i) != 'n') {
			v->why = "is not GraphQL";
			return -EINVAL;
		}
		if (v->field(v->ctx, token_text(g, i)) < 0)
			return -1;
		i = skip_extras(g, i + 1);
		if (kind_at(g, i) == '{')
			i = g->t[i].match + 1;
	}
	v->depth--;
	return 0;
}

int graphql_fields(struct graphql *g, uint32_t operation, int (*field)(void *ctx, struct sv name), void *ctx,
		   const char **ret_why)
{
	struct visit v = {g, field, ctx, 0, NULL};
	uint32_t i;
	int e;

	for (i = 0; i < g->n_definitions; i++)
		g->d[i].state = FRAGMENT_NEW;
	e = visit_set(&v, g->d[operation].body);
	if (e < -1)
		*ret_why = v.why;
	return e;
}

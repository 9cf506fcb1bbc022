#include "conf/expand.h"

#include <errno.h>

#include "base/buf.h"
#include "base/text.h"

enum { RESULT_MAX = 1 << 20, NO_STOP = 256 };

struct lexer {
	const struct expand *how;
	struct sv in;
	size_t at;
	unsigned depth;
	bool raw_escapes;
	struct error *err;
};

/* What comes out: all of it, and cut into words. Words may be NULL: not wanted. */
struct out {
	struct buf all;
	struct buf word;
	bool want_words, in_word;
	const char **words;
	size_t n, cap;
};

static int lex_until(struct lexer *x, int stop, bool raw_escapes, struct out *out);

static int fail(struct lexer *x, const char *what)
{
	return error_set(x->err, ERROR_INPUT, "%s", what);
}

static int peek(const struct lexer *x)
{
	return x->at < x->in.n ? (unsigned char)x->in.p[x->at] : -1;
}

/* The character here, whole, and past it. */
static struct sv take(struct lexer *x)
{
	struct sv rest = sv_n(x->in.p + x->at, x->in.n - x->at);
	size_t n = text_utf8(rest);

	rest.n = n ? n : 1;
	x->at += rest.n;
	return rest;
}

static void out_init(struct out *o, bool want_words)
{
	*o = (struct out){.want_words = want_words};
	buf_init(&o->all, RESULT_MAX);
	buf_init(&o->word, RESULT_MAX);
}

static void out_done(struct out *o)
{
	buf_done(&o->all);
	buf_done(&o->word);
}

static void end_word(const struct lexer *x, struct out *o)
{
	const char **wider;

	if (o->n + 1 >= o->cap) {
		o->cap = o->cap ? 2 * o->cap : 8;
		wider = arena_array(x->how->arena, o->cap, sizeof(*wider));
		if (!wider) {
			o->all.failed = -ENOMEM;
			return;
		}
		if (o->n)
			memcpy(wider, o->words, o->n * sizeof(*wider));
		o->words = wider;
	}
	o->words[o->n++] = arena_str(x->how->arena, buf_view(&o->word));
	o->words[o->n] = NULL;
	buf_clear(&o->word);
	o->in_word = false;
}

static void put_raw(struct out *o, struct sv s)
{
	buf_sv(&o->all, s);
	if (o->want_words) {
		buf_sv(&o->word, s);
		o->in_word = true;
	}
}

/* Spaces end words here. */
static void put(const struct lexer *x, struct out *o, struct sv s)
{
	size_t n;

	buf_sv(&o->all, s);
	for (; o->want_words && s.n; s = sv_n(s.p + n, s.n - n)) {
		n = text_space(s);
		if (n && o->in_word && o->word.n)
			end_word(x, o);
		if (n)
			continue;
		n = text_utf8(s);
		n = n ? n : 1;
		buf_add(&o->word, s.p, n);
		o->in_word = true;
	}
}

static int single_quoted(struct lexer *x, struct out *o)
{
	size_t from = x->at++;
	const char *end = memchr(x->in.p + x->at, '\'', x->in.n - x->at);
	size_t to;

	if (!end)
		return fail(x, "a single quote has no end");
	to = (size_t)(end - x->in.p);
	if (x->how->raw_quotes)
		put_raw(o, sv_n(x->in.p + from, to + 1 - from));
	else
		put_raw(o, sv_n(x->in.p + from + 1, to - from - 1));
	x->at = to + 1;
	return 0;
}

static bool is_name(int c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/* "", digits, one of the shell's own, or a name. -1: a character that one may or may not count as a letter. */
static int take_name(struct lexer *x, struct sv *ret)
{
	size_t from = x->at;
	int c = peek(x);

	if (c >= '0' && c <= '9') {
		while (peek(x) >= '0' && peek(x) <= '9')
			x->at++;
	} else if (c > 0 && strchr("@*#?-$!", c)) {
		x->at++;
	} else {
		while (is_name(peek(x), x->at == from))
			x->at++;
		if (peek(x) >= 0x80 && !text_space(sv_n(x->in.p + x->at, x->in.n - x->at)) && x->at > from)
			return fail(x, "a variable's name ends in a letter beyond ASCII; write ${NAME}");
	}
	*ret = sv_n(x->in.p + from, x->at - from);
	return 0;
}

static const char *value_of(const struct lexer *x, struct sv name)
{
	return x->how->get && name.n && is_name((unsigned char)name.p[0], true) ? x->how->get(x->how->arg, name) : NULL;
}

/* Trims, or replaces. */
static int put_replaced(struct lexer *x, struct sv pattern, struct sv by, bool all, struct sv value, struct buf *to)
{
	size_t at = 0, last = 0, start, end;
	bool matched = false;
	int r = 0;

	if (all && memchr(by.p, '$', by.n))
		return fail(x, "a dollar in the replacement of ${NAME//...} is not supported");
	while (at <= value.n && (r = expand_find(pattern, value, at, &start, &end)) > 0) {
		if (start == end && matched && start == last) {
			at = start + 1;
			continue;
		}
		buf_add(to, value.p + last, start - last);
		buf_sv(to, by);
		last = end;
		matched = true;
		at = end > start ? end : end + 1;
		if (!all)
			break;
	}
	if (r < 0)
		return fail(x, "the pattern of ${NAME/...} is wrong");
	buf_add(to, value.p + last, value.n - last);
	return 0;
}

static int replacement(struct lexer *x, struct sv name, struct buf *to)
{
	struct out pattern, by;
	bool all = peek(x) == '/';
	const char *value = value_of(x, name);
	int r;

	x->at += all;
	out_init(&pattern, false);
	out_init(&by, false);
	r = lex_until(x, '/', true, &pattern);
	if (r == 0)
		r = lex_until(x, '}', true, &by);
	if (r == 0 && !value && x->how->keep_unset)
		buf_printf(to, "${%.*s/%s/%s}", (int)name.n, name.p, buf_view(&pattern.all).p, buf_view(&by.all).p);
	else if (r == 0)
		r = put_replaced(x, buf_view(&pattern.all), buf_view(&by.all), all, sv_of(value ? value : ""), to);
	out_done(&pattern);
	out_done(&by);
	return r;
}

static int must_be_set(struct lexer *x, struct sv name, bool set, struct sv word)
{
	struct text_shown a, b;

	return error_set(x->err, ERROR_INPUT, "%.100s: %.200s", text_show(&a, name),
			 word.n ? text_show(&b, word)
			 : set  ? "is not allowed to be empty"
				: "is not allowed to be unset");
}

static int trimmed(struct lexer *x, int op, struct sv word, struct sv value, struct buf *to)
{
	bool longest = word.n && word.p[0] == (char)op;
	struct sv left;

	if (longest)
		word = sv_n(word.p + 1, word.n - 1);
	if (expand_trim(word, value, op == '%', longest, &left) < 0)
		return fail(x, "the pattern in ${NAME#...} or ${NAME%...} is wrong");
	buf_sv(to, left);
	return 0;
}

/* ${name OP word}, or with a colon before OP. */
static int modified(struct lexer *x, struct sv name, bool colon, int op, struct buf *to)
{
	const char *value = value_of(x, name);
	bool use = value && !(colon && !*value);
	struct out word;
	struct sv w;
	int r;

	if (op < 0 || !strchr("-+?#%", op) || (colon && (op == '#' || op == '%')))
		return fail(x, "a modifier in ${...} is not supported");
	out_init(&word, false);
	r = lex_until(x, '}', op == '#' || op == '%', &word);
	w = buf_view(&word.all);
	if (r < 0)
		; /* said already */
	else if (!value && x->how->keep_unset)
		buf_printf(to, "${%.*s%s%c%s}", (int)name.n, name.p, colon ? ":" : "", op, w.p);
	else if (op == '?' && !use)
		r = must_be_set(x, name, value != NULL, w);
	else if (op == '-' || op == '+')
		buf_sv(to, use == (op == '-') ? (use ? sv_of(value) : sv_n("", 0)) : w);
	else if (op == '?')
		buf_str(to, value);
	else
		r = trimmed(x, op, w, sv_of(value ? value : ""), to);
	out_done(&word);
	return r;
}

static int plain_variable(struct lexer *x, struct sv name, bool braces, struct buf *to)
{
	const char *value = value_of(x, name);

	if (value)
		buf_str(to, value);
	else if (x->how->keep_unset)
		buf_printf(to, braces ? "${%.*s}" : "$%.*s", (int)name.n, name.p);
	return 0;
}

static int in_braces(struct lexer *x, struct buf *to)
{
	struct sv name;
	int c = peek(x);

	if (c < 0)
		return fail(x, "${ has no }");
	if (c == '{' || c == '}' || c == ':')
		return fail(x, "${...} has no name");
	if (take_name(x, &name) < 0)
		return -1;
	c = peek(x);
	if (c < 0)
		return fail(x, "${ has no }");
	x->at++;
	if (c == '}')
		return plain_variable(x, name, true, to);
	if (c == '/')
		return replacement(x, name, to);
	if (c != ':')
		return modified(x, name, false, c, to);
	c = peek(x);
	x->at += c >= 0;
	return modified(x, name, true, c, to);
}

/* At a dollar. */
static int variable(struct lexer *x, struct buf *to)
{
	struct sv name;

	x->at++;
	if (peek(x) == '{') {
		x->at++;
		return in_braces(x, to);
	}
	if (take_name(x, &name) < 0)
		return -1;
	return name.n ? plain_variable(x, name, false, to) : buf_char(to, '$') < 0 ? fail(x, "too long") : 0;
}

static int put_variable(struct lexer *x, struct out *o, bool raw)
{
	AUTO_BUF b = {0};

	buf_init(&b, RESULT_MAX);
	if (variable(x, &b) < 0)
		return -1;
	if (buf_failed(&b))
		return fail(x, "the value of a variable grows beyond 1 MiB");
	if (raw)
		put_raw(o, buf_view(&b));
	else
		put(x, o, buf_view(&b));
	return 0;
}

static int double_quoted(struct lexer *x, struct out *o)
{
	struct sv c = take(x);
	int next;

	put_raw(o, x->how->raw_quotes ? c : sv_n("", 0));
	while (peek(x) >= 0) {
		if (peek(x) == '$') {
			if (put_variable(x, o, true) < 0)
				return -1;
			continue;
		}
		c = take(x);
		if (c.p[0] == '"') {
			put_raw(o, x->how->raw_quotes ? c : sv_n("", 0));
			return 0;
		}
		if (c.p[0] == x->how->escape) {
			if (x->raw_escapes)
				put_raw(o, c);
			next = peek(x);
			if (next < 0)
				break;
			if (next == '"' || next == '$' || next == x->how->escape)
				c = take(x);
		}
		put_raw(o, c);
	}
	return fail(x, "a double quote has no end");
}

/* The spaces between << and a word do not end a word. */
static void possible_heredoc(struct lexer *x, struct out *o)
{
	size_t from = x->at++;

	if (peek(x) == '<') {
		x->at++;
		while (peek(x) == ' ' || peek(x) == '\t' || peek(x) == '\r')
			x->at++;
	}
	put_raw(o, sv_n(x->in.p + from, x->at - from));
}

static int special(struct lexer *x, int c, struct out *o)
{
	if (c == '$')
		return put_variable(x, o, false);
	if (c == '\'')
		return single_quoted(x, o);
	if (c == '"')
		return double_quoted(x, o);
	possible_heredoc(x, o);
	return 0;
}

static void plain(struct lexer *x, struct out *o)
{
	struct sv c = take(x);

	if (c.p[0] != x->how->escape) {
		put(x, o, c);
		return;
	}
	if (x->raw_escapes)
		put_raw(o, c);
	if (peek(x) >= 0)
		put_raw(o, take(x));
}

static int lex_level(struct lexer *x, int stop, struct out *o)
{
	int c;

	while ((c = peek(x)) >= 0) {
		if (c == stop) {
			x->at++;
			return 0;
		}
		if (c == '$' || c == '<' || (!x->how->no_quotes && (c == '\'' || c == '"'))) {
			if (special(x, c, o) < 0)
				return -1;
		} else {
			plain(x, o);
		}
	}
	return stop == NO_STOP ? 0 : fail(x, stop == '/' ? "${NAME/...} has no second slash" : "${ has no }");
}

static int lex_until(struct lexer *x, int stop, bool raw_escapes, struct out *o)
{
	bool before = x->raw_escapes;
	int r;

	if (x->depth >= EXPAND_NESTING)
		return fail(x, "${...} in ${...} is nested too deep");
	x->depth++;
	x->raw_escapes = raw_escapes;
	r = lex_level(x, stop, o);
	x->raw_escapes = before;
	x->depth--;
	if (r == 0 && (buf_failed(&o->all) || buf_failed(&o->word)))
		return fail(x, "a word grows beyond 1 MiB");
	return r;
}

static int run(const struct expand *how, struct sv word, struct out *o, struct error *err)
{
	struct lexer x = {.how = how, .in = word, .raw_escapes = how->raw_escapes, .err = err};

	if (lex_until(&x, NO_STOP, how->raw_escapes, o) < 0)
		return -1;
	if (o->want_words && o->word.n)
		end_word(&x, o);
	if (how->budget && *how->budget < o->all.n)
		return error_set(err, ERROR_INPUT, "variables expand to more than %d MiB in all", EXPAND_BUDGET >> 20);
	if (how->budget)
		*how->budget -= o->all.n;
	return 0;
}

int expand_word(const struct expand *how, struct sv word, const char **ret, struct error *err)
{
	struct out o;
	int r;

	out_init(&o, false);
	r = run(how, word, &o, err);
	if (r == 0) {
		*ret = arena_str(how->arena, buf_view(&o.all));
		r = *ret ? 0 : error_sys(err, ENOMEM, "expanding a word");
	}
	out_done(&o);
	return r;
}

int expand_words(const struct expand *how, struct sv word, const char ***ret, size_t *ret_n, struct error *err)
{
	struct out o;
	int r;

	out_init(&o, true);
	r = run(how, word, &o, err);
	if (r == 0 && !o.words)
		o.words = arena_array(how->arena, 1, sizeof(*o.words));
	if (r == 0 && (!o.words || arena_failed(how->arena)))
		r = error_sys(err, ENOMEM, "expanding words");
	if (r == 0) {
		*ret = o.words;
		*ret_n = o.n;
	}
	out_done(&o);
	return r;
}

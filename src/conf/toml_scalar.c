#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "conf/toml_parts.h"

enum { SCALAR_MAX = 512 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May the byte be part of a number, word or time? What it ends is then looked at as a whole. */
static bool is_scalar_byte(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '_' ||
	       c == '.' || c == ':';
}

static int set(struct toml *t, struct ynode *n, enum ynode_type type, struct sv text)
{
	const char *copy = arena_str(t->arena, text);

	if (!copy)
		return toml_no_memory(t);
	n->type = type;
	n->plain = true;
	n->text = sv_n(copy, text.n);
	return 0;
}

/* Without underscores, each of which must stand between two digits (of any base). Length of `to`, or 0: misplaced. */
static size_t without_underscores(struct sv s, char to[SCALAR_MAX])
{
	size_t i, n = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] != '_') {
			to[n++] = s.p[i];
			continue;
		}
		if (i == 0 || i + 1 == s.n || !isxdigit((unsigned char)s.p[i - 1]) ||
		    !isxdigit((unsigned char)s.p[i + 1]))
			return 0;
	}
	to[n] = '\0';
	return n;
}

/* "0xff" and the like. */
static bool read_based(struct toml *t, struct ynode *n, const char *digits, int base, int *ret)
{
	char shown[32], *end;
	unsigned long long v;
	const char *c;

	for (c = digits; *c; c++)
		if (!(base == 16 ? isxdigit((unsigned char)*c) : *c >= '0' && *c < '0' + base))
			return false;
	errno = 0;
	v = strtoull(digits, &end, base);
	if (c == digits || errno || v > INT64_MAX)
		return false;
	(void)snprintf(shown, sizeof(shown), "%llu", v);
	*ret = set(t, n, YTYPE_INTEGER, sv_of(shown));
	return true;
}

static const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

/* A decimal number without underscores. True: it is one, and *ret is the outcome. */
static bool read_decimal(struct toml *t, struct ynode *n, const char *s, int *ret)
{
	const char *p = s + (*s == '+' || *s == '-'), *whole = p, *digits;
	bool is_float = false;
	char *end;

	p = skip_digits(p);
	if (p == whole || (*whole == '0' && p > whole + 1))
		return false;
	if (*p == '.') {
		digits = p + 1;
		p = skip_digits(digits);
		is_float = true;
		if (p == digits)
			return false;
	}
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '+' || p[1] == '-' ? 2 : 1;
		digits = p;
		p = skip_digits(p);
		is_float = true;
		if (p == digits)
			return false;
	}
	if (*p)
		return false;
	errno = 0;
	if (!is_float && (strtoll(s, &end, 10), errno))
		return false;
	if (!is_float && strcmp(s, "-0") == 0)
		s = "0";
	*ret = set(t, n, is_float ? YTYPE_FLOAT : YTYPE_INTEGER, sv_of(s + (*s == '+')));
	return true;
}

static bool read_number(struct toml *t, struct ynode *n, struct sv s, int *ret)
{
	static const struct {
		const char *prefix;
		int base;
	} bases[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};
	char plain[SCALAR_MAX];
	size_t i;

	/* An underscore after the prefix is not between digits, though "x" might pass for one of base 34. */
	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (sv_starts(s, bases[i].prefix))
			return without_underscores(sv_n(s.p + 2, s.n - 2), plain) &&
			       read_based(t, n, plain, bases[i].base, ret);
	/* In a decimal number an "e" is no digit. */
	for (i = 1; i + 1 < s.n; i++)
		if (s.p[i] == '_' && (!is_digit(s.p[i - 1]) || !is_digit(s.p[i + 1])))
			return false;
	return without_underscores(s, plain) && read_decimal(t, n, plain, ret);
}

static bool read_word(struct toml *t, struct ynode *n, struct sv s, int *ret)
{
	static const struct {
		const char *word, *text;
		enum ynode_type type;
	} words[] = {
		{"true", "true", YTYPE_BOOL}, {"false", "false", YTYPE_BOOL}, {"inf", "inf", YTYPE_FLOAT},
		{"+inf", "inf", YTYPE_FLOAT}, {"-inf", "-inf", YTYPE_FLOAT},  {"nan", "nan", YTYPE_FLOAT},
		{"+nan", "nan", YTYPE_FLOAT}, {"-nan", "nan", YTYPE_FLOAT},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (sv_is(s, words[i].word)) {
			*ret = set(t, n, words[i].type, sv_of(words[i].text));
			return true;
		}
	return false;
}

/* A number of exactly `digits` digits, at most max; moves *p. -1: it is not there. */
static int read_part(const char **p, int digits, int max)
{
	int v = 0, i;

	for (i = 0; i < digits; i++, (*p)++) {
		if (!is_digit(**p))
			return -1;
		v = v * 10 + (**p - '0');
	}
	return v <= max ? v : -1;
}

static bool read_date(const char **p)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = read_part(p, 4, 9999), month, day, last;

	if (year < 0 || *(*p)++ != '-')
		return false;
	month = read_part(p, 2, 12);
	if (month < 1 || *(*p)++ != '-')
		return false;
	day = read_part(p, 2, 31);
	last = days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
	return day >= 1 && day <= last;
}

/* A leap second is one in RFC 3339. */
static bool read_clock(const char **p)
{
	const char *digits;

	if (read_part(p, 2, 23) < 0 || *(*p)++ != ':' || read_part(p, 2, 59) < 0 || *(*p)++ != ':' ||
	    read_part(p, 2, 60) < 0)
		return false;
	if (**p != '.')
		return true;
	digits = ++*p;
	*p = skip_digits(digits);
	return *p > digits;
}

static bool read_offset(char **p)
{
	const char *c = *p + 1;

	if (**p == 'z' || **p == 'Z') {
		**p = 'Z';
		(*p)++;
		return true;
	}
	if ((**p != '+' && **p != '-') || read_part(&c, 2, 23) < 0 || *c++ != ':' || read_part(&c, 2, 59) < 0)
		return false;
	*p += c - *p;
	return true;
}

/* s: a date, a time or both, NUL-terminated; made canonical in place. */
static bool read_time(struct toml *t, struct ynode *n, char *s, int *ret)
{
	enum ynode_type type = YTYPE_LOCAL_TIME;
	const char *p = s;
	char *rest;

	if (is_digit(s[0]) && is_digit(s[1]) && s[2] != ':') {
		if (!read_date(&p))
			return false;
		type = YTYPE_LOCAL_DATE;
		rest = s + (p - s);
		if (*rest == 't' || *rest == 'T' || *rest == ' ') {
			*rest = 'T';
			p++;
			type = YTYPE_LOCAL_DATETIME;
		}
	}
	if (type != YTYPE_LOCAL_DATE && !read_clock(&p))
		return false;
	rest = s + (p - s);
	if (type == YTYPE_LOCAL_DATETIME && *rest) {
		if (!read_offset(&rest))
			return false;
		type = YTYPE_DATETIME;
	}
	if (*rest)
		return false;
	*ret = set(t, n, type, sv_of(s));
	return true;
}

/* The bytes of the scalar at p. A date may be followed by a space and a time. */
static struct sv scalar_bytes(const struct toml *t)
{
	const char *p = t->p;
	const char *start = p;

	while (p < t->end && is_scalar_byte(*p))
		p++;
	if (p - start == 10 && start[4] == '-' && start[7] == '-' && t->end - p >= 2 && *p == ' ' && is_digit(p[1]))
		for (p++; p < t->end && is_scalar_byte(*p);)
			p++;
	return sv_n(start, (size_t)(p - start));
}

int toml_scalar(struct toml *t, struct ynode **ret)
{
	struct toml_place here = toml_here(t);
	struct sv s = scalar_bytes(t);
	char copy[SCALAR_MAX];
	struct text_shown shown;
	struct ynode *n;
	int r = 0;

	if (s.n == 0)
		return toml_fail(t, "a value is missing; write one, with quotes where it is text");
	if (s.n >= SCALAR_MAX)
		return toml_fail(t, "longer than any number or time; put quotes around text");
	n = toml_node(t, YNODE_SCALAR, &here);
	if (!n)
		return -1;
	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	if (!read_word(t, n, s, &r) && !read_number(t, n, s, &r) && !read_time(t, n, copy, &r))
		return toml_fail(t, "\"%.60s\" is no number, time, true or false; put quotes around text",
				 text_show(&shown, s));
	t->p += s.n;
	*ret = n;
	return r;
}

#include "policy/net_parameter.h"

#include <string.h>

#include "base/coding.h"
#include "base/field_name.h"

enum { BEYOND = 0x80 }; /* what is no ASCII is of another name, whatever it is */

/* A character as it stands: how many bytes it takes, and what it means. */
struct letter {
	size_t n;
	unsigned char c;
};

static int hex_pair(struct sv s, size_t at)
{
	return at + 2 <= s.n ? hex_byte(s.p[at], s.p[at + 1]) : -1;
}

/* s is not empty. */
static struct letter read_letter(struct sv s)
{
	int high, low;

	if (s.p[0] == '+')
		return (struct letter){1, ' '};
	if (s.p[0] != '%')
		return (struct letter){1, (unsigned char)s.p[0]};
	low = hex_pair(s, 1);
	if (low >= 0)
		return (struct letter){3, (unsigned char)low};
	high = hex_pair(s, 2);
	low = hex_pair(s, 4);
	if (s.n >= 6 && (s.p[1] | 0x20) == 'u' && high >= 0 && low >= 0)
		return (struct letter){6, (unsigned char)(high ? BEYOND : low)};
	return (struct letter){1, '%'};
}

static struct sv behind(struct sv s, struct letter l)
{
	return sv_n(s.p + l.n, s.n - l.n);
}

/* Of a name to every server: what stands before or behind it makes another one. */
static bool is_of_name(unsigned char c)
{
	return c >= BEYOND || is_letter_or_digit((char)c) || c == '_' || c == '-';
}

static bool is_left_out(unsigned char c)
{
	return !is_of_name(c) && c != '$';
}

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static bool fits(unsigned char c, char of_name)
{
	if (is_letter_or_digit(of_name))
		return lower(c) == lower((unsigned char)of_name);
	return c < BEYOND && !is_letter_or_digit((char)c);
}

static bool starts_with(struct sv s, const char *name)
{
	struct letter l;

	for (; *name; name++) {
		if (s.n == 0)
			return false;
		l = read_letter(s);
		if (!fits(l.c, *name))
			return false;
		s = behind(s, l);
	}
	return s.n == 0 || !is_of_name(read_letter(s).c);
}

bool net_parameter_is(struct sv raw, const char *name)
{
	struct letter l;

	for (; raw.n; raw = behind(raw, l)) {
		if (starts_with(raw, name))
			return true;
		l = read_letter(raw);
		if (!is_left_out(l.c))
			return false;
	}
	return false;
}

char net_parameter_first(struct sv raw)
{
	struct letter l;

	for (; raw.n; raw = behind(raw, l)) {
		l = read_letter(raw);
		if (!is_left_out(l.c))
			return (char)lower(l.c);
	}
	return '\0';
}

/* May the bytes to come make another one of it? */
static bool is_cut(struct sv s)
{
	return s.p[0] == '%' && s.n < (s.n > 1 && (s.p[1] | 0x20) == 'u' ? 6 : 3);
}

size_t net_parameter_spare(struct sv raw)
{
	size_t spare = 0, before = 0;
	struct letter l;

	for (; raw.n && !is_cut(raw); raw = behind(raw, l)) {
		l = read_letter(raw);
		if (!is_left_out(l.c))
			break;
		spare += before;
		before = l.n;
	}
	return spare;
}

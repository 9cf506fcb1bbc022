#include "http/fields.h"

#include <stdint.h>

#include "base/cleanup.h"

enum { TOKEN = 1, UPPER = 2, VALUE = 4 };

/* clang-format off */
static const uint8_t kinds[256] = {
	['\t'] = VALUE, [' '] = VALUE, ['"'] = VALUE, ['('] = VALUE, [')'] = VALUE, [','] = VALUE, ['/'] = VALUE, [':' ... '@'] = VALUE,
	['[' ... ']'] = VALUE, ['{'] = VALUE, ['}'] = VALUE, [0x80 ... 0xff] = VALUE,
	['!'] = TOKEN | VALUE, ['#' ... '\''] = TOKEN | VALUE, ['*'] = TOKEN | VALUE, ['+'] = TOKEN | VALUE, ['-'] = TOKEN | VALUE, ['.'] = TOKEN | VALUE,
	['0' ... '9'] = TOKEN | VALUE, ['A' ... 'Z'] = TOKEN | VALUE | UPPER, ['^' ... 'z'] = TOKEN | VALUE, ['|'] = TOKEN | VALUE, ['~'] = TOKEN | VALUE,
};
/* clang-format on */

static const struct {
	const char *name;
	enum http_field_class class;
} special[] = {
	{"host", FIELD_HOST},
	{"content-length", FIELD_LENGTH},
	{"transfer-encoding", FIELD_CODING},
	{"connection", FIELD_CONNECTION},
	{"upgrade", FIELD_UPGRADE},
	{"http2-settings", FIELD_SETTINGS},
	{"expect", FIELD_EXPECT},
	{"te", FIELD_TE},
	{"keep-alive", FIELD_HOP},
	{"trailer", FIELD_HOP},
};

static const char *const never_late[] = {
	"authorization", "cache-control", "content-encoding", "content-range",    "content-type", "cookie",
	"max-forwards",  "range",         "set-cookie",       "www-authenticate",
};

/* s starts with the n bytes of name, an underscore being a hyphen. */
static bool same(struct sv s, const char *name, size_t n)
{
	size_t i;

	if (s.n < n)
		return false;
	for (i = 0; i < n; i++)
		if (s.p[i] != name[i] && !(s.p[i] == '_' && name[i] == '-'))
			return false;
	return true;
}

bool http_name_is(struct sv name, const char *other)
{
	return name.n == strlen(other) && same(name, other, name.n);
}

enum http_field_class http_field_class(struct sv name)
{
	size_t i;

	/* The first letter settles most of it. */
	for (i = 0; name.n && i < ARRAY_LEN(special); i++)
		if (name.p[0] == special[i].name[0] && http_name_is(name, special[i].name))
			return special[i].class;
	return same(name, "proxy-", 6) ? FIELD_HOP : FIELD_PLAIN;
}

bool http_field_may_trail(struct sv name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(never_late); i++)
		if (http_name_is(name, never_late[i]))
			return false;
	return http_field_class(name) == FIELD_PLAIN;
}

static bool all(struct sv s, unsigned want, unsigned never)
{
	unsigned common = want, any = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		common &= kinds[(unsigned char)s.p[i]];
		any |= kinds[(unsigned char)s.p[i]];
	}
	return common == want && !(any & never);
}

bool http_is_token(struct sv s)
{
	return s.n && all(s, TOKEN, 0);
}

bool http_is_lower_token(struct sv s)
{
	return s.n && all(s, TOKEN, UPPER);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool http_is_value(struct sv s)
{
	return all(s, VALUE, 0) && (s.n == 0 || (!is_blank(s.p[0]) && !is_blank(s.p[s.n - 1])));
}

struct sv http_trim(struct sv s)
{
	while (s.n && is_blank(s.p[0]))
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool http_eq_nocase(struct sv s, const char *lower_case)
{
	size_t i;

	if (s.n != strlen(lower_case))
		return false;
	for (i = 0; i < s.n; i++)
		if ((s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] - 'A' + 'a' : s.p[i]) != lower_case[i])
			return false;
	return true;
}

bool http_list_next(struct sv *list, struct sv *ret)
{
	const char *comma;
	size_t n;

	while (list->n) {
		comma = memchr(list->p, ',', list->n);
		n = comma ? (size_t)(comma - list->p) : list->n;
		*ret = http_trim(sv_n(list->p, n));
		*list = comma ? sv_n(comma + 1, list->n - n - 1) : sv_n("", 0);
		if (ret->n)
			return true;
	}
	return false;
}

#include "http/fields.h"

#include <stdint.h>

#include "base/cleanup.h"
#include "base/field_name.h"

enum { TOKEN = 1, UPPER = 2, VALUE = 4 };

/* clang-format off */
static const uint8_t kinds[256] = {
	['\t'] = VALUE, [' '] = VALUE, ['"'] = VALUE, ['('] = VALUE, [')'] = VALUE, [','] = VALUE, ['/'] = VALUE,
	[':' ... '@'] = VALUE,
	['[' ... ']'] = VALUE, ['{'] = VALUE, ['}'] = VALUE, [0x80 ... 0xff] = VALUE,
	['!'] = TOKEN | VALUE, ['#' ... '\''] = TOKEN | VALUE, ['*'] = TOKEN | VALUE, ['+'] = TOKEN | VALUE,
	['-'] = TOKEN | VALUE, ['.'] = TOKEN | VALUE,
	['0' ... '9'] = TOKEN | VALUE, ['A' ... 'Z'] = TOKEN | VALUE | UPPER, ['^' ... 'z'] = TOKEN | VALUE,
	['|'] = TOKEN | VALUE, ['~'] = TOKEN | VALUE,
};
/* clang-format on */

static const struct {
	struct sv name;
	enum http_field_class class;
} special[] = {
	{{"host", 4}, FIELD_HOST},
	{{"content-length", 14}, FIELD_LENGTH},
	{{"transfer-encoding", 17}, FIELD_CODING},
	{{"connection", 10}, FIELD_CONNECTION},
	{{"upgrade", 7}, FIELD_UPGRADE},
	{{"http2-settings", 14}, FIELD_SETTINGS},
	{{"expect", 6}, FIELD_EXPECT},
	{{"te", 2}, FIELD_TE},
	{{"keep-alive", 10}, FIELD_HOP},
	{{"trailer", 7}, FIELD_HOP},
};

static const char *const never_late[] = {
	"authorization", "cache-control", "content-encoding", "content-range",    "content-type", "cookie",
	"max-forwards",  "set-cookie",    "www-authenticate",
};

enum http_field_class http_field_class(struct sv name)
{
	size_t i;

	/* the length settles most of it, the first letter the rest */
	for (i = 0; i < ARRAY_LEN(special); i++)
		if (name.n == special[i].name.n && name.p[0] == special[i].name.p[0] &&
		    field_name_has(name, special[i].name.p, name.n))
			return special[i].class;
	return field_name_has(name, "proxy-", 6) ? FIELD_HOP : FIELD_PLAIN;
}

bool http_field_asks_part(struct sv name)
{
	static const char *const names[] = {"range",
					    "if-range",
					    "request-range",
					    "x-range",
					    "x-request-range",
					    "x-http-range",
					    "x-byte-range",
					    "x-bytes-range",
					    "x-original-range",
					    "x-forwarded-range",
					    "x-ms-range",
					    "x-ms-range-get-content-md5",
					    "x-ms-range-get-content-crc64"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (field_name_is(name, names[i]))
			return true;
	return false;
}

bool http_field_may_trail(struct sv name)
{
	size_t i;

	if (http_field_asks_part(name))
		return false;

	for (i = 0; i < ARRAY_LEN(never_late); i++)
		if (field_name_is(name, never_late[i]))
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

bool http_make_name(char *p, size_t n)
{
	uint8_t kind;
	size_t i;

	for (i = 0; i < n; i++) {
		kind = kinds[(unsigned char)p[i]];
		if (!(kind & TOKEN))
			return false;
		if (kind & UPPER)
			p[i] = (char)(p[i] - 'A' + 'a');
	}
	return n != 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Has one of the eight bytes a value below 0x20, or 0x7f? Exact: see "Bit Twiddling Hacks". A tab is below 0x20, too,
 * and is for the table to tell. */
static bool odd_byte(uint64_t eight)
{
	static const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t del = eight ^ 0x7f * each;

	return (((eight - 0x20 * each) & ~eight) | ((del - each) & ~del)) & 0x80 * each;
}

/* As all(s, VALUE, 0), eight at a time: values are most of a head. */
static bool all_values(struct sv s)
{
	uint64_t eight;

	size_t i;

	if (s.n < sizeof(eight))
		return all(s, VALUE, 0);
	for (i = 0; i < s.n; i += sizeof(eight)) {
		/* the last eight overlap those before */
		i = i < s.n - sizeof(eight) ? i : s.n - sizeof(eight);
		memcpy(&eight, s.p + i, sizeof(eight));
		if (odd_byte(eight) && !all(sv_n(s.p + i, sizeof(eight)), VALUE, 0))
			return false;
	}
	return true;
}

bool http_is_value(struct sv s)
{
	return s.n == 0 || (!is_blank(s.p[0]) && !is_blank(s.p[s.n - 1]) && all_values(s));
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

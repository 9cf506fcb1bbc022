#include "gate/egress/legible.h"

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/field_name.h"
#include "http/fields.h"

enum { MESSAGE_HEAD = 5, MESSAGE_COMPRESSED = 1 }; /* one byte of flags, four of length */

bool legible_codings(const struct http_fields *f)
{
	static const char *const names[] = {"grpc-encoding", "connect-content-encoding"};
	uint32_t i;
	size_t k;

	for (i = 0; i < f->n; i++)
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (field_name_is(f->v[i].name, names[k]) && !http_eq_nocase(f->v[i].value, "identity"))
				return false;
	return true;
}

static bool starts_nocase(struct sv s, const char *lower_case)
{
	size_t n = strlen(lower_case);

	return s.n >= n && http_eq_nocase(sv_n(s.p, n), lower_case);
}

/* Cuts the next piece off *list, with the comma or semicolon that it begins with. Quotes do not count: not all servers
 * heed them. */
static struct sv next_piece(struct sv *list)
{
	struct sv piece = *list;
	size_t i;

	for (i = 1; i < list->n && list->p[i] != ',' && list->p[i] != ';';)
		i++;
	piece.n = i;
	*list = sv_n(list->p + i, list->n - i);
	return piece;
}

/* utf-8 and its like: the bytes of ASCII mean there what they mean in ASCII, wherever a text begins with them. */
static bool is_like_ascii(struct sv name)
{
	static const char *const names[] = {
		"utf-8",          "utf8",    "utf_8",      "us-ascii",    "us_ascii",       "ascii",
		"ansi_x3.4-1968", "latin1",  "latin-1",    "binary",      "gb2312",         "gbk",
		"gb18030",        "big5",    "big5-hkscs", "shift_jis",   "shift-jis",      "sjis",
		"x-sjis",         "cp932",   "ms932",      "windows-31j", "ks_c_5601-1987", "windows-949",
		"windows-874",    "tis-620", "macintosh",  "cp437",       "cp850",          "cp852",
		"cp866",          "ibm437",  "ibm850",     "ibm852",      "ibm866"};
	static const char *const families[] = {"iso-8859-", "iso_8859-", "iso8859-", "windows-125",
					       "cp125",     "koi8-",     "euc-",     "x-mac-"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (http_eq_nocase(name, names[i]))
			return true;
	for (i = 0; i < ARRAY_LEN(families); i++)
		if (starts_nocase(name, families[i]))
			return true;
	return name.n == 0;
}

/* Is it a character set? Its name, without quotes. */
static bool names_charset(struct sv piece, struct sv *ret)
{
	struct sv v = piece.p[0] == ',' || piece.p[0] == ';' ? sv_n(piece.p + 1, piece.n - 1) : piece;

	v = http_trim(v);
	if (!starts_nocase(v, "charset"))
		return false;
	v = http_trim(sv_n(v.p + 7, v.n - 7));
	if (v.n && v.p[0] == '=')
		v = http_trim(sv_n(v.p + 1, v.n - 1));
	if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
		v = http_trim(sv_n(v.p + 1, v.n - 2));
	*ret = v;
	return true;
}

bool legible_charset(const struct http_fields *f)
{
	struct sv rest, name;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		rest = sv_is(f->v[i].name, "content-type") ? f->v[i].value : sv_n("", 0);
		while (rest.n)
			if (names_charset(next_piece(&rest), &name) && !is_like_ascii(name))
				return false;
	}
	return true;
}

/* "bytes 0-9/40". Not "bytes *" and a size, which says how much there would have been. */
static bool is_byte_range(struct sv v)
{
	v = http_trim(v);
	if (!starts_nocase(v, "bytes"))
		return false;
	for (v = sv_n(v.p + 5, v.n - 5); v.n && (v.p[0] == ' ' || v.p[0] == '\t' || v.p[0] == '=');
	     v = sv_n(v.p + 1, v.n - 1))
		;
	return v.n == 0 || v.p[0] != '*';
}

bool legible_whole(unsigned status, const struct http_fields *f)
{
	bool ranged = false;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		if (sv_is(f->v[i].name, "content-type") &&
		    starts_nocase(http_trim(f->v[i].value), "multipart/byteranges"))
			return false;
		if (!sv_is(f->v[i].name, "content-range"))
			continue;
		ranged = true;
		if (is_byte_range(f->v[i].value))
			return false;
	}
	return status != 206 || ranged;
}

static bool has_nocase(struct sv s, const char *lower_case)
{
	for (; s.n; s = sv_n(s.p + 1, s.n - 1))
		if (starts_nocase(s, lower_case))
			return true;
	return false;
}

static bool counts_bytes(struct sv v)
{
	static const char *const units[] = {"byte", "octet", "char", "bit"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(units); i++)
		if (has_nocase(v, units[i]))
			return true;
	return false;
}

static bool has_unit(struct sv v)
{
	return v.n && ((v.p[0] >= 'a' && v.p[0] <= 'z') || (v.p[0] >= 'A' && v.p[0] <= 'Z'));
}

bool legible_range(const struct http_fields *f)
{
	const struct sv *unit = http_field(f, "range-unit");
	bool other = unit && unit->n && !counts_bytes(*unit);
	uint32_t i;
	struct sv v;

	for (i = 0; i < f->n; i++) {
		v = f->v[i].value;
		if (field_name_is(f->v[i].name, "range-unit") && counts_bytes(v))
			return false;
		/* without a unit of its own some servers take it for bytes */
		if (sv_is(f->v[i].name, "range") && (counts_bytes(v) || !(has_unit(v) || other)))
			return false;
	}
	return true;
}

struct sv legible_accept(struct sv value, char *to)
{
	struct sv piece, name;
	size_t n = 0;

	while (value.n) {
		piece = next_piece(&value);
		if (names_charset(piece, &name))
			continue;
		memcpy(to + n, piece.p, piece.n);
		n += piece.n;
	}
	return http_trim(sv_n(to, n));
}

bool legible_has_messages(const struct http_fields *f, struct legible_messages *ret)
{
	const struct sv *type = http_field(f, "content-type");

	*ret = (struct legible_messages){.text = type && starts_nocase(*type, "application/grpc-web-text")};
	return type && (starts_nocase(*type, "application/grpc") || starts_nocase(*type, "application/connect+"));
}

static bool feed_binary(struct legible_messages *m, struct sv bytes)
{
	size_t i = 0, n;

	while (i < bytes.n) {
		if (m->n == MESSAGE_HEAD) {
			n = bytes.n - i < m->left ? bytes.n - i : m->left;
			m->left -= (uint32_t)n;
			i += n;
			m->n = m->left ? MESSAGE_HEAD : 0;
			continue;
		}
		if (m->n == 0 && (bytes.p[i] & MESSAGE_COMPRESSED))
			return false;
		m->left = m->n ? m->left << 8 | (unsigned char)bytes.p[i] : 0;
		m->n++;
		i++;
	}
	return true;
}

static int base64_value(char c)
{
	const char *at = c ? strchr(base64_standard, c) : NULL;

	if (!at && c)
		at = strchr(base64_url, c);
	if (!at)
		return -1;
	return (int)(at - (strchr(base64_standard, c) ? base64_standard : base64_url));
}

/* A group is whole: three bytes, or fewer and padding. */
static bool feed_group(struct legible_messages *m)
{
	const char bytes[3] = {(char)(m->group >> 16), (char)(m->group >> 8), (char)m->group};
	unsigned padding = m->n_padding;

	m->n_group = m->n_padding = 0;
	m->group = 0;
	return feed_binary(m, sv_n(bytes, 3 - padding)) &&
	       (padding == 0 || m->n == 0 || (m->n == MESSAGE_HEAD && m->left == 0));
}

static bool feed_text(struct legible_messages *m, struct sv bytes)
{
	size_t i;
	int v;

	for (i = 0; i < bytes.n; i++) {
		v = bytes.p[i] == '=' && m->n_group >= 2 ? 0 : base64_value(bytes.p[i]);
		if (v < 0 || (m->n_padding && bytes.p[i] != '='))
			return false;
		m->n_padding += bytes.p[i] == '=';
		m->group = m->group << 6 | (uint32_t)v;
		if (++m->n_group == 4 && !feed_group(m))
			return false;
	}
	return true;
}

bool legible_messages_feed(struct legible_messages *m, struct sv bytes)
{
	return m->text ? feed_text(m, bytes) : feed_binary(m, bytes);
}

bool legible_messages_are_between(const struct legible_messages *m)
{
	/* an empty message has nothing behind its head */
	return m->n_group == 0 && (m->n == 0 || (m->n == MESSAGE_HEAD && m->left == 0));
}

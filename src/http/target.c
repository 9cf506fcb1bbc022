#include "http/target.h"

#include <arpa/inet.h>

#include "base/coding.h"
#include "model/address.h"

enum { LABEL_MAX = 63 };

static const char bad_host[] = "malformed host";
static const char bad_port[] = "malformed port";
static const char dot_segment[] = "path has a dot segment";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_alpha(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_hex(char c)
{
	return hex_value(c) >= 0;
}

/* Digits only, no leading zero, 1 to 65535. */
static const char *parse_port(struct sv s, uint16_t *ret)
{
	unsigned v = 0;
	size_t i;

	if (s.n == 0 || s.n > 5 || s.p[0] == '0')
		return bad_port;
	for (i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return bad_port;
		v = v * 10 + (unsigned)(s.p[i] - '0');
	}
	if (v > UINT16_MAX)
		return bad_port;
	*ret = (uint16_t)v;
	return NULL;
}

static bool label_ok(struct sv l)
{
	size_t i;

	if (l.n == 0 || l.n > LABEL_MAX || l.p[0] == '-' || l.p[l.n - 1] == '-')
		return false;
	for (i = 0; i < l.n; i++)
		if (!is_digit(l.p[i]) && !is_alpha(l.p[i]) && l.p[i] != '-' && l.p[i] != '_')
			return false;
	return true;
}

/* A last label that some resolver would read as (part of) an IPv4 address. */
static bool label_numeric(struct sv l)
{
	bool hex = l.n >= 2 && l.p[0] == '0' && lower(l.p[1]) == 'x';
	size_t i;

	for (i = hex ? 2 : 0; i < l.n; i++)
		if (!(hex ? is_hex(l.p[i]) : is_digit(l.p[i])))
			return false;
	return true;
}

static const char *parse_name(struct sv s, struct http_authority *ret)
{
	struct sv label = {0};
	struct in_addr v4;
	size_t at, end, i;

	if (s.n && s.p[s.n - 1] == '.')
		s.n--;
	if (s.n == 0 || s.n > HTTP_HOST_MAX)
		return bad_host;
	for (at = 0; at <= s.n; at = end + 1) {
		for (end = at; end < s.n && s.p[end] != '.'; end++)
			;
		label = sv_n(s.p + at, end - at);
		if (!label_ok(label))
			return bad_host;
	}
	for (i = 0; i < s.n; i++)
		ret->host[i] = lower(s.p[i]);
	ret->host[s.n] = '\0';
	ret->n = (uint8_t)s.n;
	/* inet_pton() takes four decimal numbers without leading zeros, and nothing else. */
	if (label_numeric(label) && inet_pton(AF_INET, ret->host, &v4) != 1)
		return "host looks like an address but is not one";
	return NULL;
}

static const char *parse_v6(struct sv s, struct http_authority *ret)
{
	char text[INET6_ADDRSTRLEN];
	struct address a;
	uint8_t v6[16];

	if (s.n >= sizeof(text) || memchr(s.p, '\0', s.n))
		return bad_host;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (inet_pton(AF_INET6, text, v6) != 1)
		return bad_host;
	/* ::ffff:a.b.c.d is a.b.c.d, to the rules and to the kernel: under two names it would be two hosts to whoever
	 * compares them */
	a = address_of6(v6);
	ret->n = (uint8_t)strlen(address_text(&a, ret->host));
	ret->v6 = !a.is4;
	return NULL;
}

const char *http_authority(struct sv s, struct http_authority *ret)
{
	const char *end, *wrong;
	struct sv rest;

	ret->port = 0;
	ret->v6 = false;
	if (s.n && s.p[0] == '[') {
		end = memchr(s.p, ']', s.n);
		if (!end)
			return bad_host;
		wrong = parse_v6(sv_n(s.p + 1, (size_t)(end - s.p) - 1), ret);
		end++;
	} else {
		end = s.n ? memchr(s.p, ':', s.n) : NULL;
		if (!end)
			end = s.p + s.n;
		wrong = parse_name(sv_n(s.p, (size_t)(end - s.p)), ret);
	}
	rest = sv_n(end, s.n - (size_t)(end - s.p));
	if (wrong || rest.n == 0)
		return wrong;
	if (rest.p[0] != ':')
		return bad_host;
	return parse_port(sv_n(rest.p + 1, rest.n - 1), &ret->port);
}

/* What a byte of a path or query may be; see RFC 3986, 3.3 and 3.4. */
enum {
	PATH = 1,
	QUERY = 2,
	UNRESERVED = 4,
	MADE = 8 /* in a path it comes as it is from browsers and what is like them, and is sent encoded */
};

/* clang-format off */
static const uint8_t kinds[128] = {
	['!'] = PATH | QUERY, ['$'] = PATH | QUERY, ['&'] = PATH | QUERY, ['\''] = PATH | QUERY, ['('] = PATH | QUERY,
	[')'] = PATH | QUERY,
	['*'] = PATH | QUERY, ['+'] = PATH | QUERY, [','] = PATH | QUERY, [';'] = PATH | QUERY, ['='] = PATH | QUERY,
	[':'] = PATH | QUERY,
	['@'] = PATH | QUERY, ['/'] = PATH | QUERY,
	/* Not in the grammar, but in use, and no server splits a query there. */
	['['] = QUERY | MADE, [']'] = QUERY | MADE, ['{'] = QUERY | MADE, ['}'] = QUERY | MADE, ['|'] = QUERY | MADE,
	['^'] = QUERY | MADE, ['`'] = QUERY | MADE,
	['"'] = QUERY | MADE, ['<'] = QUERY | MADE, ['>'] = QUERY | MADE, ['?'] = QUERY, ['\\'] = QUERY,
	['-'] = PATH | QUERY | UNRESERVED, ['.'] = PATH | QUERY | UNRESERVED, ['_'] = PATH | QUERY | UNRESERVED,
	['~'] = PATH | QUERY | UNRESERVED,
	['0' ... '9'] = PATH | QUERY | UNRESERVED, ['A' ... 'Z'] = PATH | QUERY | UNRESERVED,
	['a' ... 'z'] = PATH | QUERY | UNRESERVED,
};
/* clang-format on */

/* The byte that the triplet at the start of s stands for, or -1. */
static int triplet(struct sv s)
{
	return s.n < 3 || s.p[0] != '%' ? -1 : hex_byte(s.p[1], s.p[2]);
}

/* The bytes behind "%25" would be a triplet of their own for a server that decodes twice. */
static bool decodes_twice(struct sv after)
{
	static const char *const odd[] = {"2e", "2f", "5c", "25", "3b", "23", "3f"};
	size_t i;

	if (after.n < 2 || !is_hex(after.p[0]) || !is_hex(after.p[1]))
		return false;
	if (hex_value(after.p[0]) < 2) /* control characters */
		return true;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (after.p[0] == odd[i][0] && lower(after.p[1]) == odd[i][1])
			return true;
	return false;
}

/* A longer form of a character that has a shorter one: some decoders make a dot or a slash of it. */
static bool overlong(int first, struct sv after)
{
	int second = triplet(after);

	return first == 0xc0 || first == 0xc1 || (first == 0xe0 && second >= 0x80 && second < 0xa0) ||
	       (first == 0xf0 && second >= 0x80 && second < 0x90);
}

/* s starts with a triplet of value v, in a path. */
static const char *check_path_triplet(int v, struct sv s)
{
	struct sv after = sv_n(s.p + 3, s.n - 3);

	if (v < 0x20 || v == 0x7f)
		return "path has an encoded control character";
	if (v == '\\')
		return "path has an encoded backslash";
	if (overlong(v, after))
		return "path has overlong UTF-8";
	return NULL;
}

/* A percent sign without two digits is one itself to those who read a query, and something else to each who reads a
 * path. */
static bool is_bare_percent(struct sv rest, unsigned kind)
{
	return kind == QUERY && rest.p[0] == '%' && triplet(rest) < 0;
}

static bool is_made(unsigned char c, unsigned kind)
{
	return kind == PATH && c < 0x80 && kinds[c] & MADE;
}

static void put_triplet(int v, char *out, size_t *n)
{
	out[(*n)++] = '%';
	out[(*n)++] = hex_upper[v >> 4];
	out[(*n)++] = hex_upper[v & 15];
}

/* One byte or triplet of s from *at on to out; both advance. */
static const char *copy_one(struct sv s, unsigned kind, size_t *at, char *out, size_t *n)
{
	struct sv rest = sv_n(s.p + *at, s.n - *at);
	unsigned char c = (unsigned char)rest.p[0];
	const char *wrong;
	int v;

	if (is_made(c, kind) || is_bare_percent(rest, kind)) {
		put_triplet(c, out, n);
		*at += 1;
		return NULL;
	}
	if (c != '%') {
		if (c >= 0x80 || !(kinds[c] & kind))
			return c == '#' ? "target has a fragment" : "target has a byte that must be encoded";
		out[(*n)++] = (char)c;
		*at += 1;
		return NULL;
	}
	v = triplet(rest);
	if (v < 0)
		return "target has a bad percent triplet";
	wrong = v == 0 ? "target has an encoded NUL" : kind == PATH ? check_path_triplet(v, rest) : NULL;
	if (wrong)
		return wrong;
	*at += 3;
	if (v < 0x80 && kinds[v] & UNRESERVED) {
		out[(*n)++] = (char)v;
		return NULL;
	}
	put_triplet(v, out, n);
	return NULL;
}

/* A segment that is a dot segment for some server: parameters behind ";" do not count for all of them. */
static bool is_dots(struct sv segment)
{
	size_t i = 0;

	while (i < segment.n && segment.p[i] == '.')
		i++;
	if (i == 0 || i > 2)
		return false;
	return i == segment.n || segment.p[i] == ';' || sv_starts(sv_n(segment.p + i, segment.n - i), "%3B");
}

/* An empty one, or one that is empty without its parameters. */
static bool is_empty(struct sv segment)
{
	return segment.n == 0 || segment.p[0] == ';' || sv_starts(segment, "%3B");
}

/* Over the canonical path: "%2F" parts segments too, since some servers decode it first. */
static const char *check_segments(struct sv path, bool *ambiguous)
{
	size_t at = 1, end, step;

	for (; at <= path.n; at = end + step) {
		step = 1;
		for (end = at; end < path.n && path.p[end] != '/'; end++) {
			if (path.p[end] == '%' && path.p[end + 1] == '2' && path.p[end + 2] == 'F') {
				*ambiguous = true;
				step = 3;
				break;
			}
		}
		if (is_dots(sv_n(path.p + at, end - at)))
			return dot_segment;
		/* The last one is empty in every folder's path. */
		if (end < path.n && is_empty(sv_n(path.p + at, end - at)))
			*ambiguous = true;
	}
	return NULL;
}

/* Over the canonical path too: "%25%32e" became "%252e" only there. */
static bool is_encoded_twice(struct sv path)
{
	size_t at;

	for (at = 0; at < path.n; at++)
		if (path.p[at] == '%' && triplet(sv_n(path.p + at, path.n - at)) == '%' &&
		    decodes_twice(sv_n(path.p + at + 3, path.n - at - 3)))
			return true;
	return false;
}

size_t http_target_growth(struct sv s)
{
	size_t n = 0, i;
	unsigned kind = PATH;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '?')
			kind = QUERY;
		n += is_made((unsigned char)s.p[i], kind) || is_bare_percent(sv_n(s.p + i, s.n - i), kind) ? 2 : 0;
	}
	return n;
}

const char *http_path(struct sv s, char *out, struct http_path *ret)
{
	size_t at = 0, n = 0, path_n = 0;
	unsigned kind = PATH;
	const char *wrong;
	struct sv path;

	if (s.n == 0 || s.p[0] != '/')
		return "path does not start with a slash";
	while (at < s.n) {
		if (kind == PATH && s.p[at] == '?') {
			kind = QUERY;
			path_n = n;
			out[n++] = s.p[at++];
			continue;
		}
		wrong = copy_one(s, kind, &at, out, &n);
		if (wrong)
			return wrong;
	}
	path = sv_n(out, kind == PATH ? n : path_n);
	if (is_encoded_twice(path))
		return "path is encoded twice";
	ret->ambiguous = false;
	ret->text = sv_n(out, n);
	return check_segments(path, &ret->ambiguous);
}

/* "http://" in any case; the rest is the authority and what follows. */
static bool cut_scheme(struct sv *s, const char *scheme)
{
	size_t n = strlen(scheme), i;

	if (s->n < n)
		return false;
	for (i = 0; i < n; i++)
		if (lower(s->p[i]) != scheme[i])
			return false;
	*s = sv_n(s->p + n, s->n - n);
	return true;
}

static const char *parse_absolute(struct sv method, struct sv s, char *out, struct http_target *ret)
{
	size_t end = 0;
	const char *wrong;

	ret->form = HTTP_FORM_ABSOLUTE;
	ret->tls = cut_scheme(&s, "https://");
	if (!ret->tls && !cut_scheme(&s, "http://"))
		return "target is neither a path nor an http or https URL";
	while (end < s.n && s.p[end] != '/' && s.p[end] != '?' && s.p[end] != '#')
		end++;
	wrong = http_authority(sv_n(s.p, end), &ret->authority);
	if (wrong)
		return wrong;
	if (!ret->authority.port)
		ret->authority.port = ret->tls ? 443 : 80;
	if (end == s.n) {
		ret->path = (struct http_path){sv_of(sv_is(method, "OPTIONS") ? "*" : "/"), false};
		return NULL;
	}
	/* A query right behind the host would need a byte more than came in, and nobody sends one. */
	return http_path(sv_n(s.p + end, s.n - end), out, &ret->path);
}

const char *http_target(struct sv method, struct sv s, char *out, struct http_target *ret)
{
	const char *wrong;

	*ret = (struct http_target){.form = HTTP_FORM_ORIGIN};
	if (sv_is(method, "CONNECT")) {
		ret->form = HTTP_FORM_AUTHORITY;
		ret->path.text = sv_of("");
		wrong = http_authority(s, &ret->authority);
		return wrong || ret->authority.port ? wrong : "CONNECT target has no port";
	}
	if (sv_is(s, "*")) {
		ret->form = HTTP_FORM_ASTERISK;
		ret->path.text = sv_of("*");
		return sv_is(method, "OPTIONS") ? NULL : "only OPTIONS has the target *";
	}
	if (s.n && s.p[0] == '/')
		return http_path(s, out, &ret->path);
	return parse_absolute(method, s, out, ret);
}

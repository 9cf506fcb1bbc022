#include "conf/value_net.h"

#include <stdio.h>

#include "model/address.h"

enum { HOST_MAX = 253, LABEL_MAX = 63 };

static const char not_a_host[] = "is not a host; write a name such as pypi.org, *.pypi.org, or an IP address";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_hex(char c)
{
	return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

static bool to_cstr(struct sv s, char *to, size_t size)
{
	if (s.n >= size || memchr(s.p, '\0', s.n))
		return false;
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	return true;
}

static bool label_ok(struct sv l)
{
	size_t i;

	if (l.n == 0 || l.n > LABEL_MAX || l.p[0] == '-' || l.p[l.n - 1] == '-')
		return false;
	for (i = 0; i < l.n; i++)
		if (!is_digit(l.p[i]) && !(l.p[i] >= 'a' && l.p[i] <= 'z') && l.p[i] != '-' && l.p[i] != '_')
			return false;
	return true;
}

/* A last label that a browser or libc would read as part of an IPv4 address: digits, or 0x and hex. */
static bool label_numeric(struct sv l)
{
	size_t i = sv_starts(l, "0x") ? 2 : 0;
	bool hex = i == 2;

	for (; i < l.n; i++)
		if (!(hex ? is_hex(l.p[i]) : is_digit(l.p[i])))
			return false;
	return true;
}

static const char *check_labels(struct sv name)
{
	size_t at = 0, end;
	struct sv label = {0};

	if (name.n == 0 || name.n > HOST_MAX)
		return not_a_host;
	for (; at <= name.n; at = end + 1) {
		for (end = at; end < name.n && name.p[end] != '.'; end++)
			;
		label = sv_n(name.p + at, end - at);
		if (!label_ok(label))
			return not_a_host;
	}
	return label_numeric(label) ? "looks like an IP address but is not one; write all four numbers" : NULL;
}

/* Mistakes that have a better answer than "is not a host". */
static const char *host_mistake(struct sv s)
{
	size_t i;

	if (sv_is(s, "*"))
		return "would be every host; write network.mode: public for that";
	if (memmem(s.p, s.n, "://", 3))
		return "is a URL; write the host alone";
	if (memchr(s.p, '/', s.n))
		return "is not a host; write an address range under cidr, and a path under paths";
	if (memchr(s.p, '%', s.n))
		return "has a zone; write the address without it";
	if (s.n && s.p[s.n - 1] == '.')
		return "ends in a dot; write it without";
	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return "is not ASCII; write the name in its xn-- form";
	if (memchr(s.p, ':', s.n))
		return "is not a host; write the port under ports";
	return not_a_host;
}

/* IP literals in their one form. What is IPv4 in the form of IPv6 is refused: written plainly it says what it is. */
static bool literal(struct sv s, char out[ADDRESS_TEXT])
{
	struct address a;

	if (!address_parse(s, &a) || (a.is4 && memchr(s.p, ':', s.n)))
		return false;
	(void)address_text(&a, out);
	return true;
}

static const char *host(struct arena *a, struct sv s, bool wildcard, const char **ret)
{
	char text[HOST_MAX + 3], ip[ADDRESS_TEXT];
	struct sv name;
	const char *wrong;
	size_t i;

	if (literal(s, ip))
		return value_keep(a, sv_of(ip), ret);
	if (!to_cstr(s, text, sizeof(text)))
		return not_a_host;
	for (i = 0; i < s.n; i++)
		text[i] = lower(text[i]);
	name = sv_n(text, s.n);
	if (sv_starts(name, "*.")) {
		if (!wildcard)
			return "has a wildcard; write one exact host";
		name = sv_n(text + 2, s.n - 2);
	}
	wrong = check_labels(name);
	if (wrong)
		return wrong == not_a_host ? host_mistake(s) : wrong;
	return value_keep(a, sv_n(text, s.n), ret);
}

const char *value_host(struct arena *a, struct sv s, const char **ret)
{
	return host(a, s, true, ret);
}

const char *value_host_exact(struct arena *a, struct sv s, const char **ret)
{
	return host(a, s, false, ret);
}

const char *value_cidr(struct arena *a, struct sv s, const char **ret)
{
	static const char wrong[] = "is not an address range; write one such as 10.1.2.0/24 or fd00::/8";
	const char *slash = memchr(s.p, '/', s.n);
	char ip[ADDRESS_TEXT], canonical[ADDRESS_TEXT + 8];
	struct address first;
	struct cidr net;

	if (!cidr_parse(s, &net) || !address_parse(slash ? sv_n(s.p, (size_t)(slash - s.p)) : s, &first))
		return wrong;
	if (!slash)
		return "has no prefix length; add /32, or /128 for IPv6";
	if (net.net.is4 && memchr(s.p, ':', s.n))
		return "is an IPv4 range in IPv6 form; write it as IPv4";
	if (!address_same(&net.net, &first))
		return "has bits set behind its prefix; write the first address of the range";
	(void)snprintf(canonical, sizeof(canonical), "%s/%u", address_text(&first, ip),
		       net.bits - (first.is4 ? 96U : 0U));
	return value_keep(a, sv_of(canonical), ret);
}

static bool unreserved(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._~", c);
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : lower(c) - 'a' + 10;
}

/* Percent-encoding in the one form the gateway compares with: upper-case, and only where it is needed. */
static const char *check_percent(struct sv s, size_t at)
{
	int c;

	if (at + 2 >= s.n || !is_hex(s.p[at + 1]) || !is_hex(s.p[at + 2]))
		return "has a % that is no percent-encoding; write %25 for a percent sign";
	c = hex_value(s.p[at + 1]) * 16 + hex_value(s.p[at + 2]);
	if (c == 0 || c == '/')
		return "has an encoded slash or zero byte; a path with one can be read in two ways, so that it matches "
		       "no paths of a rule that allows, and all of one that denies";
	if (unreserved(c) || s.p[at + 1] >= 'a' || s.p[at + 2] >= 'a')
		return "has percent-encoding that is not canonical; write plain characters plainly, and hex in upper "
		       "case";
	return NULL;
}

static const char *check_segment(struct sv s, bool last, bool wildcards)
{
	const char *wrong;
	size_t i;

	if ((s.n == 0 && !last) || sv_is(s, ".") || sv_is(s, ".."))
		return "is not a URL path; no empty, \".\" or \"..\" part";
	if (wildcards && sv_is(s, "**"))
		return NULL;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] <= 0x20 || s.p[i] >= 0x7f || strchr("?#\\[]{}<>|^`\"", s.p[i]))
			return "is not a URL path; percent-encode what is not plain ASCII, and leave out query and "
			       "fragment";
		if (s.p[i] == '*' && (!wildcards || (i + 1 < s.n && s.p[i + 1] == '*')))
			return wildcards ? "is not a URL path; \"**\" stands only as a whole part"
					 : "has a wildcard; write one exact path";
		wrong = s.p[i] == '%' ? check_percent(s, i) : NULL;
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *url_path(struct arena *a, struct sv s, bool wildcards, const char **ret)
{
	size_t at, end;
	const char *wrong;

	if (wildcards && sv_is(s, "**"))
		return value_keep(a, s, ret);
	if (s.n == 0 || s.p[0] != '/')
		return "is not a URL path; it starts with /";
	if (s.n > 2048)
		return "is longer than 2048 bytes; shorten it";
	for (at = 1; at <= s.n; at = end + 1) {
		for (end = at; end < s.n && s.p[end] != '/'; end++)
			;
		wrong = check_segment(sv_n(s.p + at, end - at), end == s.n, wildcards);
		if (wrong)
			return wrong;
	}
	return value_keep(a, s, ret);
}

const char *value_url_glob(struct arena *a, struct sv s, const char **ret)
{
	return url_path(a, s, true, ret);
}

const char *value_url_path(struct arena *a, struct sv s, const char **ret)
{
	return url_path(a, s, false, ret);
}

bool value_split_port(struct sv s, struct sv *name, struct sv *port)
{
	size_t i = s.n;

	*name = s;
	*port = sv_n("", 0);
	while (i > 0 && s.p[i - 1] != ':' && s.p[i - 1] != ']')
		i--;
	if (i == 0 || s.p[i - 1] == ']')
		return true;
	*name = sv_n(s.p, i - 1);
	*port = sv_n(s.p + i, s.n - i);
	return port->n > 0;
}

const char *value_rate(struct sv s, uint64_t *ret)
{
	static const char wrong[] = "is not a rate; write one such as 10/s, 100/m or 1000/h";
	static const struct {
		char unit;
		uint32_t per_hour;
	} units[] = {{'s', 3600}, {'m', 60}, {'h', 1}};
	uint64_t count = 0;
	size_t i;

	if (s.n < 3 || s.p[s.n - 2] != '/' || value_count(sv_n(s.p, s.n - 2), &count))
		return wrong;
	if (count == 0 || count > 1000000)
		return "is not a rate; write a number from 1 to 1000000 before the slash";
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (s.p[s.n - 1] == units[i].unit) {
			*ret = count * units[i].per_hour;
			return NULL;
		}
	return wrong;
}

const char *value_call(struct arena *a, struct sv s, const char **ret)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr("[]\\", s.p[i]))
			return "is not a name for this; use printable characters without space, and * and ? as the "
			       "only wildcards";
	if (s.n == 0 || s.n > 256)
		return "is not a name for this; use 1 to 256 characters";
	return value_keep(a, s, ret);
}

const char *value_url(struct arena *a, struct sv s, const char **ret)
{
	static const char wrong[] =
		"is not a URL for this; write http:// or https://, a host and maybe a port and a path";
	bool tls = sv_starts(s, "https://");
	struct sv rest, authority, name, port, path;
	const char *h, *p = "", *scheme = tls ? "https" : "http";
	uint64_t number;
	char *slash;

	if (!tls && !sv_starts(s, "http://"))
		return wrong;
	rest = sv_n(s.p + (tls ? 8 : 7), s.n - (tls ? 8 : 7));
	slash = memchr(rest.p, '/', rest.n);
	authority = slash ? sv_n(rest.p, (size_t)(slash - rest.p)) : rest;
	path = sv_n(rest.p + authority.n, rest.n - authority.n);
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	if (!value_split_port(authority, &name, &port) || value_host_exact(a, name, &h) ||
	    (port.n && value_port(port, &number)))
		return wrong;
	if (path.n && value_url_path(a, path, &p))
		return wrong;
	h = arena_printf(a, strchr(h, ':') ? "%s://[%s]%s%.*s%s" : "%s://%s%s%.*s%s", scheme, h, port.n ? ":" : "",
			 (int)port.n, port.p, p);
	return h ? value_keep(a, sv_of(h), ret) : "cannot be kept: out of memory";
}

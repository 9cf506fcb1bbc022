#include "conf/value_net.h"

#include <arpa/inet.h>
#include <stdio.h>

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
		return "is a URL; write the host alone, and its path under paths";
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

/* IP literals in the one form that inet_ntop() gives them. */
static bool literal(struct sv s, char out[INET6_ADDRSTRLEN])
{
	char text[64];
	struct in6_addr v6;
	struct in_addr v4;

	if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
		s = sv_n(s.p + 1, s.n - 2);
	if (!to_cstr(s, text, sizeof(text)))
		return false;
	if (inet_pton(AF_INET, text, &v4) == 1)
		return inet_ntop(AF_INET, &v4, out, INET6_ADDRSTRLEN) != NULL;
	if (inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6))
		return inet_ntop(AF_INET6, &v6, out, INET6_ADDRSTRLEN) != NULL;
	return false;
}

static const char *host(struct arena *a, struct sv s, bool wildcard, const char **ret)
{
	char text[HOST_MAX + 3], ip[INET6_ADDRSTRLEN];
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

/* An address range as 16 bytes (IPv4 as mapped into IPv6) and a prefix length over them. */
struct range {
	uint8_t addr[16];
	uint8_t bits;
	bool v6, has_prefix;
};

static bool prefix_parse(const char *s, unsigned max, unsigned *ret)
{
	uint64_t bits;

	if (value_count(sv_of(s), &bits) || bits > max)
		return false;
	*ret = (unsigned)bits;
	return true;
}

static bool range_parse(const char *text, struct range *ret)
{
	char addr[INET6_ADDRSTRLEN];
	struct in_addr v4;
	const char *slash = strchr(text, '/');
	unsigned max, bits;

	*ret = (struct range){.has_prefix = slash != NULL};
	if (!to_cstr(slash ? sv_n(text, (size_t)(slash - text)) : sv_of(text), addr, sizeof(addr)))
		return false;
	if (inet_pton(AF_INET, addr, &v4) == 1) {
		ret->addr[10] = ret->addr[11] = 0xff;
		memcpy(ret->addr + 12, &v4, 4);
	} else if (inet_pton(AF_INET6, addr, ret->addr) == 1) {
		ret->v6 = true;
	} else {
		return false;
	}
	bits = max = ret->v6 ? 128 : 32;
	if (slash && !prefix_parse(slash + 1, max, &bits))
		return false;
	ret->bits = (uint8_t)(128 - max + bits);
	return true;
}

const char *value_cidr(struct arena *a, struct sv s, const char **ret)
{
	static const char wrong[] = "is not an address range; write one such as 10.1.2.0/24 or fd00::/8";
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[64], ip[INET6_ADDRSTRLEN], canonical[80];
	struct range net;
	unsigned i, bits;

	if (!to_cstr(s, text, sizeof(text)) || !range_parse(text, &net))
		return wrong;
	if (!net.has_prefix)
		return "has no prefix length; add /32, or /128 for IPv6";
	if (net.v6 && memcmp(net.addr, mapped, sizeof(mapped)) == 0)
		return "is an IPv4 range in IPv6 form; write it as IPv4";
	for (i = net.bits; i < 128; i++)
		if (net.addr[i / 8] >> (7 - i % 8) & 1)
			return "has bits set behind its prefix; write the first address of the range";
	if (!inet_ntop(net.v6 ? AF_INET6 : AF_INET, net.v6 ? net.addr : net.addr + 12, ip, sizeof(ip)))
		return wrong;
	bits = net.v6 ? net.bits : net.bits - 96U;
	(void)snprintf(canonical, sizeof(canonical), "%s/%u", ip, bits);
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
	if (c == 0 || c == '/' || unreserved(c) || s.p[at + 1] >= 'a' || s.p[at + 2] >= 'a')
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
			return "is not a name for this; use printable characters without space, and * and ? as the only wildcards";
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

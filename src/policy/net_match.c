#include "policy/net_match.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/glob.h"

/* An address in 16 bytes, IPv4 as ::ffff:a.b.c.d. */
struct address {
	unsigned char b[16];
	bool is4;
};

/* What is not the internet (RFC 6890 and its successors), and the places where clouds keep their metadata. */
static const char *const private_networks[] = {
	"0.0.0.0/8",      "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",      "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24",   "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",   "198.18.0.0/15",  "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4",  "240.0.0.0/4",    "168.63.129.16/32", "::/128",         "::1/128",
	"64:ff9b:1::/48", "100::/64",     "2001::/23",      "2001:db8::/32",    "fc00::/7",       "fe80::/10",
	"fec0::/10",      "ff00::/8",
};

/* Names that always mean such an address. Any other name is judged by what it resolves to, when it is dialled. */
static const char *const private_names[] = {"localhost",    "*.localhost", "localhost.localdomain",   "ip6-localhost",
					    "ip6-loopback", "metadata",    "metadata.google.internal"};

static struct sv trim_dot(struct sv host)
{
	if (host.n > 1 && host.p[host.n - 1] == '.')
		host.n--;
	return host;
}

static bool parse_address(struct sv s, struct address *ret)
{
	static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[64];

	if (s.n >= 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
		s = sv_n(s.p + 1, s.n - 2);
	if (s.n == 0 || s.n >= sizeof(text))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	*ret = (struct address){0};
	if (inet_pton(AF_INET, text, ret->b + 12) == 1) {
		memcpy(ret->b, mapped, sizeof(mapped));
		ret->is4 = true;
		return true;
	}
	if (inet_pton(AF_INET6, text, ret->b) != 1)
		return false;
	ret->is4 = memcmp(ret->b, mapped, sizeof(mapped)) == 0;
	return true;
}

/* bits counts from the left of the 16 bytes. */
static bool parse_cidr(const char *cidr, struct address *ret, unsigned *ret_bits)
{
	const char *slash = strchr(cidr, '/');
	unsigned long bits;
	char *end;

	if (!parse_address(slash ? sv_n(cidr, (size_t)(slash - cidr)) : sv_of(cidr), ret))
		return false;
	bits = slash ? strtoul(slash + 1, &end, 10) : (ret->is4 ? 32 : 128);
	if (slash && (slash[1] < '0' || slash[1] > '9' || *end || bits > (ret->is4 && !strchr(cidr, ':') ? 32 : 128)))
		return false;
	*ret_bits = (unsigned)bits + (ret->is4 && !strchr(cidr, ':') ? 96 : 0);
	return true;
}

static bool same_bits(const struct address *a, const struct address *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a->b, b->b, whole) != 0)
		return false;
	return rest == 0 || (a->b[whole] ^ b->b[whole]) >> (8 - rest) == 0;
}

static bool cidr_has(const char *cidr, const struct address *a)
{
	struct address net;
	unsigned bits;

	if (!parse_cidr(cidr, &net, &bits))
		return false;
	/* A v6 prefix as short as ::/0 would swallow the mapped v4 addresses. */
	return net.is4 == a->is4 && same_bits(&net, a, bits);
}

/* NAT64 and 6to4 carry a v4 address that decides. */
static void unwrap(struct address *a)
{
	static const unsigned char nat64[12] = {0, 0x64, 0xff, 0x9b};
	static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	unsigned char v4[4];

	if (a->is4)
		return;
	if (memcmp(a->b, nat64, sizeof(nat64)) == 0)
		memcpy(v4, a->b + 12, sizeof(v4));
	else if (a->b[0] == 0x20 && a->b[1] == 0x02)
		memcpy(v4, a->b + 2, sizeof(v4));
	else
		return;
	memcpy(a->b, mapped, sizeof(mapped));
	memcpy(a->b + 12, v4, sizeof(v4));
	a->is4 = true;
}

/* The last label begins with a digit: no top-level domain does, but addresses in odd forms do. */
static bool looks_numeric(struct sv host)
{
	size_t i = host.n;

	while (i > 0 && host.p[i - 1] != '.')
		i--;
	return i < host.n && host.p[i] >= '0' && host.p[i] <= '9';
}

enum host_class net_host_class(struct sv host)
{
	struct address a;
	size_t i;

	host = trim_dot(host);
	if (parse_address(host, &a)) {
		unwrap(&a);
		for (i = 0; i < ARRAY_LEN(private_networks); i++)
			if (cidr_has(private_networks[i], &a))
				return HOST_PRIVATE;
		return HOST_PUBLIC;
	}
	if (host.n == 0 || looks_numeric(host))
		return HOST_PRIVATE;
	for (i = 0; i < ARRAY_LEN(private_names); i++)
		if (net_host_matches(private_names[i], host))
			return HOST_PRIVATE;
	return HOST_NAME;
}

static bool same_name(struct sv a, struct sv b)
{
	return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

bool net_host_matches(const char *pattern, struct sv host)
{
	struct sv p = trim_dot(sv_of(pattern));
	struct address a, b;

	host = trim_dot(host);
	if (!sv_starts(p, "*.")) {
		if (same_name(p, host))
			return true;
		/* An address has several spellings; a name has none of its marks. */
		if (p.n == 0 || !(memchr(p.p, ':', p.n) || (p.p[p.n - 1] >= '0' && p.p[p.n - 1] <= '9')))
			return false;
		return parse_address(p, &a) && parse_address(host, &b) && same_bits(&a, &b, 128);
	}
	p = sv_n(p.p + 1, p.n - 1); /* ".name" */
	return host.n > p.n && host.p[0] != '.' && same_name(p, sv_n(host.p + host.n - p.n, p.n));
}

bool net_host_covers(const char *outer, const char *inner)
{
	struct sv in = sv_of(inner);

	if (!sv_starts(in, "*."))
		return net_host_matches(outer, in);
	if (!sv_starts(sv_of(outer), "*."))
		return false;
	/* "*.a.b" is covered by "*.a.b" and by "*.b": whatever stands below a.b stands below b. */
	in = sv_n(inner + 2, in.n - 2);
	return same_name(trim_dot(sv_of(outer + 2)), trim_dot(in)) || net_host_matches(outer, in);
}

bool net_cidr_has(const char *cidr, struct sv address)
{
	struct address a;

	return parse_address(trim_dot(address), &a) && cidr_has(cidr, &a);
}

bool net_cidr_covers(const char *outer, const char *inner)
{
	struct address a, b;
	unsigned a_bits, b_bits;

	if (!parse_cidr(outer, &a, &a_bits) || !parse_cidr(inner, &b, &b_bits))
		return false;
	return a.is4 == b.is4 && a_bits <= b_bits && same_bits(&a, &b, a_bits);
}

static struct sv next_segment(struct sv *rest)
{
	const char *slash = memchr(rest->p, '/', rest->n);
	struct sv s = slash ? sv_n(rest->p, (size_t)(slash - rest->p)) : *rest;

	*rest = slash ? sv_n(slash + 1, rest->n - s.n - 1) : sv_n(NULL, 0);
	return s;
}

/*
 * Both without their leading slash; p == NULL: used up (an empty string still holds one empty segment). Only the last
 * "**" ever needs to take more, so the work is bounded by the product of the lengths whatever the path says.
 */
static bool segments_match(struct sv pattern, struct sv path)
{
	struct sv star_pattern = {0}, star_path = {0}, p, s;

	for (;;) {
		struct sv pattern_rest = pattern, path_rest = path;

		if (!pattern.p && !path.p)
			return true;
		if (pattern.p) {
			p = next_segment(&pattern_rest);
			if (sv_is(p, "**") && !pattern_rest.p)
				return path.p != NULL;
			if (sv_is(p, "**")) {
				star_pattern = pattern = pattern_rest;
				star_path = path;
				continue;
			}
			if (!path.p)
				return false;
			s = next_segment(&path_rest);
			if (glob_component(p, s)) {
				pattern = pattern_rest;
				path = path_rest;
				continue;
			}
		}
		if (!star_path.p)
			return false;
		(void)next_segment(&star_path);
		pattern = star_pattern;
		path = star_path;
	}
}

static struct sv skip_slash(struct sv s)
{
	return s.n && s.p[0] == '/' ? sv_n(s.p + 1, s.n - 1) : s;
}

bool net_path_matches(const char *pattern, struct sv path)
{
	const char *query = memchr(path.p, '?', path.n);

	if (query)
		path.n = (size_t)(query - path.p);
	if (path.n == 0)
		path = sv_of("/");
	return segments_match(skip_slash(sv_of(pattern)), skip_slash(path));
}

bool net_path_covers(const char *outer, const char *inner)
{
	struct sv in = sv_of(inner), out = sv_of(outer);
	size_t fixed = strcspn(inner, "*?[\\");

	if (sv_eq(in, out) || sv_is(out, "**") || sv_is(out, "/**"))
		return true;
	if (fixed == in.n)
		return net_path_matches(outer, in);
	/* "/a/" + "**" covers whatever begins with "/a/" in plain letters. */
	return sv_ends(out, "/**") && strcspn(outer, "*?[\\") == out.n - 2 && fixed >= out.n - 2 &&
	       memcmp(inner, outer, out.n - 2) == 0;
}

static bool has_port(const struct net_rule *r, uint16_t port)
{
	uint32_t i;

	for (i = 0; i < r->n_ports; i++)
		if (r->ports[i] == port)
			return true;
	return false;
}

bool net_port_allowed(const struct net_rule *r, uint16_t port)
{
	if (r->n_ports == 0)
		return port == 0 || port == 443 || port == 80;
	return port ? has_port(r, port) : has_port(r, 443) || has_port(r, 80);
}

bool net_port_denied(const struct net_rule *r, uint16_t port)
{
	if (r->n_ports == 0)
		return true;
	/* "443 or 80" is refused only where both are. */
	return port ? has_port(r, port) : has_port(r, 443) && has_port(r, 80);
}

bool net_method_in(const struct pol_list *methods, const char *method)
{
	uint32_t i;

	if (!methods->set && methods->n == 0)
		return true;
	for (i = 0; i < methods->n; i++)
		if (strcasecmp(methods->v[i].s, method) == 0)
			return true;
	return false;
}

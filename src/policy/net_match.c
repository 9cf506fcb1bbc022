#include "policy/net_match.h"

#include <strings.h>

#include "base/cleanup.h"
#include "base/field_name.h"
#include "base/glob.h"
#include "policy/net_parameter.h"

/* Names that always mean such an address. Any other name is judged by what it resolves to, when it is dialled. */
static const char *const private_names[] = {"localhost",    "*.localhost", "localhost.localdomain",   "ip6-localhost",
					    "ip6-loopback", "metadata",    "metadata.google.internal"};

static struct sv trim_dot(struct sv host)
{
	if (host.n > 1 && host.p[host.n - 1] == '.')
		host.n--;
	return host;
}

/* Labels of letters, digits, "-" and "_", in lower case. */
static bool is_name(struct sv s)
{
	size_t i, label = 0;

	if (s.n == 0 || s.n > 253)
		return false;
	for (i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '.' ? label == 0 : !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > 63)
			return false;
	}
	return label > 0;
}

static enum host_class class_of_name(struct sv name)
{
	size_t i;

	if (!is_name(name))
		return HOST_BAD;
	if (address_looks_numeric(name))
		return HOST_PRIVATE;
	for (i = 0; i < ARRAY_LEN(private_names); i++)
		if (net_host_matches(private_names[i], name))
			return HOST_PRIVATE;
	return HOST_NAME;
}

void net_host_of_address(const struct address *a, struct net_host *ret)
{
	ret->address = *a;
	ret->is_address = true;
	ret->class = address_floor(a) == FLOOR_NONE ? HOST_PUBLIC : HOST_PRIVATE;
	ret->n = strlen(address_text(a, ret->text));
}

bool net_host_carried(const struct net_host *h, unsigned i, struct net_host *ret)
{
	struct address carried[ADDRESS_CARRIED];

	if (!h->is_address || i >= address_carried(&h->address, carried))
		return false;
	net_host_of_address(&carried[i], ret);
	return true;
}

void net_host_read(struct sv host, struct net_host *ret)
{
	struct address a;
	size_t i;

	host = trim_dot(host);
	ret->text[0] = '\0';
	ret->n = 0;
	ret->class = HOST_BAD;
	ret->is_address = false;
	if (host.n >= sizeof(ret->text))
		return;
	if ((address_looks_numeric(host) || memchr(host.p, ':', host.n)) && address_parse(host, &a)) {
		net_host_of_address(&a, ret);
		return;
	}
	for (i = 0; i < host.n; i++)
		ret->text[i] = (char)(host.p[i] >= 'A' && host.p[i] <= 'Z' ? host.p[i] | 0x20 : host.p[i]);
	ret->class = class_of_name(sv_n(ret->text, host.n));
	ret->n = ret->class == HOST_BAD ? 0 : host.n;
	ret->text[ret->n] = '\0';
}

enum host_class net_host_class(struct sv host)
{
	struct net_host h;

	net_host_read(host, &h);
	return h.class;
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
		return address_parse(p, &a) && address_parse(host, &b) && address_same(&a, &b);
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
	struct cidr c;

	return cidr_parse(sv_of(cidr), &c) && address_parse(trim_dot(address), &a) && cidr_has(&c, &a);
}

bool net_cidr_covers(const char *outer, const char *inner)
{
	struct cidr a, b;

	return cidr_parse(sv_of(outer), &a) && cidr_parse(sv_of(inner), &b) && cidr_covers(&a, &b);
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

/* In lower case, and without dots and blanks behind the name of a segment. to has n bytes. */
static size_t fold_path(struct sv path, char *to)
{
	size_t i, n = 0, segment = 0;

	for (i = 0; i <= path.n; i++) {
		if (i == path.n || path.p[i] == '/') {
			for (;;) {
				if (n > segment && to[n - 1] == '.')
					n--;
				else if (n >= segment + 3 && memcmp(to + n - 3, "%20", 3) == 0)
					n -= 3;
				else
					break;
			}
			segment = n + 1;
		}
		if (i < path.n)
			to[n++] = (char)(path.p[i] >= 'A' && path.p[i] <= 'Z' ? path.p[i] | 0x20 : path.p[i]);
	}
	return n;
}

bool net_path_denied(const char *pattern, struct sv path)
{
	char folded[NET_PATH_FOLDED], folded_pattern[NET_PATH_FOLDED];
	const char *query = memchr(path.p, '?', path.n);
	size_t i, n = strlen(pattern);
	struct sv p, s;

	if (net_path_matches(pattern, path))
		return true;
	path.n = query ? (size_t)(query - path.p) : path.n;
	if (path.n > sizeof(folded) || n > sizeof(folded_pattern))
		return path.n > sizeof(folded);
	for (i = 0; i < n; i++)
		folded_pattern[i] = (char)(pattern[i] >= 'A' && pattern[i] <= 'Z' ? pattern[i] | 0x20 : pattern[i]);
	p = skip_slash(sv_n(folded_pattern, n));
	s = skip_slash(sv_n(folded, fold_path(path, folded)));
	if (segments_match(p, s))
		return true;
	if (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	/* who denies all below a path means the path, too */
	return segments_match(p, s) || (sv_ends(p, "/**") && segments_match(sv_n(p.p, p.n - 3), s));
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

/* The byte that "%XX" at the start of s stands for, or -1. */
static int percent(struct sv s)
{
	int high = s.n >= 3 && s.p[0] == '%' ? hex_digit(s.p[1]) : -1, low = high >= 0 ? hex_digit(s.p[2]) : -1;

	return low >= 0 ? high * 16 + low : -1;
}

/* Encoded, it is either something else than it looks like or needed no encoding. */
static bool is_odd_byte(int c)
{
	return c <= 0 || c == '/' || c == '\\' || c == ';' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("-._~", c);
}

static bool is_odd_escape(struct sv s)
{
	int c = percent(s), twice;
	char again[3];

	if (c < 0 || is_odd_byte(c) || s.p[1] >= 'a' || s.p[2] >= 'a')
		return true;
	if (c != '%' || s.n < 5)
		return false;
	again[0] = '%';
	memcpy(again + 1, s.p + 3, 2);
	twice = percent(sv_n(again, sizeof(again)));
	return twice >= 0 && is_odd_byte(twice);
}

/* One dot or two; or dots with blanks behind them, which some servers cut off. */
static bool is_dots(struct sv segment)
{
	bool blanks = false;
	size_t i = 0;

	if (segment.n == 0 || segment.p[0] != '.')
		return false;
	while (i < segment.n) {
		if (segment.p[i] != '.' && !sv_starts(sv_n(segment.p + i, segment.n - i), "%20"))
			return false;
		blanks = blanks || segment.p[i] == '%';
		i += segment.p[i] == '.' ? 1 : 3;
	}
	return blanks || segment.n <= 2;
}

bool net_path_is_odd(struct sv path)
{
	struct sv rest, segment;
	size_t i;

	if (path.n == 0 || path.p[0] != '/')
		return true;
	for (i = 0; i < path.n; i++)
		if (path.p[i] <= ' ' || path.p[i] >= 0x7f || path.p[i] == '\\' || path.p[i] == '#' || path.p[i] == ';' ||
		    (path.p[i] == '%' && is_odd_escape(sv_n(path.p + i, path.n - i))))
			return true;
	for (rest = sv_n(path.p + 1, path.n - 1); rest.p;) {
		segment = next_segment(&rest);
		if (is_dots(segment) || (segment.n == 0 && rest.p))
			return true;
	}
	return false;
}

/* The next byte of a path, decoded. */
static int next_byte(struct sv *s)
{
	int c = percent(*s);
	size_t used = c < 0 ? 1 : 3;

	c = c < 0 ? (unsigned char)s->p[0] : c;
	*s = sv_n(s->p + used, s->n - used);
	return c;
}

enum { SHORT_STEM = 6, SHORT_NAME = 12 }; /* "SECRET~1.TXT" */

/* What Windows makes of a long name: at most six letters, "~" and a number, and at most three more behind a dot. */
static bool is_short_name(const char *name, size_t n)
{
	size_t tilde = 0, i;

	while (tilde < n && name[tilde] != '~')
		tilde++;
	if (tilde == 0 || tilde > SHORT_STEM || n > SHORT_NAME)
		return false;
	for (i = tilde + 1; i < n && name[i] >= '0' && name[i] <= '9'; i++)
		;
	return i > tilde + 1 && (i == n || name[i] == '.');
}

static bool is_folded_segment(struct sv segment)
{
	char name[SHORT_NAME + 1] = {0};
	int c, before = 0;
	size_t n = 0;

	while (segment.n) {
		c = next_byte(&segment);
		if (before == ':' && c == '$')
			return true;
		before = c;
		if (n < sizeof(name))
			name[n++] = (char)c;
	}
	if (n >= 3 && name[0] == '(' && (name[1] | 0x20) >= 'a' && (name[1] | 0x20) <= 'z' && name[2] == '(')
		return true;
	return is_short_name(name, n);
}

bool net_path_is_folded(struct sv path)
{
	struct sv rest;

	for (rest = skip_slash(path); rest.p;)
		if (is_folded_segment(next_segment(&rest)))
			return true;
	return false;
}

/* All of them start with one of these, and few others do. */
static bool name_is_one_of(struct sv name, const char *const *names)
{
	if (name.n == 0 || !memchr("xhdr", name.p[0], 4))
		return false;
	for (; *names; names++)
		if (field_name_is(name, *names))
			return true;
	return false;
}

static const char *const overriding[] = {"x-http-method-override", "x-http-method", "x-method-override", "http-method-override",
					 "x-original-method", "x-forwarded-method", "x-tunneled-method", "x-http-verb-override", "x-http-verb",
					 "x-verb-override", "x-rest-method", "x-requested-http-method", "x-http-override", "x-override-method",
					 "x-http-requested-method", "x-requested-method", "x-http-method-name", NULL};

bool net_field_overrides(struct sv name)
{
	return name_is_one_of(name, overriding);
}

bool net_field_rewrites(struct sv name)
{
	static const char *const names[] = {"x-original-url",     "x-original-uri",   "x-original-path",  "x-rewrite-url",
					    "x-rewrite-uri",      "x-rewrite-path",   "x-override-url",   "x-forwarded-uri",
					    "x-forwarded-url",    "x-forwarded-path", "x-forwarded-prefix", "x-script-name",
					    "x-envoy-original-path", "x-http-path-override", "x-real-path", "request-uri",
					    /* of stores and WebDAV: what is copied, moved, and whereto */
					    "x-amz-copy-source",  "x-amz-rename-source", "x-goog-copy-source", "x-ms-copy-source",
					    "x-ms-rename-source", "x-oss-copy-source", "x-cos-copy-source", "x-obs-copy-source",
					    "x-tos-copy-source",  "x-copy-from",      "destination",      NULL};

	return name_is_one_of(name, names);
}

bool net_parameter_overrides(struct sv s)
{
	/* of frameworks, of Salesforce and of OData: "$method" is the same */
	static const char *const names[] = {"_method", "_httpmethod", "_http_method"};
	char first = net_parameter_first(s);
	size_t i;

	/* few names start like one of them */
	if (is_letter_or_digit(first) && !memchr("xhm", first, 3))
		return false;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (net_parameter_is(s, names[i]))
			return true;
	for (i = 0; overriding[i]; i++)
		if (net_parameter_is(s, overriding[i]))
			return true;
	return false;
}

bool net_query_overrides(struct sv target)
{
	const char *mark = memchr(target.p, '?', target.n);
	struct sv rest;
	size_t n, name;

	if (!mark)
		return false;
	for (rest = sv_n(mark + 1, target.n - (size_t)(mark + 1 - target.p)); rest.n;
	     rest = sv_n(rest.p + n, rest.n - n)) {
		for (n = 0; n < rest.n && rest.p[n] != '&' && rest.p[n] != ';'; n++)
			;
		for (name = 0; name < n && rest.p[name] != '='; name++)
			;
		if (net_parameter_overrides(sv_n(rest.p, name)))
			return true;
		n += n < rest.n;
	}
	return false;
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

bool net_method_in(const struct pol_list *methods, struct sv method)
{
	uint32_t i;

	if (!methods->set && methods->n == 0)
		return true;
	for (i = 0; i < methods->n; i++)
		if (sv_is(method, methods->v[i].s))
			return true;
	return false;
}

bool net_method_denied(const struct pol_list *methods, struct sv method)
{
	uint32_t i;

	for (i = 0; i < methods->n; i++)
		if (same_name(sv_of(methods->v[i].s), method))
			return true;
	return false;
}

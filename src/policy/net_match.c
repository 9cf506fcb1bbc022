#include "policy/net_match.h"

#include <strings.h>

#include "base/cleanup.h"
#include "base/field_name.h"
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

/* All of them start with one of these, and few others do. */
static bool name_is_one_of(struct sv name, const char *const *names)
{
	if (name.n == 0 || !memchr("xhdrspu", name.p[0], 7))
		return false;
	for (; *names; names++)
		if (field_name_is(name, *names))
			return true;
	return false;
}

static const char *const overriding[] = {"x-http-method-override", "x-http-method",        "x-method-override",
					 "http-method-override",   "x-original-method",    "x-forwarded-method",
					 "x-tunneled-method",      "x-http-verb-override", "x-http-verb",
					 "x-verb-override",        "x-rest-method",        "x-requested-http-method",
					 "x-http-override",        "x-override-method",    "x-http-requested-method",
					 "x-requested-method",     "x-http-method-name",   NULL};

bool net_field_overrides(struct sv name)
{
	return name_is_one_of(name, overriding);
}

bool net_field_rewrites(struct sv name)
{
	static const char *const names[] = {
		"x-original-url", "x-original-uri", "x-original-path", "x-rewrite-url", "x-rewrite-uri",
		"x-rewrite-path", "x-override-url", "x-forwarded-uri", "x-forwarded-url", "x-forwarded-path",
		"x-forwarded-prefix", "x-script-name", "x-envoy-original-path", "x-http-path-override", "x-real-path",
		"request-uri",
		/* of CGI and its heirs: a server that makes variables of fields takes them for its own (gunicorn cuts
		   SCRIPT_NAME off the path) */
		"script-name", "path-info", "x-path-info", "path-translated", "x-replaced-path", "x-matched-path",
		"x-invoke-path", "x-now-route-matches", "x-middleware-rewrite", "x-nextjs-rewrite",
		"x-waws-unencoded-url", "x-ms-original-url", "x-arr-original-url", "x-proxy-url", "proxy-url",
		"x-http-destinationurl", "x-url", "x-uri", "x-path", "url", "uri", "path", "raw-uri", "document-uri",
		/* of stores and WebDAV: what is copied, moved, and whereto */
		"x-amz-copy-source", "x-amz-rename-source", "x-goog-copy-source", "x-ms-copy-source",
		"x-ms-rename-source", "x-oss-copy-source", "x-cos-copy-source", "x-obs-copy-source",
		"x-tos-copy-source", "x-copy-from", "destination", NULL};

	return name_is_one_of(name, names);
}

/* Forwarded (RFC 7239) has parameters, and "host=" is one of them; about the client it may say what it likes. */
static bool names_host(struct sv value)
{
	size_t i, end;

	for (i = 0; i + 4 < value.n; i++) {
		if (!same_name(sv_n(value.p + i, 4), sv_of("host")))
			continue;
		for (end = i + 4; end < value.n && (value.p[end] == ' ' || value.p[end] == '\t'); end++)
			;
		if (end < value.n && value.p[end] == '=')
			return true;
	}
	return false;
}

bool net_field_rehosts(struct sv name, struct sv value)
{
	static const char *const names[] = {
		"x-forwarded-host", "x-forwarded-server",    "x-forwarded-http-host", "x-host",
		"x-http-host",      "x-http-host-override",  "x-host-override",       "x-override-host",
		"x-original-host",  "x-real-host",           "x-rewrite-host",        "x-proxy-host",
		"x-backend-host",   "x-envoy-original-host", "x-ms-original-host",    NULL};

	return name_is_one_of(name, names) || (field_name_is(name, "forwarded") && names_host(value));
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

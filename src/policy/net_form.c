#include "policy/net_form.h"

#include <strings.h>

#include "base/coding.h"
#include "policy/net_match.h"

static const char disposition[] = "content-disposition";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct sv trim(struct sv s)
{
	while (s.n && is_blank(s.p[0]))
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool is_type(struct sv type, const char *name)
{
	return type.n == strlen(name) && strncasecmp(type.p, name, type.n) == 0;
}

static bool ends_in(struct sv type, const char *name)
{
	size_t n = strlen(name);

	return type.n >= n && strncasecmp(type.p + type.n - n, name, n) == 0;
}

enum net_form_kind net_form_kind(struct sv type)
{
	const char *end = type.p ? memchr(type.p, ';', type.n) : NULL;

	if (end)
		type.n = (size_t)(end - type.p);
	type = type.p ? trim(type) : type;
	if (type.n == 0 || is_type(type, "application/x-www-form-urlencoded"))
		return NET_FORM_URL;
	if (type.n >= 10 && strncasecmp(type.p, "multipart/", 10) == 0)
		return NET_FORM_PARTS;
	return is_type(type, "application/json") || ends_in(type, "+json") ? NET_FORM_JSON : NET_FORM_NONE;
}

bool net_form_matters(const struct ruleset *rules, const struct net_request *q, const struct net_verdict *v)
{
	struct net_request asking = *q;
	struct net_verdict other;

	if (q->asks.override)
		return false;
	asking.asks.override = true;
	net_rules_request(rules, &asking, &other);
	return !other.allow || other.next != v->next;
}

void net_form_init(struct net_form *f, enum net_form_kind kind)
{
	f->kind = kind;
	f->found = f->passing = f->fresh = f->too_long = f->quoted = f->escaped = f->named = false;
	f->depth = f->n = 0;
}

static void keep(struct net_form *f, char c)
{
	if (f->n < sizeof(f->text))
		f->text[f->n++] = c;
	else
		f->too_long = true;
}

static void feed_url(struct net_form *f, char c)
{
	if (c == '&' || c == ';') {
		f->passing = false;
		f->n = 0;
	} else if (f->passing) {
		return;
	} else if (c == '=') {
		f->found = net_parameter_overrides(sv_n(f->text, f->n));
		f->passing = true;
	} else if (!(f->n == 0 && (c == '+' || c == ' '))) {
		keep(f, c);
		/* blanks before a name are none of it */
		if (f->n == 3 && memcmp(f->text, "%20", 3) == 0)
			f->n = 0;
	}
}

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-_.*!#$%&'+^`|~", c);
}

/* The value behind "=", which may be quoted. */
static bool value_overrides(struct sv s)
{
	bool quoted = s.n && s.p[0] == '"';
	char value[NET_FORM_LINE];
	size_t n = 0, i;

	for (i = quoted; i < s.n && s.p[i] != (quoted ? '"' : ';'); i++) {
		if (quoted && s.p[i] == '\\' && i + 1 < s.n)
			i++;
		value[n++] = s.p[i];
	}
	return net_parameter_overrides(trim(sv_n(value, n)));
}

/* A whole line that starts with the field's name. */
static bool disposition_overrides(struct sv line)
{
	size_t i;
	struct sv rest;

	for (i = sizeof(disposition) - 1; i + 4 <= line.n; i++) {
		if (strncasecmp(line.p + i, "name", 4) != 0 || is_token(line.p[i - 1]))
			continue;
		rest = trim(sv_n(line.p + i + 4, line.n - i - 4));
		if (rest.n && rest.p[0] == '*')
			return true; /* in an encoding of its own */
		if (rest.n && rest.p[0] == '=' && value_overrides(trim(sv_n(rest.p + 1, rest.n - 1))))
			return true;
	}
	return false;
}

static void end_line(struct net_form *f)
{
	if (!f->passing && f->n > sizeof(disposition) - 1)
		f->found = f->too_long || disposition_overrides(sv_n(f->text, f->n));
	f->n = 0;
	f->passing = f->too_long = false;
}

static void feed_parts(struct net_form *f, char c)
{
	size_t at = f->n;

	if (f->fresh && !is_blank(c))
		end_line(f);
	at = f->n;
	f->fresh = c == '\n';
	if (f->fresh || c == '\r' || f->passing)
		return;
	keep(f, c);
	/* of other lines nothing need be kept */
	if (at < sizeof(disposition) - 1 && (c >= 'A' && c <= 'Z' ? c | 0x20 : c) != disposition[at])
		f->passing = true;
}

/* A string has ended: is it a name that asks, should a colon follow? */
static bool is_name(const struct net_form *f)
{
	char name[32];
	size_t n = 0, i;

	for (i = 0; i < f->n && n < sizeof(name); i++) {
		name[n] = f->text[i];
		if (f->text[i] == '\\' && i + 5 < f->n && f->text[i + 1] == 'u') {
			/* characters above U+00FF are in no name that asks */
			name[n] = (char)(hex_byte(f->text[i + 2], f->text[i + 3]) == 0 ? hex_byte(f->text[i + 4], f->text[i + 5]) : '?');
			i += 5;
		}
		n++;
	}
	return i == f->n && f->depth == 1 && net_parameter_overrides(sv_n(name, n));
}

static void feed_string(struct net_form *f, char c)
{
	if (c == '"' && !f->escaped) {
		f->quoted = false;
		f->named = !f->too_long && is_name(f);
		return;
	}
	f->escaped = c == '\\' && !f->escaped;
	keep(f, c);
}

static void feed_json(struct net_form *f, char c)
{
	if (f->quoted) {
		feed_string(f, c);
		return;
	}
	if (c == '"') {
		f->quoted = true;
		f->n = 0;
		f->too_long = f->escaped = false;
	} else if (c == ':') {
		f->found = f->named;
	} else if (c == '{' || c == '[') {
		f->depth += f->depth < UINT32_MAX;
	} else if ((c == '}' || c == ']') && f->depth) {
		f->depth--;
	}
	if (!is_blank(c) && c != '\r' && c != '\n')
		f->named = false;
}

bool net_form_feed(struct net_form *f, struct sv bytes)
{
	static void (*const feeds[])(struct net_form *, char) = {[NET_FORM_URL] = feed_url, [NET_FORM_PARTS] = feed_parts, [NET_FORM_JSON] = feed_json};
	size_t i;

	if (f->kind == NET_FORM_NONE)
		return false;
	for (i = 0; i < bytes.n && !f->found; i++)
		feeds[f->kind](f, bytes.p[i]);
	return f->found;
}

#include "policy/net_form_head.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/field_name.h"

static bool starts(struct sv s, const char *what)
{
	return s.n >= strlen(what) && strncasecmp(s.p, what, strlen(what)) == 0;
}

/* What comes behind the first `what` in any case; p NULL: it is not there. */
static struct sv behind(struct sv s, const char *what)
{
	size_t n = strlen(what);

	for (; s.n >= n; s = sv_n(s.p + 1, s.n - 1))
		if (starts(s, what))
			return sv_n(s.p + n, s.n - n);
	return sv_n(NULL, 0);
}

static bool has(struct sv s, const char *what)
{
	return behind(s, what).p != NULL;
}

static size_t token(struct sv s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] && (is_letter_or_digit(s.p[n]) || strchr("!#$%&'*+-.^_`|~", s.p[n])))
		n++;
	return n;
}

static struct sv skip(struct sv s, const char *what)
{
	while (s.n && s.p[0] && strchr(what, s.p[0]))
		s = sv_n(s.p + 1, s.n - 1);
	return s;
}

/* a/b, and parameters if any. */
static bool is_type(struct sv s)
{
	size_t n = token(s);

	if (n == 0 || n == s.n || s.p[n] != '/')
		return false;
	s = sv_n(s.p + n + 1, s.n - n - 1);
	n = token(s);
	s = skip(sv_n(s.p + n, s.n - n), " \t");
	return n && (s.n == 0 || s.p[0] == ';');
}

static unsigned mentioned(struct sv s)
{
	unsigned kinds = has(s, "json") ? NET_FORM_JSON : 0;

	if (has(s, "multipart") || has(s, "boundary"))
		kinds |= NET_FORM_PARTS;
	if (has(s, "urlencoded") || has(s, "url-encoded") || (has(s, "form") && !(kinds & NET_FORM_PARTS)))
		kinds |= NET_FORM_URL;
	return kinds;
}

/* Character sets in which the letters of ASCII have its bytes. */
static bool is_like_ascii(struct sv name)
{
	static const char *const sets[] = {"utf-8",   "utf8",     "us-ascii", "ascii",       "iso-8859",
					   "iso8859", "iso_8859", "latin",    "windows-125", "cp125",
					   "koi8",    "gb",       "big5",     "euc",         "shift"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(sets); i++)
		if (starts(name, sets[i]))
			return true;
	return name.n == 0;
}

static bool names_other_charset(struct sv s)
{
	for (s = behind(s, "charset"); s.p; s = behind(s, "charset"))
		if (!is_like_ascii(skip(s, " \t*=\"'")))
			return true;
	return false;
}

static void read_boundary(struct net_form_head *h, struct sv s)
{
	bool quoted;
	size_t n = 0;

	for (s = behind(s, "boundary"); s.p; s = behind(s, "boundary")) {
		h->boundaries++;
		h->boundary = sv_n("", 0);
		if (s.n == 0 || s.p[0] != '=')
			continue;
		quoted = s.n > 1 && s.p[1] == '"';
		s = sv_n(s.p + 1 + quoted, s.n - 1 - quoted);
		/* some cut what is not quoted at the first character that a token cannot have */
		for (n = 0; n < s.n && s.p[n] &&
			    (is_letter_or_digit(s.p[n]) || strchr(quoted ? "()+_-./:=?" : "+_-.", s.p[n]));)
			n++;
		if (n > NET_FORM_BOUNDARY - 2 || (quoted ? n == s.n || s.p[n] != '"' : n < s.n && s.p[n] != ';'))
			continue;
		h->boundary = sv_n(s.p, n);
	}
}

void net_form_head_field(struct net_form_head *h, struct sv name, struct sv value)
{
	if (field_name_is(name, "content-encoding")) {
		h->codings++;
		h->coding = value;
	}
	if (!field_name_is(name, "content-type"))
		return;
	h->types++;
	h->mentioned |= mentioned(value);
	h->odd = h->odd || !is_type(value);
	h->messages = h->messages || starts(value, "application/grpc") || starts(value, "application/connect+");
	h->other_charset = h->other_charset || names_other_charset(value);
	read_boundary(h, value);
	if (h->boundaries > 1)
		h->boundary = sv_n("", 0);
}

unsigned net_form_head_kinds(const struct net_form_head *h)
{
	return h->mentioned | NET_FORM_JSON | (h->types != 1 || h->odd ? NET_FORM_URL : 0);
}

bool net_form_head_is_illegible(const struct net_form_head *h)
{
	return h->other_charset && (h->mentioned || h->types > 1 || h->odd);
}

bool net_form_head_is_coded(const struct net_form_head *h)
{
	return h->codings > 1 || (h->codings && !(h->coding.n == 8 && starts(h->coding, "identity")) && h->coding.n);
}

#include "vault/needle_decode.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/coding.h"

/* ENDED: it was complete before the last unit, which is not part of it. */
/* BEHIND: the first unit is none of it. */
enum verdict { MORE, DONE, ENDED, BEHIND, NO_ESCAPE };

/* Units from..to-1 are hexadecimal digits so far; their value once all are there. Characters above U+00FF are no byte
 * of any needle: 0. */
static enum verdict digits(const struct needle_decoder *d, unsigned from, unsigned to, unsigned char *ret)
{
	unsigned v = 0, i;

	for (i = from; i < to && i < d->n; i++) {
		if (hex_value((char)d->pending[i].c) < 0)
			return NO_ESCAPE;
		v = v * 16 + (unsigned)hex_value((char)d->pending[i].c);
	}
	if (d->n < to)
		return MORE;
	*ret = v > 0xff ? 0 : (unsigned char)v;
	return DONE;
}

/* The value once a semicolon is there, or anything else that is no digit: readers of HTML make do without. base 10
 * or 16. */
static enum verdict number(const struct needle_decoder *d, unsigned from, unsigned base, unsigned char *ret)
{
	unsigned v = 0, i;
	int digit;

	for (i = from; i < d->n; i++) {
		digit = hex_value((char)d->pending[i].c);
		if (digit < 0 || (unsigned)digit >= base)
			break;
		v = v * base + (unsigned)digit;
	}
	if (i - from > NEEDLE_DIGITS || (i == from && i < d->n))
		return NO_ESCAPE;
	*ret = v > 0xff ? 0 : (unsigned char)v;
	if (i == d->n)
		return MORE;
	if (d->pending[i].c == ';')
		return DONE;
	if (d->late && needle_starts_escape(d->pending[i].c))
		return NO_ESCAPE;
	/* no needle, nor a break between its lines, has other bytes, and "&#0" is as likely something else */
	return (v >= ' ' && v <= '~') || v == '\n' || v == '\r' ? ENDED : NO_ESCAPE;
}

/* What HTML calls the characters of ASCII that are neither letters nor digits, and the two that look like "-". */
static const struct {
	const char *text;
	unsigned char c;
} names[] = {
	{"amp;", '&'},    {"AMP;", '&'},      {"lt;", '<'},      {"LT;", '<'},      {"gt;", '>'},
	{"GT;", '>'},     {"quot;", '"'},     {"QUOT;", '"'},    {"apos;", '\''},   {"plus;", '+'},
	{"sol;", '/'},    {"lowbar;", '_'},   {"UnderBar;", '_'}, {"period;", '.'},  {"hyphen;", '-'},
	{"dash;", '-'},   {"equals;", '='},   {"colon;", ':'},   {"semi;", ';'},    {"comma;", ','},
	{"commat;", '@'}, {"num;", '#'},      {"dollar;", '$'},  {"percnt;", '%'},  {"excl;", '!'},
	{"quest;", '?'},  {"ast;", '*'},      {"midast;", '*'},  {"lpar;", '('},    {"rpar;", ')'},
	{"lsqb;", '['},   {"lbrack;", '['},   {"rsqb;", ']'},    {"rbrack;", ']'},  {"lcub;", '{'},
	{"lbrace;", '{'}, {"rcub;", '}'},     {"rbrace;", '}'},  {"bsol;", '\\'},   {"Hat;", '^'},
	{"grave;", '`'},  {"DiacriticalGrave;", '`'}, {"verbar;", '|'}, {"vert;", '|'}, {"VerticalLine;", '|'},
	{"Tab;", '\t'},   {"NewLine;", '\n'},
};
enum { N_BARE = 8 }; /* the first of them, which readers know without a semicolon too */

/* As in an attribute, not before what could be the rest of a word, nor before an escape: "&LT%41x" is as likely base64
 * behind an ampersand. */
static bool ends_bare(unsigned char c)
{
	return c <= ' ' || strchr("\"'<>,;:!?()[]{}|", c);
}

/* "&" and what follows it, in HTML and XML. */
static enum verdict reference(const struct needle_decoder *d, unsigned char *ret)
{
	unsigned i, k;

	if (d->n < 2)
		return MORE;
	if (d->pending[1].c == '#') {
		if (d->n < 3)
			return MORE;
		return (d->pending[2].c | 0x20) == 'x' ? number(d, 3, 16, ret) : number(d, 2, 10, ret);
	}
	/* in most of what has a "&" no letter follows it */
	if ((d->pending[1].c | 0x20) < 'a' || (d->pending[1].c | 0x20) > 'z')
		return NO_ESCAPE;
	for (k = 0; k < ARRAY_LEN(names); k++) {
		for (i = 1; i < d->n && d->pending[i].c == (unsigned char)names[k].text[i - 1];)
			i++;
		if (i + 1 < d->n || (i < d->n && (k >= N_BARE || names[k].text[i - 1] != ';')))
			continue;
		*ret = names[k].c;
		if (i < d->n)
			return ends_bare(d->pending[i].c) ? ENDED : NO_ESCAPE;
		return names[k].text[i - 1] ? MORE : DONE;
	}
	return NO_ESCAPE;
}

/* A line's end as well: shells take both away. */
static bool is_sign(unsigned char c)
{
	return c == '\n' || c == '\r' ||
	       (c >= ' ' && c <= '~' && !((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')));
}

/* A backslash before what JSON escapes does not stay in any case. */
static enum verdict sign(const struct needle_decoder *d, unsigned char c, unsigned char *ret)
{
	static const char of_json[] = {'/', '"', '\'', '\\'};

	if (!is_sign(c) || (d->keeps_backslash && !memchr(of_json, c, sizeof(of_json))))
		return NO_ESCAPE;
	*ret = c;
	return needle_starts_escape(c) && c != '\\' ? BEHIND : DONE;
}

static enum verdict judge(const struct needle_decoder *d, unsigned char *ret)
{
	static const char controls[] = {'b', 'f'};
	unsigned char c;

	if (d->pending[0].c == '%')
		return digits(d, 1, 3, ret);
	if (d->pending[0].c == '&')
		return reference(d, ret);
	if (d->n < 2)
		return MORE;
	c = d->pending[1].c;
	if (c == 'u')
		return digits(d, 2, 6, ret);
	if (c == 'x')
		return digits(d, 2, 4, ret);
	if (c == '\\' && d->late)
		return NO_ESCAPE;
	*ret = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : 0;
	return *ret || memchr(controls, c, sizeof(controls)) ? DONE : sign(d, c, ret);
}

/* It is no escape. A backslash before it is left out, and its place goes with the first. */
static void give_pending(struct needle_decoder *d, needle_unit_fn *out, void *arg)
{
	unsigned i;

	d->slashed = 0;
	for (i = 0; i < d->n; i++)
		out(arg, &d->pending[i]);
	d->n = 0;
}

static uint64_t start_of(const struct needle_decoder *d)
{
	return d->slashed ? d->slashed : d->pending[0].start;
}

static void give_whole(struct needle_decoder *d, const struct needle_unit *whole, needle_unit_fn *out, void *arg)
{
	const struct needle_unit backslash = {'\\', d->pending[0].start, d->slashed};
	bool slashed = d->slashed;

	d->n = 0;
	d->slashed = 0;
	if (slashed)
		out(arg, &backslash);
	out(arg, whole);
}

void needle_decode_end(struct needle_decoder *d, needle_unit_fn *out, void *arg)
{
	struct needle_decoder blank = *d;
	struct needle_unit whole = {0};

	if (d->n && d->n < NEEDLE_ESCAPE_MAX) {
		blank.pending[blank.n++] = (struct needle_unit){.c = ' '};
		if (judge(&blank, &whole.c) == ENDED) {
			whole.start = start_of(d);
			whole.end = d->pending[d->n - 1].end;
			give_whole(d, &whole, out, arg);
		}
	}
	give_pending(d, out, arg);
}

void needle_decode(struct needle_decoder *d, const struct needle_unit *u, needle_unit_fn *out, void *arg)
{
	struct needle_unit whole = {.end = u->end};
	enum verdict verdict;

	if (d->n == 0 && !needle_starts_escape(u->c)) {
		out(arg, u);
		return;
	}
	d->pending[d->n++] = *u;
	whole.start = start_of(d);
	verdict = judge(d, &whole.c);
	if (d->n > 1 && whole.end - whole.start > NEEDLE_SPAN)
		verdict = NO_ESCAPE;
	switch (verdict) {
	case MORE:
		break;
	case DONE:
		give_whole(d, &whole, out, arg);
		break;
	case ENDED:
		whole.end = d->pending[d->n - 2].end;
		give_whole(d, &whole, out, arg);
		needle_decode(d, u, out, arg);
		break;
	case BEHIND:
		/* "%" and "&" are a sign that was escaped, or begin an escape themselves */
		d->slashed = d->pending[0].end;
		d->pending[0] = (struct needle_unit){u->c, whole.start, u->end};
		d->n = 1;
		break;
	case NO_ESCAPE:
		/* Only the last unit can start an escape of its own: all before it are digits and letters, or the
		 * first. */
		d->n--;
		give_pending(d, out, arg);
		needle_decode(d, u, out, arg);
		break;
	}
}

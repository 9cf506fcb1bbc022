/*
 * needle_decode: undoing percent-encoding, JSON escapes and references of HTML and XML, byte by byte, without losing
 * where each byte came from.
 *
 * A decoder takes units (a byte and the part of the stream it stands for) and gives out units. What turns out to be no
 * escape comes out as it went in. Plain data, no allocation, never fails.
 *
 * A backslash before a sign of ASCII is left out, as Markdown, regular expressions and shells write signs, unless it is
 * to be kept: where one is looked for itself. Before a "%" or "&" that begins an escape it stays, since what is undone
 * may be a part of its own escape ("\%750073").
 *
 * Where one escape may be cut short by another, there are two readings: "&#45%3B" is "-;", or it is "&#45;" once the
 * part of it that was escaped again is undone, and "\\u0075002d" is a backslash, or the start of "\u002d". A decoder
 * that is late takes the second, the others the first.
 *
 * A number of HTML may begin with zeros; of those and its digits NEEDLE_DIGITS count. So that what is found has an end,
 * an escape of escapes covers NEEDLE_SPAN bytes of the stream at most: zeros may stand before the numbers of one of the
 * two, and names of more than five letters be escaped again only without.
 */
#ifndef CORDON_VAULT_NEEDLE_DECODE_H
#define CORDON_VAULT_NEEDLE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NEEDLE_DIGITS = 8,
	NEEDLE_ESCAPE_MAX = 18, /* &DiacriticalGrave; */
	NEEDLE_SPAN = 6 * (4 + NEEDLE_DIGITS), /* 6: \u00XX, &#xXX;, &#NNN;, &quot;, for each of &#x000000XX; */
};

struct needle_unit {
	unsigned char c;
	uint64_t start, end;
};

struct needle_decoder {
	struct needle_unit pending[NEEDLE_ESCAPE_MAX]; /* the start of what may become an escape */
	unsigned n;
	bool keeps_backslash; /* but for JSON's escapes */
	bool late;	  /* what may be cut short by an escape is not */
	uint64_t slashed; /* not 0: the first of pending has a backslash before it, which ends here */
};

/* What is pending needs no clearing. */
static inline void needle_decoder_init(struct needle_decoder *d, bool keeps_backslash)
{
	d->n = 0;
	d->keeps_backslash = keeps_backslash;
	d->late = false;
	d->slashed = 0;
}

/* What is pending, for a decoder that has the same settings or is late. */
static inline void needle_decoder_copy(struct needle_decoder *d, const struct needle_decoder *from)
{
	unsigned i;

	for (i = 0; i < from->n; i++)
		d->pending[i] = from->pending[i];
	d->n = from->n;
	d->slashed = from->slashed;
}

typedef void needle_unit_fn(void *arg, const struct needle_unit *u);

void needle_decode(struct needle_decoder *d, const struct needle_unit *u, needle_unit_fn *out, void *arg);
/* What is pending comes out as it is, or as the reference of HTML that it is without a semicolon. */
void needle_decode_end(struct needle_decoder *d, needle_unit_fn *out, void *arg);

static inline bool needle_starts_escape(unsigned char c)
{
	return c == '%' || c == '\\' || c == '&';
}

/* Would a late decoder go on with this number? */
static inline bool needle_decode_cuts_number(const struct needle_decoder *d, unsigned char c)
{
	return d->n > 2 && d->pending[0].c == '&' && d->pending[1].c == '#' && needle_starts_escape(c);
}

/* Is this a backslash that is escaped by one, and may also begin an escape itself? */
static inline bool needle_decode_doubles(const struct needle_decoder *d, unsigned char c)
{
	return d->n == 1 && d->pending[0].c == '\\' && c == '\\';
}

#endif

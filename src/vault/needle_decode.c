#include "vault/needle_decode.h"

#include <string.h>

#include "base/coding.h"

enum verdict { MORE, DONE, NO_ESCAPE };

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

static enum verdict judge(const struct needle_decoder *d, unsigned char *ret)
{
	static const char themselves[] = {'/', '"', '\'', '\\'}, controls[] = {'b', 'f', 'n', 'r', 't'};
	unsigned char c;

	if (d->pending[0].c == '%')
		return digits(d, 1, 3, ret);
	if (d->n < 2)
		return MORE;
	c = d->pending[1].c;
	if (c == 'u')
		return digits(d, 2, 6, ret);
	if (c == 'x')
		return digits(d, 2, 4, ret);
	*ret = memchr(themselves, c, sizeof(themselves)) ? c : 0;
	return *ret || memchr(controls, c, sizeof(controls)) ? DONE : NO_ESCAPE;
}

void needle_decode_end(struct needle_decoder *d, needle_unit_fn *out, void *arg)
{
	unsigned i;

	for (i = 0; i < d->n; i++)
		out(arg, &d->pending[i]);
	d->n = 0;
}

void needle_decode(struct needle_decoder *d, const struct needle_unit *u, needle_unit_fn *out, void *arg)
{
	struct needle_unit whole = {.end = u->end};

	if (d->n == 0 && !needle_starts_escape(u->c)) {
		out(arg, u);
		return;
	}
	d->pending[d->n++] = *u;
	switch (judge(d, &whole.c)) {
	case MORE:
		break;
	case DONE:
		whole.start = d->pending[0].start;
		d->n = 0;
		out(arg, &whole);
		break;
	case NO_ESCAPE:
		/* Only the last unit can start an escape of its own: all before it are digits, or the first. */
		d->n--;
		needle_decode_end(d, out, arg);
		needle_decode(d, u, out, arg);
		break;
	}
}

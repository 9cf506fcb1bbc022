#include "vault/needle_forms.h"

#include <errno.h>
#include <stdint.h>

#include "base/coding.h"
#include "base/secret_memory.h"
#include "vault/needle_decode.h"

/* Shorter pieces of base64 would be found in ordinary text. */
enum { BASE64_SHORTEST = 6 };

struct text {
	char *p;
	size_t n;
};

/* Six bits of the needle, as it lies `skip` bytes into the encoded text. */
static unsigned sextet(struct sv needle, size_t skip, size_t index)
{
	size_t bit = index * 6 - skip * 8;
	unsigned v = (unsigned)(unsigned char)needle.p[bit / 8] << 8;

	if (bit / 8 + 1 < needle.n)
		v |= (unsigned char)needle.p[bit / 8 + 1];
	return v >> (10 - bit % 8) & 63;
}

static struct sv base64_core(struct sv needle, size_t skip, const char *alphabet, char *to)
{
	size_t first = (skip * 8 + 5) / 6, end = (skip + needle.n) * 8 / 6, i;

	for (i = first; i < end; i++)
		to[i - first] = alphabet[sextet(needle, skip, i)];
	return sv_n(to, end - first);
}

static struct sv hexadecimal(struct sv needle, const char *digits, char *to)
{
	hex_put(needle, digits, to);
	return sv_n(to, 2 * needle.n);
}

static void add_unit(void *arg, const struct needle_unit *u)
{
	struct text *t = arg;

	t->p[t->n++] = (char)u->c;
}

/* A needle that itself looks like an escape reads differently once the stream is decoded. */
static struct sv decoded(struct sv s, char *to)
{
	struct needle_decoder d = {0};
	struct text t = {.p = to};
	size_t i;

	for (i = 0; i < s.n; i++)
		needle_decode(&d, &(struct needle_unit){.c = (unsigned char)s.p[i]}, add_unit, &t);
	needle_decode_end(&d, add_unit, &t);
	return sv_n(t.p, t.n);
}

static struct sv plus_for_space(struct sv s, char *to)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		to[i] = s.p[i];
	for (i = 0; i < s.n; i++)
		if (to[i] == ' ')
			to[i] = '+';
	return sv_n(to, s.n);
}

/* As a server gives it that makes all letters large or small: a key of hexadecimal numbers is as good so. */
static struct sv in_one_case(struct sv s, bool upper, char *to)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		to[i] = upper && s.p[i] >= 'a' && s.p[i] <= 'z'    ? (char)(s.p[i] - 'a' + 'A')
			: !upper && s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] - 'A' + 'a')
								   : s.p[i];
	return sv_n(to, s.n);
}

static int put_base64(struct sv needle, char *room, int (*put)(void *, struct sv), void *arg)
{
	const char *const alphabets[] = {base64_standard, base64_url};
	size_t skip, i;
	struct sv core;
	int r;

	for (skip = 0; skip < 3; skip++) {
		for (i = 0; i < 2; i++) {
			core = base64_core(needle, skip, alphabets[i], room);
			r = core.n < BASE64_SHORTEST ? 0 : put(arg, core);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* As openssl, od and .NET write bytes. */
static const char spacings[] = {':', ' ', '-'};

enum { SPACED = 3 }; /* bytes of text for one of the needle */

static struct sv row_of_numbers(struct sv needle, char between, const char *digits, char *to)
{
	size_t i;

	for (i = 0; i < needle.n; i++) {
		hex_put(sv_n(needle.p + i, 1), digits, to + SPACED * i);
		to[SPACED * i + 2] = between;
	}
	return sv_n(to, SPACED * needle.n - 1);
}

/* From the first letter to the last: the same in either order of bytes. */
static struct sv utf16(struct sv needle, char *to)
{
	size_t i;

	memset(to, 0, 2 * needle.n);
	for (i = 0; i < needle.n; i++)
		to[2 * i] = needle.p[i];
	return sv_n(to, 2 * needle.n - 1);
}

static int put_spaced(struct sv needle, char *room, int (*put)(void *, struct sv), void *arg)
{
	int r = put(arg, utf16(needle, room));
	size_t i;

	for (i = 0; r >= 0 && i < sizeof(spacings); i++) {
		r = put(arg, row_of_numbers(needle, spacings[i], hex_lower, room));
		if (r >= 0)
			r = put(arg, row_of_numbers(needle, spacings[i], hex_upper, room));
	}
	return r;
}

size_t needle_forms_bytes(size_t n, bool spaced)
{
	/* itself, decoded once and twice, with plus, in two cases; two alphabets at three alignments; two cases of
	 * hexadecimal */
	size_t bytes = 6 * n + 6 * (n * 4 / 3 + 2) + 4 * n;

	/* UTF-16, and rows of either case */
	return bytes + (spaced ? (2 + 2 * sizeof(spacings) * SPACED) * n : 0);
}

size_t needle_forms_word(size_t n)
{
	return 2 * n; /* hexadecimal */
}

int needle_forms(struct sv needle, bool spaced, int (*put)(void *arg, struct sv form), void *arg)
{
	size_t size = (spaced ? SPACED : 2) * needle.n + 4;
	char *room = secret_memory_new(size), *twice = secret_memory_new(size);
	int r = room && twice ? put(arg, needle) : -ENOMEM;

	if (r >= 0)
		r = put(arg, decoded(needle, room));
	if (r >= 0)
		r = put(arg, decoded(sv_n(room, decoded(needle, room).n), twice));
	if (r >= 0)
		r = put(arg, plus_for_space(needle, room));
	if (r >= 0)
		r = put(arg, in_one_case(needle, true, room));
	if (r >= 0)
		r = put(arg, in_one_case(needle, false, room));
	if (r >= 0)
		r = put_base64(needle, room, put, arg);
	if (r >= 0)
		r = put(arg, hexadecimal(needle, hex_lower, room));
	if (r >= 0)
		r = put(arg, hexadecimal(needle, hex_upper, room));
	if (r >= 0 && spaced)
		r = put_spaced(needle, room, put, arg);
	secret_memory_free(room, size);
	secret_memory_free(twice, size);
	return r < 0 ? r : 0;
}

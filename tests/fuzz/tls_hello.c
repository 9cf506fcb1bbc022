/*
 * ClientHellos: a name that is given out is a host name in lower case, and every way to cut the same bytes leads to the
 * same answer: what was bad stays bad, and what was whole stays as it was, whatever comes behind.
 */
#include "tls/hello.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tls/name.h"

static void check_hello(const struct hello *h)
{
	size_t i;

	if (h->name[0] && !name_is_host(sv_of(h->name)))
		abort();
	if (h->n_alpn > HELLO_ALPN_MAX)
		abort();
	for (i = 0; i < h->n_alpn; i++)
		if (h->alpn[i].n == 0 || h->alpn[i].p < h->alpn_bytes ||
		    h->alpn[i].p + h->alpn[i].n > h->alpn_bytes + HELLO_ALPN_BYTES)
			abort();
}

static void check_same(const struct hello *a, const struct hello *b)
{
	if (strcmp(a->name, b->name) != 0 || a->ech != b->ech || a->version != b->version || a->n_alpn != b->n_alpn)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	enum hello_status whole, part;
	struct hello h, first;
	size_t i, step = n > 2048 ? n / 64 : 1;

	whole = hello_parse(sv_n((const char *)bytes, n), &h);
	if (whole == HELLO_OK)
		check_hello(&h);
	for (i = 0; i < n; i += step) {
		part = hello_parse(sv_n((const char *)bytes, i), &first);
		if (part == HELLO_MORE)
			continue;
		if (part != whole)
			abort();
		if (part == HELLO_OK)
			check_same(&first, &h);
	}
	return 0;
}

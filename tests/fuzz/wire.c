/*
 * The fields of wire.h: the first bytes choose which fields are read, the rest are the message. No field reaches beyond
 * it, a failed reader stays failed, and strings that were read are written as they were.
 */
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { FIELDS = 8, STRINGS_MAX = 64 };

static void check_within(struct sv whole, struct sv part)
{
	if (part.n && (part.p < whole.p || part.n > (size_t)(whole.p + whole.n - part.p)))
		abort();
}

static void read_strings(struct wire_in *in)
{
	struct sv before = in->rest;
	char **v = wire_get_strings(in, STRINGS_MAX);
	AUTO_BUF again = {0};
	size_t n = 0;

	if (!v)
		return;
	while (v[n])
		n++;
	buf_init(&again, before.n + 4);
	wire_put_strings(&again, v);
	if (n > STRINGS_MAX || again.n != before.n - in->rest.n || memcmp(again.p, before.p, again.n) != 0)
		abort();
	free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv whole = sv_n((const char *)bytes, n);
	struct wire_in in;
	bool failed = false;
	size_t i;

	if (n < FIELDS)
		return 0;
	wire_in_init(&in, sv_n(whole.p + FIELDS, n - FIELDS));
	for (i = 0; i < FIELDS; i++) {
		switch (bytes[i] % 4) {
		case 0:
			(void)wire_get_u32(&in);
			break;
		case 1:
			(void)wire_get_u64(&in);
			break;
		case 2:
			check_within(whole, wire_get_sv(&in));
			break;
		default:
			read_strings(&in);
		}
		check_within(whole, in.rest);
		if ((failed && !in.failed) || (in.failed && wire_ok(&in)))
			abort();
		failed = in.failed;
	}
	return 0;
}

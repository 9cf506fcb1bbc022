/*
 * Diffs of two texts: before and after, parted by the first 0xff byte. Escaped, nothing but plain text and tabs comes
 * out.
 */
#include "supervise/textdiff.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static char *print(const struct textdiff_side *a, const struct textdiff_side *b, bool escape, size_t *ret)
{
	struct textdiff_style style = {.escape = escape, .max_work = 100000};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret);

	if (!out)
		abort();
	(void)textdiff_print(out, "a name\n\"with\033 bytes", a, b, &style);
	(void)fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *cut = n ? memchr(bytes, 0xff, n) : NULL;
	size_t first = cut ? (size_t)(cut - bytes) : n, size, i;
	struct textdiff_side a = {.mode = 0100644, .text = sv_n((const char *)bytes, first)};
	struct textdiff_side b = {.mode = 0100644, .text = sv_n("", 0)};
	char *text;

	if (cut)
		b.text = sv_n((const char *)cut + 1, n - first - 1);
	a.size = a.text.n;
	b.size = b.text.n;
	free(print(&a, &b, false, &size));
	text = print(&a, &b, true, &size);
	for (i = 0; i < size; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')
			abort();
	free(text);
	if (sv_eq(a.text, b.text) && size)
		abort();
	return 0;
}

/*
 * json_scan.h against jansson: what is accepted, jansson accepts with duplicates rejected; the rewritten text is no
 * longer, says the same, and is its own canonical form; the nodes lie within the text and within each other.
 */
#include "base/json_scan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { FLAGS = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL };

static void check_nodes(const struct json_scan *s, size_t len)
{
	uint32_t i, k;

	for (i = 0; i < s->n; i++) {
		if (s->v[i].next <= i || s->v[i].next > s->n || s->v[i].at > len || s->v[i].len > len - s->v[i].at)
			abort();
		for (k = json_scan_first(s, i); k; k = json_scan_after(s, i, k))
			if (k <= i || k >= s->v[i].next)
				abort();
	}
	if (s->v[0].next != s->n)
		abort();
}

static void check_same(const uint8_t *bytes, size_t n, const struct buf *text)
{
	json_t *a = json_loadb((const char *)bytes, n, FLAGS, NULL), *b = json_loadb(text->p, text->n, FLAGS, NULL);

	if (!a || !b || !json_equal(a, b) || text->n > n)
		abort();
	json_decref(a);
	json_decref(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	AUTO_BUF text = {0}, again = {0};
	AUTO_SCAN s = {0}, t = {0};
	struct scan_error e;

	buf_init(&text, SCAN_MAX_BYTES);
	buf_init(&again, SCAN_MAX_BYTES);
	(void)buf_add(&text, bytes, n);
	if (json_scan_read(&s, &text, &e) < 0)
		return 0;
	check_nodes(&s, text.n);
	check_same(bytes, n, &text);
	(void)buf_sv(&again, buf_view(&text));
	if (json_scan_read(&t, &again, &e) < 0 || !sv_eq(buf_view(&text), buf_view(&again)) || s.n != t.n ||
	    memcmp(s.v, t.v, s.n * sizeof(*s.v)) != 0)
		abort();
	return 0;
}

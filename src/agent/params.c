#include "agent/params.h"

#include <stdlib.h>
#include <string.h>

uint32_t params_get(const struct json_scan *s, uint32_t of, const char *key)
{
	return of ? json_scan_get(s, of, key) : 0;
}

const char *params_string(const struct json_scan *s, uint32_t i, struct arena *a)
{
	AUTO_BUF text = {0};

	if (!i || json_scan_kind(s, i) != SCAN_STRING)
		return NULL;
	buf_init(&text, SCAN_MAX_BYTES);
	json_scan_decode(s, i, &text);
	if (buf_failed(&text) || (text.n && memchr(text.p, '\0', text.n)))
		return NULL;
	return arena_str(a, buf_view(&text));
}

uint64_t params_count(const struct json_scan *s, uint32_t i, uint64_t otherwise)
{
	char digits[24] = {0};
	struct sv n;

	if (!i || json_scan_kind(s, i) != SCAN_NUMBER)
		return otherwise;
	n = json_scan_text(s, i);
	if (n.n >= sizeof(digits) || strspn(n.p, "0123456789") < n.n)
		return otherwise;
	memcpy(digits, n.p, n.n);
	return strtoull(digits, NULL, 10);
}

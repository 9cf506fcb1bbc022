#include "gate/inference/body.h"

#include <errno.h>
#include <strings.h>

#include "base/field_name.h"

static bool same_text(struct sv a, const char *b)
{
	return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

static bool is_type(struct sv v, const char *type)
{
	const char *semicolon = memchr(v.p, ';', v.n);
	size_t n = semicolon ? (size_t)(semicolon - v.p) : v.n, skip = n + 1;

	if (semicolon) {
		while (skip < v.n && v.p[skip] == ' ')
			skip++;
		if (!same_text(sv_n(v.p + skip, v.n - skip), "charset=utf-8"))
			return false;
	}
	while (n && v.p[n - 1] == ' ')
		n--;
	return same_text(sv_n(v.p, n), type);
}

int body_type(const struct http_fields *fields, const char *const *types, struct ruling *no)
{
	int found = -1, k;
	uint32_t i;

	for (i = 0; i < fields->n; i++) {
		const struct http_field *f = &fields->v[i];

		if (field_name_is(f->name, "content-encoding") && !same_text(f->value, "identity"))
			return ruling_set(no, RULING_TYPE, "send it uncompressed",
					  "the body is compressed and cannot be judged");
		if (!field_name_is(f->name, "content-type"))
			continue;
		for (k = 0; types[k] && !is_type(f->value, types[k]); k++)
			;
		if (!types[k] || (found >= 0 && found != k))
			return ruling_set(no, RULING_TYPE, "send application/json",
					  "the body is of a type that cannot be judged");
		found = k;
	}
	return found < 0 ? 0 : found;
}

int body_scan(struct buf *body, struct json_scan *ret, struct ruling *no)
{
	struct scan_error e;
	int r = json_scan_read(ret, body, &e);

	if (r == -ENOMEM)
		return ruling_set(no, RULING_MEMORY, "try again later", "there is no memory to judge the body");
	if (r < 0)
		return ruling_set(no, r == -EFBIG ? RULING_TOO_LARGE : RULING_MALFORMED, "send one JSON document",
				  "the body %s (byte %zu)", e.why, e.at);
	return 0;
}

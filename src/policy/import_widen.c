#include "policy/import_widen.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

/* The part of a denied path as far as it is plain. A wildcard may cross "/", so that behind it anything can follow. */
static void widen_part(struct buf *out, struct sv part, bool *stars)
{
	size_t plain = 0;

	while (plain < part.n && !strchr("*?[{\\", part.p[plain]))
		plain++;
	if (plain == part.n && !(*stars && plain == 0)) {
		(void)buf_char(out, '/');
		(void)buf_add(out, part.p, part.n);
		*stars = false;
	} else if (plain < part.n) {
		if (plain)
			(void)buf_printf(out, "/%.*s*", (int)plain, part.p);
		if (plain || !*stars)
			(void)buf_str(out, "/**");
		*stars = true;
	}
}

struct sv import_widen_path(struct arena *arena, struct sv pattern)
{
	AUTO_BUF out = {0};
	bool stars = false;
	size_t at, end;
	char *copy;

	/* without a "/" at its start it can only begin with a wildcard, which crosses it */
	if (pattern.n == 0 || (pattern.p[0] != '/' && pattern.p[0] != '*'))
		return pattern;
	buf_init(&out, 65536);
	for (at = pattern.p[0] == '/'; at <= pattern.n; at = end + 1) {
		for (end = at; end < pattern.n && pattern.p[end] != '/'; end++)
			;
		widen_part(&out, sv_n(pattern.p + at, end - at), &stars);
	}
	copy = buf_failed(&out) ? NULL : arena_str(arena, buf_view(&out));
	return copy ? sv_of(copy) : sv_n("", 0);
}

struct sv import_widen_host(struct arena *arena, struct sv host)
{
	const char *star = host.n ? memrchr(host.p, '*', host.n) : NULL, *end = host.p + host.n;
	const char *dot = star ? memchr(star, '.', (size_t)(end - star)) : NULL, *wide;

	if (!star)
		return host;
	wide = dot ? arena_printf(arena, "*%.*s", (int)(end - dot), dot) : NULL;
	return wide ? sv_of(wide) : sv_n("", 0);
}

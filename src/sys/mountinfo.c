#include "sys/mountinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Those of a line that matter, by their places: "36 35 98:0 /root /where options tags - type ..." */
enum { FIELD_ID, FIELD_DEVICE = 2, FIELD_ROOT, FIELD_POINT, FIELDS };

int sys_mountinfo_read(struct buf *out)
{
	buf_init(out, SYS_MOUNTINFO_MAX);
	return buf_read_file(out, "/proc/self/mountinfo");
}

/* Spaces, tabs, newlines and backslashes stand as three octal digits. */
static char *unescape(struct arena *arena, struct sv s)
{
	char *out = arena_alloc(arena, s.n + 1);
	size_t i, n = 0;

	for (i = 0; out && i < s.n; i++) {
		if (s.p[i] == '\\' && i + 3 < s.n) {
			out[n++] = (char)((s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + (s.p[i + 3] - '0'));
			i += 3;
		} else {
			out[n++] = s.p[i];
		}
	}
	return out;
}

static struct sv cut(struct sv *rest, char at)
{
	const char *end = rest->n ? memchr(rest->p, at, rest->n) : NULL;
	struct sv part = end ? sv_n(rest->p, (size_t)(end - rest->p)) : *rest;

	*rest = end ? sv_n(end + 1, rest->n - part.n - 1) : sv_n(rest->p + rest->n, 0);
	return part;
}

int sys_mountinfo_next(struct sv *text, struct arena *arena, struct sys_mount *ret)
{
	struct sv line, fields[FIELDS];
	const char *dash;
	int i;

	while (text->n) {
		line = cut(text, '\n');
		for (i = 0; i < FIELDS; i++)
			fields[i] = cut(&line, ' ');
		dash = line.n ? memmem(line.p, line.n, " - ", 3) : NULL;
		if (!dash)
			continue;
		*ret = (struct sys_mount){
			.id = strtoull(fields[FIELD_ID].p, NULL, 10), /* a space ends it */
			.device = fields[FIELD_DEVICE],
			.root = unescape(arena, fields[FIELD_ROOT]),
			.point = unescape(arena, fields[FIELD_POINT]),
			.automounter = sv_starts(sv_n(dash + 3, line.n - (size_t)(dash + 3 - line.p)), "autofs "),
		};
		return ret->root && ret->point ? 1 : -ENOMEM;
	}
	return 0;
}

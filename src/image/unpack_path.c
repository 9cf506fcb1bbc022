#include "image/unpack_path.h"

#include <limits.h>
#include <string.h>

static const char whiteout[] = ".wh.", meta[] = ".wh..wh.", opaque[] = ".wh..wh..opq";

static const char *check_component(struct sv c)
{
	if (c.n == 0)
		return "has an empty part";
	if (sv_is(c, "."))
		return "has a part that is \".\"";
	if (sv_is(c, ".."))
		return "leads out with \"..\"";
	if (c.n > NAME_MAX)
		return "has a part that is too long";
	return NULL;
}

static const char *check(struct sv s)
{
	const char *slash, *wrong = NULL;
	unsigned depth = 0;
	struct sv c;

	while (!wrong && s.n) {
		slash = memchr(s.p, '/', s.n);
		c = sv_n(s.p, slash ? (size_t)(slash - s.p) : s.n);
		wrong = check_component(c);
		/* only the last part may be a whiteout: a folder of that name would be one half of the time */
		if (!wrong && slash && sv_starts(c, whiteout))
			wrong = "lies below a name that says that something is gone";
		if (!wrong && ++depth > UNPACK_DEPTH_MAX)
			wrong = "is too deep";
		if (!slash)
			break;
		s = sv_n(slash + 1, s.n - (size_t)(slash + 1 - s.p));
		if (!wrong && !s.n)
			wrong = "has an empty part";
	}
	return wrong;
}

static const char *find_special(struct unpack_path *p)
{
	struct sv last = sv_of(p->last);

	p->special = UNPACK_PLAIN;
	if (!sv_starts(last, whiteout))
		return NULL;
	if (sv_is(last, opaque)) {
		p->special = UNPACK_OPAQUE;
	} else if (sv_starts(last, meta)) {
		p->special = UNPACK_SKIP;
	} else {
		p->special = UNPACK_WHITEOUT;
		p->last += strlen(whiteout);
		return check_component(sv_of(p->last));
	}
	return NULL;
}

const char *unpack_path_read(struct sv name, struct unpack_path *ret)
{
	const char *wrong, *slash;

	if (memchr(name.p, '\0', name.n))
		return "has a NUL";
	/* the folder itself, as various programs call it */
	if (sv_is(name, ".") || sv_is(name, "/") || sv_is(name, "./"))
		name = sv_n("", 0);
	else if (!name.n)
		return "has no name";
	if (sv_starts(name, "/"))
		return "is absolute";
	if (sv_starts(name, "./"))
		name = sv_n(name.p + 2, name.n - 2);
	if (name.n > 1 && sv_ends(name, "/"))
		name.n--;
	if (name.n >= UNPACK_PATH_MAX)
		return "is too long";
	wrong = check(name);
	if (wrong)
		return wrong;
	if (name.n)
		memcpy(ret->path, name.p, name.n);
	ret->path[name.n] = '\0';
	slash = strrchr(ret->path, '/');
	ret->parent = slash ? (size_t)(slash - ret->path) : 0;
	ret->last = slash ? slash + 1 : ret->path;
	return find_special(ret);
}

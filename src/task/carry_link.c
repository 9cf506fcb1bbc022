#include "task/carry_link.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"
#include "task/carry_new.h"

enum { LINKS_MAX = 40 }; /* as the kernel follows */

/* The text of a link at a path without links, in the agent's view (the upper folder, then the layers) or the image's. -1: it is none. */
static ssize_t link_at(const struct carry *c, bool agents, const char *path, char *to, size_t size)
{
	size_t i;

	for (i = agents ? 0 : 1; i <= c->root.n; i++) {
		AUTO_FD fd = sys_open_beneath(i ? c->root.fds[i - 1] : c->req->upper, path, O_PATH | O_NOFOLLOW, 0);

		if (fd >= 0)
			return readlinkat(fd, "", to, size);
	}
	return -1;
}

struct trail {
	char at[PATH_MAX]; /* absolute; "" is the root */
	size_t n;
	char rest[2 * PATH_MAX];
	size_t n_rest;
	unsigned links;
};

static void trail_up(struct trail *t)
{
	while (t->n && t->at[--t->n] != '/')
		;
	t->at[t->n] = '\0';
}

static bool trail_push(struct trail *t, struct sv target)
{
	if (t->n_rest + target.n + 1 > sizeof(t->rest))
		return false;
	memmove(t->rest + target.n + 1, t->rest, t->n_rest);
	memcpy(t->rest, target.p, target.n);
	t->rest[target.n] = '/';
	t->n_rest += target.n + 1;
	if (target.n && target.p[0] == '/')
		t->at[t->n = 0] = '\0';
	return true;
}

static struct sv trail_next(struct trail *t, char name[NAME_MAX + 1])
{
	size_t n = 0, skip = 0;

	while (skip < t->n_rest && t->rest[skip] == '/')
		skip++;
	while (skip + n < t->n_rest && t->rest[skip + n] != '/')
		n++;
	if (n <= NAME_MAX)
		memcpy(name, t->rest + skip, n);
	memmove(t->rest, t->rest + skip + n, t->n_rest - skip - n);
	t->n_rest -= skip + n;
	return sv_n(name, n);
}

/* One step on the way. False: it leads nowhere that could be told. */
static bool trail_step(const struct carry *c, struct trail *t, struct sv part, bool agents)
{
	char text[PATH_MAX];
	ssize_t n;

	if (part.n > NAME_MAX || t->n + part.n + 2 > sizeof(t->at))
		return false;
	t->at[t->n++] = '/';
	memcpy(t->at + t->n, part.p, part.n);
	t->at[t->n += part.n] = '\0';
	if (agents && carry_place(c, t->at) && !carry_plain_device(t->at) && strcmp(t->at, "/dev") != 0)
		return false;
	n = link_at(c, agents, t->at + 1, text, sizeof(text));
	if (n < 0)
		return true;
	trail_up(t);
	return n < (ssize_t)sizeof(text) && ++t->links <= LINKS_MAX && trail_push(t, sv_n(text, (size_t)n));
}

static bool trail_follow(const struct carry *c, struct trail *t, bool agents)
{
	char name[NAME_MAX + 1];
	struct sv part;

	while ((part = trail_next(t, name)).n) {
		if (sv_is(part, ".."))
			trail_up(t);
		else if (!sv_is(part, ".") && !trail_step(c, t, part, agents))
			return false;
	}
	return true;
}

bool carry_link_to_runner(const struct carry *c, struct sv target)
{
	struct trail t = {0};
	struct sv folder = carry_parent(c);

	memcpy(t.at, folder.p, folder.n);
	t.n = folder.n;
	return !trail_push(&t, target) || !trail_follow(c, &t, true) || strcmp(t.at, "/dev") == 0;
}

const char *carry_link_resolve(const struct carry *c, struct sv path)
{
	struct trail t = {0};

	return trail_push(&t, path) && trail_follow(c, &t, false) && t.n ? arena_str(c->arena, sv_n(t.at, t.n)) : NULL;
}

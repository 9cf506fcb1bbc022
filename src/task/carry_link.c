#include "task/carry_link.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"
#include "task/carry_new.h"

enum { LINKS_MAX = 40 }; /* as the kernel follows */

/* The text of a link at a path without links, in the agent's view: the upper folder, then the layers. -1: it is none. */
static ssize_t link_at(const struct carry *c, const char *path, char *to, size_t size)
{
	size_t i;

	for (i = 0; i <= c->root.n; i++) {
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

bool carry_link_to_runner(const struct carry *c, struct sv target)
{
	struct trail t = {0};
	char name[NAME_MAX + 1], text[PATH_MAX];
	struct sv part = carry_parent(c);
	ssize_t n;

	memcpy(t.at, part.p, part.n);
	t.n = part.n;
	if (!trail_push(&t, target))
		return true;
	while ((part = trail_next(&t, name)).n) {
		if (part.n > NAME_MAX || t.n + part.n + 2 > sizeof(t.at))
			return true;
		if (sv_is(part, "."))
			continue;
		if (sv_is(part, "..")) {
			trail_up(&t);
			continue;
		}
		t.at[t.n++] = '/';
		memcpy(t.at + t.n, part.p, part.n);
		t.at[t.n += part.n] = '\0';
		if (carry_place(c, t.at) && !carry_plain_device(t.at) && strcmp(t.at, "/dev") != 0)
			return true;
		n = link_at(c, t.at + 1, text, sizeof(text));
		if (n < 0)
			continue;
		trail_up(&t);
		if (n == sizeof(text) || ++t.links > LINKS_MAX || !trail_push(&t, sv_n(text, (size_t)n)))
			return true;
	}
	return strcmp(t.at, "/dev") == 0;
}

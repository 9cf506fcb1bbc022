#include "task/stage_names.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"

enum {
	LINKS_MAX = 40,
	LOOK_WORK = 16
}; /* as many as the kernel follows; looking whether a name is a link, in steps that only pass one */

bool stage_name_plain(struct sv name)
{
	AUTO_BUF shown = {0};
	size_t i;

	for (i = 0; i < name.n && name.p[i] >= 0x20 && name.p[i] < 0x7f; i++)
		;
	if (i == name.n)
		return true;
	buf_init(&shown, 4 * name.n + 8);
	text_escape(&shown, name, name.n);
	return !buf_failed(&shown) && sv_eq(buf_view(&shown), name);
}

/* A walk: where it is (a relative path without links, "." or ".."), and what is still to be walked. */
struct walk {
	char at[PATH_MAX];
	size_t n_at;
	char rest[2 * PATH_MAX];
	size_t n_rest, done;
	unsigned links, depth; /* depth: names in at */
	uint64_t *work;
};

static bool spend(struct walk *w, uint64_t steps)
{
	if (*w->work < steps)
		return false;
	*w->work -= steps;
	return true;
}

static void leave_name(struct walk *w)
{
	while (w->n_at && w->at[w->n_at - 1] != '/')
		w->n_at--;
	if (w->n_at)
		w->n_at--;
	w->depth -= w->depth > 0;
	w->at[w->n_at] = '\0';
}

static bool enter_name(struct walk *w, struct sv name)
{
	if (w->n_at + name.n + 2 > sizeof(w->at))
		return false;
	if (w->n_at)
		w->at[w->n_at++] = '/';
	memcpy(w->at + w->n_at, name.p, name.n);
	w->n_at += name.n;
	w->depth++;
	w->at[w->n_at] = '\0';
	return true;
}

/* target comes before what is still to be walked. */
static bool put_before(struct walk *w, struct sv target)
{
	size_t left = w->n_rest - w->done;

	if (target.n + 1 + left > sizeof(w->rest))
		return false;
	memmove(w->rest + target.n + 1, w->rest + w->done, left);
	memcpy(w->rest, target.p, target.n);
	w->rest[target.n] = '/';
	w->n_rest = target.n + 1 + left;
	w->done = 0;
	return true;
}

static struct sv next_name(struct walk *w)
{
	size_t start;

	while (w->done < w->n_rest && w->rest[w->done] == '/')
		w->done++;
	start = w->done;
	while (w->done < w->n_rest && w->rest[w->done] != '/')
		w->done++;
	return sv_n(w->rest + start, w->done - start);
}

/* The walk has just entered a name. Where that is a link, its text takes its place. */
static enum stage_link follow(struct walk *w, int root)
{
	char target[PATH_MAX];
	ssize_t n;

	/* the kernel begins at the root each time */
	if (!spend(w, LOOK_WORK + w->depth))
		return LINK_TOO_LONG;
	n = readlinkat(root, w->at, target, sizeof(target));
	if (n < 0)
		return LINK_STAYS; /* no link, or nothing */
	if (++w->links > LINKS_MAX)
		return LINK_CIRCLE;
	leave_name(w);
	return n == 0 || n == sizeof(target) || target[0] == '/' || !put_before(w, sv_n(target, (size_t)n))
		       ? LINK_LEAVES
		       : LINK_STAYS;
}

/* root -1: as text. */
static enum stage_link walk(int root, struct sv path, struct sv target, uint64_t *work)
{
	struct walk w = {.links = 1, .depth = 1, .work = work};
	enum stage_link r = LINK_STAYS;
	struct sv name;
	size_t i;

	if (target.n == 0 || target.p[0] == '/' || path.n >= sizeof(w.at) || target.n >= PATH_MAX ||
	    !put_before(&w, target))
		return LINK_LEAVES;
	memcpy(w.at, path.p, path.n);
	w.n_at = path.n;
	for (i = 0; i < path.n; i++)
		w.depth += path.p[i] == '/';
	leave_name(&w);
	while (r == LINK_STAYS && (name = next_name(&w)).n) {
		if (!spend(&w, 1))
			return LINK_TOO_LONG;
		if (sv_is(name, "."))
			continue;
		if (sv_is(name, "..")) {
			if (w.n_at == 0)
				return LINK_LEAVES;
			leave_name(&w);
			continue;
		}
		if (name.n > NAME_MAX || !enter_name(&w, name))
			return LINK_LEAVES;
		if (root >= 0)
			r = follow(&w, root);
	}
	return r;
}

enum stage_link stage_link_text(struct sv path, struct sv target, uint64_t *work)
{
	return walk(-1, path, target, work);
}

enum stage_link stage_link_follow(int root, struct sv path, struct sv target, uint64_t *work)
{
	return walk(root, path, target, work);
}

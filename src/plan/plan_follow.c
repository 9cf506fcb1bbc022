#include "plan/plan_follow.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { STEPS_MAX = 40, GUARDS_MAX = 20000 };

/* The path without links and dots on the way to its last name, which is left as it is. Folders that are not there, or are none yet, cannot be links; dots behind one lead nowhere. */
static int canonical(const char *path, char out[PATH_MAX])
{
	char head[PATH_MAX], real[PATH_MAX];
	char *slash;

	if ((size_t)snprintf(head, sizeof(head), "%s", path) >= sizeof(head))
		return -ENAMETOOLONG;
	slash = strrchr(head, '/');
	if (strcmp(slash, "/..") == 0 || strcmp(slash, "/.") == 0 || !slash[1])
		return realpath(path, out) ? 0 : -errno;
	for (*slash = '\0'; !realpath(head[0] ? head : "/", real); *slash = '\0') {
		slash = strrchr(head, '/');
		if ((errno != ENOENT && errno != ENOTDIR) || !slash || strcmp(slash, "/..") == 0)
			return -ENOENT;
	}
	if (strstr(path + strlen(head), "/../"))
		return -ENOENT;
	return (size_t)snprintf(out, PATH_MAX, "%s%s", strcmp(real, "/") == 0 ? "" : real, path + strlen(head)) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Where the link at path leads, one step. -EINVAL: it is none. */
static int next_step(const char *path, char out[PATH_MAX])
{
	char text[PATH_MAX], full[2 * PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	const char *slash = strrchr(path, '/');

	if (n < 0)
		return -errno;
	text[n] = '\0';
	while (n > 1 && text[n - 1] == '/')
		text[--n] = '\0';
	if (text[0] == '/')
		(void)snprintf(full, sizeof(full), "%s", text);
	else
		(void)snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - path), path, text);
	return canonical(full, out);
}

/* What the host's path is called inside; NULL: it is not shown, or not from the host's folders. */
static const char *shown_as(struct draft *d, const char *host)
{
	const struct plan_op *op;
	size_t i;

	for (i = 0; i < d->plan->n_ops; i++) {
		op = &d->plan->ops[i];
		if (op->host && op->source && draft_is_below(host, op->source))
			return arena_printf(d->plan->arena, "%s%s", op->target, host + strlen(op->source));
	}
	return NULL;
}

/* A folder that is shown as a whole: what a link to it would deny or protect is all of it. */
static bool is_top(const struct draft *d, const char *inside)
{
	size_t i;

	for (i = 0; i < d->plan->n_ops; i++)
		if (d->plan->ops[i].host && d->plan->ops[i].folder && strcmp(d->plan->ops[i].target, inside) == 0)
			return true;
	return false;
}

static bool have(const struct draft *d, const char *pattern, bool hidden)
{
	size_t i;

	for (i = 0; i < d->plan->n_guards; i++)
		if (d->plan->guards[i].hidden >= hidden && strcmp(d->plan->guards[i].glob.text, pattern) == 0)
			return true;
	return false;
}

/* The path, and of the pattern what is behind it. 1: it is new. */
static int add(struct draft *d, const char *path, struct sv rest, size_t from, const char *link)
{
	struct plan_guard of = d->plan->guards[from], *g;
	AUTO_BUF b = {0};

	buf_init(&b, 4 * PATH_MAX);
	if (draft_literal(&b, path) < 0 || (rest.n && (buf_char(&b, '/') < 0 || buf_sv(&b, rest) < 0)))
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (have(d, b.p, of.hidden))
		return 0;
	g = d->plan->n_guards < GUARDS_MAX ? draft_guard(d) : NULL;
	if (!g)
		return error_set(d->err, ERROR_INPUT, "too many denied names are symbolic links");
	*g = (struct plan_guard){.rule = arena_printf(d->plan->arena, "%s, by %s", of.rule, link), .hidden = of.hidden, .host_only = of.host_only, .of_run = true};
	if (!g->rule || glob_init(&g->glob, buf_view(&b)) < 0)
		return error_set(d->err, ERROR_INPUT, "%s, which a link leads to, cannot be denied or protected (%s): remove the link, or use another work folder", path, of.rule);
	d->plan->n_guards++;
	return 1;
}

/* The link stands where patterns need a folder: what they say of that folder they say of where it leads. */
static int add_rests(struct draft *d, const char *path, const struct follow_link *link)
{
	size_t i, n = d->plan->n_guards;
	struct sv rests[GLOB_MAX];
	int r, added = 0;
	unsigned k, m;

	for (i = 0; i < n; i++) {
		m = glob_rests(&d->plan->guards[i].glob, sv_of(link->inside), rests);
		for (k = 0; k < m; k++) {
			r = add(d, path, rests[k], i, link->inside);
			if (r < 0)
				return -1;
			added |= r;
		}
	}
	return added;
}

int plan_follow_link(struct draft *d, const struct follow_link *link)
{
	char at[PATH_MAX], to[PATH_MAX];
	const char *inside;
	int steps, r, added = 0;

	if ((size_t)snprintf(at, sizeof(at), "%s", link->host) >= sizeof(at))
		return error_set(d->err, ERROR_INPUT, "%s: too long", link->host);
	for (steps = 0; steps < STEPS_MAX && next_step(at, to) == 0; steps++) {
		inside = shown_as(d, to);
		if (inside && !link->on_way && is_top(d, inside))
			return error_set(d->err, ERROR_DENIED, "%.300s is a link to all of %.300s, and is not to be read or written (%.200s); remove the link", link->inside, inside, d->plan->guards[link->guard].rule);
		if (inside) {
			r = add_rests(d, inside, link);
			if (r >= 0 && !link->on_way)
				r |= add(d, inside, sv_n("", 0), link->guard, link->inside);
			if (r < 0)
				return -1;
			added |= r;
		}
		memcpy(at, to, sizeof(at));
	}
	return added;
}

int plan_follow_named(struct draft *d, const char *host, const char *like, const char *why)
{
	struct follow_link link = {0};
	char at[PATH_MAX];
	const char *inside;
	int r = 0;

	for (link.guard = 0; link.guard < d->plan->n_guards && strcmp(d->plan->guards[link.guard].glob.text, like) != 0; link.guard++)
		;
	if (link.guard == d->plan->n_guards || canonical(host, at) < 0)
		return 0;
	inside = shown_as(d, at);
	if (inside)
		r = add(d, inside, sv_n("", 0), link.guard, why);
	link.host = at;
	link.inside = inside ? inside : at;
	return r < 0 ? -1 : r | plan_follow_link(d, &link);
}

int plan_follow_anchored(struct draft *d)
{
	const struct pol_list *deny = &d->policy->fs.deny;
	char real[PATH_MAX], *base;
	struct sv s;
	size_t i;
	int r = 0;

	/* the first guards are those of filesystem.deny; those that are built in float, or are about Cordon's own folders */
	for (i = 0; r >= 0 && i < deny->n; i++) {
		const struct glob *g = &d->plan->guards[i].glob;

		s = glob_base(g);
		if (deny->v[i].at.file == 0 || g->text[0] != '/' || s.n <= 1)
			continue;
		base = arena_str(d->plan->arena, s);
		if (!base || canonical(base, real) < 0 || strcmp(real, base) == 0 || !shown_as(d, real))
			continue;
		/* behind the base there may be more, which begins with a wildcard */
		r = add(d, shown_as(d, real), sv_n(g->text + s.n + (g->text[s.n] == '/'), strlen(g->text) - s.n - (g->text[s.n] == '/')), i, base);
	}
	return r < 0 ? -1 : 0;
}

#include "plan/plan_linked.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "plan/plan_build.h"
#include "plan/scan_links.h"

void plan_linked_init(struct draft *d)
{
	scan_links_init(&d->linked, PLAN_MAX_ENTRIES);
	d->linked.own = &d->own_folders;
}

void plan_linked_done(struct draft *d)
{
	scan_links_done(&d->linked);
}

/*
 * The array of guards moves when it grows; and whoever meets the other name wants to know whose it is, in few words.
 * path: the file's, or what it is in. NULL: no memory.
 */
static const struct plan_guard *keep_guard(struct draft *d, const struct plan_guard *of, const char *in,
					   const char *path)
{
	struct arena *a = d->plan->arena;
	struct plan_guard *g = arena_alloc(a, sizeof(*g));
	const char *rest = path && path_is_below(path, d->plan->home) ? path_rest(path, d->plan->home) : NULL;
	const struct sv rule[] = {sv_of(of->rule), sv_of(", a hard link of "), sv_of(in), sv_of(rest ? "~" : ""),
				  sv_of(rest ? rest : path ? path : "")};

	if (g) {
		*g = *of;
		g->rule = arena_join(a, rule, ARRAY_LEN(rule));
	}
	if (arena_failed(a))
		(void)error_set(d->err, ERROR_SYSTEM, "out of memory");
	return arena_failed(a) ? NULL : g;
}

int plan_linked_file(struct draft *d, const struct stat *st, const struct plan_guard *of, const char *path)
{
	const struct plan_guard *g;

	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return 0;
	g = keep_guard(d, of, "", path);
	return g ? scan_links_add(&d->linked, st->st_dev, st->st_ino, g, d->err) : -1;
}

int plan_linked_name(struct draft *d, const char *path, const struct plan_guard *of)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : plan_linked_file(d, &st, of, path);
}

int plan_linked_below(struct draft *d, int dir, const char *path, const struct plan_guard *of)
{
	const struct plan_guard *g = keep_guard(d, of, "what is in ", path);

	return g ? scan_links_note(&d->linked, dir, ".", path, g, d->err) : -1;
}

int plan_linked_give(const struct draft *d, struct scan_links *to)
{
	const struct scan_linked *l;

	for (l = d->linked.v; l < d->linked.v + d->linked.n; l++)
		if (scan_links_add(to, l->dev, l->ino, l->guard, d->err) < 0)
			return -1;
	return 0;
}

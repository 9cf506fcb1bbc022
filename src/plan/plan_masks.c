#include "plan/plan_masks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/real_path.h"
#include "base/text.h"
#include "plan/plan_binds.h"
#include "plan/plan_follow.h"
#include "plan/plan_git.h"
#include "plan/plan_home.h"
#include "plan/plan_linked.h"
#include "plan/plan_source.h"
#include "plan/scan.h"
#include "sys/folds_case.h"
#include "sys/mounts.h"

enum { TRIES_MAX = 10, THROUGH_MAX = 1000 /* each makes a pattern, of which there may be fewer: plan_follow.h */ };

struct finding {
	struct draft *d;
	bool writable; /* the tree that is looked through */
	bool base;     /* it is of the base system, which has the names of the host */
	const struct plan_op
		*tree; /* the same, where it is a folder of the host's; NULL: what is found there is not followed */
	struct follow_link *links;  /* which were found in it */
	size_t n_links, links_room;
};

/* A name of the host that is a link: where it leads is seen to when all has been searched. */
static int note_link(struct finding *f, const char *host, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct follow_link *more;

	/* what a search reports by itself (sockets, repositories) is no guard of the plan's */
	if (guard < f->d->plan->guards || guard >= f->d->plan->guards + f->d->plan->n_guards)
		return 0;
	if (f->n_links == f->links_room) {
		more = realloc(f->links, (2 * f->links_room + 16) * sizeof(*more));
		if (!more)
			return error_set(f->d->err, ERROR_SYSTEM, "out of memory");
		f->links = more;
		f->links_room = 2 * f->links_room + 16;
	}
	f->links[f->n_links++] = (struct follow_link){host, arena_str(f->d->plan->arena, sv_of(path)),
						      (size_t)(guard - f->d->plan->guards), on_way};
	return 0;
}

static int found_denied(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct finding *f = arg;
	struct plan_op op = {.why = guard->rule, .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC | MOUNT_NO_DEV};
	const char *host =
		f->tree ? arena_printf(f->d->plan->arena, "%s%s", f->tree->source, path + strlen(f->tree->target))
			: path;
	bool known = f->tree || f->base;
	struct stat st = {0};

	if (!host)
		return error_set(f->d->err, ERROR_SYSTEM, "out of memory");
	if (known && lstat(host, &st) < 0)
		st.st_mode = 0;
	if (f->tree && S_ISLNK(st.st_mode) && note_link(f, host, path, guard, on_way) < 0)
		return -1;
	if ((on_way || !guard->hidden) && !f->writable)
		return 0; /* it cannot be written there anyway */
	op.kind = guard->hidden && !on_way ? PLAN_MASK : PLAN_PROTECT;
	op.folder = op.kind == PLAN_MASK && S_ISDIR(st.st_mode);
	if (op.kind == PLAN_PROTECT)
		op.flags = MOUNT_READ_ONLY | MOUNT_NO_DEV;
	op.target = arena_str(f->d->plan->arena, sv_of(path));
	return draft_add(f->d, &op);
}

/* Something that is covered already, at this name or above it, as well as the guard asks. */
static bool is_covered(const struct plan *p, const char *path, bool hidden)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if ((p->ops[i].kind == PLAN_MASK || (p->ops[i].kind == PLAN_PROTECT && !hidden)) &&
		    path_is_in(path, p->ops[i].target))
			return true;
	return false;
}

static int found_again(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct finding *f = arg;

	return is_covered(f->d->plan, path, guard->hidden) ? 0 : found_denied(arg, path, guard, on_way);
}

/* What could not be read is hidden as a whole. */
static int compare_shown(const struct scan *scan, const struct plan_op *op, struct error *err)
{
	AUTO_FD fd = -1;

	if (!op->judged)
		return scan_other_names(scan, op->source, op->target, err);
	fd = plan_source_open(op, op->folder ? O_RDONLY | O_NONBLOCK : O_PATH);
	if (fd < 0)
		return fd == -EACCES ? 0 : plan_source_error(op, fd, err);
	return scan_other_names_at(scan, fd, op->source, op->target, err);
}

int plan_masks_other_names(struct draft *d, struct scan_links *links, size_t n, bool host)
{
	struct finding f = {.d = d};
	struct scan scan = {.found = found_again, .arg = &f, .links = links};
	struct plan_op op;
	size_t i;

	for (i = 0; links->n && i < n; i++) {
		op = d->plan->ops[i]; /* a copy: the array grows below */
		f.writable = op.writable;
		if (op.host != host || (!host && op.kind != PLAN_BIND) || is_covered(d->plan, op.target, true))
			continue;
		if (compare_shown(&scan, &op, d->err) < 0)
			return -1;
	}
	return 0;
}

static bool is_shown(const struct plan *p, const char *real)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].host && path_is_in(real, p->ops[i].source))
			return true;
	return false;
}

static bool is_own(const struct draft *d, const char *path)
{
	const char *const *own;

	for (own = d->own; own && *own; own++)
		if (path_is_below(path, *own))
			return true;
	return false;
}

/* A link that a pattern goes through, or finds: what it says behind it. */
struct way_through {
	const char *link, *real; /* in the plan's arena; real: NULL where nothing is left behind it */
	struct sv rest;
	size_t guard;
	bool stray; /* a "**" came to it, and goes on behind it */
};

/* Denied places that are not shown: their files may have other names in what is, and links lead from there to what is.
 */
struct unshown {
	struct draft *d;
	struct scan_links *links;
	const struct plan_guard *guard;
	const char *last; /* all below it was looked at */
	struct way_through *through; /* room for THROUGH_MAX, when there is one */
	size_t n_through;
};

/* The same is noted. A "**" that goes through a link says the same of all that is below where that leads: else each
 * link that a work folder has within itself (node_modules) would be one more. */
static bool is_noted(const struct unshown *u, size_t guard, const char *real, struct sv rest, bool stray)
{
	bool deep = rest.n >= 2 && rest.p[0] == '*' && rest.p[1] == '*';
	const struct way_through *t;
	size_t i;

	for (i = 0; i < u->n_through; i++) {
		t = &u->through[i];
		if (t->guard == guard && t->rest.p == rest.p && t->real &&
		    ((t->stray == stray && strcmp(t->real, real) == 0) ||
		     (!t->stray && deep && path_is_in(real, t->real))))
			return true;
	}
	return false;
}

static int note_through(struct unshown *u, const char *path, const char *real, struct sv rest, bool stray)
{
	struct arena *a = u->d->plan->arena;
	struct text_shown s;
	size_t guard = (size_t)(u->guard - u->d->plan->guards);

	if (real && is_noted(u, guard, real, rest, stray))
		return 0;
	if (u->n_through == THROUGH_MAX)
		return error_set(u->d->err, ERROR_INPUT,
				 "%.200s goes through more than %d links to what is shown (the last: %.300s); name "
				 "what they lead to, or remove such links",
				 u->guard->rule, THROUGH_MAX, text_show(&s, sv_of(path)));
	if (!u->through)
		u->through = arena_array(a, THROUGH_MAX, sizeof(*u->through));
	if (!u->through)
		return error_set(u->d->err, ERROR_SYSTEM, "out of memory");
	u->through[u->n_through++] = (struct way_through){arena_str(a, sv_of(path)),
							  real ? arena_str(a, sv_of(real)) : NULL, rest, guard, stray};
	return arena_failed(a) ? error_set(u->d->err, ERROR_SYSTEM, "out of memory") : 0;
}

/* Only where it leads to a folder there is something behind it; of most links the pattern says there what it says
 * anyway. */
static int note_link_through(void *arg, const char *path, struct sv rest, bool stray)
{
	struct unshown *u = arg;
	AUTO_FD folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *real = folder < 0 ? NULL : real_path(path, NULL);

	if (!real || !plan_follow_minds(u->d, (size_t)(u->guard - u->d->plan->guards), real, rest, stray))
		return 0;
	return note_through(u, path, real, rest, stray);
}

/* Of a link, what it leads to; NULL: it is none. */
static char *led_to(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? real_path(path, NULL) : NULL;
}

static int note_unshown(void *arg, const char *path)
{
	static const char nothing[] = "";
	struct unshown *u = arg;
	AUTO_FREE char *real = NULL;
	bool leads;

	if (u->last && path_is_in(path, u->last))
		return 0;
	/* a search has found it, and all in it, unless it is in a folder that none looks into */
	if (is_shown(u->d->plan, path) && !is_own(u->d, path))
		return 0;
	u->last = arena_str(u->d->plan->arena, sv_of(path));
	leads = plan_follow_leads(u->d, path);
	if (leads && note_through(u, path, NULL, sv_n(nothing, 0), false) < 0)
		return -1;
	real = led_to(path);
	if (real && !leads &&
	    plan_follow_minds(u->d, (size_t)(u->guard - u->d->plan->guards), real, sv_n(nothing, 0), false))
		return note_through(u, path, real, sv_n(nothing, 0), false);
	if (!u->last || (real && is_shown(u->d->plan, real)))
		return 0;
	return scan_links_note(u->links, AT_FDCWD, real ? real : path, real ? real : path, u->guard, u->d->err);
}

/* Where those links lead. 1: more names are denied now; 0; -1. */
static int follow_through(struct draft *d, const struct unshown *u)
{
	const struct way_through *t;
	struct follow_link link;
	int followed, r = 0;
	size_t i;

	for (i = 0; i < u->n_through; i++) {
		t = &u->through[i];
		link = (struct follow_link){t->link, t->link, t->guard, false};
		followed = t->real ? plan_follow_through(d, t->link, t->real, t->rest, t->guard, t->stray)
				   : plan_follow_link(d, &link);
		if (followed < 0)
			return -1;
		r |= followed;
	}
	return r;
}

/*
 * Only what says where; and of what is built in nothing: it floats, or is Cordon's own, and looked at by plan_home.h.
 * 1: links lead to more names, which are denied now.
 */
static int note_all_unshown(struct draft *d, struct scan_links *links)
{
	const struct pol_list *deny = &d->policy->fs.deny;
	struct unshown u = {.d = d, .links = links};
	size_t i;

	/* the first guards are those of filesystem.deny */
	for (i = 0; i < d->plan->n_guards; i++) {
		u.guard = &d->plan->guards[i];
		if (!u.guard->hidden || u.guard->glob.text[0] != '/' || (i < deny->n && deny->v[i].at.file == 0))
			continue;
		if (draft_expand_links(&u.guard->glob, note_unshown, note_link_through, &u) < 0)
			return -1;
	}
	return follow_through(d, &u);
}

/* What a rule shows and nobody can search could hold anything; a wildcard may have met it. */
static int fail_shut(const struct draft *d, const struct plan_op *op)
{
	char why[sizeof(d->err->text)];

	(void)snprintf(why, sizeof(why), "%s", d->err->text);
	if (op->target == d->plan->workdir)
		return error_set(
			d->err, ERROR_DENIED,
			"%.400s: the work folder is searched for denied names, and you cannot list it; use another one",
			why);
	return error_set(d->err, ERROR_DENIED,
			 "%.200s: %.400s: what is shown is searched for denied names; leave it out of the rule, or, "
			 "where it is not yours, name it in filesystem.deny",
			 op->why, why);
}

/* One thing of the host that is shown: as a whole, then below it. */
static int mask_shown(const struct scan *scan, struct draft *d, struct plan_op *shown, uint64_t *entries)
{
	struct plan_op op; /* a copy: the array grows below */
	const struct plan_guard *g = draft_judge(d, shown->target, shown->source);
	struct text_shown t;
	AUTO_FD dir = -1;

	shown->judged = true;
	if (g && shown->target == d->plan->workdir)
		return error_set(
			d->err, ERROR_DENIED,
			"work folder %.200s: denied by %.200s; use another one, or `filesystem: {workdir: none}`",
			text_show(&t, sv_of(shown->target)), g->rule);
	if (!g && shown->folder && (dir = plan_source_judge(shown)) < 0) {
		(void)plan_source_error(shown, dir, d->err);
		return dir == -EACCES ? fail_shut(d, shown) : -1;
	}
	if (dir >= 0 && shown->host && sys_folds_case(dir))
		return error_set(d->err, ERROR_DENIED,
				 "%s: %s is on a file system that takes two spellings for one name (.env, .ENV), so no "
				 "rule about names would hold there; use a copy of it on one that tells them apart",
				 shown->why, text_show(&t, sv_of(shown->source)));
	op = *shown;
	if (g)
		return scan_links_note(scan->links, AT_FDCWD, op.source, op.source, g, d->err) < 0
			       ? -1
			       : found_denied(scan->arg, op.target, g, false);
	if (!op.folder || scan_tree_at(scan, dir, op.source, op.target, entries, d->err) == 0)
		return 0;
	return d->err->code == EACCES ? fail_shut(d, &op) : -1;
}

/* Where the links lead that a search found, and what git is told to look at. shown: so many steps show. 1: more names
 * are denied now, to be looked for; 0; -1. */
static int follow_found(const struct finding *f, size_t shown)
{
	int followed, r = 0;
	size_t i;

	for (i = 0; i < f->n_links; i++) {
		followed = plan_follow_link(f->d, &f->links[i]);
		if (followed < 0)
			return -1;
		r |= followed;
	}
	followed = plan_git_follow(f->d, shown);
	return followed < 0 ? -1 : r | followed;
}

/* Looks for denied and protected names in everything of the host that is shown. 1: more names are denied now, to be
 * looked for. */
static int add_masks(struct draft *d, struct scan_links *links)
{
	size_t i, n = d->plan->n_ops;
	int r = 0;
	uint64_t entries = 0;
	struct finding f = {.d = d};
	struct scan scan = {.guards = d->plan->guards, .n_guards = d->plan->n_guards, .max_entries = PLAN_MAX_ENTRIES,
			    .found = found_denied, .arg = &f, .links = links, .memory_dir = d->cache_dir};
	struct plan_op tree; /* a copy: the array grows */

	for (i = 0; r == 0 && i < n; i++) {
		tree = d->plan->ops[i];
		f.writable = tree.writable;
		f.tree = tree.host && tree.folder ? &tree : NULL;
		if (tree.host)
			r = mask_shown(&scan, d, &d->plan->ops[i], &entries);
	}
	if (r == 0)
		r = follow_found(&f, n);
	free(f.links);
	if (r != 0)
		return r;
	r = note_all_unshown(d, links);
	if (r == 0)
		r = plan_linked_give(d, links);
	return r != 0 ? r : plan_masks_other_names(d, links, n, true);
}

/* Part of the base system, by its real path. */
static bool in_base_system(const struct plan *p, const char *real)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_BIND && !p->ops[i].host && path_is_in(real, p->ops[i].target))
			return true;
	return false;
}

struct base_search {
	struct draft *d;
	const struct plan_guard *guard;
	struct scan_links *links;
};

static int found_in_base(void *arg, const char *path)
{
	struct base_search *b = arg;
	struct finding f = {.d = b->d, .base = true};
	AUTO_FREE char *real = real_path(path, NULL);

	if (!real || !in_base_system(b->d->plan, real) || is_covered(b->d->plan, real, true))
		return 0;
	if (scan_links_note(b->links, AT_FDCWD, real, real, b->guard, b->d->err) < 0)
		return -1;
	return found_denied(&f, real, b->guard, false);
}

/* Searches the base system for what a pattern of the policy's own, one that floats, denies. A quarter of a second on a
 * large machine, and only where there is one. */
static int search_base(const struct base_search *b, size_t n)
{
	struct finding f = {.d = b->d, .base = true};
	struct scan scan = {.guards = b->guard,
			    .n_guards = 1,
			    .max_entries = PLAN_MAX_ENTRIES,
			    .found = found_denied,
			    .arg = &f,
			    .links = b->links,
			    .memory_dir = b->d->cache_dir};
	uint64_t entries = 0;
	struct plan_op op;
	size_t i;

	for (i = 0; i < n; i++) {
		op = b->d->plan->ops[i];
		if (op.kind == PLAN_BIND && !op.host && op.folder &&
		    scan_tree(&scan, op.source, op.target, &entries, b->d->err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Denied paths in the base system. A pattern that says where is followed there; one that floats costs a walk. The
 * built-in ones are about the user's folders.
 */
static int add_base_masks(struct draft *d, struct scan_links *links)
{
	const struct pol_list *deny = &d->policy->fs.deny;
	struct base_search b = {.d = d, .links = links};
	size_t n = d->plan->n_ops;
	uint32_t i;
	int r = 0;

	/* the first guards are those of filesystem.deny */
	for (i = 0; r == 0 && i < deny->n; i++) {
		if (deny->v[i].at.file == 0)
			continue;
		b.guard = &d->plan->guards[i];
		r = b.guard->glob.text[0] == '/' ? draft_expand(&b.guard->glob, found_in_base, &b) : search_base(&b, n);
	}
	return r < 0 ? -1 : plan_masks_other_names(d, links, n, false);
}

static int add_masks_stably(struct draft *d)
{
	size_t before = d->plan->n_ops;
	struct scan_links links;
	int tries, r = -1;

	d->n_shown = before;
	if (plan_binds_find(d) < 0 || plan_follow_names(d) < 0 || plan_follow_ways(d) < 0 || plan_home_look(d) < 0)
		return -1;
	for (tries = 0; r != 0 && tries < TRIES_MAX; tries++) {
		d->plan->n_ops = before;
		d->err->kind = ERROR_NONE;
		scan_links_init(&links, PLAN_MAX_ENTRIES);
		links.own = &d->own_folders;
		r = add_masks(d, &links);
		scan_links_done(&links);
		if (r < 0 && d->err->code != EAGAIN)
			break;
	}
	return r > 0 ? error_set(d->err, ERROR_INPUT,
				 "denied names are links to links to links that are denied, more than %d times over",
				 TRIES_MAX)
		     : r;
}

int plan_masks_add(struct draft *d)
{
	struct scan_links links;
	int r;

	if (add_masks_stably(d) < 0)
		return -1;
	scan_links_init(&links, PLAN_MAX_ENTRIES);
	links.own = &d->own_folders;
	r = add_base_masks(d, &links);
	scan_links_done(&links);
	return r;
}

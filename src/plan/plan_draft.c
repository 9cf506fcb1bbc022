#include "plan/plan_draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "plan/plan_build.h"

int draft_add(struct draft *d, const struct plan_op *op)
{
	struct plan *p = d->plan;
	struct plan_op *more;
	size_t room;

	if (p->n_ops >= PLAN_MAX_OPS)
		return error_set(d->err, ERROR_INPUT,
				 "the policy finds more than %d paths to show or hide (last: %s); use wider patterns",
				 PLAN_MAX_OPS, op->why ? op->why : "");
	if (p->n_ops == d->ops_room) {
		room = d->ops_room ? 2 * d->ops_room : 96;
		more = realloc(p->ops, room * sizeof(*more));
		if (!more)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		p->ops = more;
		d->ops_room = room;
	}
	p->ops[p->n_ops++] = *op;
	return 0;
}

struct plan_guard *draft_guard(struct draft *d)
{
	struct plan *p = d->plan;
	struct plan_guard *more;
	size_t room;

	if (p->n_guards == d->guards_room) {
		room = d->guards_room
			       ? 2 * d->guards_room
			       : d->policy->fs.deny.n + d->policy->fs.protect.n + (size_t)d->policy->fs.read.n + 16;
		more = realloc(p->guards, room * sizeof(*more));
		if (!more)
			return NULL;
		p->guards = more;
		d->guards_room = room;
	}
	p->guards[p->n_guards] = (struct plan_guard){0};
	return &p->guards[p->n_guards];
}

int draft_literal(struct buf *out, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			(void)buf_char(out, '\\');
		(void)buf_char(out, *path);
	}
	return buf_failed(out);
}

/* In decimal, behind a colon; nothing for 0. What it was written to, from the end of digits. */
static struct sv line_number(uint32_t line, char digits[16])
{
	char *p = digits + 16;

	if (!line)
		return sv_n(p, 0);
	for (; line; line /= 10)
		*--p = (char)('0' + line % 10);
	*--p = ':';
	return sv_n(p, (size_t)(digits + 16 - p));
}

const char *draft_where(struct draft *d, struct origin at)
{
	const struct policy *p = d->policy;
	const char *file = at.file < p->n_files ? p->files[at.file] : "?";

	return at.line ? arena_printf(d->plan->arena, "%s:%u", file, at.line) : file;
}

/* Every start makes some two hundred of these, and printf() would take as long for them as the kernel for the
 * namespaces. */
const char *draft_rule(struct draft *d, const char *key, const struct pol_str *s)
{
	const struct policy *p = d->policy;
	char digits[16];
	const struct sv parts[] = {sv_of(key),
				   sv_of(" "),
				   sv_of(s->s),
				   sv_of(" ("),
				   sv_of(s->at.file < p->n_files ? p->files[s->at.file] : "?"),
				   line_number(s->at.line, digits),
				   sv_of(")")};

	return arena_join(d->plan->arena, parts, ARRAY_LEN(parts));
}

int draft_no_pattern(struct draft *d, int code, const char *rule)
{
	return code == -ENOMEM || !rule ? error_set(d->err, ERROR_SYSTEM, "out of memory")
					: error_set(d->err, ERROR_INPUT, "%s: not a path pattern", rule);
}

static int by_target(const void *a, const void *b)
{
	const struct plan_op *x = a, *y = b;
	int r = strcmp(x->target, y->target);

	if (r)
		return r;
	/* the same place twice: what the policy shows is laid over scratch space, and the wider access over the
	 * narrower one, as policy_query has it */
	if ((x->kind == PLAN_TMPFS && y->host) || (y->kind == PLAN_TMPFS && x->host))
		return x->host ? 1 : -1;
	return (x->writable > y->writable) - (x->writable < y->writable);
}

void draft_sort(struct draft *d)
{
	if (d->plan->n_ops)
		qsort(d->plan->ops, d->plan->n_ops, sizeof(*d->plan->ops), by_target);
}

/* One that the host has itself, as /lib where that is a part of /usr. */
static bool is_hosts(const struct plan_op *link)
{
	char text[256];
	ssize_t n = readlink(link->target, text, sizeof(text));

	return n > 0 && (size_t)n < sizeof(text) && sv_is(sv_n(text, (size_t)n), link->source);
}

static bool is_behind(const struct plan_op *op, const struct plan_op *link)
{
	return link->kind == PLAN_LINK && strcmp(op->target, link->target) != 0 &&
	       path_is_in(op->target, link->target) && is_hosts(link);
}

void draft_show_behind_links(struct draft *d)
{
	struct plan_op *op, *link, *end = d->plan->ops + d->plan->n_ops;

	for (op = d->plan->ops; op < end; op++)
		for (link = d->plan->ops; op->host && link < end; link++)
			if (is_behind(op, link))
				op->target = op->source;
}

/* Is something shown at the place of a link, or below it? A place is never made through one (sandbox/common/places.h).
 */
static bool is_in_the_way(const struct plan *p, const struct plan_op *link)
{
	const struct plan_op *op;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (op != link && path_is_in(op->target, link->target))
			return true;
	return false;
}

void draft_links_give_way(struct draft *d)
{
	struct plan *p = d->plan;
	size_t i, n = 0;

	/* those that go are still there for the next one to be compared with: none of them lies at another's place */
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind != PLAN_LINK || !is_in_the_way(p, &p->ops[i]))
			p->ops[n++] = p->ops[i];
	p->n_ops = n;
}

static bool covers(const struct plan_op *op)
{
	return op->kind == PLAN_MASK || op->kind == PLAN_PROTECT;
}

/* By name, so that all that lies in a folder comes right behind it; of one name, in the order in which they were found.
 */
static int by_place(const void *a, const void *b)
{
	const struct plan_op *const *x = a, *const *y = b;
	const char *s = (*x)->target, *t = (*y)->target;

	for (; *s && *s == *t; s++, t++)
		;
	if (!*s && !*t)
		return (*x > *y) - (*x < *y);
	if (*s == '/' || *t == '/')
		return !*s || (*t && *t != '/') ? -1 : 1;
	return (unsigned char)*s < (unsigned char)*t ? -1 : 1;
}

/* What is shown at this very name is covered by name too: a container does not even show a file of which it knows that.
 */
static bool shows_at(const struct plan *p, const char *target)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].host && strcmp(p->ops[i].target, target) == 0)
			return true;
	return false;
}

/* Takes out what needs no mask: a name that has one, and what lies in a folder that does. One that is no folder, be it
 * a link, hides nothing below. */
static size_t needed_masks(const struct plan *p, const struct plan_op **masks, size_t n)
{
	const struct plan_op *last = NULL, *folder = NULL;
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (last && strcmp(masks[i]->target, last->target) == 0)
			continue;
		if (folder && path_is_below(masks[i]->target, folder->target) && !shows_at(p, masks[i]->target))
			continue;
		last = masks[kept++] = masks[i];
		if (last->folder && !(folder && path_is_below(last->target, folder->target)))
			folder = last;
	}
	return kept;
}

void draft_covers_last(struct draft *d)
{
	struct plan *p = d->plan;
	struct plan_op *sorted = arena_array(p->arena, p->n_ops + 1, sizeof(*sorted));
	const struct plan_op **masks = arena_array(p->arena, p->n_ops + 1, sizeof(const struct plan_op *));
	size_t i, n = 0, n_masks = 0;

	if (!sorted || !masks)
		return; /* the arena remembers that it failed */
	for (i = 0; i < p->n_ops; i++)
		if (!covers(&p->ops[i]))
			sorted[n++] = p->ops[i];
	for (i = 0; i < p->n_ops; i++) {
		if (p->ops[i].kind == PLAN_PROTECT)
			sorted[n++] = p->ops[i];
		else if (p->ops[i].kind == PLAN_MASK)
			masks[n_masks++] = &p->ops[i];
	}
	qsort(masks, n_masks, sizeof(const struct plan_op *), by_place);
	for (i = needed_masks(p, masks, n_masks); i > 0; i--)
		sorted[n++] = *masks[i - 1];
	memcpy(p->ops, sorted, n * sizeof(*sorted));
	p->n_ops = n;
}

struct expand {
	const struct glob *g;
	int (*found)(void *arg, const char *path);
	int (*link)(void *arg, const char *path, struct sv rest, bool stray); /* NULL: nobody asks */
	void *arg;
	struct buf path;
};

static int expand_from(struct expand *x, unsigned at);

static int tell_link(struct expand *x, unsigned at, bool stray)
{
	return x->link && at < x->g->n ? x->link(x->arg, x->path.p, sv_of(glob_at(x->g, at).p), stray) : 0;
}

static int expand_name(struct expand *x, unsigned at, struct sv name)
{
	size_t n = x->path.n;
	struct stat st;
	int r = 0;

	if (buf_char(&x->path, '/') < 0 || buf_sv(&x->path, name) < 0)
		return 0;
	if (lstat(x->path.p, &st) == 0) {
		r = S_ISLNK(st.st_mode) ? tell_link(x, at + 1, false) : 0;
		r = r < 0 ? r : expand_from(x, at + 1);
	}
	x->path.n = n;
	x->path.p[n] = '\0';
	return r;
}

/* The entry is a folder, and no link to one. Some file systems do not say so by themselves. */
static bool is_folder(DIR *dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* A "**" does not go through links; what it would say behind one is told. */
static int expand_deep(struct expand *x, unsigned at, DIR *dir, const struct dirent *e)
{
	size_t n = x->path.n;
	int r = 0;

	if (is_folder(dir, e))
		return expand_name(x, at - 1, sv_of(e->d_name)); /* stays at the "**" */
	if (!x->link || (e->d_type != DT_LNK && e->d_type != DT_UNKNOWN))
		return 0;
	if (buf_char(&x->path, '/') == 0 && buf_str(&x->path, e->d_name) == 0)
		r = tell_link(x, at, true);
	x->path.n = n;
	x->path.p[n] = '\0';
	return r;
}

/* The kernel's own: no file of a person's is there, nor has one there a name elsewhere; links of processes lead
 * everywhere, and mean nothing. f_type of statfs(2). */
static bool is_kernels(DIR *dir)
{
	static const unsigned kinds[] = {0x9fa0 /* proc */,
					 0x62656572 /* sysfs */,
					 0x27e0eb /* cgroup */,
					 0x63677270 /* cgroup2 */,
					 0x64626720 /* debugfs */,
					 0x74726163 /* tracefs */,
					 0x73636673 /* securityfs */};
	struct statfs fs;
	size_t i;

	if (fstatfs(dirfd(dir), &fs) < 0)
		return false;
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if ((unsigned)fs.f_type == kinds[i])
			return true;
	return false;
}

static int expand_folder(struct expand *x, unsigned at)
{
	bool deep = x->g->stars >> at & 1;
	struct sv pattern = glob_at(x->g, at);
	DIR *dir = opendir(x->path.n ? x->path.p : "/");
	struct dirent *e;
	bool kernels;
	int r = 0;

	if (!dir)
		return 0;
	kernels = deep && is_kernels(dir);
	while (r == 0 && !kernels && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (deep)
			r = expand_deep(x, at, dir, e);
		else if (glob_component(pattern, sv_of(e->d_name)))
			r = expand_name(x, at, sv_of(e->d_name));
	}
	(void)closedir(dir);
	return r;
}

static int expand_from(struct expand *x, unsigned at)
{
	if (at == x->g->n)
		return x->found(x->arg, x->path.n ? x->path.p : "/");
	if (x->g->literal >> at & 1)
		return expand_name(x, at, glob_at(x->g, at));
	if (x->g->stars >> at & 1 && expand_from(x, at + 1) < 0)
		return -1;
	return expand_folder(x, at);
}

int draft_expand_links(const struct glob *g, int (*found)(void *arg, const char *path),
		       int (*link)(void *arg, const char *path, struct sv rest, bool stray), void *arg)
{
	struct expand x = {.g = g, .found = found, .link = link, .arg = arg};
	int r;

	buf_init(&x.path, 4095);
	(void)buf_str(&x.path, "");
	r = expand_from(&x, 0);
	buf_done(&x.path);
	return r;
}

int draft_expand(const struct glob *g, int (*found)(void *arg, const char *path), void *arg)
{
	return draft_expand_links(g, found, NULL, arg);
}

const struct plan_guard *draft_judge(const struct draft *d, const char *target, const char *source)
{
	const struct plan_guard *g;
	size_t i;

	for (i = 0; i < d->plan->n_guards; i++) {
		g = &d->plan->guards[i];
		if (g->hidden && (glob_hit(&g->glob, sv_of(target)) || glob_hit(&g->glob, sv_of(source))))
			return g;
	}
	return NULL;
}

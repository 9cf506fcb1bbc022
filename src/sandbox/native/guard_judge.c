#include "sandbox/native/guard_judge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/name_set.h"
#include "base/path.h"
#include "model/repository.h"
#include "plan/scan.h"
#include "sandbox/native/own_files.h"
#include "sys/names.h"

enum { MOVE_MAX_ENTRIES = 200000, MOVE_MAX_DEPTH = 128 };

static bool in_own_place(const struct plan *p, const char *path)
{
	size_t i;

	/* a folder of the host that is shown below one of them is not the sandbox's own */
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].host && path_is_in(path, p->ops[i].target))
			return false;
	for (i = 0; p->own_places && p->own_places[i]; i++)
		if (path_is_in(path, p->own_places[i]))
			return true;
	return false;
}

/* The policy names a writable folder below what it makes read-only, and the path is in it. */
static bool yields_here(const struct plan *p, const struct plan_guard *rule, const char *path)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].writable && p->ops[i].host && path_is_in(path, p->ops[i].target) &&
		    glob_hit(&rule->glob, sv_of(p->ops[i].target)))
			return true;
	return false;
}

struct guard_index {
	const struct plan *plan;
	bool ready;
	struct name_set first_names; /* of patterns that float */
	size_t n_always;
	const struct plan_guard *always[]; /* the others, which any path could meet */
};

struct guard_index *guard_index_new(const struct plan *p)
{
	struct guard_index *x = calloc(1, sizeof(*x) + p->n_guards * sizeof(x->always[0]));

	if (x)
		x->plan = p;
	return x;
}

static void fill(struct guard_index *x)
{
	struct sv name;
	size_t i;

	for (i = 0; i < x->plan->n_guards; i++) {
		name = glob_first_name(&x->plan->guards[i].glob);
		if (name.n)
			name_set_add(&x->first_names, name);
		else
			x->always[x->n_always++] = &x->plan->guards[i];
	}
	x->ready = true;
}

/* Nearly all paths have none of the names that patterns begin with. */
static bool has_first_name(const struct guard *g, const char *path)
{
	if (!g->index->ready)
		fill(g->index);
	return name_set_has_part(&g->index->first_names, sv_of(path));
}

/* own: it is none of the host's. */
static const char *judge(const struct guard *g, const char *path, enum guard_what what, bool write, bool own)
{
	bool all = has_first_name(g, path);
	const struct plan_guard *rule;
	size_t i;

	for (i = 0; i < (all ? g->plan->n_guards : g->index->n_always); i++) {
		rule = all ? &g->plan->guards[i] : g->index->always[i];
		if ((own && rule->host_only) || (!write && !rule->hidden) ||
		    (rule->yields && yields_here(g->plan, rule, path)))
			continue;
		if (glob_hit(&rule->glob, sv_of(path)))
			return rule->rule;
		if (what != GUARD_FOLDER && write && glob_on_way(&rule->glob, sv_of(path)))
			return rule->rule;
		/* git follows a link in .git/modules to a config that it will obey. */
		if (what == GUARD_LINK && write && rule->host_only && glob_below_star(&rule->glob, sv_of(path)))
			return rule->rule;
	}
	return NULL;
}

const char *guard_judge(const struct guard *g, const char *path, enum guard_what what, bool write)
{
	return judge(g, path, what, write, in_own_place(g->plan, path));
}

const char *guard_judge_place(const struct guard *g, const struct place *p, enum guard_what what, bool write)
{
	static const char lost[] = "what was moved to where its name is not known is not written to (built in)";
	const char *rule = p->lost ? lost : guard_judge(g, p->path, what, write);

	return rule || !p->other[0] ? rule : judge(g, p->other, what, write, false);
}

/* What cannot be looked at could be there: a workload may hold a folder open, shut one above it, and work on in there.
 * So it counts for what would be a repository, and not for what is one already. */
static struct repository_view look_at(void *arg, struct sv folder)
{
	char path[PATH_MAX + 16];
	struct repository_view view = {0};
	const char *made = arg;
	struct stat st;
	unsigned i;
	int r;

	for (i = 0; i < REPOSITORY_PARTS; i++) {
		(void)snprintf(path, sizeof(path), "%.*s/%s", (int)folder.n, folder.p, repository_parts[i]);
		if (made && strcmp(path, made) == 0)
			continue;
		r = folder.n > PATH_MAX ? -ENAMETOOLONG : lstat(path, &st) < 0 ? -errno : 0;
		if (r == 0)
			view.before |= 1U << i;
		else if (r != -ENOENT && r != -ENOTDIR)
			view.after |= 1U << i;
	}
	return view;
}

const char *guard_judge_repository(const struct guard *g, const char *path)
{
	return in_own_place(g->plan, path) ? NULL : repository_judge(sv_of(path), look_at, NULL);
}

const char *guard_judge_made(const struct guard *g, char *path)
{
	return in_own_place(g->plan, path) ? NULL : repository_judge(sv_of(path), look_at, path);
}

bool guard_in_repository(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned i;

	for (i = 0; i < REPOSITORY_PARTS; i++)
		if (strcmp(name + 1, repository_parts[i]) == 0)
			return repository_is(look_at(NULL, sv_n(path, (size_t)(name - path))).before);
	return false;
}

const char guard_gives_rights[] = "programs with setuid, setgid or capabilities are not written to (built in)";

bool guard_is_setid(const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       ((st->st_mode & S_ISUID) || (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP));
}

struct search {
	const struct guard *g;
	bool hosts; /* the path is one of the host, whatever has such a name inside */
	unsigned entries;
	struct buf path;
};

static enum guard_what what_by_type(unsigned char type)
{
	return type == DT_DIR ? GUARD_FOLDER : type == DT_LNK ? GUARD_LINK : GUARD_FILE;
}

static const char *search_folder(struct search *s, int dir, unsigned depth)
{
	const char *rule = NULL;
	DIR *d = fdopendir(dir);
	struct dirent *e;
	size_t n = s->path.n;
	int next, more = 0;

	if (!d) {
		(void)close(dir);
		return "a folder that cannot be read cannot be moved there";
	}
	while (!rule && (more = sys_next_name(d, &e)) > 0) {
		if (++s->entries > MOVE_MAX_ENTRIES || depth > MOVE_MAX_DEPTH ||
		    buf_printf(&s->path, "/%s", e->d_name) < 0)
			rule = "the folder is too large to be moved to a place where names are denied";
		if (!rule)
			rule = judge(s->g, s->path.p, what_by_type(e->d_type), true,
				     !s->hosts && in_own_place(s->g->plan, s->path.p));
		if (!rule && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)) {
			next = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (next >= 0)
				rule = search_folder(s, next, depth + 1);
			else if (errno != ENOTDIR && errno != ELOOP && errno != ENOENT)
				rule = "a folder that cannot be read cannot be moved there";
		}
		s->path.n = n;
		if (s->path.p)
			s->path.p[n] = '\0';
	}
	(void)closedir(d);
	return more < 0 ? "a folder that cannot be read cannot be moved there" : rule;
}

static bool could_match_more(const struct guard *g, const char *from, const char *to, bool hosts)
{
	bool own = !hosts && in_own_place(g->plan, to), was_own = !hosts && in_own_place(g->plan, from);
	const struct plan_guard *rule;
	size_t i;

	for (i = 0; i < g->plan->n_guards; i++) {
		rule = &g->plan->guards[i];
		if (own && rule->host_only)
			continue;
		/* a rule that did not hold where it was holds all the more here */
		if (was_own && rule->host_only)
			return true;
		if (glob_states(&rule->glob, sv_of(to)) & ~glob_states(&rule->glob, sv_of(from)))
			return true;
	}
	return false;
}

static bool shows(const struct plan_op *op)
{
	return op->kind == PLAN_BIND || op->kind == PLAN_TMPFS || op->kind == PLAN_OVERLAY || op->kind == PLAN_SHOW;
}

bool guard_is_shared(const struct guard *g, const char *path)
{
	const struct plan_op *op, *seen = NULL;

	for (op = g->plan->ops; op < g->plan->ops + g->plan->n_ops; op++)
		if (shows(op) && path_is_in(path, op->target))
			seen = op;
	/* sandboxes with an image share folders that were made for them, to talk there */
	return seen && seen->kind == PLAN_BIND && seen->host && !g->plan->image;
}

const char *guard_judge_foreign(const struct guard *g, const char *path, const struct stat *st)
{
	if (!S_ISSOCK(st->st_mode) && !S_ISFIFO(st->st_mode))
		return NULL;
	return guard_is_shared(g, path) && !own_files_has(g->own, st) ? scan_foreign.rule : NULL;
}

/* Covers are laid over names. A folder that moves would take them along, and leave its own name bare. */
static const char *covered_below(const struct plan *p, const char *folder)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if ((p->ops[i].kind == PLAN_MASK || p->ops[i].kind == PLAN_PROTECT) &&
		    path_is_below(p->ops[i].target, folder))
			return p->ops[i].why;
	return NULL;
}

const char *guard_judge_letting_in(const struct guard *g, const char *folder)
{
	static const char rule[] =
		"a shown folder, or one that holds denied or protected names, is not opened to other users (built in)";
	const struct plan *p = g->plan;
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].host && strcmp(p->ops[i].target, folder) == 0)
			return rule;
	return covered_below(p, folder) && !in_own_place(p, folder) ? rule : NULL;
}

/* The rule that something in the folder meets where that is called path. */
static const char *judge_below(const struct guard *g, int dir, const char *name, const char *path, bool hosts)
{
	struct search s = {.g = g, .hosts = hosts};
	const char *rule;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return "a folder that cannot be read cannot be moved there";
	buf_init(&s.path, 16 * PATH_MAX);
	(void)buf_str(&s.path, path);
	rule = search_folder(&s, fd, 0);
	buf_done(&s.path);
	return rule;
}

/* By one of the names that each has. */
static const char *judge_move(const struct guard *g, const struct place *at, const char *from, const char *to,
			      bool hosts)
{
	const char *rule = NULL;

	if (could_match_more(g, from, to, hosts))
		rule = judge_below(g, at->dir, at->name, to, hosts);
	/* what the host has made in it just now, and nothing covers yet */
	if (!rule && could_match_more(g, to, from, hosts))
		rule = judge_below(g, at->dir, at->name, from, hosts);
	return rule;
}

static const char *name_on_host(const struct place *p)
{
	return p->other[0] ? p->other : p->path;
}

const char *guard_judge_move(const struct guard *g, const struct place *at, const struct place *from,
			     const struct place *to)
{
	const char *rule = covered_below(g->plan, from->path);

	if (!rule)
		rule = judge_move(g, at, from->path, to->path, false);
	if (!rule && (from->other[0] || to->other[0]))
		rule = judge_move(g, at, name_on_host(from), name_on_host(to), true);
	return rule;
}

#include "plan/plan_git.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "plan/plan_follow.h"
#include "plan/plan_git_config.h"

struct following {
	struct draft *d;
	struct git_said usual; /* what the user's and the system's files say, for every repository */
	struct git_texts seen; /* repositories, and folders whose parents were looked at */
	bool added;
};

static int no_memory(struct draft *d)
{
	return error_set(d->err, ERROR_SYSTEM, "out of memory");
}

/* Hooks that are called by a relative path, below one folder that git may be in. */
static int protect_below(struct git_said *s, const struct git_texts *hooks, const char *folder)
{
	size_t i;

	for (i = 0; i < hooks->n; i++)
		if (plan_git_config_hooks(s, folder, hooks->v[i]) < 0)
			return -1;
	return 0;
}

static int protect_in(const struct following *f, struct git_said *s, const char *folder)
{
	return protect_below(s, &f->usual.hooks, folder) < 0 ? -1 : protect_below(s, &s->hooks, folder);
}

/* The first line of a file of git's that is a path, behind what it begins with. NULL: there is none; *r is -1 where
 * that is an error. */
static const char *read_path(struct draft *d, const char *file, const char *prefix, const char *folder, int *r)
{
	const char *path = NULL, *text;
	AUTO_BUF b = {0};

	if (!file) {
		*r = no_memory(d);
		return NULL;
	}
	*r = plan_git_config_load(d, file, &b);
	if (*r == 0 && sv_starts(buf_view(&b), prefix)) {
		text = b.p + strlen(prefix);
		b.p[strcspn(b.p, "\r\n")] = '\0';
		path = text[0] == '/' ? arena_str(d->plan->arena, sv_of(text))
				      : arena_printf(d->plan->arena, "%s/%s", folder, text);
		if (!path)
			*r = no_memory(d);
	}
	*r = *r < 0 ? -1 : 0;
	return path;
}

static int read_configs(struct git_said *s, const char *git)
{
	struct arena *a = s->d->plan->arena;
	const char *common, *own = arena_printf(a, "%s/config.worktree", git), *config, *hooks;
	int r;

	common = read_path(s->d, arena_printf(a, "%s/commondir", git), "", git, &r);
	if (r < 0)
		return -1;
	config = arena_printf(a, "%s/config", common ? common : git);
	hooks = arena_printf(a, "%s/hooks", common ? common : git);
	if (!own || !config || !hooks)
		return no_memory(s->d);
	/* the folder itself is protected by a pattern */
	if (plan_git_config_links(s, hooks) < 0)
		return -1;
	return plan_git_config_read(s, config) < 0 ? -1 : plan_git_config_read(s, own);
}

/* git: the repository's folder. tree: the work tree that it was found by; NULL: none. */
static int follow_repository(struct following *f, const char *git, const char *tree)
{
	struct git_said s = {.d = f->d};
	const char *place;
	size_t i;
	int r = git_texts_add(f->d, &f->seen, arena_printf(f->d->plan->arena, "%s\n%s", git, tree ? tree : ""));

	if (r <= 0)
		return r;
	r = read_configs(&s, git);
	if (r == 0 && tree)
		r = protect_in(f, &s, tree);
	if (r == 0)
		r = protect_in(f, &s, git);
	for (i = 0; r == 0 && i < s.worktrees.n; i++) {
		place = plan_git_config_place(f->d, git, s.worktrees.v[i]);
		r = place ? protect_in(f, &s, place) : no_memory(f->d);
	}
	f->added |= s.added;
	git_said_done(&s);
	return r;
}

/* A work tree: .git in it is the repository, or a file that says where it is. */
static int follow_tree(struct following *f, const char *tree)
{
	const char *git = arena_printf(f->d->plan->arena, "%s/.git", tree), *other;
	int r;

	if (!git)
		return no_memory(f->d);
	other = read_path(f->d, git, "gitdir: ", tree, &r);
	return r < 0 ? -1 : follow_repository(f, other ? other : git, tree);
}

/* A folder that is called otherwise is one if git could take it for one. */
static int follow_if_repository(struct following *f, const char *folder)
{
	char head[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(head, sizeof(head), "%s/HEAD", folder) >= sizeof(head) || lstat(head, &st) < 0)
		return 0;
	return follow_repository(f, folder, NULL);
}

/* Git looks for a repository in a folder and in all above it, and one that is higher up may have its hooks further
 * down. */
static int follow_above(struct following *f, const char *folder)
{
	char path[PATH_MAX], git[PATH_MAX + 8];
	struct stat st;
	char *slash;
	int r = 1;

	if ((size_t)snprintf(path, sizeof(path), "%s", folder) >= sizeof(path))
		return 0;
	do {
		r = git_texts_add(f->d, &f->seen, path);
		if (r <= 0)
			return r;
		(void)snprintf(git, sizeof(git), "%s/.git", path);
		if ((lstat(git, &st) == 0 && follow_tree(f, path) < 0) || follow_if_repository(f, path) < 0)
			return -1;
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return 0;
}

/* What is called so inside, on the host. */
static const char *host_name(struct draft *d, const char *target)
{
	const struct plan_op *op, *in = NULL;
	size_t i;

	for (i = 0; i < d->plan->n_ops; i++) {
		op = &d->plan->ops[i];
		if (op->host && op->folder && op->source && path_is_in(target, op->target) &&
		    (!in || strlen(op->target) >= strlen(in->target)))
			in = op;
	}
	return in ? arena_printf(d->plan->arena, "%s%s", strcmp(in->source, "/") == 0 ? "" : in->source,
				 target + (strcmp(in->target, "/") == 0 ? 0 : strlen(in->target)))
		  : arena_str(d->plan->arena, sv_of(target));
}

/* A protected name: the configuration of a repository, or a .git that is no folder. */
static int follow_found(struct following *f, const char *target)
{
	static const char *const ends[] = {"/.git", "/.git/config", "/.git/config.worktree", "/config",
					   "/config.worktree"};
	const char *host, *folder;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends) && !sv_ends(sv_of(target), ends[i]); i++)
		;
	if (i == ARRAY_LEN(ends))
		return 0;
	host = host_name(f->d, target);
	folder = host ? arena_str(f->d->plan->arena, sv_n(host, strlen(host) - strlen(ends[i]))) : NULL;
	if (!folder)
		return no_memory(f->d);
	return i < 3 ? follow_tree(f, folder) : follow_if_repository(f, folder);
}

/* The pattern for a relative path below any folder, without the parts that mean none. -1: there is nothing left of it,
 * or no memory. */
static int pattern_anywhere(struct buf *out, const char *path)
{
	AUTO_BUF b = {0};
	const char *slash;
	size_t n;

	buf_init(&b, PATH_MAX);
	for (; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0) {
			slash = b.n ? memrchr(b.p, '/', b.n) : NULL;
			b.n = slash ? (size_t)(slash - b.p) : 0;
		} else if (n && !(n == 1 && *path == '.')) {
			(void)buf_char(&b, '/');
			(void)buf_sv(&b, sv_n(path, n));
		}
	}
	return !b.n || buf_char(&b, '\0') < 0 || buf_str(out, "**") < 0 || draft_literal(out, b.p) < 0 ? -1 : 0;
}

static bool have(const struct draft *d, const char *pattern)
{
	size_t i;

	for (i = 0; i < d->plan->n_guards; i++)
		if (strcmp(d->plan->guards[i].glob.text, pattern) == 0)
			return true;
	return false;
}

/* What the user's git has for every repository it has for those, too, that a run makes: one needs no configuration of
 * its own. */
static int protect_anywhere(struct following *f, const char *hooks)
{
	struct plan_guard *g;
	AUTO_BUF b = {0};

	buf_init(&b, 4 * PATH_MAX);
	if (pattern_anywhere(&b, hooks) < 0)
		return buf_failed(&b) ? no_memory(f->d) : 0;
	if (have(f->d, b.p))
		return 0;
	g = draft_guard(f->d);
	if (!g)
		return no_memory(f->d);
	*g = (struct plan_guard){.rule = "core.hooksPath of the user's git", .host_only = true, .of_run = true};
	if (glob_init_in(&g->glob, buf_view(&b), f->d->plan->arena) < 0)
		return error_set(f->d->err, ERROR_INPUT,
				 "core.hooksPath of the user's git, %.200s, cannot be protected: use another name, or "
				 "an absolute path",
				 hooks);
	f->d->plan->n_guards++;
	f->added = true;
	return 0;
}

/* Where the user's git looks, there or not: who may write it says what git runs. */
static int follow_usual(struct following *f)
{
	static const char *const in_home[] = {"/.gitconfig", "/.config/git/config"};
	const char *const *more = f->d->git_configs;
	struct git_said *s = &f->usual;
	const char *path;
	size_t i;

	for (i = 0; i < ARRAY_LEN(in_home); i++) {
		path = arena_printf(f->d->plan->arena, "%s%s", f->d->plan->home, in_home[i]);
		if (!path)
			return no_memory(f->d);
		if (plan_git_config_protect(s, "", path) < 0 || plan_git_config_read(s, path) < 0)
			return -1;
	}
	for (; more && *more; more++)
		if (plan_git_config_protect(s, "", *more) < 0 || plan_git_config_read(s, *more) < 0)
			return -1;
	return plan_git_config_read(s, "/etc/gitconfig");
}

static int follow_all(struct following *f, size_t from)
{
	const struct plan *p = f->d->plan;
	size_t i;

	if (follow_usual(f) < 0)
		return -1;
	for (i = 0; i < f->usual.hooks.n; i++)
		if (protect_anywhere(f, f->usual.hooks.v[i]) < 0)
			return -1;
	for (i = 0; i < from; i++)
		if (p->ops[i].host && p->ops[i].folder && p->ops[i].source && follow_above(f, p->ops[i].source) < 0)
			return -1;
	for (i = from; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_PROTECT && follow_found(f, p->ops[i].target) < 0)
			return -1;
	return 0;
}

int plan_git_follow(struct draft *d, size_t from)
{
	struct following f = {.d = d, .usual = {.d = d}};
	int r = follow_all(&f, from);

	f.added |= f.usual.added;
	git_said_done(&f.usual);
	git_texts_done(&f.seen);
	return r < 0 ? -1 : f.added;
}

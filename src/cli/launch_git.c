#include "cli/launch_git.h"

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
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "model/git_state.h"
#include "sys/beneath.h"
#include "sys/stamp.h"

enum { MAX_WORKTREES = 1000 };

struct looking {
	const struct call *call;
	struct timespec since; /* what is as old may be the run's */
};

static bool is_new(const struct looking *l, struct timespec changed)
{
	return !sys_stamp_later(l->since, changed);
}

/* A link on the way, where git makes none, stands for anything, in the folder's place or in that of the file; so does
 * what nobody may read, since whoever shut it can open it again. */
static bool is_new_thing(const struct looking *l, int git, const char *name)
{
	char folder[32];
	struct stat st = {0};

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(name, "/"), name);
	if (fstatat(git, folder, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (S_ISDIR(st.st_mode) && fstatat(git, name, &st, AT_SYMLINK_NOFOLLOW) < 0))
		return errno != ENOENT; /* gone by now; what cannot be looked at may be anything */
	return is_new(l, st.st_ctim);
}

static bool runs(const struct looking *l, int git, const char *name)
{
	AUTO_FD fd = sys_open_beneath(git, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	AUTO_BUF b = {0};
	struct stat st;

	if (fd < 0)
		return (fd == -ELOOP || fd == -EACCES) && is_new_thing(l, git, name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return true;
	if (!is_new(l, st.st_ctim))
		return false;
	buf_init(&b, GIT_STATE_MAX);
	return buf_read_fd(&b, fd) < 0 || git_state_runs(sv_of(name), buf_view(&b));
}

static void look_at(const struct looking *l, int git, const char *path)
{
	struct text_shown t;
	size_t i;

	for (i = 0; i < GIT_STATE_FILES; i++)
		if (runs(l, git, git_state_files[i]))
			call_note(l->call,
				  "note: %s/%s: with what the run left there, git runs a program when somebody "
				  "continues or skips; look at it first, or abort",
				  text_show(&t, sv_of(path)), git_state_files[i]);
}

/* One that git made: nobody inside can make these files. */
static bool is_worktree(int at)
{
	return faccessat(at, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       faccessat(at, "gitdir", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look_at_worktrees(const struct looking *l, int git, const char *path)
{
	int fd = sys_open_beneath(git, "worktrees", O_RDONLY | O_DIRECTORY, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	char name[PATH_MAX + 300];
	struct text_shown t;
	int n = 0;

	if (fd >= 0 && !d)
		(void)close(fd);
	if (fd == -EACCES)
		call_note(l->call,
			  "note: %s/worktrees: it cannot be read; whether the run left something there that git runs "
			  "was not looked at",
			  text_show(&t, sv_of(path)));
	while (d && n <= MAX_WORKTREES && (e = readdir(d))) {
		AUTO_FD at = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0
				     ? -1
				     : openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (at < 0 || !is_worktree(at) || n++ == MAX_WORKTREES)
			continue;
		(void)snprintf(name, sizeof(name), "%s/worktrees/%s", path, e->d_name);
		look_at(l, at, name);
	}
	if (n > MAX_WORKTREES)
		call_note(l->call,
			  "note: %s/worktrees: there are more than %d; whether the run left something in the others "
			  "that git runs was not looked at",
			  text_show(&t, sv_of(path)), MAX_WORKTREES);
	if (d)
		(void)closedir(d);
}

/* A folder .git, by its path on the host. */
static void look_at_repository(const struct looking *l, const char *path)
{
	/* O_PATH: git needs no right to list it either */
	AUTO_FD git = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (git < 0)
		return;
	look_at(l, git, path);
	look_at_worktrees(l, git, path);
}

static bool is_shown_writable(const struct plan_op *op)
{
	return op->kind == PLAN_BIND && op->folder && op->writable && op->host;
}

/* The folder that is shown at or above a path inside. */
static const struct plan_op *shown_at(const struct plan *plan, const char *path)
{
	const struct plan_op *op, *in = NULL;
	size_t i, n, best = 0;

	for (i = 0; i < plan->n_ops; i++) {
		op = &plan->ops[i];
		n = strlen(op->target);
		if (is_shown_writable(op) && n >= best && path_is_below(path, op->target)) {
			in = op;
			best = n;
		}
	}
	return in;
}

static void look_below(const struct looking *l, const char *folder, struct sv rest)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%.*s", folder, (int)rest.n, rest.p) < sizeof(path))
		look_at_repository(l, path);
}

/* Repositories that were there have a config, which is protected, submodules too; one at the top of a folder may be
 * new. */
void launch_git_tell(const struct call *call, const struct plan *plan, struct timespec since)
{
	static const char git[] = "/.git", config[] = "/config";
	const struct looking l = {.call = call, .since = since};
	const struct plan_op *op, *in;
	struct sv rest;
	size_t i;

	for (i = 0; i < plan->n_ops; i++) {
		op = &plan->ops[i];
		if (is_shown_writable(op))
			look_below(&l, op->source, sv_of(git));
		in = op->kind == PLAN_PROTECT && sv_ends(sv_of(op->target), config) ? shown_at(plan, op->target) : NULL;
		if (!in)
			continue;
		rest = sv_of(op->target + strlen(in->target));
		rest.n -= sizeof(config) - 1;
		if (!sv_is(rest, git))
			look_below(&l, in->source, rest);
	}
}

const char *const *launch_git_configs(struct launch_git_configs *c, const struct cli_folders *folders)
{
	static const char *const variables[] = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"};
	const char *slash = strrchr(folders->config, '/'), *v;
	size_t i, n = 0;

	*c = (struct launch_git_configs){0};
	/* $XDG_CONFIG_HOME is where our own folder is */
	if (slash && (size_t)snprintf(c->xdg, sizeof(c->xdg), "%.*s/git/config", (int)(slash - folders->config),
				      folders->config) < sizeof(c->xdg))
		c->v[n++] = c->xdg;
	for (i = 0; i < ARRAY_LEN(variables); i++) {
		v = getenv(variables[i]);
		if (v && v[0] == '/')
			c->v[n++] = v;
	}
	return c->v;
}

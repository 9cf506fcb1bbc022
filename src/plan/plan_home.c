#include "plan/plan_home.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "plan/plan_follow.h"

/* Below the home, those of the built-in patterns that people link things into one by one; and below Cordon's own folders. */
static const char *const of_home[] = {"",
				      "/.config",
				      "/.config/autostart",
				      "/.config/environment.d",
				      "/.config/fish",
				      "/.config/fish/conf.d",
				      "/.config/git",
				      "/.config/nvim",
				      "/.config/systemd",
				      "/.config/systemd/user",
				      "/.claude",
				      "/.claude/hooks",
				      "/.codex",
				      "/.gemini",
				      "/.oh-my-zsh/custom",
				      "/.ssh",
				      "/.vscode",
				      NULL};
static const char *const of_own[] = {"", "/profiles", "/agents", NULL};

/* path: as it is called; real: the same without links on the way. */
static int follow(struct draft *d, const char *path, const char *real, size_t guard, bool on_way)
{
	const char *link = arena_str(d->plan->arena, sv_of(real)), *name = arena_str(d->plan->arena, sv_of(path));

	if (!link || !name)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	return plan_follow_link(d, &(struct follow_link){link, name, guard, on_way}) < 0 ? -1 : 0;
}

/* It has a name that a guard means, or that one needs to be a folder. Only then it is looked at where it leads: that may be far away. What links lead to is judged by its own guards, which come behind n. */
static int follow_if_meant(struct draft *d, const char *path, const char *real, size_t n)
{
	size_t i, way = n;

	for (i = 0; i < n; i++) {
		if (glob_hit(&d->plan->guards[i].glob, sv_of(path))) {
			if (follow(d, path, real, i, false) < 0)
				return -1;
		} else if (way == n && glob_on_way(&d->plan->guards[i].glob, sv_of(path))) {
			way = i;
		}
	}
	return way < n ? follow(d, path, real, way, true) : 0;
}

static bool is_link(int dir, const struct dirent *e)
{
	struct stat st;

	return e->d_type == DT_LNK || (e->d_type == DT_UNKNOWN && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode));
}

/* 1: it is not there. It may be a link itself. */
static int follow_in(struct draft *d, const char *top, const char *below, size_t n)
{
	char folder[PATH_MAX], at[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], real[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;
	DIR *dir;
	int fd, r = 0;

	if ((size_t)snprintf(folder, sizeof(folder), "%s%s", top, below) >= sizeof(folder))
		return 1;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return 1;
	}
	for (at[0] = '\0'; r == 0 && (e = readdir(dir));) {
		if (!is_link(fd, e) || (!at[0] && !real_path(folder, at)))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		(void)snprintf(real, sizeof(real), "%s/%s", at, e->d_name);
		r = follow_if_meant(d, path, real, n);
	}
	(void)closedir(dir);
	return r;
}

/* The first is the folder itself: where that is missing, so are the others. */
static int follow_each(struct draft *d, const char *top, const char *const *below, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && below[i] && !(i == 1 && r == 1); i++)
		r = follow_in(d, top, below[i], n);
	return r < 0 ? -1 : 0;
}

/* Cordon's own are the plain patterns of filesystem.deny that no file gave. */
int plan_home_follow(struct draft *d)
{
	const struct pol_list *deny = &d->policy->fs.deny;
	size_t i, n = d->plan->n_guards;

	for (i = 0; i < deny->n; i++)
		if (deny->v[i].at.file == 0 && d->plan->guards[i].glob.text[0] == '/' && follow_each(d, d->plan->guards[i].glob.text, of_own, n) < 0)
			return -1;
	return follow_each(d, d->plan->home, of_home, n);
}

#include "plan/plan_home.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/real_path.h"
#include "plan/plan_follow.h"
#include "plan/plan_linked.h"
#include "sys/tree.h"

/* Patterns that float and begin with a wildcard. Of more than these, all names in the home are looked at. */
enum { ODD_MAX = 16 };

/* Below the home, those of the built-in patterns that people link things into one by one; and below Cordon's own
 * folders. */
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

/* Whose names are looked at. */
struct look {
	struct draft *d;
	size_t n;	 /* so many guards: what links lead to is judged by its own, which come behind */
	const char *top; /* the home, or a folder of Cordon's own */
	bool home;
	bool files; /* those with other names are noted */
	size_t whole; /* the number of the guard that denies all of the top; with files, and without home */
	struct sv odd[ODD_MAX]; /* what they begin with; guards move when there are more */
	size_t n_odd;
};

/* One folder of these. */
struct folder {
	const struct look *look;
	const char *below; /* its name below the top */
	const char *path;
	int fd;
};

/* path: as it is called; real: the same without links on the way. */
static int follow(struct draft *d, const char *path, const char *real, size_t guard, bool on_way)
{
	const char *link = arena_str(d->plan->arena, sv_of(real)), *name = arena_str(d->plan->arena, sv_of(path));

	if (!link || !name)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	return plan_follow_link(d, &(struct follow_link){link, name, guard, on_way}) < 0 ? -1 : 0;
}

/* It has a name that a guard means, or that one needs to be a folder. Only then it is looked at where it leads: that
 * may be far away. What links lead to is judged by its own guards, which come behind n. */
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

	return e->d_type == DT_LNK || (e->d_type == DT_UNKNOWN &&
				       fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode));
}

/*
 * A built-in pattern, or one of the policy's that floats, has this very name below a home. NULL: none. Asked of each
 * name in a home: no printf().
 */
static const struct plan_guard *named(const struct folder *f, const char *name)
{
	const struct draft *d = f->look->d;
	const struct guard_name *e;
	char key[NAME_MAX + 64] __attribute__((uninitialized));
	const struct sv parts[] = {sv_of("**"), sv_of(f->below), sv_of("/"), sv_of(name)};
	size_t i, n = 0;
	uint32_t at;

	for (i = 0; f->look->home && i < ARRAY_LEN(parts) && n + parts[i].n <= sizeof(key); n += parts[i++].n)
		memcpy(key + n, parts[i].p, parts[i].n);
	e = i < ARRAY_LEN(parts) ? NULL : guard_names_find(&d->names, sv_n(key, n));
	at = !e ? GUARD_NONE : e->hides != GUARD_NONE ? e->hides : e->protects;
	return at == GUARD_NONE ? NULL : &d->plan->guards[at];
}

static bool is_odd(const struct look *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n_odd && l->n_odd < ODD_MAX && !glob_component(l->odd[i], sv_of(name)); i++)
		;
	return i < l->n_odd;
}

static void find_odd(struct look *l)
{
	const struct glob *g;
	size_t i;

	for (i = 0; i < l->n && l->n_odd < ODD_MAX; i++) {
		g = &l->d->plan->guards[i].glob;
		if (g->stars & 1 && g->n > 1 && !glob_first_name(g).n)
			l->odd[l->n_odd++] = glob_at(g, 1);
	}
}

/* The guard that decides about a path of the home's or of Cordon's own folders. */
static const struct plan_guard *judge(const struct look *l, const char *path)
{
	const struct plan_guard *g, *protects = NULL;
	size_t i;

	for (i = 0; i < l->n; i++) {
		g = &l->d->plan->guards[i];
		if (g->yields || (protects && !g->hidden) || !glob_hit(&g->glob, sv_of(path)))
			continue;
		if (g->hidden)
			return g;
		protects = g;
	}
	return protects;
}

/*
 * A file with several names, by one of them, which may be a link to it. by: what decides about it; NULL: its own name
 * does.
 */
static int note_file(const struct folder *f, const char *below, const char *name, const struct stat *st,
		     const struct plan_guard *by)
{
	char path[2 * PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s%s%s/%s", f->path, below[0] ? "/" : "", below, name);
	by = by ? by : judge(f->look, path);
	return by ? plan_linked_file(f->look->d, st, by, path) : 0;
}

/*
 * What stands in a folder that is denied or protected as a whole. Deeper is not looked: some hold tens of thousands of
 * files (an editor's extensions), and a start is to take no time.
 */
static int note_files_in(const struct folder *f, const char *below, const struct plan_guard *by)
{
	struct sys_names names;
	const char *name;
	struct stat st;
	int r = 0;

	if (sys_names_open_at(&names, f->fd, below) < 0)
		return 0;
	while (r == 0 && (name = sys_names_next(&names))) {
		if (names.type == DT_DIR || fstatat(names.fd, name, &st, 0) < 0)
			continue;
		if (S_ISREG(st.st_mode) && st.st_nlink > 1)
			r = note_file(f, below, name, &st, by);
	}
	sys_names_close(&names);
	return r;
}

static bool is_listed(const char *below, const char *name)
{
	size_t i, n = strlen(below);

	for (i = 0; of_home[i]; i++)
		if (strncmp(of_home[i], below, n) == 0 && of_home[i][n] == '/' && strcmp(of_home[i] + n + 1, name) == 0)
			return true;
	return false;
}

/*
 * Of the home's own names, which may be many, only those that a pattern may mean; of Cordon's folders the links: the
 * rest is noted as a whole.
 */
static bool is_of_interest(const struct folder *f, const struct dirent *e, const struct plan_guard *g)
{
	if (g || e->d_type == DT_DIR)
		return g;
	if (!f->look->home)
		return e->d_type != DT_REG;
	return *f->below || is_odd(f->look, e->d_name);
}

static int note_entry(const struct folder *f, const struct dirent *e)
{
	const struct plan_guard *g = named(f, e->d_name);
	struct stat st;

	if (!is_of_interest(f, e, g))
		return 0;
	if (e->d_type == DT_DIR)
		st.st_mode = S_IFDIR;
	else if (fstatat(f->fd, e->d_name, &st, 0) < 0)
		return 0; /* a link that leads nowhere */
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return note_file(f, "", e->d_name, &st, NULL);
	return g && S_ISDIR(st.st_mode) && !is_listed(f->below, e->d_name) ? note_files_in(f, e->d_name, g) : 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int look_at_entries(const struct folder *f, DIR *dir)
{
	char at[PATH_MAX] = "", path[PATH_MAX + NAME_MAX + 2], real[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;
	int r = 0;

	while (r == 0 && (e = readdir(dir))) {
		r = f->look->files && !is_dots(e->d_name) ? note_entry(f, e) : 0;
		if (r < 0 || !is_link(f->fd, e) || (!at[0] && !real_path(f->path, at)))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", f->path, e->d_name);
		(void)snprintf(real, sizeof(real), "%s/%s", at, e->d_name);
		r = follow_if_meant(f->look->d, path, real, f->look->n);
	}
	return r;
}

/* 1: it is not there. It may be a link itself. */
static int look_in(const struct look *l, const char *below)
{
	char path[PATH_MAX];
	struct folder f = {.look = l, .below = below, .path = path};
	DIR *dir;
	int r;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", l->top, below) >= sizeof(path))
		return 1;
	f.fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	dir = f.fd < 0 ? NULL : fdopendir(f.fd);
	if (!dir) {
		if (f.fd >= 0)
			(void)close(f.fd);
		return 1;
	}
	r = look_at_entries(&f, dir);
	if (r == 0 && l->files && !l->home && !*below)
		r = plan_linked_below(l->d, f.fd, path, &l->d->plan->guards[l->whole]);
	(void)closedir(dir);
	return r;
}

/* Where a folder is missing, so are those in it, which stand behind it. */
static int look_in_each(const struct look *l, const char *const *below)
{
	const char *missing = NULL;
	int r = 0;

	for (; r >= 0 && *below; below++) {
		if (missing && path_is_in(*below, missing))
			continue;
		r = look_in(l, *below);
		missing = r > 0 ? *below : missing;
	}
	return r < 0 ? -1 : 0;
}

/* Only Cordon fills it. */
static bool is_filled(const struct draft *d, const char *path)
{
	const char *const *own;

	for (own = d->own; own && *own; own++)
		if (strcmp(*own, path) == 0)
			return true;
	return false;
}

/* Cordon's own are the plain patterns of filesystem.deny that no file gave. */
int plan_home_look(struct draft *d)
{
	const struct pol_list *deny = &d->policy->fs.deny;
	struct look l = {.d = d, .n = d->plan->n_guards};
	size_t i;

	for (i = 0; i < deny->n; i++) {
		l.top = d->plan->guards[i].glob.text;
		l.files = !is_filled(d, l.top);
		l.whole = i;
		if (deny->v[i].at.file == 0 && l.top[0] == '/' && look_in_each(&l, of_own) < 0)
			return -1;
	}
	l.top = d->plan->home;
	l.home = l.files = true;
	find_odd(&l);
	return look_in_each(&l, of_home);
}

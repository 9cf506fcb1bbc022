#include "supervise/changes_apply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "supervise/changes_journal.h"
#include "supervise/changes_judge.h"
#include "supervise/changes_names.h"
#include "supervise/changes_steps.h"
#include "sys/lookup.h"
#include "sys/names.h"
#include "sys/stamp.h"

struct apply {
	struct site site;
	int upper;
	int state;
	const struct changes *list;
	const struct changes_apply_options *options;
	struct journal journal;
	char staging[sizeof(CHANGES_STAGING) + 16];
	char root[PATH_MAX];
	char note[256]; /* what was kept beside; "": nothing */
	struct error *err;
};

/* A lock, and where it lies. */
struct held {
	int dir, fd;
	char name[64];
};

static void cleanup_arena(struct arena **a)
{
	arena_free(*a);
}

static int tick(const struct apply *a)
{
	return a->options && a->options->step ? a->options->step(a->options->ctx) : 0;
}

/* Held while we have it open; a file that was removed meanwhile holds nobody. */
static int lock_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600), code;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink)
		return fd;
	code = errno == EWOULDBLOCK ? EWOULDBLOCK : ESTALE;
	(void)close(fd);
	return -code;
}

/*
 * One apply of this user's at a time in a work folder. The lock lies beside the run's state, not in the folder: a
 * workload could hold it there as long as it liked.
 */
static int lock(int lower_fd, int state_fd, struct held *ret, struct error *err)
{
	struct stat st;
	int tries;

	ret->dir = openat(state_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0 || fstat(lower_fd, &st) < 0)
		return error_sys(err, errno, "lock the work folder");
	(void)snprintf(ret->name, sizeof(ret->name), ".applying-%llx-%llx", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino);
	for (tries = 0, ret->fd = -ESTALE; ret->fd == -ESTALE && tries < 100; tries++)
		ret->fd = lock_file(ret->dir, ret->name);
	if (ret->fd >= 0)
		return 0;
	if (ret->fd != -EWOULDBLOCK)
		return error_sys(err, ret->fd, "lock the work folder");
	(void)error_set(err, ERROR_DENIED, "another apply is at work in this folder; try again when it has ended");
	err->code = EAGAIN;
	return -1;
}

static void cleanup_held(struct held *h)
{
	if (h->fd >= 0) {
		(void)unlinkat(h->dir, h->name, 0);
		(void)close(h->fd);
	}
	if (h->dir >= 0)
		(void)close(h->dir);
}

static int store(struct apply *a, enum journal_state state)
{
	int r;

	a->journal.state = state;
	r = journal_store(a->state, &a->journal);
	return r < 0 ? error_sys(a->err, r, "write the journal") : 0;
}

/* The end of every apply, whichever way it went: the staging folder holds nothing that is still needed. */
static int tidy(struct apply *a)
{
	int r = names_remove_tree(a->site.lower, a->journal.staging);

	if (r == 0) {
		(void)tick(a);
		r = journal_remove(a->state);
	}
	return r < 0 ? error_sys(a->err, r, "remove %s", a->journal.staging) : 0;
}

/* Undoes all steps, last one first, as many as can be. Returns -1, with err set, where some cannot. */
static int undo_steps(struct apply *a)
{
	struct text_shown shown;
	char kept[KEPT_LEN];
	int r, failed = 0;
	size_t i;

	for (i = a->journal.n; i-- > 0;) {
		r = step_undo(&a->site, &a->journal.steps[i], kept);
		if (r > 0)
			(void)snprintf(a->note, sizeof(a->note),
				       "%.150s changed on the host since; its other version is kept as %s",
				       text_show(&shown, sv_of(a->journal.steps[i].path)), kept);
		if (r < 0 && !failed++)
			(void)error_sys(a->err, r, "put back %s (it is kept in %s)",
					text_show(&shown, sv_of(a->journal.steps[i].path)), a->journal.staging);
		(void)tick(a);
	}
	return failed ? -1 : 0;
}

static int roll_back(struct apply *a)
{
	if (a->journal.state == JOURNAL_APPLYING && (undo_steps(a) < 0 || store(a, JOURNAL_STAGING) < 0))
		return -1;
	return tidy(a);
}

static bool is_same(const struct stat *st, const struct change_side *seen)
{
	if (st->st_dev != seen->dev || st->st_ino != seen->ino)
		return false;
	/* A folder's times move with what is in it, which is looked at for itself. */
	if (S_ISDIR(st->st_mode) || seen->type == CHANGE_FOLDER)
		return S_ISDIR(st->st_mode) && seen->type == CHANGE_FOLDER;
	return (uint64_t)st->st_size == (seen->type == CHANGE_SPECIAL ? (uint64_t)st->st_size : seen->size) &&
	       st->st_mtim.tv_sec == seen->mtime.tv_sec && st->st_mtim.tv_nsec == seen->mtime.tv_nsec;
}

/* Nothing that is to be touched has changed since the scan. All at once and first: a step changes the ctime of every
 * name that its file has. */
static int check_all(struct apply *a)
{
	const struct change *c;
	struct stat st;
	size_t i;

	for (i = 0; i < a->list->n; i++) {
		const char *name = NULL;
		AUTO_FD dir = -1;

		c = &a->list->v[i];
		if (c->refused || c->before.type == CHANGE_NONE)
			continue;
		dir = open_parent(a->site.lower, c->path, &name);
		if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_same(&st, &c->before) ||
		    (c->before.type != CHANGE_FOLDER &&
		     (st.st_ctim.tv_sec != c->before.ctime.tv_sec || st.st_ctim.tv_nsec != c->before.ctime.tv_nsec)))
			return changes_stale(a->err, c->path);
	}
	return 0;
}

/* The folder holds exactly what the list says, from *next on. 0 or -errno (-ESTALE). */
static int check_tree(const struct apply *a, int fd, size_t *next)
{
	const struct changes *l = a->list;
	AUTO_NAMES names = {0};
	size_t budget = l->n + 1, i;
	struct stat st;
	int r = names_read(&names, fd, &budget);

	if (r < 0)
		return r == -E2BIG ? -ESTALE : r;
	names_sort(&names);
	for (i = 0; i < names.n; i++) {
		const struct change *c = *next < l->n ? &l->v[(*next)++] : NULL;
		const char *slash = c ? strrchr(c->path, '/') : NULL;
		AUTO_FD below = -1;

		if (!slash || strcmp(slash + 1, names.v[i]) != 0 || c->kind != CHANGE_DELETED)
			return -ESTALE;
		if (fstatat(fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_same(&st, &c->before))
			return -ESTALE;
		if (c->before.type != CHANGE_FOLDER)
			continue;
		below = openat(fd, names.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = below < 0 ? -errno : check_tree(a, below, next);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What a step is about to move is what was judged. */
static int check_before(const struct apply *a, const struct step *s)
{
	const char *name = NULL;
	AUTO_FD dir = -1;
	struct stat st;

	if (s->kind == STEP_PUT || s->change->before.type == CHANGE_NONE ||
	    (s->kind == STEP_MODE && s->ino != s->change->before.ino))
		return 0;
	dir = open_parent(a->site.lower, s->path, &name);
	if (dir < 0)
		return dir;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -ESTALE;
	return is_same(&st, &s->change->before) ? 0 : -ESTALE;
}

/* What a step did move is what was judged, a folder with all that is in it: from here on nobody reaches it by its old
 * path. */
static int check_after(const struct apply *a, const struct step *s)
{
	size_t next = (size_t)(s->change - a->list->v) + 1;
	char slot[SLOT_NAME];
	AUTO_FD fd = -1;
	struct stat st;
	int r;

	if (s->kind != STEP_TAKE && s->kind != STEP_SWAP)
		return 0;
	if (fstatat(a->site.staging, slot_name(slot, s->slot), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!is_same(&st, &s->change->before))
		return -ESTALE;
	if (s->change->before.type != CHANGE_FOLDER)
		return 0;
	fd = openat(a->site.staging, slot, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 ? -errno : check_tree(a, fd, &next);
	if (r < 0)
		return r;
	return next < a->list->n && path_is_below(a->list->v[next].path, s->path) ? -ESTALE : 0;
}

static int take_step(struct apply *a, const struct step *s)
{
	struct text_shown shown;
	int r = check_before(a, s);

	if (r == 0)
		r = step_do(&a->site, s);
	if (r == 0)
		r = check_after(a, s);
	if (r == 0)
		r = tick(a);
	if (r == 0)
		return 0;
	if (r == -ESTALE || r == -EEXIST || r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return changes_stale(a->err, s->path);
	return error_sys(a->err, r, "%s; nothing was applied", text_show(&shown, sv_of(s->path)));
}

/* Do files change places here? Tried on two empty ones. */
static int probe_swap(struct apply *a, bool *ret)
{
	static const char *const names[] = {"a", "b"};
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		fd = openat(a->site.staging, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			return error_sys(a->err, errno, "write to %s", a->staging);
		(void)close(fd);
	}
	*ret = sys_rename(a->site.staging, "a", a->site.staging, "b", SYS_RENAME_EXCHANGE) == 0;
	for (i = 0; i < ARRAY_LEN(names); i++)
		(void)unlinkat(a->site.staging, names[i], 0);
	return 0;
}

/* Where the folder is, for those who have only the journal; who opens it looks whether it is that folder. */
static void name_root(struct apply *a)
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", a->site.lower);
	n = readlink(link, a->root, sizeof(a->root) - 1);
	if (n <= 0)
		n = snprintf(a->root, sizeof(a->root), "?");
	a->root[n] = '\0';
}

/* The folder is named in the journal before it is made, so that it is found whatever happens. */
static int make_staging(struct apply *a)
{
	unsigned char random[8];
	struct stat st;
	size_t i, at = strlen(CHANGES_STAGING);
	int r;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_sys(a->err, errno, "random numbers");
	(void)snprintf(a->staging, sizeof(a->staging), "%s", CHANGES_STAGING);
	for (i = 0; i < sizeof(random); i++)
		(void)snprintf(a->staging + at + 2 * i, 3, "%02x", random[i]);
	if (fstat(a->site.lower, &st) < 0)
		return error_sys(a->err, errno, "look at the work folder");
	name_root(a);
	a->journal = (struct journal){.dev = st.st_dev, .ino = st.st_ino, .root = a->root, .staging = a->staging};
	if (store(a, JOURNAL_STAGING) < 0)
		return -1;
	r = tick(a);
	if (r == 0 && mkdirat(a->site.lower, a->staging, 0700) < 0)
		r = -errno;
	if (r < 0)
		return error_sys(a->err, r, "make %s in the work folder", a->staging);
	a->site.staging = openat(a->site.lower, a->staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->site.staging < 0)
		return error_sys(a->err, errno, "open %s", a->staging);
	return 0;
}

static int call_tick(void *ctx)
{
	return tick(ctx);
}

static int prepare(struct apply *a)
{
	struct steps_job job = {
		.lower = a->site.lower, .upper = a->upper, .list = a->list, .tick = call_tick, .ctx = a};

	if (make_staging(a) < 0 || probe_swap(a, &job.can_swap) < 0)
		return -1;
	job.staging = a->site.staging;
	if (steps_build(&job, &a->journal, a->err) < 0)
		return -1;
	sys_stamp(&a->journal.staged);
	if (syncfs(a->site.staging) < 0)
		return error_sys(a->err, errno, "sync %s", a->staging);
	if (check_all(a) < 0)
		return -1;
	sys_stamp_pass(&a->journal.staged);
	return store(a, JOURNAL_APPLYING);
}

/*
 * Somebody who may write above the folder, a sandbox in it for one, may have given it a name, since we judged, by which
 * programs outside obey what is in it. That is looked at when all is there: who renames looks into the folder
 * afterwards, so that one of the two sees both.
 */
static bool has_its_name(const struct apply *a)
{
	const char *name = a->options ? a->options->name : NULL;
	AUTO_FD there = name ? sys_open_no_links(name, O_PATH | O_DIRECTORY) : -1;
	struct stat st, ours;

	if (!name)
		return true;
	if (there < 0 || fstat(there, &st) < 0 || fstat(a->site.lower, &ours) < 0)
		return false;
	return st.st_dev == ours.st_dev && st.st_ino == ours.st_ino;
}

static int run_steps(struct apply *a)
{
	const char *made;
	size_t i;
	int r = tick(a);

	if (r < 0)
		return error_sys(a->err, r, "apply");
	for (i = 0; i < a->journal.n; i++)
		if (take_step(a, &a->journal.steps[i]) < 0)
			return -1;
	made = changes_judge_again(a->list, a->site.lower);
	if (made)
		return changes_stale(a->err, made);
	if (!has_its_name(a))
		return changes_stale(a->err, a->options->name);
	if (syncfs(a->site.staging) < 0)
		return error_sys(a->err, errno, "sync the work folder");
	return store(a, JOURNAL_DONE);
}

/* A journal that could not be written may or may not have replaced the one before: what counts is what the next process
 * would find. */
static int reread_state(struct apply *a)
{
	__attribute__((cleanup(cleanup_arena))) struct arena *arena = arena_new();
	struct journal j;
	int r = arena ? journal_load(a->state, arena, &j) : -ENOMEM;

	if (r > 0)
		a->journal.state = j.state;
	return r < 0 ? error_sys(a->err, r, "read the journal") : 0;
}

static int apply_all(struct apply *a)
{
	struct error *outer = a->err, undo = {0};
	bool ok = prepare(a) == 0 && run_steps(a) == 0;

	a->err = ok ? outer : &undo;
	if (!ok && reread_state(a) < 0)
		return error_prefix(outer, "%s; before that", undo.text);
	if (a->journal.state == JOURNAL_DONE) {
		a->err = outer;
		(void)tick(a);
		return tidy(a) < 0 ? error_prefix(outer, "all changes were applied, but") : 0;
	}
	if (roll_back(a) < 0)
		return error_prefix(outer, "%s; before that", undo.text);
	if (a->note[0]) {
		(void)error_prefix(outer, "%s; before that", a->note);
		outer->code = 0; /* to be read, and not to be tried again at once */
	}
	return -1;
}

static int check_refused(const struct changes *l, struct error *err)
{
	struct text_shown shown;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].refused && l->v[i].own)
			return error_set(err, ERROR_DENIED,
					 "%zu of %zu changes are refused, and nothing was applied; %s %s", l->n_refused,
					 l->n, text_show(&shown, sv_of(l->v[i].path)), l->v[i].refused);
	return 0;
}

static int check_no_journal(int state_fd, struct error *err)
{
	__attribute__((cleanup(cleanup_arena))) struct arena *arena = arena_new();
	struct journal j;
	int r = arena ? journal_load(state_fd, arena, &j) : -ENOMEM;

	if (r < 0)
		return error_sys(err, r, "read the journal");
	return r ? error_set(err, ERROR_DENIED,
			     "an earlier apply of this run was interrupted and has to be ended first")
		 : 0;
}

int changes_apply(int lower_fd, int upper_fd, int state_fd, const struct changes *list,
		  const struct changes_apply_options *options, size_t *ret_applied, struct error *err)
{
	struct apply a = {.site = {lower_fd, -1, NULL},
			  .upper = upper_fd,
			  .state = state_fd,
			  .list = list,
			  .options = options,
			  .err = err};
	__attribute__((cleanup(cleanup_held))) struct held held = {.dir = -1, .fd = -1};
	int r;

	if (!(options && options->skip_refused) && check_refused(list, err) < 0)
		return -1;
	if (lock(lower_fd, state_fd, &held, err) < 0 || check_no_journal(state_fd, err) < 0)
		return -1;
	a.site.journal = &a.journal;
	if (list->n > list->n_refused) {
		r = apply_all(&a);
		free(a.journal.steps);
		if (a.site.staging >= 0)
			(void)close(a.site.staging);
		if (r < 0)
			return -1;
	}
	*ret_applied = list->n - list->n_refused;
	return 0;
}

static int recover(struct apply *a, enum changes_recovered *ret)
{
	enum changes_recovered way = a->journal.state == JOURNAL_DONE ? RECOVERED_FORWARD : RECOVERED_BACK;
	int r;

	if (!journal_is_of(&a->journal, a->site.lower))
		return error_set(a->err, ERROR_DENIED,
				 "the interrupted apply was in another folder, which is not at this path any more");
	a->site.staging = openat(a->site.lower, a->journal.staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->site.staging < 0 && (errno != ENOENT || a->journal.state == JOURNAL_APPLYING))
		return error_sys(a->err, errno, "open %s, which holds what an interrupted apply has to put back",
				 a->journal.staging);
	r = roll_back(a);
	if (a->site.staging >= 0)
		(void)close(a->site.staging);
	if (r < 0)
		return error_prefix(a->err, "undo an interrupted apply");
	*ret = a->note[0] ? RECOVERED_KEPT : way;
	return 0;
}

int changes_recover(int lower_fd, int state_fd, enum changes_recovered *ret, struct error *err)
{
	__attribute__((cleanup(cleanup_arena))) struct arena *arena = arena_new();
	struct apply a = {.site = {lower_fd, -1, NULL}, .upper = -1, .state = state_fd, .err = err};
	__attribute__((cleanup(cleanup_held))) struct held held = {.dir = -1, .fd = -1};
	int r;

	if (!arena)
		return error_sys(err, ENOMEM, "read the journal");
	if (lock(lower_fd, state_fd, &held, err) < 0)
		return -1;
	r = journal_load(state_fd, arena, &a.journal);
	if (r < 0)
		return error_sys(err, r, "read the journal of an interrupted apply");
	a.site.journal = &a.journal;
	if (r > 0)
		return recover(&a, ret);
	(void)journal_remove(state_fd); /* half a journal that never counted */
	*ret = RECOVERED_NOTHING;
	return 0;
}

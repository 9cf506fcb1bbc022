#include "supervise/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/tree.h"
#include "sys/xdg.h"

#define COLLECT "collect"

static int root_path(char **ret, struct error *err)
{
	int r = sys_xdg_path("XDG_STATE_HOME", ".local/state", "cordon/runs", ret);

	if (r == -ENOENT)
		return error_set(err, ERROR_USAGE,
				 "neither XDG_STATE_HOME nor HOME names a folder for Cordon's state; set one of them");
	return r < 0 ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
}

int state_root(char **ret, struct error *err)
{
	AUTO_FREE char *path = NULL;
	struct stat st;
	int r;

	if (root_path(&path, err) < 0)
		return -1;
	if (stat(path, &st) < 0) {
		r = sys_make_folders(path);
		if (r < 0 || stat(path, &st) < 0)
			return error_sys(
				err, r < 0 ? r : errno,
				"state folder %s (XDG_STATE_HOME moves it; set that to a folder that you may write)",
				path);
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0077))
		return error_set(err, ERROR_DENIED,
				 "state folder %s is not ours alone; it must be a folder of yours with mode 0700",
				 path);
	*ret = path;
	path = NULL;
	return 0;
}

static int open_folder(const char *root, const char *id, struct state *s)
{
	if (asprintf(&s->path, "%s/%s", root, id) < 0) {
		s->path = NULL;
		return -ENOMEM;
	}
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->dir < 0 ? -errno : 0;
}

void state_id(char id[STATE_ID])
{
	uint32_t number = 0;

	/* Nothing secret: an id must only be unlikely to be taken, which mkdir() then finds out. */
	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(id, STATE_ID, "%08x", number);
}

/* While the folder of all runs is held, nobody takes one that is not locked yet for a dead one: see remove_unstarted().
 */
int state_new(const char *root, struct state *s, struct error *err)
{
	AUTO_FD all = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (all < 0 || flock(all, LOCK_SH) < 0 || mkdirat(all, s->id, 0700) < 0)
		return error_sys(err, errno, "state folder %s/%s", root, s->id);
	r = open_folder(root, s->id, s);
	if (r == 0 && flock(s->dir, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	return r < 0 ? error_sys(err, r, "state folder %s/%s", root, s->id) : 0;
}

int state_lock(struct state *s, struct error *err)
{
	s->lock = openat(s->dir, "audit.jsonl", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (s->lock < 0 || flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, errno, "%s/audit.jsonl", s->path);
	return 0;
}

int state_write_file(const struct state *s, const char *name, struct sv bytes, struct error *err)
{
	AUTO_FD fd = openat(s->dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : write_all(fd, bytes.p, bytes.n);

	return r < 0 ? error_sys(err, r, "%s/%s", s->path, name) : 0;
}

void state_done(struct state *s)
{
	if (s->lock >= 0)
		(void)close(s->lock);
	if (s->dir >= 0)
		(void)close(s->dir);
	free(s->path);
	*s = (struct state){.dir = -1, .lock = -1};
}

void state_remove(struct state *s)
{
	if (s->dir >= 0)
		sys_empty_tree(s->dir);
	if (s->path)
		(void)rmdir(s->path);
}

static bool is_id(const char *id)
{
	return strlen(id) == STATE_ID - 1 && strspn(id, "0123456789abcdef") == STATE_ID - 1;
}

int state_set_collect(const struct state *s, struct error *err)
{
	return state_write_file(s, COLLECT, sv_n("", 0), err);
}

bool state_is_collect(const struct state *s)
{
	struct stat st;

	return fstatat(s->dir, COLLECT, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

int state_open(const char *root, const char *id, struct state *ret, bool *ret_running, struct error *err)
{
	struct state s = {.dir = -1, .lock = -1};
	struct text_shown t;

	if (!is_id(id))
		return error_set(err, ERROR_USAGE, "%s: not the id of a run; `cordon ps --all` lists them",
				 text_show(&t, sv_of(id)));
	memcpy(s.id, id, STATE_ID);
	if (open_folder(root, id, &s) < 0) {
		state_done(&s);
		return error_set(err, ERROR_USAGE, "%s: no such run; `cordon ps --all` lists them", id);
	}
	s.lock = openat(s.dir, "audit.jsonl", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (s.lock < 0) {
		state_done(&s);
		return error_set(err, ERROR_USAGE, "%s: the run never started", id);
	}
	*ret_running = flock(s.lock, LOCK_SH | LOCK_NB) < 0;
	*ret = s;
	return 0;
}

struct found {
	char id[STATE_ID];
	struct timespec made;
};

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->made.tv_sec != y->made.tv_sec)
		return x->made.tv_sec < y->made.tv_sec ? 1 : -1;
	return (x->made.tv_nsec < y->made.tv_nsec) - (x->made.tv_nsec > y->made.tv_nsec);
}

static int list_runs(const char *root, struct found **ret, size_t *ret_n)
{
	DIR *d = opendir(root);
	struct found *v = NULL, *more;
	size_t n = 0, room = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (!is_id(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (n == room) {
			room = room ? 2 * room : 64;
			more = realloc(v, room * sizeof(*v));
			if (!more)
				break;
			v = more;
		}
		memcpy(v[n].id, e->d_name, STATE_ID);
		v[n++].made = st.st_mtim;
	}
	if (d)
		(void)closedir(d);
	if (n)
		qsort(v, n, sizeof(*v), newest_first);
	*ret = v;
	*ret_n = n;
	return 0;
}

int state_each(const char *root, int (*fn)(void *arg, const char *id), void *arg, struct error *err)
{
	AUTO_FREE struct found *v = NULL;
	size_t n = 0, i;

	(void)err;
	(void)list_runs(root, &v, &n);
	for (i = 0; i < n; i++)
		if (fn(arg, v[i].id))
			return -1;
	return 0;
}

static bool holds_staged(const struct state *s)
{
	DIR *d = sys_list(s->dir);
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = strncmp(e->d_name, STATE_STAGED, strlen(STATE_STAGED)) == 0;
	if (d)
		(void)closedir(d);
	return found;
}

static bool has(const struct state *s, const char *name)
{
	struct stat st;

	return fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool state_holds_work(const struct state *s)
{
	if ((has(s, STATE_COPY) && !has(s, STATE_FLEETING)) || has(s, STATE_JOURNAL) || holds_staged(s))
		return true;
	return unlinkat(s->dir, "layers/upper", AT_REMOVEDIR) < 0 && errno == ENOTEMPTY;
}

/* A run that was killed before its log had a line: nothing of it ever ran. One that is just being made holds its
 * folder, or the folder of all. */
static void remove_unstarted(const char *root, const char *id)
{
	AUTO_FD all = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD dir = -1;
	struct stat st;

	if (all < 0 || flock(all, LOCK_EX | LOCK_NB) < 0)
		return;
	dir = openat(all, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0 ||
	    (fstatat(dir, "audit.jsonl", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0))
		return;
	(void)flock(all, LOCK_UN);
	sys_empty_tree(dir);
	(void)unlinkat(all, id, AT_REMOVEDIR);
}

static bool has_begun(const struct state *s)
{
	struct stat st;

	return fstat(s->lock, &st) < 0 || st.st_size > 0;
}

/* The scratch of a run that was killed. */
static void sweep_scratch(const struct state *s)
{
	sys_remove_tree(s->dir, "layers/work");
	sys_remove_tree(s->dir, STATE_APPLIED);
	if (!has(s, STATE_FLEETING))
		return;
	sys_remove_tree(s->dir, STATE_COPY);
	(void)unlinkat(s->dir, "copied", 0);
	if (!has(s, STATE_COPY))
		(void)unlinkat(s->dir, STATE_FLEETING, 0);
}

void state_sweep(const char *root)
{
	AUTO_FREE struct found *v = NULL;
	struct error ignored = {0};
	struct state s;
	size_t n = 0, i, kept = 0;
	bool running;

	(void)list_runs(root, &v, &n);
	for (i = 0; i < n; i++) {
		if (state_open(root, v[i].id, &s, &running, &ignored) < 0) {
			remove_unstarted(root, v[i].id);
			continue;
		}
		if (!running && !has_begun(&s)) {
			remove_unstarted(root, v[i].id);
		} else if (!running) {
			sweep_scratch(&s);
			if (!state_holds_work(&s) && kept >= STATE_KEEP)
				state_remove(&s);
			else
				kept++;
		}
		state_done(&s);
	}
}

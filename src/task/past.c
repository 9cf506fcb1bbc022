#include "task/past.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "sys/tree.h"

enum { HOLD_TRIES = 50, HOLD_WAIT_MS = 20, NAMES_MAX = 1000000, SAID_MAX = 1 << 20 };

int past_root(const char *state, char ret[PATH_MAX], struct error *err)
{
	return snprintf(ret, PATH_MAX, "%s/tasks", state) >= PATH_MAX
		       ? error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long")
		       : 0;
}

void past_name(char ret[PAST_ID_MAX])
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	(void)snprintf(ret, PAST_ID_MAX, "%lld-%03ld", (long long)t.tv_sec, t.tv_nsec / 1000000);
}

/* Those who list and read hold it for a moment. */
static int lock(int dir)
{
	static const struct timespec wait = {.tv_nsec = HOLD_WAIT_MS * 1000000L};
	int i;

	for (i = 0; i < HOLD_TRIES; i++) {
		if (flock(dir, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return 0; /* a file system without locks: nobody is kept off there */
		(void)nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

int past_hold(int dir, const char *path, struct error *err)
{
	struct text_shown shown;
	struct stat st;

	if (lock(dir) < 0)
		return error_set(err, ERROR_USAGE, "%s is in use by another run; name a new folder",
				 text_show(&shown, sv_of(path)));
	if (fstat(dir, &st) < 0 || st.st_nlink == 0)
		return error_set(err, ERROR_USAGE, "%s was removed meanwhile; try again",
				 text_show(&shown, sv_of(path)));
	return 0;
}

#define STARTED ".started"

void past_say(int dir, const char *task, const char *agent)
{
	AUTO_FD fd = openat(dir, STARTED, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	AUTO_FREE char *whole = real_path(task, NULL);
	const char *name = whole ? strrchr(whole, '/') + 1 : task;
	AUTO_BUF b = {0};

	buf_init(&b, SAID_MAX);
	(void)buf_add(&b, name, strlen(name) + 1);
	(void)buf_add(&b, agent, strlen(agent) + 1);
	if (fd >= 0 && buf_failed(&b) == 0)
		(void)write_all(fd, b.p, b.n);
}

void past_unsay(int dir)
{
	(void)unlinkat(dir, STARTED, 0);
}

void past_said(const struct past *p, struct arena *arena, const char **ret_task, const char **ret_agent)
{
	AUTO_FD fd = openat(p->dir, STARTED, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_BUF b = {0};
	size_t n;

	*ret_task = *ret_agent = NULL;
	buf_init(&b, SAID_MAX);
	if (fd < 0 || buf_read_fd(&b, fd) < 0 || !b.n || b.p[b.n - 1] != '\0')
		return;
	n = strlen(b.p) + 1;
	*ret_task = arena_str(arena, sv_of(b.p));
	*ret_agent = n < b.n ? arena_str(arena, sv_of(b.p + n)) : NULL;
}

/* Seconds, a dash, three digits: nothing else in the folder is a result, and no other name is looked up. */
static bool read_id(const char *id, int64_t *ret_ms)
{
	size_t n = strspn(id, "0123456789");

	if (n < 1 || n > 11 || id[n] != '-' || strspn(id + n + 1, "0123456789") != 3 || id[n + 4])
		return false;
	*ret_ms = strtoll(id, NULL, 10) * 1000 + strtoll(id + n + 1, NULL, 10);
	return true;
}

struct names {
	char (*v)[PAST_ID_MAX];
	size_t n, cap;
};

static int newest_first(const void *a, const void *b)
{
	int64_t x = 0, y = 0;

	(void)read_id(a, &x);
	(void)read_id(b, &y);
	return x < y ? 1 : x > y ? -1 : strcmp(a, b);
}

static int add_name(struct names *names, const char *id)
{
	void *v;

	if (names->n == names->cap) {
		names->cap = names->cap ? 2 * names->cap : 64;
		v = names->cap > NAMES_MAX ? NULL : reallocarray(names->v, names->cap, sizeof(*names->v));
		if (!v)
			return -ENOMEM;
		names->v = v;
	}
	memcpy(names->v[names->n++], id, strlen(id) + 1); /* read_id() bounds it */
	return 0;
}

static int list(const char *root, struct names *names)
{
	AUTO_FD dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : sys_list(dir);
	const struct dirent *e;
	int64_t when;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (e = readdir(d)))
		if (read_id(e->d_name, &when))
			r = add_name(names, e->d_name);
	(void)closedir(d);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), newest_first);
	return r;
}

int past_each(const char *root, int (*fn)(void *arg, const char *id), void *arg, struct error *err)
{
	struct names names = {0};
	struct text_shown shown;
	size_t i;
	int r = list(root, &names);

	if (r < 0)
		(void)error_sys(err, r, "%s", text_show(&shown, sv_of(root)));
	for (i = 0; r == 0 && i < names.n; i++)
		r = fn(arg, names.v[i]);
	free(names.v);
	return r < 0 ? -1 : r;
}

void past_done(struct past *p)
{
	if (p->dir >= 0)
		(void)close(p->dir);
	if (p->root >= 0)
		(void)close(p->root);
	p->root = p->dir = -1;
}

int past_open(const char *root, const char *id, struct past *ret, struct error *err)
{
	struct past p = {.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .dir = -1};
	struct text_shown shown;

	if (p.root >= 0 && read_id(id, &p.started_ms))
		p.dir = openat(p.root, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p.dir < 0 || snprintf(p.path, sizeof(p.path), "%s/%s", root, id) >= (int)sizeof(p.path)) {
		past_done(&p);
		if (strchr(id, '/'))
			return error_set(err, ERROR_INPUT,
					 "%s: results are named by their ids, which `cordon task ls` lists; in a "
					 "folder of --out, result.json and report.html say it",
					 text_show(&shown, sv_of(id)));
		return error_set(err, ERROR_INPUT, "there is no result %s; `cordon task ls` lists them",
				 text_show(&shown, sv_of(id)));
	}
	(void)snprintf(p.id, sizeof(p.id), "%s", id);
	p.running = flock(p.dir, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	*ret = p;
	return 0;
}

int past_read(const struct past *p, struct task_result *ret, struct buf *text, struct error *err)
{
	AUTO_FD fd = openat(p->dir, "result.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_MISSING, "%s has no result: %s", p->id,
				 p->running ? "it is going on" : "it was killed");
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_sys(err, fd < 0 ? errno : EINVAL, "%s/result.json", p->path);
	r = buf_read_fd(text, fd);
	if (r == 0)
		r = task_result_parse(text, ret);
	return r < 0 ? error_sys(err, r, "%s/result.json", p->path) : 0;
}

int past_remove(struct past *p, struct error *err)
{
	if (p->running || lock(p->dir) < 0)
		return error_set(err, ERROR_USAGE, "%s: the task is running; `cordon ps` lists its sandboxes", p->id);
	sys_remove_tree(p->root, p->id);
	if (faccessat(p->root, p->id, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_SYSTEM, "%s: not all of %s could be removed", p->id, p->path);
	return 0;
}

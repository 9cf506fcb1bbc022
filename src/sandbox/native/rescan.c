#include "sandbox/native/rescan.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "plan/plan_build.h"
#include "plan/scan.h"
#include "sandbox/native/guard_judge.h"
#include "sandbox/native/own_files.h"
#include "sandbox/native/root.h"

enum {
	FIRST_MS = 250,
	EVERY_MS = 2000,
	SOON_MS = 500,
	SHARE = 10,
	HINDERED_MAX = 3,
	CHANGED_MAX = 2,
	UNSEARCHED_MAX = 5
};

/* What came of a search, and the exit status of the child: bits. */
enum { SEARCHED, NOT_ALL = 2, CHANGED = 4 };

void rescan_init(struct rescan *r, const struct guard *g)
{
	size_t i;

	*r = (struct rescan){0};
	for (i = 0; g->plan->n_guards && i < g->plan->n_ops; i++)
		if (g->plan->ops[i].host && g->plan->ops[i].folder)
			r->at_ms = now_ms() + FIRST_MS;
}

int rescan_wait(const struct rescan *r)
{
	uint64_t now;

	if (!r->at_ms || r->child)
		return -1;
	now = now_ms();
	return r->at_ms <= now ? 0 : (int)(r->at_ms - now);
}

struct look {
	const struct guard *g;
	bool writable;
	bool last; /* what cannot be searched now was not before either, for too long */
	int came;
};

static void give_up(const struct look *l, const char *path, const char *why)
{
	l->g->give_up(l->g->arg, sv_of(path), why);
}

static int cover(const struct look *l, const char *path, bool hidden, const char *rule)
{
	int r = root_cover(path, hidden);

	if (r < 0)
		give_up(l, path, "the host made it while the sandbox ran, and it could not be covered");
	if (r > 0)
		l->g->denied(l->g->arg, rule, sv_of(path));
	return 0;
}

/*
 * A folder that is not the workload's it finds covered as a whole, as at the start. In its own it may stand, or have it
 * open, and would see past any cover: some such folders come and go in ordinary work (programs that try how deep
 * folders can be nested), but one that is there all the time ends the run.
 */
static int unsearched(struct look *l, const char *path)
{
	AUTO_FD place = root_look(path);
	struct stat st;

	if (place == -ENOENT || place == -ENOTDIR || place == -ELOOP)
		return 0;
	if (place >= 0 && fstat(place, &st) == 0 && st.st_uid != geteuid())
		return cover(l, path, true, scan_not_searched.rule);
	l->came |= NOT_ALL;
	if (l->last)
		give_up(l, path,
			"it could not be searched for denied names: it is closed to reading, or nested too deep");
	return 0;
}

/* The workload cannot give what is not its own another name: where nothing stands there any more, it was removed, or a
 * folder above it was moved. */
static bool is_in_place(const char *path)
{
	AUTO_BUF folder = {0};
	AUTO_FD dir = -1;

	buf_init(&folder, strlen(path) + 1);
	if (buf_sv(&folder, sv_n(path, (size_t)(strrchr(path, '/') - path))) < 0 || !folder.n)
		return true;
	dir = root_look(folder.p);
	return dir >= 0;
}

/* A socket or a FIFO. Whose it is says the file itself, which is covered then whatever the path leads to by now. */
static int foreign(struct look *l, const char *path, const char *rule)
{
	AUTO_FD place = root_look(path);
	struct stat st;
	int r;

	if (place < 0 || fstat(place, &st) < 0) {
		l->came |= is_in_place(path) ? 0 : CHANGED;
		return 0;
	}
	if (!guard_judge_foreign(l->g, path, &st))
		return 0;
	r = root_cover_at(place, true);
	if (r < 0)
		give_up(l, path, "the host made it while the sandbox ran, and it could not be covered");
	if (r > 0)
		l->g->denied(l->g->arg, rule, sv_of(path));
	return 0;
}

static int found(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct look *l = arg;
	bool hidden = guard->hidden && !on_way;

	if (guard == &scan_not_searched)
		return unsearched(l, path);
	if (guard == &scan_changed) {
		l->came |= CHANGED;
		return 0;
	}
	if (guard == &scan_foreign)
		return foreign(l, path, guard->rule);
	return hidden || l->writable ? cover(l, path, hidden, guard->rule) : 0;
}

/* One folder that is shown. */
static void look_in(struct look *l, const struct scan *scan, const struct plan_op *op)
{
	struct error err = {0};
	uint64_t entries = 0;

	l->writable = op->writable;
	if (scan_tree(scan, op->target, op->target, &entries, &err) == 0)
		return;
	if (err.code == EAGAIN) {
		l->came |= CHANGED;
		return;
	}
	if (err.code == EOVERFLOW)
		give_up(l, op->target, "it has too many entries by now to be searched for denied names");
	(void)unsearched(l, op->target);
}

static bool is_shown(const struct plan_op *op)
{
	return op->host && op->folder;
}

static int look_everywhere(const struct rescan *r, const struct guard *g)
{
	const struct plan_op *op, *end = g->plan->ops + g->plan->n_ops;
	struct scan_links links;
	struct look l = {.g = g, .last = r->unsearched + 1 >= UNSEARCHED_MAX};
	struct scan scan = {.guards = g->plan->guards,
			    .n_guards = g->plan->n_guards,
			    .max_entries = PLAN_MAX_ENTRIES,
			    .found = found,
			    .arg = &l,
			    .links = &links,
			    .lenient = true};
	struct error ignored = {0};

	scan_links_init(&links, PLAN_MAX_ENTRIES);
	links.lenient = true;
	for (op = g->plan->ops; op < end; op++)
		if (is_shown(op))
			look_in(&l, &scan, op);
	for (op = g->plan->ops; op < end; op++) {
		l.writable = op->writable;
		if (is_shown(op))
			(void)scan_other_names(&scan, op->target, op->target, &ignored);
	}
	scan_links_done(&links);
	return l.came;
}

static void looked(struct rescan *r, int came)
{
	uint64_t took = now_ms() - r->began_ms, wait = came & NOT_ALL ? SOON_MS : EVERY_MS;

	r->hindered = 0;
	r->unsearched = came & NOT_ALL ? r->unsearched + 1 : 0;
	r->changed = came & CHANGED ? r->changed + 1 : 0;
	r->at_ms = now_ms() + (took * SHARE > wait ? took * SHARE : wait);
}

/* A search has a folder open for each step that it is deep. */
static void allow_files(struct rlimit *before)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		return;
	l = *before;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

/* In PID 1 itself: nobody stops that, and whoever wants to rename something waits. */
static void look_here(struct rescan *r, const struct guard *g)
{
	struct rlimit before = {0};
	int came;

	allow_files(&before);
	came = look_everywhere(r, g);
	if (before.rlim_max)
		(void)setrlimit(RLIMIT_NOFILE, &before);
	looked(r, came & ~CHANGED);
}

void rescan_start(struct rescan *r, const struct guard *g)
{
	struct rlimit ignored;

	if (rescan_wait(r) != 0)
		return;
	if (!root_has_masks())
		_exit(1); /* somebody deleted the skeleton that the root is: nothing can be covered any more */
	own_files_sweep(g->own);
	(void)own_files_share(g->own);
	r->began_ms = now_ms();
	r->child = r->hindered < HINDERED_MAX && r->changed < CHANGED_MAX ? fork() : -1;
	if (r->child == 0) {
		(void)setpriority(PRIO_PROCESS, 0, 10);
		allow_files(&ignored);
		_exit(look_everywhere(r, g));
	}
	/* where there is no room for a process, too: the workload may have used it up */
	if (r->child < 0) {
		r->child = 0;
		look_here(r, g);
	}
}

void rescan_reaped(struct rescan *r, pid_t pid, int status)
{
	if (!r->child || pid != r->child)
		return;
	if (WIFSTOPPED(status)) {
		(void)kill(pid, ++r->hindered < HINDERED_MAX ? SIGCONT : SIGKILL);
		return;
	}
	r->child = 0;
	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status) & ~(NOT_ALL | CHANGED))
			_exit(1); /* it gave up, and said why */
		looked(r, WEXITSTATUS(status));
		return;
	}
	r->hindered++;
	r->at_ms = now_ms();
}

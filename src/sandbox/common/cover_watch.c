#include "sandbox/common/cover_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/event.h"
#include "model/inside.h"
#include "plan/plan_source.h"
#include "plan/scan.h"
#include "sandbox/common/cover_known.h"
#include "sandbox/common/cover_trees.h"
#include "sys/process.h"
#include "wire/wire.h"

enum {
	FIRST_MS = 250,
	EVERY_MS = 2000,
	SHARE = 50,
	MAX_ENTRIES = 5000000,
	TRIES = 5,
	MOVED_MAX = 2000,
	MESSAGE_MAX = 16384
};

/* A folder that is watched. */
struct spot {
	const struct cover_tree *tree; /* NULL: none has this number */
	char *target;
};

struct cover_watch {
	const struct plan *plan;
	const char *cache_dir;
	struct cover_trees trees;
	struct cover_known known;
	pid_t child;
	int socket; /* ours; in the child: its own */
	/* the child's */
	struct cover_place place;
	int events; /* inotify; -1 in the one that searches */
	int other;  /* the connection between the two */
	struct spot *spots;
	int n_spots;
	uint64_t search_at;
	unsigned unsearched; /* how often in a row a folder could not be searched */
};

int cover_watch_new(const struct plan *plan, const char *cache_dir, struct cover_watch **ret, struct error *err)
{
	struct cover_watch *w;
	int r;

	*ret = NULL;
	if (!plan->n_guards || plan->image)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	*w = (struct cover_watch){.plan = plan, .cache_dir = cache_dir, .socket = -1, .events = -1, .other = -1};
	r = cover_trees_init(&w->trees, plan, &w->known);
	if (r < 0 || !w->trees.n) {
		cover_watch_free(w);
		return r < 0 ? error_sys(err, r, "a folder that is shown") : 0;
	}
	*ret = w;
	return 0;
}

/* From here on: the child. */

static void tell_covered(const struct cover_watch *w, const char *rule, const char *target)
{
	AUTO_BUF b = {0};

	buf_init(&b, MESSAGE_MAX);
	wire_put_u32(&b, DOMAIN_FILESYSTEM);
	wire_put_sv(&b, sv_of(rule));
	wire_put_sv(&b, sv_of(target));
	(void)wire_send(w->socket, INSIDE_DENIED, buf_view(&b), NULL, 0);
}

static _Noreturn void give_up(const struct cover_watch *w, const char *target, const char *what)
{
	struct text_shown t;
	char text[900];
	AUTO_BUF b = {0};

	(void)snprintf(text, sizeof(text), "%.300s: %s; the sandbox was ended", text_show(&t, sv_of(target)), what);
	buf_init(&b, MESSAGE_MAX);
	wire_put_u64(&b, 0);
	wire_put_u32(&b, ERROR_DENIED);
	wire_put_u32(&b, 0);
	wire_put_sv(&b, sv_of(text));
	(void)wire_send(w->socket, INSIDE_FAILED, buf_view(&b), NULL, 0);
	_exit(1);
}

/* Keeps the folder's number and name. Where it cannot be watched, the search finds what comes there. */
static void watch_folder(struct cover_watch *w, const struct cover_tree *t, const char *target, size_t n)
{
	char path[PATH_MAX + 64], folder[PATH_MAX];
	struct spot *more;
	int watch;

	if (w->events < 0 || n >= sizeof(folder))
		return;
	memcpy(folder, target, n);
	folder[n] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", t->fd, cover_tree_below(t, folder));
	watch = inotify_add_watch(w->events, path, IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
	if (watch < 0 || (watch < w->n_spots && w->spots[watch].tree))
		return;
	if (watch >= w->n_spots) {
		more = reallocarray(w->spots, (size_t)watch + 1, sizeof(*more));
		if (!more)
			return;
		memset(more + w->n_spots, 0, (size_t)(watch + 1 - w->n_spots) * sizeof(*more));
		w->spots = more;
		w->n_spots = watch + 1;
	}
	w->spots[watch].target = strdup(folder);
	w->spots[watch].tree = w->spots[watch].target ? t : NULL;
}

/* Where a name was covered the next may come: it is watched from now on. */
static void watch_beside(struct cover_watch *w, const struct cover_tree *t, const char *target)
{
	if (w->events >= 0)
		watch_folder(w, t, target, (size_t)(strrchr(target, '/') - target));
	else
		(void)send(w->other, target, strlen(target), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A name that must not be seen: nothing is to be done where it is covered as it was, or a link, which is judged by what
 * it leads to. */
static void cover(struct cover_watch *w, const struct cover_tree *t, const char *target, const char *rule)
{
	struct sys_facts is, then;
	enum cover_result r;
	struct stat st;
	char why[400];
	int tries, moved = 0;

	for (tries = 0; tries < TRIES; tries++) {
		if (fstatat(t->fd, cover_tree_below(t, target), &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode) ||
		    sys_facts_at(t->fd, cover_tree_below(t, target), &is) < 0)
			return;
		if (cover_known_is(&w->known, target, &is))
			return;
		r = cover_again(&w->place, target, &is);
		if (r == COVER_FAILED)
			break;
		/* the host goes on with it: that is no failure, and the next one is covered */
		if (sys_facts_at(t->fd, cover_tree_below(t, target), &then) < 0 || !cover_is_same(&then, &is)) {
			tries = moved++ < MOVED_MAX ? -1 : tries;
			continue;
		}
		if (r == COVER_CHANGED)
			continue;
		if (cover_known_set(&w->known, target, &is) < 0)
			break;
		watch_beside(w, t, target);
		if (r == COVER_DONE)
			tell_covered(w, rule, target);
		return;
	}
	(void)snprintf(why, sizeof(why),
		       "the host made or replaced it while the sandbox ran, and it could not be hidden there (%.200s)",
		       rule);
	give_up(w, target, why);
}

static int found(void *arg, const char *target, const struct plan_guard *guard, bool on_way)
{
	struct cover_watch *w = arg;
	const struct cover_tree *t;

	if (!guard->hidden || on_way)
		return 0;
	t = cover_trees_at(&w->trees, target);
	if (t)
		cover(w, t, target, guard->rule);
	return 0;
}

/* By its descriptor, since the sandbox sees it wherever it has been moved to; what is remembered of its name is of use
 * where it stands there. */
static int search_tree(const struct scan *scan, const struct cover_tree *t, struct error *err)
{
	AUTO_FD dir = openat(t->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan here = *scan;
	uint64_t entries = 0;

	if (!cover_tree_stands(t))
		here.memory_dir = NULL;
	return dir < 0 ? error_sys(err, errno, "%s", t->op->source)
		       : scan_tree_at(&here, dir, t->op->source, t->op->target, &entries, err);
}

/* One that nobody may enter is no matter. */
static bool may_be_entered(const struct cover_tree *t)
{
	struct stat st;

	return fstat(t->fd, &st) < 0 || (st.st_mode & 0111);
}

/* All of them. What changes meanwhile is searched again soon; what cannot be searched for another reason, time and
 * again, could hold anything. Whether all were searched. */
static bool search_trees(struct cover_watch *w, const struct scan *scan)
{
	const struct cover_tree *t, *failed = NULL;
	struct error err = {0};
	bool all = true;

	for (t = w->trees.v; t < w->trees.v + w->trees.n; t++) {
		if (!t->searched || search_tree(scan, t, &err) == 0)
			continue;
		all = false;
		if (err.code != EAGAIN && may_be_entered(t))
			failed = t;
	}
	w->unsearched = failed ? w->unsearched + 1 : 0;
	if (w->unsearched >= TRIES)
		give_up(w, failed->op->target, "it cannot be searched any more for names that the host makes");
	return all;
}

/* What changes just while it is searched is looked at the next time, which is soon. */
static void search(struct cover_watch *w)
{
	struct scan_links links;
	struct scan scan = {.guards = w->plan->guards,
			    .n_guards = w->plan->n_guards,
			    .max_entries = MAX_ENTRIES,
			    .found = found,
			    .arg = w,
			    .links = &links,
			    .memory_dir = w->cache_dir};
	uint64_t began = (uint64_t)now_ms(), took, wait;
	struct error ignored = {0};
	const struct cover_tree *t;

	scan_links_init(&links, MAX_ENTRIES);
	links.lenient = true;
	wait = search_trees(w, &scan) ? EVERY_MS : FIRST_MS;
	for (t = w->trees.v; t < w->trees.v + w->trees.n; t++)
		if (t->searched && cover_tree_stands(t))
			(void)scan_other_names(&scan, t->op->source, t->op->target, &ignored);
	scan_links_done(&links);
	took = (uint64_t)now_ms() - began;
	w->search_at = (uint64_t)now_ms() + (took * SHARE > wait ? took * SHARE : wait);
}

/* One name that has come: what hides it; NULL: nothing. */
static const struct plan_guard *judge(const struct cover_watch *w, const struct cover_tree *t, const char *target,
				      const struct stat *st)
{
	const struct plan_guard *g, *end = w->plan->guards + w->plan->n_guards;
	char host[PATH_MAX];

	(void)snprintf(host, sizeof(host), "%s%s", t->op->source, target + strlen(t->op->target));
	for (g = w->plan->guards; g < end; g++)
		if (g->hidden && !(g->yields && glob_hit(&g->glob, sv_of(t->op->target))) &&
		    (glob_hit(&g->glob, sv_of(target)) || glob_hit(&g->glob, sv_of(host))))
			return g;
	return t->searched && (S_ISSOCK(st->st_mode) || S_ISFIFO(st->st_mode)) ? &scan_foreign : NULL;
}

/* The host's name at a watched place, if it must not be seen. */
static void look_at(struct cover_watch *w, const struct cover_tree *t, const char *target)
{
	const struct plan_guard *g;
	struct stat st;

	if (fstatat(t->fd, cover_tree_below(t, target), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	g = judge(w, t, target, &st);
	if (g)
		cover(w, t, target, g->rule);
}

/* Every mask of the plan. */
static void look_at_all(struct cover_watch *w)
{
	const struct plan_op *op, *end = w->plan->ops + w->plan->n_ops;
	const struct cover_tree *t;

	for (op = w->plan->ops; op < end; op++) {
		t = op->kind == PLAN_MASK ? cover_trees_at(&w->trees, op->target) : NULL;
		if (t)
			look_at(w, t, op->target);
	}
}

static void on_event(struct cover_watch *w, const struct inotify_event *e)
{
	const struct spot *s = e->wd >= 0 && e->wd < w->n_spots ? &w->spots[e->wd] : NULL;
	char target[PATH_MAX];

	if (e->mask & IN_Q_OVERFLOW) {
		cover_known_done(&w->known);
		look_at_all(w);
	}
	if (!s || !s->tree || !e->len ||
	    (size_t)snprintf(target, sizeof(target), "%s/%s", s->target, e->name) >= sizeof(target))
		return;
	/* whatever had the name has lost it, perhaps to a file with the same number */
	cover_known_forget(&w->known, target);
	if (cover_trees_at(&w->trees, target) == s->tree)
		look_at(w, s->tree, target);
}

static void on_events(struct cover_watch *w)
{
	_Alignas(struct inotify_event) char room[4096];
	const struct inotify_event *e;
	ssize_t n = read(w->events, room, sizeof(room)), at;

	for (at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
		e = (const struct inotify_event *)(const void *)(room + at);
		on_event(w, e);
	}
}

/* The one that searches has covered a name. */
static void on_found(struct cover_watch *w)
{
	char target[PATH_MAX];
	ssize_t n = recv(w->other, target, sizeof(target) - 1, 0);
	const struct cover_tree *t;

	if (n <= 0)
		_exit(1); /* it has ended, and so must we */
	target[n] = '\0';
	t = cover_trees_at(&w->trees, target);
	if (!t)
		return;
	watch_beside(w, t, target);
	look_at(w, t, target);
}

/* The folders as they were when their masks were noted. */
static void open_trees(struct cover_watch *w)
{
	struct sys_facts is;
	struct cover_tree *t;

	for (t = w->trees.v; t < w->trees.v + w->trees.n; t++) {
		t->fd = plan_source_open(t->op, O_RDONLY);
		if (t->fd < 0 || sys_facts_at(t->fd, "", &is) < 0 || !cover_is_same(&is, &t->is))
			give_up(w, t->op->source, "another folder came in its place while the sandbox was started");
	}
}

static void watch_all(struct cover_watch *w)
{
	const struct cover_tree *t;
	const char *target;
	size_t i;

	w->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	for (t = w->trees.v; t < w->trees.v + w->trees.n; t++)
		if (t->searched)
			watch_folder(w, t, t->op->target, strlen(t->op->target));
	for (i = 0; i < w->known.n; i++) {
		target = w->known.v[i].target;
		watch_folder(w, cover_trees_at(&w->trees, target), target, (size_t)(strrchr(target, '/') - target));
	}
}

/* One that searches, in no hurry, and one that answers at once to what it is told. */
static void part(struct cover_watch *w)
{
	pid_t parent = getpid(), child;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		_exit(1);
	child = fork();
	if (child < 0)
		_exit(1);
	(void)close(pair[child == 0]);
	w->other = pair[child != 0];
	if (child != 0)
		return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	(void)setpriority(PRIO_PROCESS, 0, 10);
	for (w->search_at = (uint64_t)now_ms() + FIRST_MS;;) {
		(void)poll(NULL, 0, left_ms((int64_t)w->search_at));
		search(w);
	}
}

static _Noreturn void watch(struct cover_watch *w)
{
	struct pollfd p[3];

	open_trees(w);
	part(w);
	watch_all(w);
	look_at_all(w); /* what came before it was watched */
	for (;;) {
		p[0] = (struct pollfd){.fd = w->socket, .events = POLLIN};
		p[1] = (struct pollfd){.fd = w->events, .events = POLLIN};
		p[2] = (struct pollfd){.fd = w->other, .events = POLLIN};
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[0].revents)
			_exit(0);
		if (p[1].revents)
			on_events(w);
		if (p[2].revents)
			on_found(w);
	}
}

/* Nothing else of the supervisor's: its locks and pipes are not ours to hold. */
static void keep_own(struct cover_watch *w)
{
	int *const own[] = {&w->socket, &w->place.pidfd, &w->place.user, &w->place.root};

	sys_keep_only(own, ARRAY_LEN(own));
}

int cover_watch_start(struct cover_watch *w, const struct cover_place *place, struct error *err)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	w->child = fork();
	if (w->child == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(1);
		w->socket = pair[1];
		w->place = *place;
		keep_own(w);
		watch(w);
	}
	(void)close(pair[1]);
	w->socket = pair[0];
	return w->child < 0 ? error_sys(err, errno, "fork") : 0;
}

int cover_watch_socket(const struct cover_watch *w)
{
	return w->socket;
}

void cover_watch_end(struct cover_watch *w)
{
	if (w && w->child > 0)
		(void)kill(w->child, SIGKILL); /* not waited for yet, so the number is still its own */
}

void cover_watch_free(struct cover_watch *w)
{
	if (!w)
		return;
	cover_watch_end(w);
	while (w->child > 0 && waitpid(w->child, NULL, 0) < 0 && errno == EINTR)
		;
	cleanup_fd(&w->socket);
	cover_known_done(&w->known);
	cover_trees_done(&w->trees);
	free(w);
}

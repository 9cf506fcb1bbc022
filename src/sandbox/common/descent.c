#include "sandbox/common/descent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sys/process_stat.h"

/* After UNSURE passes the young orphans go, too; after FROZEN ones all stand still, so that none can become another one
 * before it is seen. */
enum { PASS_MS = 5, UNSURE = 6, FROZEN = 18, PASSES = 30 };

enum { TICKS = 100 }; /* of a second, in /proc */

/* Who goes of those of whom it cannot be said whose they are. */
enum doubt { NONE, MOST, ALL };

struct process {
	pid_t pid, parent, session;
	uint64_t start;
	bool dead;
};

struct seen {
	struct process *v;
	size_t n, room;
	bool missed; /* one was gone before it could be looked at: it may have become another */
};

/* false: it is gone. */
static bool look(pid_t pid, struct process *ret)
{
	struct sys_process_stat is;

	if (!sys_process_stat(pid, &is))
		return false;
	*ret = (struct process){
		.pid = pid, .parent = is.parent, .session = is.session, .start = is.start, .dead = is.dead};
	return true;
}

uint64_t descent_start(pid_t pid)
{
	struct process p;

	return look(pid, &p) ? p.start : 0;
}

uint64_t descent_now(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * TICKS + (uint64_t)t.tv_nsec / (1000000000 / TICKS);
}

static int add(struct seen *s, pid_t pid)
{
	struct process *more;

	if (s->n == s->room) {
		more = realloc(s->v, (s->room + 256) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->v = more;
		s->room += 256;
	}
	if (look(pid, &s->v[s->n]))
		s->n++;
	else
		s->missed = true;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;

	return x < y ? -1 : x > y;
}

static const struct process *find(const struct seen *s, pid_t pid)
{
	const struct process key = {.pid = pid};

	return s->n ? bsearch(&key, s->v, s->n, sizeof(key), by_pid) : NULL;
}

/* 0 or -errno; s->v is the caller's in any case. */
static int see(struct seen *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int r = d ? 0 : -errno;

	while (r == 0 && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			r = add(s, (pid_t)strtol(e->d_name, NULL, 10));
	if (d)
		(void)closedir(d);
	if (r == 0 && s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_pid);
	return r == 0 && !find(s, getpid()) ? -ENOENT : r; /* it is not the /proc of this sandbox */
}

static bool is_other(const struct descent *d, pid_t pid)
{
	size_t i;

	for (i = 0; i < d->n_others; i++)
		if (d->others[i] == pid)
			return true;
	return pid == getpid() || pid == getsid(0);
}

/* Of those of whom nothing else is known: what was there before the command, at the end of another, is older; in one
 * tick of the clock it has the lower number, unless these began anew just then. */
static bool is_young(const struct descent *d, const struct process *p, enum doubt doubt)
{
	return p->start > d->since || (p->start == d->since && (p->pid > d->root || doubt == ALL));
}

/* p, or the first of its ancestors of which it can be said, decides. */
static bool is_its(const struct descent *d, const struct seen *s, const struct process *p, enum doubt doubt)
{
	const struct process *parent;
	size_t depth;

	for (depth = 0; depth < s->n; depth++, p = parent) {
		if (p->pid == d->root || p->session == d->root)
			return true;
		if (is_other(d, p->pid) || is_other(d, p->session))
			return false;
		parent = p->parent == getpid() ? NULL : find(s, p->parent);
		if (!parent)
			return doubt != NONE && is_young(d, p, doubt);
	}
	return false;
}

/* How many were there, and maybe one more, or -errno. *ret_dead: how many of them have ended, and wait for somebody to
 * take note. */
static int kill_them(const struct descent *d, enum doubt doubt, size_t *ret_dead)
{
	struct seen s = {0};
	int r = see(&s), n = s.missed;
	size_t i;

	*ret_dead = 0;
	for (i = 0; r == 0 && i < s.n; i++) {
		if (!is_its(d, &s, &s.v[i], doubt))
			continue;
		if (!s.v[i].dead)
			(void)kill(s.v[i].pid, SIGKILL);
		n += !s.v[i].dead;
		*ret_dead += s.v[i].dead;
	}
	free(s.v);
	return r < 0 ? r : n;
}

/* The filter has no users any more. */
static bool is_hung_up(int listener, int wait_ms)
{
	struct pollfd p = {.fd = listener};

	return poll(&p, 1, wait_ms) == 1 && p.revents & POLLHUP;
}

/* Those that are seen dead may have made another one a moment before: all is over when none are alive, and no more are
 * dead than at the last look. Nobody but us takes note of orphans, and we do not meanwhile. */
bool descent_end(const struct descent *d)
{
	size_t dead = SIZE_MAX, before;
	bool frozen = false, over = false;
	int pass, n = 0;

	for (pass = 0; n >= 0 && !over && pass < PASSES; pass++) {
		frozen = pass >= FROZEN;
		if (frozen)
			(void)kill(-1, SIGSTOP);
		/* without a listener this only waits */
		over = is_hung_up(d->listener, pass ? PASS_MS : 0);
		before = dead;
		n = over ? 0 : kill_them(d, frozen ? ALL : d->listener < 0 || pass >= UNSURE ? MOST : NONE, &dead);
		over = over || (n == 0 && dead == before && (d->listener < 0 || frozen));
	}
	if (frozen)
		(void)kill(-1, SIGCONT);
	return over;
}

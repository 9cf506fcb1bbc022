#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/sv.h"
#include "sys/cgroup_place.h"
#include "sys/process.h"
#include "sys/tree.h"

#define PREFIX "cordon-"

enum { WAIT_MS = 2000, LEFT_MS = 100, KILL_BATCH = 64, PERIOD_US = 100000, QUOTA_MIN_US = 1000 };

/* With many folders about, only some of the runs look for left-over ones. */
enum { TIDY_AGE_S = 10, TIDY_MANY = 64, TIDY_ONE_IN = 32 };

/* The run's cgroup in one hierarchy. */
struct hier {
	int parent; /* the folder that it is in */
	int dir;
	int join; /* tasks (v1) or cgroup.procs (v2), opened for writing */
	bool v2;
	unsigned bits;
};

struct cgroup {
	char name[CGROUP_FOLDER_MAX + 1];
	unsigned n;
	struct hier h[CGROUP_PLACES];
};

static bool name_is_valid(const char *name, size_t max)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	size_t n = strlen(name);

	return n > 0 && n <= max && strspn(name, alphabet) == n;
}

static bool id_is_valid(const char *id)
{
	return name_is_valid(id, CGROUP_ID_MAX);
}

static void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* The files to write per limit, and what holds when that was done. */
enum knob_value { KNOB_LIMIT, KNOB_ZERO, KNOB_ONE, KNOB_QUOTA, KNOB_QUOTA_PERIOD };

static const struct knob {
	unsigned bit;
	bool v2;
	unsigned gives;
	enum knob_value value;
	const char *file;
} knobs[] = {
	{CGROUP_MEMORY, true, CGROUP_SWAP, KNOB_ZERO, "memory.swap.max"},
	{CGROUP_MEMORY, true, 0, KNOB_ONE, "memory.oom.group"},
	{CGROUP_MEMORY, true, CGROUP_MEMORY, KNOB_LIMIT, "memory.max"},
	{CGROUP_PIDS, true, CGROUP_PIDS, KNOB_LIMIT, "pids.max"},
	{CGROUP_CPU, true, CGROUP_CPU, KNOB_QUOTA_PERIOD, "cpu.max"},
	/* memsw (memory and swap together) cannot be below the limit of memory alone, so it comes after it. */
	{CGROUP_MEMORY, false, CGROUP_MEMORY, KNOB_LIMIT, "memory.limit_in_bytes"},
	{CGROUP_MEMORY, false, CGROUP_SWAP, KNOB_LIMIT, "memory.memsw.limit_in_bytes"},
	{CGROUP_MEMORY, false, 0, KNOB_LIMIT, "memory.kmem.tcp.limit_in_bytes"}, /* v2 counts them with the rest */
	{CGROUP_PIDS, false, CGROUP_PIDS, KNOB_LIMIT, "pids.max"},
	{CGROUP_CPU, false, CGROUP_CPU, KNOB_QUOTA, "cpu.cfs_quota_us"},
};

static uint64_t limit_of(const struct cgroup_limits *limits, unsigned bit)
{
	return bit == CGROUP_MEMORY ? limits->memory : bit == CGROUP_PIDS ? limits->processes : limits->cpu;
}

static void knob_text(const struct knob *k, uint64_t limit, char *out, size_t cap)
{
	uint64_t quota = limit > UINT32_MAX ? UINT32_MAX : limit; /* so that it cannot overflow */

	quota = quota * (PERIOD_US / 1000);
	if (quota < QUOTA_MIN_US)
		quota = QUOTA_MIN_US;
	switch (k->value) {
	case KNOB_ZERO:
	case KNOB_ONE:
		(void)snprintf(out, cap, "%d", k->value == KNOB_ONE);
		return;
	case KNOB_LIMIT:
		(void)snprintf(out, cap, "%" PRIu64, limit);
		return;
	case KNOB_QUOTA:
		(void)snprintf(out, cap, "%" PRIu64, quota);
		return;
	case KNOB_QUOTA_PERIOD:
		(void)snprintf(out, cap, "%" PRIu64 " %d", quota, PERIOD_US);
		return;
	}
}

unsigned cgroup_set_limits(int dir, bool v2, unsigned bits, const struct cgroup_limits *limits)
{
	unsigned done = 0;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(knobs); i++) {
		const struct knob *k = &knobs[i];

		if (k->v2 != v2 || !(bits & k->bit))
			continue;
		knob_text(k, limit_of(limits, k->bit), text, sizeof(text));
		if (cgroup_write(dir, k->file, text) == 0)
			done |= k->gives;
	}
	/* of memory that is not limited, swap alone says nothing */
	return done & CGROUP_MEMORY ? done : done & ~(unsigned)CGROUP_SWAP;
}

/* Where the kernel has a list of swap areas, a line for each follows its head. */
bool cgroup_host_swaps(const struct cgroup_env *env)
{
	AUTO_FD fd = open(env && env->swaps ? env->swaps : "/proc/swaps", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	const char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
	struct sysinfo info;

	if (n > 0)
		return end && end + 1 < text + n;
	return sysinfo(&info) < 0 || info.totalswap > 0;
}

static void hier_close(struct hier *h)
{
	cleanup_fd(&h->join);
	cleanup_fd(&h->dir);
	cleanup_fd(&h->parent);
}

/* Opens the cgroup that is there, to join it or only to ask it. On success place->fd belongs to *ret. */
static int hier_open(const struct cgroup_place *place, const char *name, bool join, struct hier *ret)
{
	struct hier h = {.parent = place->fd, .dir = -1, .join = -1, .v2 = place->v2};

	h.dir = openat(h.parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (h.dir >= 0 && join)
		h.join = openat(h.dir, h.v2 ? "cgroup.procs" : "tasks", O_WRONLY | O_CLOEXEC);
	if (h.dir < 0 || (join && h.join < 0)) {
		int code = errno;

		cleanup_fd(&h.dir);
		return -code;
	}
	*ret = h;
	return 0;
}

/* Takes place->fd. 0: made, or not possible here (and then not added to cg). -EEXIST. */
static int add_hier(struct cgroup *cg, const struct cgroup_place *place, const struct cgroup_limits *limits)
{
	AUTO_FD parent = place->fd;
	struct hier *h = &cg->h[cg->n];

	if (mkdirat(parent, cg->name, 0755) < 0)
		return errno == EEXIST ? -EEXIST : 0;
	if (hier_open(place, cg->name, true, h) == 0) {
		h->bits = cgroup_set_limits(h->dir, h->v2, place->bits, limits);
		if (h->bits || (h->v2 && limits->track)) {
			(void)fd_take(&parent);
			cg->n++;
			return 0;
		}
		cleanup_fd(&h->join);
		cleanup_fd(&h->dir);
	}
	(void)unlinkat(parent, cg->name, AT_REMOVEDIR);
	return 0;
}

/*
 * As many CPUs as the machine can ever have are no limit to set: the hierarchy, and what it costs each start, is not
 * needed for it.
 */
static bool limits_no_cpu(const struct cgroup_limits *limits)
{
	long cpus = limits->cpu ? sysconf(_SC_NPROCESSORS_CONF) : 0;

	return cpus > 0 && limits->cpu >= (uint64_t)cpus * 1000;
}

static struct cgroup *cgroup_alloc(const char *prefix, const char *name)
{
	struct cgroup *cg = calloc(1, sizeof(*cg));

	if (cg)
		(void)snprintf(cg->name, sizeof(cg->name), "%s%s", prefix, name);
	return cg;
}

int cgroup_new(const struct cgroup_env *env, const char *id, const struct cgroup_limits *limits, struct cgroup **ret)
{
	struct cgroup_place places[CGROUP_PLACES];
	struct cgroup *cg;
	unsigned bits = limits_no_cpu(limits) ? CGROUP_CPU : 0;
	unsigned want, n, i;
	int r = 0;

	if (!id_is_valid(id))
		return -EINVAL;
	cg = cgroup_alloc(PREFIX, id);
	if (!cg)
		return -ENOMEM;
	want = (limits->memory ? CGROUP_MEMORY : 0) | (limits->processes ? CGROUP_PIDS : 0) |
	       (limits->cpu ? CGROUP_CPU & ~bits : 0);
	n = want || limits->track ? cgroup_places(env, want, limits->track, places) : 0;
	for (i = 0; i < n; i++) {
		if (r < 0)
			(void)close(places[i].fd);
		else
			r = add_hier(cg, &places[i], limits);
	}
	if (r < 0) {
		(void)cgroup_remove(cg);
		cgroup_free(cg);
		return r;
	}
	for (i = 0; i < cg->n; i++)
		bits |= cg->h[i].bits;
	if ((bits & (CGROUP_MEMORY | CGROUP_SWAP)) == CGROUP_MEMORY && !cgroup_host_swaps(env))
		bits |= CGROUP_SWAP;
	*ret = cg;
	return (int)bits;
}

static int open_named(const struct cgroup_env *env, struct cgroup *cg, bool join, struct cgroup **ret)
{
	struct cgroup_place places[CGROUP_PLACES];
	unsigned n, i;

	if (!cg)
		return -ENOMEM;
	n = cgroup_places_named(env, cg->name, places);
	for (i = 0; i < n; i++) {
		AUTO_FD own = places[i].fd;
		AUTO_FD parent = openat(own, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct cgroup_place up = {parent, places[i].v2, 0};

		if (parent < 0 || hier_open(&up, cg->name, join, &cg->h[cg->n]) < 0)
			continue;
		(void)fd_take(&parent);
		cg->h[cg->n++].bits = places[i].bits;
	}
	if (cg->n == 0) {
		cgroup_free(cg);
		return -ENOENT;
	}
	*ret = cg;
	return 0;
}

int cgroup_open(const struct cgroup_env *env, const char *id, struct cgroup **ret)
{
	return id_is_valid(id) ? open_named(env, cgroup_alloc(PREFIX, id), true, ret) : -EINVAL;
}

int cgroup_open_folder(const struct cgroup_env *env, const char *folder, struct cgroup **ret)
{
	return name_is_valid(folder, CGROUP_FOLDER_MAX) ? open_named(env, cgroup_alloc("", folder), false, ret)
							: -EINVAL;
}

void cgroup_free(struct cgroup *cg)
{
	unsigned i;

	for (i = 0; cg && i < cg->n; i++)
		hier_close(&cg->h[i]);
	free(cg);
}

int cgroup_fd_v2(const struct cgroup *cg)
{
	unsigned i;

	for (i = 0; cg && i < cg->n; i++)
		if (cg->h[i].v2)
			return cg->h[i].dir;
	return -1;
}

int cgroup_join_self(const struct cgroup *cg, bool v2_done)
{
	unsigned i;

	for (i = 0; cg && i < cg->n; i++)
		if (!(cg->h[i].v2 && v2_done) && write(cg->h[i].join, "0", 1) < 0)
			return -errno;
	return 0;
}

int cgroup_join(const struct cgroup *cg, pid_t pid)
{
	char text[16];
	unsigned i;
	int r = 0;

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	/* Not the fds of cgroup_join_self(): `tasks` would take one thread only. */
	for (i = 0; cg && i < cg->n && r == 0; i++)
		r = cgroup_write(cg->h[i].dir, "cgroup.procs", text);
	return r;
}

/* The first pids of cgroup.procs, at most max. Those that another PID namespace hides read as 0 and are left out. */
static int read_pids(int dir, pid_t *out, unsigned max)
{
	AUTO_FD fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char text[4096], *at = text, *end;
	unsigned n = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	if (got < 0)
		return -errno;
	text[got] = '\0';
	while (n < max) {
		long v = strtol(at, &end, 10);

		if (end == at || *end != '\n') /* the last number may be cut off */
			break;
		at = end;
		if (v > 0 && v <= INT_MAX)
			out[n++] = (pid_t)v;
	}
	return (int)n;
}

static bool has_pid(const pid_t *pids, int n, pid_t pid)
{
	int i;

	for (i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/*
 * Kills a batch of the members. A pid may be another process's by now, so each gets a pidfd first, and is killed only
 * when a second look finds the pid still in the cgroup. Returns the number of members that were seen.
 */
static int kill_batch(int dir)
{
	pid_t pids[KILL_BATCH], again[4 * KILL_BATCH];
	int fds[KILL_BATCH], n, m, i;

	n = read_pids(dir, pids, KILL_BATCH);
	if (n <= 0)
		return n;
	for (i = 0; i < n; i++)
		fds[i] = sys_pidfd_open(pids[i]);
	m = read_pids(dir, again, 4 * KILL_BATCH);
	for (i = 0; i < n; i++) {
		if (fds[i] < 0)
			continue;
		if (m > 0 && has_pid(again, m, pids[i]))
			(void)sys_pidfd_signal(fds[i], SIGKILL);
		(void)close(fds[i]);
	}
	return n;
}

static int hier_kill(const struct hier *h)
{
	bool at_once = h->v2 && cgroup_write(h->dir, "cgroup.kill", "1") == 0;
	pid_t one;
	int waited, n = 0;

	/* Nothing can be born then, so that the loop gains on a fork bomb. */
	if (!at_once && (h->bits & CGROUP_PIDS))
		(void)cgroup_write(h->dir, "pids.max", "0");
	for (waited = 0; waited <= WAIT_MS; waited++) {
		n = at_once ? read_pids(h->dir, &one, 1) : kill_batch(h->dir);
		if (n <= 0)
			return n;
		if (at_once || n < KILL_BATCH)
			sleep_ms(1);
	}
	return -EBUSY;
}

int cgroup_kill(const struct cgroup *cg)
{
	const struct hier *best = NULL;
	unsigned i;

	/* All hierarchies have the same members: the one that is quickest is enough. */
	for (i = 0; cg && i < cg->n; i++)
		if (!best || cg->h[i].v2 || (!best->v2 && (cg->h[i].bits & CGROUP_PIDS)))
			best = &cg->h[i];
	return best ? hier_kill(best) : 0;
}

/* The number behind key in a "key number" file, or the whole file's number (key NULL). Adds it to *ret. */
static bool add_number(int dir, const char *file, const char *key, uint64_t *ret)
{
	char text[4096], *at = text;
	uint64_t v;

	if (cgroup_read(dir, file, text, sizeof(text)) < 0)
		return false;
	while (key && at) {
		if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == ' ') {
			at += strlen(key);
			break;
		}
		at = strchr(at, '\n');
		at += at != NULL;
	}
	if (!at || sscanf(at, "%" SCNu64, &v) != 1)
		return false;
	*ret += v;
	return true;
}

void cgroup_stats(const struct cgroup *cg, struct cgroup_stats *ret)
{
	struct cgroup_stats s = {0};
	unsigned i;

	for (i = 0; cg && i < cg->n; i++) {
		const struct hier *h = &cg->h[i];
		int d = h->dir;
		bool memory = add_number(d, h->v2 ? "memory.peak" : "memory.max_usage_in_bytes", NULL, &s.memory_peak);

		/* memory.peak is younger (5.19) than what we support. */
		if (!memory && h->v2)
			memory = add_number(d, "memory.current", NULL, &s.memory_peak);
		if (memory)
			s.known |= CGROUP_MEMORY;
		(void)add_number(d, h->v2 ? "memory.events" : "memory.oom_control", "oom_kill", &s.oom_kills);
		if (add_number(d, "pids.events", "max", &s.pids_refused))
			s.known |= CGROUP_PIDS;
		if (h->v2 && add_number(d, "cpu.stat", "usage_usec", &s.cpu_usec))
			s.known |= CGROUP_CPU;
	}
	*ret = s;
}

uint64_t cgroup_tcp_bytes(const struct cgroup *cg)
{
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; cg && i < cg->n; i++)
		if (!cg->h[i].v2 && (cg->h[i].bits & CGROUP_MEMORY))
			(void)add_number(cg->h[i].dir, "memory.kmem.tcp.usage_in_bytes", NULL, &bytes);
	return bytes;
}

/*
 * A supervisor that was killed with -9 takes its sandbox along, but leaves this folder. Whoever ends next removes it:
 * an empty cgroup of ours that is not just about to be joined. A full one answers EBUSY, so no run can be hurt. The
 * number of links tells for nothing that there is no other folder at all.
 */
static void tidy_folder(int folder, bool always)
{
	struct timespec now;
	struct stat st;
	struct sys_names names;
	const char *name;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(folder, &st) < 0 || st.st_nlink <= 2 ||
	    (!always && st.st_nlink > TIDY_MANY && now.tv_nsec % TIDY_ONE_IN != 0))
		return;
	if (sys_names_open(&names, folder) < 0)
		return;
	while ((name = sys_names_next(&names))) {
		if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !id_is_valid(name + strlen(PREFIX)))
			continue;
		if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec + TIDY_AGE_S < now.tv_sec)
			(void)unlinkat(folder, name, AT_REMOVEDIR);
	}
	sys_names_close(&names);
}

void cgroup_tidy(const struct cgroup_env *env)
{
	struct cgroup_place places[CGROUP_PLACES];
	unsigned n = cgroup_places(env, CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU, true, places), i;

	for (i = 0; i < n; i++) {
		tidy_folder(places[i].fd, true);
		(void)close(places[i].fd);
	}
}

int cgroup_remove(struct cgroup *cg)
{
	int waited = 0, worst = 0;
	unsigned i;

	for (i = 0; cg && i < cg->n; i++) {
		while (unlinkat(cg->h[i].parent, cg->name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
			if (errno != EBUSY || waited++ >= WAIT_MS) {
				worst = -errno;
				break;
			}
			sleep_ms(1);
		}
		tidy_folder(cg->h[i].parent, false);
	}
	return worst;
}

void cgroup_remove_left(const struct cgroup_env *env, const char *id)
{
	struct cgroup_place places[CGROUP_PLACES];
	char name[CGROUP_ID_MAX + sizeof(PREFIX)];
	unsigned n, i;
	int waited;

	if (!id_is_valid(id))
		return;
	(void)snprintf(name, sizeof(name), PREFIX "%s", id);
	n = cgroup_places(env, CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU, true, places);
	for (i = 0; i < n; i++) {
		/* what was killed a moment ago may still be on its way out */
		for (waited = 0; waited < LEFT_MS && unlinkat(places[i].fd, name, AT_REMOVEDIR) < 0 && errno == EBUSY;
		     waited++)
			sleep_ms(1);
		(void)close(places[i].fd);
	}
}

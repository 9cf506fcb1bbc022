#include "supervise/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervise/watch_proc.h"
#include "sys/cgroup.h"

enum {
	FILES_EVERY = 20,  /* polls between looks at files, as long as there are some */
	TABLES_SHARE = 64, /* page tables are asked for where they could be one part in so many of the limit */
	EXACT_SHARE = 5,   /* Pss takes at most one part in so many of the time */
	POLL_SHARE = 20,   /* and a whole poll */
	SOCKETS_SHARE =
		8, /* TCP buffers may be one part in so many over the limit; what sockets hold counts from there */
	FLOOR_BYTES = 256 << 20,
	FLOOR_PERCENT = 2,
};

/* Shared memory of the whole host: one cheap call that tells when a look at files is worth its price. */
static uint64_t host_shared(void)
{
	struct sysinfo info;

	return sysinfo(&info) < 0 ? 0 : (uint64_t)info.sharedram * info.mem_unit;
}

static bool host_swaps(void)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 && info.freeswap < info.totalswap;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* From 1 to most: who knows when the last look was shall not know the next one. */
static unsigned at_random(unsigned most)
{
	unsigned n = 0;

	(void)!getrandom(&n, sizeof(n), GRND_NONBLOCK);
	return 1 + n % most;
}

/* What a cgroup does not count fills slowly. */
static bool has_time(const struct watch_limits *l)
{
	return !l->memory && !l->processes && !l->disk && !l->storage;
}

void watch_init(struct watch *w, pid_t init, const struct watch_limits *limits)
{
	*w = (struct watch){.limits = *limits,
			    .next_ms = has_time(limits) ? WATCH_POLL_SLOW_MS : WATCH_POLL_MS,
			    .shared_device = watch_files_device()};
	watch_members_init(&w->members, init, limits->tree);
	watch_sockets_init(&w->sockets);
	if (limits->kernel)
		watch_kernel_init(&w->kernel);
	w->shared_seen = w->shared_before = w->shared_now = host_shared();
	usage_init(&w->usage, limits->storage_folders, limits->storage);
	if (limits->storage_user)
		w->usage.userns = limits->storage_user;
}

void watch_done(struct watch *w)
{
	watch_members_done(&w->members);
	watch_files_done(&w->shared);
	watch_tmpfs_done(&w->tmpfs);
	watch_sockets_done(&w->sockets);
	usage_done(&w->usage);
}

static void visit_nothing(int proc, const char *pid, void *arg)
{
	(void)proc;
	(void)pid;
	(void)arg;
}

struct resident {
	uint64_t pages;
	uint64_t more;         /* bytes that are in no count of resident pages: page tables, and what was swapped out */
	uint64_t tables_least; /* page tables of fewer bytes are not asked for */
	bool swap;             /* swapped pages are */
};

/* Step 1. */
static void visit_resident(int proc, const char *pid, void *arg)
{
	struct resident *sum = arg;
	uint64_t mapped, resident;
	char task[WATCH_TASK_SIZE];
	struct watch_status s;

	(void)snprintf(task, sizeof(task), "%.11s", pid);
	if (!watch_proc_pages(proc, task, &mapped, &resident) &&
	    (!watch_proc_alive(proc, pid, task) || !watch_proc_pages(proc, task, &mapped, &resident)))
		return;
	sum->pages += resident;
	/* a page that is mapped takes an entry of 8 bytes at most */
	if ((sum->swap || mapped * 8 >= sum->tables_least) && watch_proc_status(proc, task, &s))
		sum->more += (s.tables + s.swap) * 1024;
}

/* What one process has, in KiB. */
struct exact_one {
	pid_t pid;
	uint64_t own; /* anonymous pages and page tables */
	uint64_t shared;
	uint64_t unparted; /* shared pages of one that nobody tells us how many others have them */
};

struct exact {
	const struct watch_members *members;
	struct exact_one *v;
	size_t n, cap;
	bool full;
};

static bool measure_one(int proc, const char *pid, struct exact_one *ret, pid_t *ret_parent)
{
	char task[WATCH_TASK_SIZE], text[4096];
	struct watch_status s;

	*ret = (struct exact_one){.pid = atoi(pid)};
	if (!watch_proc_alive(proc, pid, task) || !watch_proc_status(proc, task, &s))
		return false;
	*ret_parent = s.parent;
	ret->own = s.tables;
	if (watch_proc_read(proc, task, "smaps_rollup", text, sizeof(text)) > 0) {
		ret->own += watch_proc_number(text, "\nPss_Anon:") + watch_proc_number(text, "\nSwapPss:");
		ret->shared = watch_proc_number(text, "\nPss_Shmem:");
	} else {
		/* it does not let us look; or it has just ended, and then this is gone with it */
		if (!watch_proc_status(proc, task, &s))
			return false;
		ret->own += s.anon + s.swap;
		ret->unparted = s.shared;
	}
	return true;
}

static void keep_one(struct exact *sum, const struct exact_one *one)
{
	size_t cap = sum->cap ? 2 * sum->cap : 64;
	struct exact_one *v;

	if (sum->n == sum->cap) {
		v = realloc(sum->v, cap * sizeof(*v));
		sum->full |= !v;
		if (!v)
			return;
		sum->v = v;
		sum->cap = cap;
	}
	sum->v[sum->n++] = *one;
}

/* Step 2. A child that came meanwhile has the pages that its parent was seen to have alone: that one is looked at
 * again. */
static void visit_exact(int proc, const char *pid, void *arg)
{
	struct exact *sum = arg;
	struct exact_one one, again;
	pid_t parent, unused;
	char name[16];
	size_t i;

	if (!measure_one(proc, pid, &one, &parent))
		return;
	for (i = 0; sum->members->late && i < sum->n; i++) {
		(void)snprintf(name, sizeof(name), "%d", (int)parent);
		if (sum->v[i].pid == parent && measure_one(proc, name, &again, &unused))
			sum->v[i] = again;
	}
	keep_one(sum, &one);
}

/* Processes with many threads are looked at by the numbers that they have here: found in the tree of children, and
 * where there is none, slowly. */
static void visit_files(struct watch *w, watch_visit_fn *visit, struct watch_files *f)
{
	struct watch_members host;

	f->numbers_are_ours = w->members.proc_fd < 0;
	(void)watch_members_each(&w->members, visit, f);
	if (!f->more_threads)
		return;
	watch_members_init(&host, w->members.init, w->limits.tree);
	f->more_threads = false;
	f->numbers_are_ours = true;
	(void)watch_members_each(&host, visit, f);
	watch_members_done(&host);
	if (!host.blind)
		return;
	f->numbers_are_ours = false;
	f->all_threads = true;
	(void)watch_members_each(&w->members, visit, f);
	f->all_threads = false;
}

static struct watch_files no_files(const struct watch *w)
{
	return (struct watch_files){.ahead = w->ahead, .device = w->shared_device};
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Of memory that is mapped and not open, only what is mapped can be seen. Its pages stay for as long as any part of it
 * is mapped: each object counts with the most that was last seen of it, and one that became smaller shows a workload
 * that keeps what cannot be seen.
 */
static void look_at_shared(struct watch *w)
{
	struct watch_files now;
	uint64_t start = watch_proc_spent_us();
	size_t i;

	if ((uint64_t)now_us() < w->shared_after_us)
		return;
	now = no_files(w);
	(void)watch_members_each(&w->members, watch_files_shared, &now);
	visit_files(w, watch_files_memory, &now);
	w->unseen = w->shared_open = w->shared_mapped = 0;
	for (i = 0; i < now.cap; i++) {
		struct watch_file *f = &now.v[i];
		const struct watch_file *old = watch_files_find(&w->shared, f->dev, f->ino);

		if (!f->exact && old && old->bytes > f->bytes) {
			f->bytes = old->bytes;
			w->hides = true;
		}
		w->unseen += f->ino && !f->exact;
		if (f->exact)
			w->shared_open = add(w->shared_open, f->bytes);
		else
			w->shared_mapped = add(w->shared_mapped, f->bytes);
	}
	if (now.full)
		w->shared_mapped = UINT64_MAX;
	w->hidden = now.hidden && !w->limits.foreign ? w->hidden + 1 : 0;
	watch_files_done(&w->shared);
	w->shared = now;
	w->shared_after_us = now_us() + (watch_proc_spent_us() - start) * (POLL_SHARE - 1);
}

/*
 * What is mapped need not be there, so it is no more than what the host's shared memory grew by; where something is
 * hidden it can be all of that.
 */
static uint64_t shared_bytes(const struct watch *w)
{
	uint64_t grown = w->shared_now - w->shared_before, known = add(w->shared_open, w->tmpfs_bytes);

	if ((w->hides && w->unseen) || w->hidden > 1)
		return known > grown ? known : grown;
	return add(known, least(grown, w->shared_mapped));
}

static void look_at_files(struct watch *w)
{
	uint64_t shared = host_shared(), step = w->limits.memory / 8;
	bool moved = shared > w->shared_seen + step || w->shared_seen > shared + step;
	bool again = moved || (w->file_bytes > 0 && w->tick % FILES_EVERY == 0);

	w->shared_now = shared;
	w->shared_before = least(w->shared_before, shared);
	if (again || w->unseen || w->hidden || w->shared.full)
		look_at_shared(w);
	if (again)
		w->shared_seen = shared;
	/* names and attributes are no shared memory: it need not have moved */
	if (again || (w->tmpfs.n == 0 && w->tick % FILES_EVERY == 0)) {
		w->tmpfs.found = false;
		(void)watch_members_each(&w->members, watch_tmpfs_find, &w->tmpfs);
	}
	w->tmpfs_bytes = watch_tmpfs_bytes(&w->tmpfs);
	w->file_bytes = shared_bytes(w);
}

static int by_number(const void *a, const void *b)
{
	pid_t x = ((const struct exact_one *)a)->pid, y = ((const struct exact_one *)b)->pid;

	return (x > y) - (x < y);
}

/* Who forks and ends faster than we look is among those listed last and got away: each of them has what the largest of
 * its kind had. */
static struct exact_one sum_up(struct exact *all, const struct watch_members *m)
{
	struct exact_one sum = {0}, gone = {0};
	size_t i, k = 0, away = 0;

	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_number);
	for (i = 0; i <= m->n_listed; i++) {
		for (; k < all->n && (i == m->n_listed || all->v[k].pid < m->listed[i]); k++)
			if (all->v[k].own + all->v[k].shared > gone.own + gone.shared)
				gone = all->v[k];
		if (i < m->n_listed && k < all->n && all->v[k].pid == m->listed[i]) {
			sum.own += all->v[k].own;
			sum.shared += all->v[k].shared;
			sum.unparted += all->v[k++].unparted;
		} else if (i < m->n_listed) {
			away++;
		}
	}
	sum.own += away * gone.own;
	sum.shared += away * gone.shared;
	return sum;
}

/* Where a cgroup counts most of what sockets hold, the kernel keeps it at the limit: that is not over it. */
static uint64_t kernel_bytes(const struct watch *w)
{
	uint64_t limit = w->limits.kernel, few = limit / SOCKETS_SHARE, held = w->sockets.bytes,
		 known = w->sockets.grown;
	uint64_t listed = limit ? watch_kernel_bytes(&w->kernel, limit) : 0;

	if (held <= few)
		held = 0;
	else if (!w->limits.memory)
		held -= few;
	return add(held, known > few && known > listed ? known : listed);
}

static uint64_t measure_exactly(struct watch *w)
{
	struct exact all = {.members = &w->members};
	struct exact_one sum;
	uint64_t shared;

	(void)watch_members_each(&w->members, visit_exact, &all);
	sum = sum_up(&all, &w->members);
	free(all.v);
	shared = sum.shared * 1024 + least(sum.unparted * 1024, w->shared_now - w->shared_before);
	shared = add(shared > w->file_bytes ? shared : w->file_bytes, kernel_bytes(w));
	return all.full ? UINT64_MAX : add(sum.own * 1024, shared);
}

/* w->memory is an upper bound that is over the limit: is it really? What moves from one process to another while we
 * look could be counted twice, but hardly so two times in a row. */
static bool really_over(struct watch *w)
{
	uint64_t start = watch_proc_spent_us();

	if ((uint64_t)now_us() < w->exact_after_us)
		return false;
	w->memory = measure_exactly(w);
	if (w->memory > w->limits.memory)
		w->memory = measure_exactly(w);
	w->exact_after_us = now_us() + (watch_proc_spent_us() - start) * (EXACT_SHARE - 1);
	return w->memory > w->limits.memory;
}

static bool over_memory(struct watch *w)
{
	struct resident sum = {.tables_least = w->limits.memory / TABLES_SHARE, .swap = host_swaps()};
	uint64_t start = watch_proc_spent_us(), pause_ms;
	bool over;

	w->processes = watch_members_each(&w->members, visit_resident, &sum);
	look_at_files(w);
	w->memory = add(sum.pages * (uint64_t)sysconf(_SC_PAGESIZE) + sum.more, add(w->file_bytes, kernel_bytes(w)));
	/* However many processes there are, watching them must not become the load. */
	pause_ms = (watch_proc_spent_us() - start) * POLL_SHARE / 1000;
	over = w->memory > w->limits.memory && really_over(w);
	w->next_ms = WATCH_POLL_MS;
	if (w->memory > w->limits.memory / 2 || watch_kernel_grows(&w->kernel, w->limits.kernel))
		w->next_ms = WATCH_POLL_FAST_MS;
	if (pause_ms > w->next_ms)
		w->next_ms = pause_ms < WATCH_POLL_MAX_MS ? (unsigned)pause_ms : WATCH_POLL_MAX_MS;
	if (w->unseen || w->hidden)
		w->next_ms = at_random(2 * w->next_ms);
	if (w->memory > w->memory_peak)
		w->memory_peak = w->memory;
	return over;
}

/* What is cheap to ask for comes first: where that is enough, nothing else matters. */
static struct watch_kernel_count count_kernel(struct watch *w, uint64_t until_us)
{
	struct watch_files f = no_files(w);
	struct watch_kernel_count c = {0};

	f.most = w->limits.kernel / WATCH_KERNEL_BYTES + 1;
	f.most_pipes = w->limits.kernel / WATCH_PIPE_BYTES + 1;
	f.until_us = until_us;
	if (w->limits.memory)
		visit_files(w, watch_files_pipes, &f);
	watch_sockets_look(&w->sockets, w->members.proc_fd, w->limits.kernel);
	c.bytes = add(w->sockets.others, watch_files_bytes(&f));
	if (!watch_kernel_is_over(&w->kernel, c.bytes, w->limits.kernel)) {
		visit_files(w, watch_files_folders, &f);
		visit_files(w, watch_files_locks, &f);
		if (w->limits.memory)
			(void)watch_members_each(&w->members, watch_files_maps, &f);
	}
	c.n = f.counted;
	c.cut = f.cut;
	c.hidden = f.hidden && !w->limits.foreign;
	watch_files_done(&f);
	return c;
}

static void look_at_kernel(struct watch *w)
{
	uint64_t start = watch_proc_spent_us();
	struct watch_kernel_count c;

	if (!watch_kernel_due(&w->kernel, w->limits.kernel, w->limits.memory ? w->memory : kernel_bytes(w),
			      (uint64_t)now_us()))
		return;
	c = count_kernel(w, start + WATCH_KERNEL_US);
	watch_kernel_counted(&w->kernel, &c, w->limits.kernel, (uint64_t)now_us(), watch_proc_spent_us() - start);
}

/* What the kernel gives a connection although its cgroup is full is so little that a few of them make no difference. */
static bool over_kernel(struct watch *w)
{
	uint64_t limit = w->limits.kernel, sockets = cgroup_tcp_bytes(w->limits.sockets), bytes;
	bool fast;

	look_at_kernel(w);
	watch_sockets_look_again(&w->sockets, w->members.proc_fd, limit);
	bytes = kernel_bytes(w);
	fast = bytes || sockets > limit / 2 || watch_kernel_grows(&w->kernel, limit);
	if (has_time(&w->limits))
		w->next_ms = fast ? WATCH_POLL_FAST_MS : WATCH_POLL_SLOW_MS;
	return bytes > limit || sockets > add(limit, limit / SOCKETS_SHARE);
}

/* Files that have no name any more, and are open. */
static uint64_t deleted_bytes(struct watch *w)
{
	struct watch_files f = no_files(w);
	uint64_t bytes, hidden;

	visit_files(w, watch_files_deleted, &f);
	bytes = watch_files_bytes(&f);
	w->hidden_disk = f.hidden && !w->limits.foreign ? w->hidden_disk + 1 : 0;
	hidden = w->hidden_disk > 1 ? usage_unaccounted(&w->usage) : 0;
	watch_files_done(&f);
	return hidden > bytes ? hidden : bytes;
}

static bool over_storage(struct watch *w)
{
	/* before that has come nothing runs in it, and what an earlier run left may be shut to us */
	if (w->limits.storage_inside && w->usage.userns < 0)
		return false;
	if (!usage_poll(&w->usage))
		return false;
	return w->usage.bytes > w->limits.storage || deleted_bytes(w) > w->limits.storage - w->usage.bytes;
}

/* Any of the disks that it can fill. */
static bool is_disk_low(const struct watch *w)
{
	const char *const *f = w->limits.storage_folders;

	if (watch_disk_low(w->limits.disk))
		return true;
	while (f && *f && !watch_disk_low(*f))
		f++;
	return f && *f;
}

enum watch_verdict watch_poll(struct watch *w)
{
	bool over = false;

	if (w->limits.storage && over_storage(w))
		return w->limits.storage_copy ? WATCH_COPY : WATCH_STORAGE;
	if (w->limits.disk && is_disk_low(w))
		return WATCH_DISK;
	if (!w->limits.memory && !w->limits.processes && !w->limits.kernel)
		return WATCH_FINE;
	watch_members_find_proc(&w->members);
	if (w->limits.kernel && over_kernel(w))
		return WATCH_MEMORY;
	if (!w->limits.memory && !w->limits.processes)
		return WATCH_FINE;
	w->tick++;
	if (w->limits.memory)
		over = over_memory(w);
	else
		w->processes = watch_members_each(&w->members, visit_nothing, NULL);
	if (over)
		return WATCH_MEMORY;
	if (w->limits.processes && w->processes > w->limits.processes)
		return WATCH_PROCESSES;
	return w->processes ? WATCH_FINE : WATCH_GONE;
}

const char *watch_limit_of(enum watch_verdict v, const char **ret_message)
{
	static const struct {
		const char *key, *message;
	} limits[] = {
		[WATCH_MEMORY] = {"process.memory", "the sandbox used more memory than process.memory allows"},
		[WATCH_PROCESSES] = {"process.max_processes",
				     "the sandbox had more processes than process.max_processes allows"},
		[WATCH_STORAGE] = {"storage", "what the sandbox changed in its image, and the folders that it may "
					      "write to, hold more than they may"},
		[WATCH_COPY] = {"filesystem.tmp_size",
				"the sandbox's copy of the work folder grew by more than filesystem.tmp_size allows"},
		[WATCH_DISK] = {"disk", "the disk that holds the sandbox's changes is nearly full"},
		[WATCH_GONE] = {NULL, NULL},
	};

	*ret_message = limits[v].message;
	return limits[v].key;
}

bool watch_is_low(uint64_t free_bytes, uint64_t total_bytes)
{
	return free_bytes < FLOOR_BYTES || free_bytes / FLOOR_PERCENT < total_bytes / 100;
}

bool watch_disk_low(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0 || fs.f_blocks == 0)
		return false;
	return watch_is_low((uint64_t)fs.f_bavail * fs.f_frsize, (uint64_t)fs.f_blocks * fs.f_frsize);
}

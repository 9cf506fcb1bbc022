#include "supervise/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervise/watch_proc.h"

enum {
	PROC_MAGIC = 0x9fa0,
	FILES_EVERY = 20, /* polls between looks at files, as long as there are some */
	TABLES_SHARE = 64, /* page tables are asked for where they could be one part in so many of the limit */
	EXACT_SHARE = 5,  /* Pss takes at most one part in so many of the time */
	POLL_SHARE = 20,  /* and a whole poll */
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

void watch_init(struct watch *w, pid_t init, const struct watch_limits *limits)
{
	*w = (struct watch){.limits = *limits, .init = init, .proc_fd = -1, .next_ms = WATCH_POLL_MS};
	w->shared_seen = w->shared_before = w->shared_now = host_shared();
	usage_init(&w->usage, limits->storage_folders, limits->storage);
	if (limits->storage_user)
		w->usage.userns = limits->storage_user;
}

void watch_done(struct watch *w)
{
	cleanup_fd(&w->proc_fd);
	w->proc_fd = -1;
	watch_files_done(&w->shared);
	watch_tmpfs_done(&w->tmpfs);
	usage_done(&w->usage);
}

/*
 * The /proc inside is the right one when its PID 1 is in the same PID namespace as the sandbox's: before the sandbox
 * has pivoted, it is still the host's.
 */
static void find_proc(struct watch *w)
{
	char path[64], want[64], got[64];
	AUTO_FD fd = -1;
	struct statfs fs;
	ssize_t a, b;

	(void)snprintf(path, sizeof(path), "/proc/%d/root/proc", (int)w->init);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != PROC_MAGIC)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)w->init);
	a = readlink(path, want, sizeof(want));
	b = readlinkat(fd, "1/ns/pid", got, sizeof(got));
	if (a > 0 && a == b && memcmp(want, got, (size_t)a) == 0)
		w->proc_fd = fd_take(&fd);
}

/* Called per process; proc is the folder that pid names an entry of. */
typedef void visit_fn(int proc, const char *pid, void *arg);

static uint64_t each_inside(int proc, visit_fn *visit, void *arg)
{
	DIR *d = watch_proc_folder(proc, ".");
	struct dirent *e;
	uint64_t n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (!watch_proc_is_number(e->d_name))
			continue;
		if (n++ < WATCH_MAX_PROCESSES)
			visit(proc, e->d_name, arg);
	}
	(void)closedir(d);
	return n;
}

struct pid_list {
	pid_t *v;
	size_t n, cap;
};

static void pid_add(struct pid_list *list, pid_t pid)
{
	size_t cap = list->cap ? 2 * list->cap : 64;
	pid_t *v;

	if (list->n == list->cap) {
		v = list->n < WATCH_MAX_PROCESSES ? realloc(list->v, cap * sizeof(*v)) : NULL;
		if (!v)
			return;
		list->v = v;
		list->cap = cap;
	}
	list->v[list->n++] = pid;
}

/* However many there are: nobody hides behind a number of others. */
static void add_children_of(int proc, const char *pid, const char *tid, struct pid_list *list)
{
	char path[64], text[4096];
	AUTO_FD fd = -1;
	ssize_t n, i;
	pid_t v = 0;

	(void)snprintf(path, sizeof(path), "%.11s/task/%.11s/children", pid, tid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0) {
		for (i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				v = v * 10 + (text[i] - '0');
				continue;
			}
			if (v > 0)
				pid_add(list, v);
			v = 0;
		}
	}
}

/* Children belong to the thread that made them. */
static void add_children(int proc, const char *pid, struct pid_list *list)
{
	struct dirent *e;
	char path[64];
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/task", pid);
	d = watch_proc_folder(proc, path);
	while (d && (e = readdir(d)))
		if (watch_proc_is_number(e->d_name))
			add_children_of(proc, pid, e->d_name, list);
	if (d)
		(void)closedir(d);
}

static uint64_t each_child(pid_t init, visit_fn *visit, void *arg)
{
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct pid_list list = {NULL, 0, 0};
	char pid[16];
	uint64_t n;
	size_t i;

	if (proc < 0)
		return 0;
	(void)snprintf(pid, sizeof(pid), "%d", (int)init);
	if (faccessat(proc, pid, F_OK, 0) == 0)
		pid_add(&list, init);
	for (i = 0; i < list.n; i++) {
		(void)snprintf(pid, sizeof(pid), "%d", (int)list.v[i]);
		visit(proc, pid, arg);
		add_children(proc, pid, &list);
	}
	n = list.n;
	free(list.v);
	return n;
}

static uint64_t each_member(const struct watch *w, visit_fn *visit, void *arg)
{
	return w->proc_fd >= 0 ? each_inside(w->proc_fd, visit, arg) : each_child(w->init, visit, arg);
}

static void visit_nothing(int proc, const char *pid, void *arg)
{
	(void)proc;
	(void)pid;
	(void)arg;
}

struct resident {
	uint64_t pages;
	uint64_t more;	/* bytes that are in no count of resident pages: page tables, and what was swapped out */
	uint64_t tables_least; /* page tables of fewer bytes are not asked for */
	bool swap;	       /* swapped pages are */
};

/* Step 1. */
static void visit_resident(int proc, const char *pid, void *arg)
{
	struct resident *sum = arg;
	uint64_t mapped, resident;
	char task[WATCH_TASK_SIZE], text[4096];

	(void)snprintf(task, sizeof(task), "%.11s", pid);
	if (!watch_proc_pages(proc, task, &mapped, &resident) && (!watch_proc_alive(proc, pid, task) || !watch_proc_pages(proc, task, &mapped, &resident)))
		return;
	sum->pages += resident;
	/* a page that is mapped takes an entry of 8 bytes at most */
	if ((sum->swap || mapped * 8 >= sum->tables_least) && watch_proc_read(proc, task, "status", text, sizeof(text)) > 0)
		sum->more += (watch_proc_number(text, "\nVmPTE:") + watch_proc_number(text, "\nVmSwap:")) * 1024;
}

struct exact {
	uint64_t anon_kb;
	uint64_t shared_kb;
	uint64_t tables_kb;
};

/* Step 2. */
static void visit_exact(int proc, const char *pid, void *arg)
{
	char task[WATCH_TASK_SIZE], text[4096];
	struct exact *sum = arg;

	if (!watch_proc_alive(proc, pid, task) || watch_proc_read(proc, task, "smaps_rollup", text, sizeof(text)) <= 0)
		return;
	sum->anon_kb += watch_proc_number(text, "\nPss_Anon:") + watch_proc_number(text, "\nSwapPss:");
	sum->shared_kb += watch_proc_number(text, "\nPss_Shmem:");
	if (watch_proc_read(proc, task, "status", text, sizeof(text)) > 0)
		sum->tables_kb += watch_proc_number(text, "\nVmPTE:");
}

static struct watch_files files_of(const struct watch *w, visit_fn *visit)
{
	struct watch_files f = {.numbers_are_ours = w->proc_fd < 0};

	(void)each_member(w, visit, &f);
	return f;
}

static uint64_t file_bytes(const struct watch *w, visit_fn *visit)
{
	struct watch_files f = files_of(w, visit);
	uint64_t bytes = watch_files_bytes(&f);

	watch_files_done(&f);
	return bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Of memory that is mapped and not open, only what is mapped can be seen. Its pages stay for as long as any part of it is mapped: each object counts with the most that was last seen of it, and one that became
 * smaller shows a workload that keeps what cannot be seen.
 */
static void look_at_shared(struct watch *w)
{
	struct watch_files now;
	uint64_t start = now_us();
	size_t i;

	if (start < w->shared_after_us)
		return;
	now = files_of(w, watch_files_shared);
	(void)each_member(w, watch_files_memory, &now);
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
	watch_files_done(&w->shared);
	w->shared = now;
	w->shared_after_us = now_us() + (now_us() - start) * (POLL_SHARE - 1);
}

/*
 * What is mapped need not be there, so it is no more than what the host's shared memory grew by; where something is hidden it can be all of that.
 */
static uint64_t shared_bytes(const struct watch *w)
{
	uint64_t grown = w->shared_now - w->shared_before, known = add(w->shared_open, w->tmpfs_bytes);

	if (w->hides && w->unseen)
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
	if (again || w->unseen || w->shared.full)
		look_at_shared(w);
	if (again) {
		w->shared_seen = shared;
		w->tmpfs.found = false;
		(void)each_member(w, watch_tmpfs_find, &w->tmpfs);
		w->tmpfs_bytes = watch_tmpfs_bytes(&w->tmpfs);
	}
	w->file_bytes = shared_bytes(w);
}

/* w->memory is an upper bound that is over the limit: is it really? */
static bool really_over(struct watch *w)
{
	struct exact sum = {0};
	uint64_t start = now_us(), shared;

	if (start < w->exact_after_us)
		return false;
	(void)each_member(w, visit_exact, &sum);
	w->exact_after_us = now_us() + (now_us() - start) * (EXACT_SHARE - 1);
	shared = sum.shared_kb * 1024;
	w->memory = add((sum.tables_kb + sum.anon_kb) * 1024, shared > w->file_bytes ? shared : w->file_bytes);
	return w->memory > w->limits.memory;
}

static bool over_memory(struct watch *w)
{
	struct resident sum = {.tables_least = w->limits.memory / TABLES_SHARE, .swap = host_swaps()};
	uint64_t start = now_us(), pause_ms;
	bool over;

	w->processes = each_member(w, visit_resident, &sum);
	look_at_files(w);
	w->memory = add(sum.pages * (uint64_t)sysconf(_SC_PAGESIZE) + sum.more, w->file_bytes);
	/* However many processes there are, watching them must not become the load. */
	pause_ms = (now_us() - start) * POLL_SHARE / 1000;
	over = w->memory > w->limits.memory && really_over(w);
	w->next_ms = w->memory > w->limits.memory / 2 ? WATCH_POLL_FAST_MS : WATCH_POLL_MS;
	if (pause_ms > w->next_ms)
		w->next_ms = pause_ms < WATCH_POLL_MAX_MS ? (unsigned)pause_ms : WATCH_POLL_MAX_MS;
	if (w->unseen)
		w->next_ms = at_random(2 * w->next_ms);
	if (w->memory > w->memory_peak)
		w->memory_peak = w->memory;
	return over;
}

static bool over_storage(struct watch *w)
{
	/* before that has come nothing runs in it, and what an earlier run left may be shut to us */
	if (w->limits.storage_inside && w->usage.userns < 0)
		return false;
	if (!usage_poll(&w->usage))
		return false;
	return w->usage.bytes > w->limits.storage || file_bytes(w, watch_files_deleted) > w->limits.storage - w->usage.bytes;
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
		return WATCH_STORAGE;
	if (w->limits.disk && is_disk_low(w))
		return WATCH_DISK;
	if (!w->limits.memory && !w->limits.processes)
		return WATCH_FINE;
	if (w->proc_fd < 0 && !w->limits.tree)
		find_proc(w);
	w->tick++;
	if (w->limits.memory)
		over = over_memory(w);
	else
		w->processes = each_member(w, visit_nothing, NULL);
	if (over)
		return WATCH_MEMORY;
	if (w->limits.processes && w->processes > w->limits.processes)
		return WATCH_PROCESSES;
	return w->processes ? WATCH_FINE : WATCH_GONE;
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

#include "supervise/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

enum {
	PROC_MAGIC = 0x9fa0,
	TMPFS_MAGIC_NUMBER = 0x01021994,
	FILES_MAX = 65536,
	FILES_EVERY = 20, /* polls between looks at files, as long as there are some */
	MAPS_MAX = 65536, /* lines of a process's maps that are looked at */
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

void watch_init(struct watch *w, pid_t init, const struct watch_limits *limits)
{
	*w = (struct watch){.limits = *limits, .init = init, .proc_fd = -1, .next_ms = WATCH_POLL_MS};
	w->shared_seen = w->shared_before = host_shared();
	usage_init(&w->usage, limits->storage_folders, limits->storage);
}

void watch_done(struct watch *w)
{
	cleanup_fd(&w->proc_fd);
	w->proc_fd = -1;
	usage_done(&w->usage);
}

static int read_text(int dir, const char *pid, const char *name, char *out, size_t cap)
{
	char path[NAME_MAX + 64];
	AUTO_FD fd = -1;
	size_t n = 0;
	ssize_t r;

	(void)snprintf(path, sizeof(path), "%.11s/%s", pid, name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (n < cap - 1 && (r = read(fd, out + n, cap - 1 - n)) > 0)
		n += (size_t)r;
	out[n] = '\0';
	return (int)n;
}

static bool is_number(const char *s)
{
	return *s >= '1' && *s <= '9' && s[strspn(s, "0123456789")] == '\0' && strlen(s) < 12;
}

static DIR *open_folder(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d)
		cleanup_fd(&fd);
	return d;
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
	DIR *d = open_folder(proc, ".");
	struct dirent *e;
	uint64_t n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (!is_number(e->d_name))
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

/* Children belong to the thread that made them. */
static void add_children(int proc, const char *pid, struct pid_list *list)
{
	char path[64], text[8192], *at, *end;
	struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/task", pid);
	d = open_folder(proc, path);
	while (d && (e = readdir(d))) {
		if (!is_number(e->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "task/%.11s/children", e->d_name);
		if (read_text(proc, pid, path, text, sizeof(text)) <= 0)
			continue;
		for (at = text;; at = end) {
			long v = strtol(at, &end, 10);

			if (end == at || *end != ' ')
				break;
			pid_add(list, (pid_t)v);
		}
	}
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
	uint64_t tables;       /* bytes of page tables, which are in no count of pages */
	uint64_t tables_least; /* fewer are not asked for */
};

static uint64_t kb_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	uint64_t v;

	return at && sscanf(at + strlen(key), "%" SCNu64, &v) == 1 ? v : 0;
}

/* Step 1. */
static void visit_resident(int proc, const char *pid, void *arg)
{
	struct resident *sum = arg;
	uint64_t mapped, resident;
	char text[4096];

	if (read_text(proc, pid, "statm", text, sizeof(text)) <= 0 || sscanf(text, "%" SCNu64 " %" SCNu64, &mapped, &resident) != 2)
		return;
	sum->pages += resident;
	/* a page that is mapped takes an entry of 8 bytes at most */
	if (mapped * 8 >= sum->tables_least && read_text(proc, pid, "status", text, sizeof(text)) > 0)
		sum->tables += kb_of(text, "\nVmPTE:") * 1024;
}

struct exact {
	uint64_t anon_kb;
	uint64_t shared_kb;
};

/* Step 2. */
static void visit_exact(int proc, const char *pid, void *arg)
{
	struct exact *sum = arg;
	char text[2048];

	if (read_text(proc, pid, "smaps_rollup", text, sizeof(text)) <= 0)
		return;
	sum->anon_kb += kb_of(text, "\nPss_Anon:") + kb_of(text, "\nSwapPss:");
	sum->shared_kb += kb_of(text, "\nPss_Shmem:");
}

struct file {
	dev_t dev;
	ino_t ino;
	uint64_t bytes;
};

struct files {
	struct file *v;
	size_t n, cap;
};

static void file_add(struct files *f, struct file file)
{
	size_t cap = f->cap ? 2 * f->cap : 64;
	struct file *v;

	if (f->n == f->cap) {
		v = f->n < FILES_MAX ? realloc(f->v, cap * sizeof(*v)) : NULL;
		if (!v)
			return;
		f->v = v;
		f->cap = cap;
	}
	f->v[f->n++] = file;
}

static struct file file_of(const struct stat *st)
{
	return (struct file){st->st_dev, st->st_ino, (uint64_t)st->st_blocks * 512};
}

/* Step 3: memfds that the process holds open. */
static void visit_files(int proc, const char *pid, void *arg)
{
	static const char memfd[] = "/memfd:";
	char path[32], link[sizeof(memfd)];
	struct dirent *e;
	struct stat st;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%.11s/fd", pid);
	d = open_folder(proc, path);
	while (d && (e = readdir(d))) {
		if (readlinkat(dirfd(d), e->d_name, link, sizeof(link)) < (ssize_t)sizeof(link))
			continue;
		if (memcmp(link, memfd, sizeof(memfd) - 1) == 0 && fstatat(dirfd(d), e->d_name, &st, 0) == 0)
			file_add(arg, file_of(&st));
	}
	if (d)
		(void)closedir(d);
}

static bool ends_with(const char *s, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n >= k && memcmp(s + n - k, tail, k) == 0;
}

/* Files that were deleted and are open still: they are in no folder, and on the disk. */
static void visit_deleted(int proc, const char *pid, void *arg)
{
	char path[32], link[PATH_MAX];
	struct dirent *e;
	struct stat st;
	ssize_t n;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%.11s/fd", pid);
	d = open_folder(proc, path);
	while (d && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, link, sizeof(link));
		if (n <= 0 || !ends_with(link, (size_t)n, " (deleted)") || strncmp(link, "/memfd:", 7) == 0 || strncmp(link, "/dev/", 5) == 0)
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
			file_add(arg, file_of(&st));
	}
	if (d)
		(void)closedir(d);
}

static int file_order(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static uint64_t file_bytes(const struct watch *w, visit_fn *visit)
{
	struct files f = {NULL, 0, 0};
	uint64_t sum = 0;
	size_t i;

	(void)each_member(w, visit, &f);
	if (f.n)
		qsort(f.v, f.n, sizeof(f.v[0]), file_order);
	for (i = 0; i < f.n; i++)
		if (i == 0 || f.v[i - 1].dev != f.v[i].dev || f.v[i - 1].ino != f.v[i].ino)
			sum += f.v[i].bytes;
	free(f.v);
	return sum;
}

/* Shared anonymous memory: a file without a name, of which a mapping's end tells the size. */
static void visit_shared_maps(int proc, const char *pid, void *arg)
{
	uint64_t from, to, offset;
	unsigned major, minor, i;
	unsigned long ino;
	char path[32], line[512];
	FILE *f;
	int fd;

	(void)snprintf(path, sizeof(path), "%.11s/maps", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		cleanup_fd(&fd);
		return;
	}
	for (i = 0; i < MAPS_MAX && fgets(line, sizeof(line), f); i++)
		if (strstr(line, "/dev/zero (deleted)") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %lu", &from, &to, &offset, &major, &minor, &ino) == 6)
			file_add(arg, (struct file){.ino = ino, .bytes = offset + (to - from)});
	(void)fclose(f);
}

/* arg: how many pages were ever asked for, also by children that were waited for. */
static void visit_faults(int proc, const char *pid, void *arg)
{
	uint64_t *pages = arg, own, children;
	char text[1024];
	const char *at;

	if (read_text(proc, pid, "stat", text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')))
		return;
	if (sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %" SCNu64, &own, &children) == 2)
		*pages += own + children;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Pages of it can be held without being resident anywhere (MADV_DONTNEED), and what is mapped need not be there: it is no more than what is mapped, than what the host's shared memory grew by, and than what was ever touched.
 */
static uint64_t shared_maps_bytes(const struct watch *w, uint64_t shared)
{
	uint64_t grown = shared > w->shared_before ? shared - w->shared_before : 0, most, pages = 0;

	most = grown ? least(grown, file_bytes(w, visit_shared_maps)) : 0;
	if (!most)
		return 0;
	(void)each_member(w, visit_faults, &pages);
	return least(most, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* What a tmpfs of the sandbox's own holds; 0 where it is the host's or no tmpfs. *seen: one that was counted already.
 */
static uint64_t tmpfs_bytes(const struct watch *w, const char *folder, dev_t *seen)
{
	char path[64];
	struct stat st, host;
	struct statfs fs;

	(void)snprintf(path, sizeof(path), "/proc/%d/root/%s", (int)w->init, folder);
	if (stat(path, &st) < 0 || statfs(path, &fs) < 0 || fs.f_type != TMPFS_MAGIC_NUMBER || st.st_dev == *seen)
		return 0;
	(void)snprintf(path, sizeof(path), "/%s", folder);
	if (stat(path, &host) == 0 && host.st_dev == st.st_dev)
		return 0;
	*seen = st.st_dev;
	return (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

static void look_at_files(struct watch *w)
{
	uint64_t shared = host_shared(), step = w->limits.memory / 8;
	bool moved = shared > w->shared_seen + step || w->shared_seen > shared + step;
	dev_t seen = 0;

	if (!moved && !(w->file_bytes > 0 && w->tick % FILES_EVERY == 0))
		return;
	w->shared_seen = shared;
	w->file_bytes = shared_maps_bytes(w, shared) + file_bytes(w, visit_files) + tmpfs_bytes(w, "tmp", &seen) + tmpfs_bytes(w, "dev/shm", &seen);
}

/* w->memory is an upper bound that is over the limit: is it really? */
static bool really_over(struct watch *w, uint64_t tables)
{
	struct exact sum = {0, 0};
	uint64_t start = now_us(), shared;

	if (start < w->exact_after_us)
		return false;
	(void)each_member(w, visit_exact, &sum);
	w->exact_after_us = now_us() + (now_us() - start) * (EXACT_SHARE - 1);
	shared = sum.shared_kb * 1024;
	w->memory = tables + sum.anon_kb * 1024 + (shared > w->file_bytes ? shared : w->file_bytes);
	return w->memory > w->limits.memory;
}

static bool over_memory(struct watch *w)
{
	struct resident sum = {.tables_least = w->limits.memory / TABLES_SHARE};
	uint64_t start = now_us(), pause_ms;
	bool over;

	w->processes = each_member(w, visit_resident, &sum);
	look_at_files(w);
	w->memory = sum.pages * (uint64_t)sysconf(_SC_PAGESIZE) + sum.tables + w->file_bytes;
	/* However many processes there are, watching them must not become the load. */
	pause_ms = (now_us() - start) * POLL_SHARE / 1000;
	over = w->memory > w->limits.memory && really_over(w, sum.tables);
	w->next_ms = w->memory > w->limits.memory / 2 ? WATCH_POLL_FAST_MS : WATCH_POLL_MS;
	if (pause_ms > w->next_ms)
		w->next_ms = pause_ms < WATCH_POLL_MAX_MS ? (unsigned)pause_ms : WATCH_POLL_MAX_MS;
	if (w->memory > w->memory_peak)
		w->memory_peak = w->memory;
	return over;
}

static bool over_storage(struct watch *w)
{
	if (!usage_poll(&w->usage))
		return false;
	return w->usage.bytes > w->limits.storage || file_bytes(w, visit_deleted) > w->limits.storage - w->usage.bytes;
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

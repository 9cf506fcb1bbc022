#include "supervise/watch_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/watch_kernel.h"
#include "supervise/watch_proc.h"

enum {
	TMPFS_MAGIC_NUMBER = 0x01021994,
	CAP_FIRST = 64,
	THREADS_MAX = 8,  /* that are looked at where all may be looked at in vain */
	MAPS_MAX = 65536, /* lines of a process's maps that are looked at */
};
static const unsigned long hugetlbfs_magic = 0x958458f6, overlay_magic = 0x794c7630;
static const char memfd_name[] = "/memfd:";

void watch_files_done(struct watch_files *f)
{
	free(f->v);
	*f = (struct watch_files){0};
}

static size_t hash_of(dev_t dev, ino_t ino)
{
	uint64_t h = ((uint64_t)ino ^ (uint64_t)dev << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(h >> 32);
}

/* Its own place, or the free one where it would go. */
static struct watch_file *place_of(const struct watch_files *f, dev_t dev, ino_t ino)
{
	size_t i = hash_of(dev, ino) & (f->cap - 1);

	while (f->v[i].ino && (f->v[i].dev != dev || f->v[i].ino != ino))
		i = (i + 1) & (f->cap - 1);
	return &f->v[i];
}

/* Half of the places stay free. */
static bool make_room(struct watch_files *f)
{
	struct watch_files wider = {.cap = f->cap ? 2 * f->cap : CAP_FIRST};
	size_t i;

	if (2 * f->n < f->cap)
		return true;
	wider.v = f->n < WATCH_FILES_MAX ? calloc(wider.cap, sizeof(*wider.v)) : NULL;
	if (!wider.v)
		return false;
	for (i = 0; i < f->cap; i++)
		if (f->v[i].ino)
			*place_of(&wider, f->v[i].dev, f->v[i].ino) = f->v[i];
	free(f->v);
	f->v = wider.v;
	f->cap = wider.cap;
	return true;
}

const struct watch_file *watch_files_find(const struct watch_files *f, dev_t dev, ino_t ino)
{
	const struct watch_file *at = f->cap && ino ? place_of(f, dev, ino) : NULL;

	return at && at->ino ? at : NULL;
}

void watch_files_add(struct watch_files *f, struct watch_file file)
{
	struct watch_file *at = f->cap && file.ino ? place_of(f, file.dev, file.ino) : NULL;

	if (!file.ino)
		return;
	if (at && at->ino) {
		if (file.exact != at->exact ? file.exact : file.bytes > at->bytes)
			*at = file;
		return;
	}
	if (!make_room(f)) {
		f->full = true;
		return;
	}
	*place_of(f, file.dev, file.ino) = file;
	f->n++;
}

uint64_t watch_files_bytes(const struct watch_files *f)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->cap && !f->full; i++)
		sum = sum > UINT64_MAX - f->v[i].bytes ? UINT64_MAX : sum + f->v[i].bytes;
	return f->full ? UINT64_MAX : sum;
}

static struct watch_file file_of(const struct stat *st)
{
	return (struct watch_file){st->st_dev, st->st_ino, (uint64_t)st->st_blocks * 512, true};
}

static DIR *open_fds(int proc, const char *task)
{
	char path[WATCH_TASK_SIZE + 8];

	(void)snprintf(path, sizeof(path), "%.31s/fd", task);
	return watch_proc_folder(proc, path);
}

/* Why it could not be opened is in errno. */
static void note_refusal(struct watch_files *f, int proc, const char *task)
{
	if (!f->hidden && (errno == EACCES || errno == EPERM) && watch_proc_is_hidden(proc, task, f->ahead))
		f->hidden = true;
}

static void add_memory(int proc, const char *task, void *files)
{
	char link[sizeof(memfd_name)];
	DIR *d = open_fds(proc, task);
	struct dirent *e;
	struct stat st;

	if (!d)
		note_refusal(files, proc, task);
	while (d && (e = readdir(d))) {
		if (readlinkat(dirfd(d), e->d_name, link, sizeof(link)) < (ssize_t)sizeof(link))
			continue;
		if (memcmp(link, memfd_name, sizeof(memfd_name) - 1) == 0 && fstatat(dirfd(d), e->d_name, &st, 0) == 0)
			watch_files_add(files, file_of(&st));
	}
	if (d)
		(void)closedir(d);
}

static void each_table(struct watch_files *f, int proc, const char *pid, watch_proc_fn *add)
{
	if (!watch_proc_each_table(proc, pid, f->numbers_are_ours,
				   f->numbers_are_ours || f->all_threads ? UINT_MAX - 1 : THREADS_MAX, add, f))
		f->more_threads = true;
}

void watch_files_memory(int proc, const char *pid, void *files)
{
	each_table(files, proc, pid, add_memory);
}

static bool ends_with(const char *s, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n >= k && memcmp(s + n - k, tail, k) == 0;
}

static bool begins_with(const char *s, size_t n, const char *head)
{
	size_t k = strlen(head);

	return n >= k && memcmp(s, head, k) == 0;
}

/* A memfd, or a file in the sandbox's /dev. A file on a disk can have such a name, too. */
static bool is_memory(int fds, const char *fd, const char *link, size_t n)
{
	char path[64];
	struct statfs fs;

	if (!begins_with(link, n, memfd_name) && !begins_with(link, n, "/dev/"))
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%.11s", fds, fd);
	return statfs(path, &fs) == 0 &&
	       ((unsigned long)fs.f_type == TMPFS_MAGIC_NUMBER || (unsigned long)fs.f_type == hugetlbfs_magic);
}

static void add_deleted(int proc, const char *task, void *files)
{
	DIR *d = open_fds(proc, task);
	char link[PATH_MAX];
	struct dirent *e;
	struct stat st;
	ssize_t n;

	if (!d)
		note_refusal(files, proc, task);
	while (d && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, link, sizeof(link));
		/* one whose name is too long to be told may have been deleted, too */
		if (n < 0 ? errno != ENAMETOOLONG
			  : !ends_with(link, (size_t)n, " (deleted)") ||
				    is_memory(dirfd(d), e->d_name, link, (size_t)n))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
			watch_files_add(files, file_of(&st));
	}
	if (d)
		(void)closedir(d);
}

/* They are in no folder, and on the disk. */
void watch_files_deleted(int proc, const char *pid, void *files)
{
	each_table(files, proc, pid, add_deleted);
}

dev_t watch_files_device(void)
{
	AUTO_FD fd = memfd_create("cordon", MFD_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_dev : 0;
}

bool watch_files_line(const char *line, dev_t device, struct watch_file *ret)
{
	/* where the device is not known, or it is another one for huge pages */
	static const char *const names[] = {"/dev/zero (deleted)", "/memfd:", "[anon_shmem:"};
	uint64_t from, to, offset;
	unsigned major, minor;
	unsigned long ino;
	int at = 0;
	size_t i;
	bool is;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %lu %n", &from, &to, &offset, &major, &minor,
		   &ino, &at) != 6 ||
	    !at)
		return false;
	is = device && makedev(major, minor) == device;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is |= begins_with(line + at, strlen(line + at), names[i]);
	*ret = (struct watch_file){.dev = makedev(major, minor), .ino = ino, .bytes = offset + (to - from)};
	return is && ino && !begins_with(line + at, strlen(line + at), "/SYSV");
}

void watch_files_shared(int proc, const char *pid, void *files)
{
	char task[WATCH_TASK_SIZE], path[WATCH_TASK_SIZE + 8], line[512];
	struct watch_files *all = files;
	struct watch_file file;
	unsigned i;
	FILE *f;
	int fd;

	if (!watch_proc_alive(proc, pid, task))
		return;
	(void)snprintf(path, sizeof(path), "%s/maps", task);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		note_refusal(all, proc, task);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		cleanup_fd(&fd);
		return;
	}
	for (i = 0; i < MAPS_MAX && fgets(line, sizeof(line), f); i++)
		if (watch_files_line(line, all->device, &file))
			watch_files_add(all, file);
	if (i == MAPS_MAX)
		all->full = true;
	(void)fclose(f);
}

static bool is_enough(struct watch_files *f)
{
	f->cut |= watch_proc_spent_us() > f->until_us;
	return f->cut || f->counted >= f->most;
}

/* Counts the lines that begin so: with one letter, or whichever ('\0'). */
static void count_lines(struct watch_files *f, int dir, const char *path, char begin)
{
	AUTO_FD fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char text[1 << 16], last = '\n';
	const char *at, *end;
	ssize_t n = 0;

	while (fd >= 0 && !is_enough(f) && (n = read(fd, text, sizeof(text))) > 0) {
		f->counted += last == '\n' && (!begin || text[0] == begin);
		for (at = text, end = text + n; (at = memchr(at, '\n', (size_t)(end - at))) && ++at < end;)
			f->counted += !begin || *at == begin;
		last = end[-1];
	}
	f->cut |= fd >= 0 && n < 0 && errno == ENOMEM; /* too much for the kernel to list */
}

static void add_locks(int proc, const char *task, void *files)
{
	char path[WATCH_TASK_SIZE + 8];
	struct watch_files *f = files;
	struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%.31s/fdinfo", task);
	d = watch_proc_folder(proc, path);
	if (!d)
		note_refusal(f, proc, task);
	while (d && !is_enough(f) && (e = readdir(d)))
		if (e->d_name[0] != '.')
			count_lines(f, dirfd(d), e->d_name, 'l'); /* "lock:", the only one with that letter */
	if (d)
		(void)closedir(d);
}

void watch_files_locks(int proc, const char *pid, void *files)
{
	if (!is_enough(files))
		each_table(files, proc, pid, add_locks);
}

/* What the kernel may keep for a folder that is open. Of an overlay's it is a list of all names, which an earlier one
 * does not serve once the folder has changed; the host's side of it is not to be asked. */
static uint64_t folder_bytes(int fds, const char *fd, const struct stat *st)
{
	char path[64];
	struct statfs fs;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%.11s", fds, fd);
	if (statfs(path, &fs) < 0 || (unsigned long)fs.f_type != overlay_magic)
		return WATCH_FOLDER_BYTES;
	return WATCH_MERGED_BYTES + (uint64_t)st->st_size * WATCH_MERGED_NAMES;
}

/* Files that wait in a socket to be received. */
static uint64_t files_in_flight(int proc, const char *task, const char *fd)
{
	char name[WATCH_TASK_SIZE], text[512];

	(void)snprintf(name, sizeof(name), "fdinfo/%.11s", fd);
	return watch_proc_read(proc, task, name, text, sizeof(text)) > 0 ? watch_proc_number(text, "\nscm_fds:") : 0;
}

static void add_folders(int proc, const char *task, void *files)
{
	DIR *d = open_fds(proc, task);
	struct watch_files *f = files;
	struct dirent *e;
	struct stat st;
	uint64_t bytes;

	if (!d)
		note_refusal(f, proc, task);
	while (d && !is_enough(f) && (e = readdir(d))) {
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0)
			continue;
		bytes = S_ISDIR(st.st_mode)    ? folder_bytes(dirfd(d), e->d_name, &st)
			: S_ISSOCK(st.st_mode) ? files_in_flight(proc, task, e->d_name) * WATCH_MERGED_BYTES
					       : 0;
		f->counted += bytes / WATCH_KERNEL_BYTES;
	}
	if (d)
		(void)closedir(d);
}

void watch_files_folders(int proc, const char *pid, void *files)
{
	if (!is_enough(files))
		each_table(files, proc, pid, add_folders);
}

static bool are_pipes_enough(struct watch_files *f)
{
	return f->n >= f->most_pipes || is_enough(f);
}

/* Those that have a name in a folder, too. */
static void add_pipes(int proc, const char *task, void *files)
{
	DIR *d = open_fds(proc, task);
	struct watch_files *f = files;
	struct dirent *e;
	struct stat st;

	if (!d)
		note_refusal(f, proc, task);
	while (d && !are_pipes_enough(f) && (e = readdir(d)))
		if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISFIFO(st.st_mode))
			watch_files_add(f, (struct watch_file){st.st_dev, st.st_ino, WATCH_PIPE_BYTES, true});
	if (d)
		(void)closedir(d);
}

void watch_files_pipes(int proc, const char *pid, void *files)
{
	if (!are_pipes_enough(files))
		each_table(files, proc, pid, add_pipes);
}

void watch_files_maps(int proc, const char *pid, void *files)
{
	char task[WATCH_TASK_SIZE], path[WATCH_TASK_SIZE + 8];

	if (is_enough(files) || !watch_proc_alive(proc, pid, task))
		return;
	(void)snprintf(path, sizeof(path), "%s/maps", task);
	count_lines(files, proc, path, '\0');
}

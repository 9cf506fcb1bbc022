#include "supervise/watch_tmpfs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/watch_proc.h"

/* The kernel, too, takes that much for an inode and its name, and as many inodes for attributes as they are large. */
enum { TMPFS_MAGIC_NUMBER = 0x01021994, MOUNTS_MAX = 4096, INODE_BYTES = 1024 };

struct mount {
	dev_t dev;
	char at[PATH_MAX];
};

void watch_tmpfs_done(struct watch_tmpfs *t)
{
	while (t->n)
		(void)close(t->v[--t->n].fd);
	t->found = false;
}

static FILE *open_mounts(int dir, const char *task)
{
	char path[WATCH_TASK_SIZE + 16];
	FILE *f;
	int fd;

	(void)snprintf(path, sizeof(path), "%.31s/mountinfo", task);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		cleanup_fd(&fd);
	return f;
}

/* The next file system in memory that can be written to. */
static bool next_mount(FILE *f, struct mount *ret)
{
	char line[PATH_MAX + 1024], mode[3];
	unsigned major, minor;

	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, " - tmpfs ") ||
		    sscanf(line, "%*d %*d %u:%u %*s %4095s %2s", &major, &minor, ret->at, mode) != 4 ||
		    strcmp(mode, "rw") != 0)
			continue;
		ret->dev = makedev(major, minor);
		return true;
	}
	return false;
}

static bool has(const struct watch_tmpfs *t, dev_t dev)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->v[i].dev == dev)
			return true;
	return false;
}

/* In our own mounts. */
static bool is_host_s(dev_t dev)
{
	FILE *f = open_mounts(AT_FDCWD, "/proc/self");
	struct mount m;
	bool found = false;

	while (f && !found && next_mount(f, &m))
		found = m.dev == dev;
	if (f)
		(void)fclose(f);
	return found;
}

void watch_tmpfs_find(int proc, const char *pid, void *tmpfs)
{
	char path[PATH_MAX + WATCH_TASK_SIZE];
	struct watch_tmpfs *t = tmpfs;
	struct stat st;
	struct mount m;
	unsigned i;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%.11s/root/", pid);
	if (t->found || faccessat(proc, path, F_OK, 0) < 0)
		return;
	f = open_mounts(proc, pid);
	for (i = 0; f && i < MOUNTS_MAX && t->n < WATCH_TMPFS_MAX && next_mount(f, &m); i++) {
		AUTO_FD fd = -1;

		if (has(t, m.dev) || is_host_s(m.dev))
			continue;
		(void)snprintf(path, sizeof(path), "%.11s/root%s", pid, m.at);
		fd = openat(proc, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0 ||
		    st.st_dev != m.dev) /* something lies above it, or a link led astray */
			continue;
		t->v[t->n].dev = m.dev;
		t->v[t->n++].fd = fd_take(&fd);
	}
	t->found = f != NULL;
	if (f)
		(void)fclose(f);
}

uint64_t watch_tmpfs_bytes(const struct watch_tmpfs *t)
{
	struct statfs fs;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (fstatfs(t->v[i].fd, &fs) == 0 && (unsigned long)fs.f_type == TMPFS_MAGIC_NUMBER)
			sum += (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize +
			       (fs.f_files - fs.f_ffree) * (uint64_t)INODE_BYTES;
	return sum;
}

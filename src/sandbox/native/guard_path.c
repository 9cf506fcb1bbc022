#include "sandbox/native/guard_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sv.h"
#include "sys/lookup.h"
#include "sys/process.h"

int guard_read_bytes(pid_t pid, uint64_t address, void *to, size_t n)
{
	struct iovec local = {to, n}, remote = {(void *)(uintptr_t)address, n};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got == (ssize_t)n ? 0 : -EFAULT;
}

int guard_read_path(pid_t pid, uint64_t address, char to[PATH_MAX])
{
	size_t first = 4096 - (size_t)(address % 4096);
	struct iovec local = {to, PATH_MAX};
	struct iovec remote[2] = {{(void *)(uintptr_t)address, first},
				  {(void *)(uintptr_t)(address + first), PATH_MAX - first}};
	ssize_t got;

	if (first >= PATH_MAX) {
		remote[0].iov_len = PATH_MAX;
		got = process_vm_readv(pid, &local, 1, remote, 1, 0);
	} else {
		got = process_vm_readv(pid, &local, 1, remote, 2, 0);
	}
	if (got <= 0)
		return -EFAULT;
	if (!memchr(to, '\0', (size_t)got))
		return got == PATH_MAX ? -ENAMETOOLONG : -EFAULT;
	return 0;
}

int guard_base(pid_t pid, int dirfd)
{
	char path[64];
	int fd;

	if (dirfd == AT_FDCWD)
		(void)snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	else
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, dirfd);
	if (dirfd != AT_FDCWD && dirfd < 0)
		return -EBADF;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT && dirfd != AT_FDCWD ? -EBADF : -errno;
}

/* The start of a small /proc file, as a string. */
static int proc_read(pid_t pid, const char *file, char *to, size_t room)
{
	char path[64];
	AUTO_FD fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, room - 1);
	if (n < 0)
		return -1;
	to[n] = '\0';
	return 0;
}

int guard_fd_of(pid_t pid, int fd)
{
	char text[512], *at;
	AUTO_FD pidfd = -1;

	/* The listener names a thread; a pidfd wants the process. */
	if (proc_read(pid, "status", text, sizeof(text)) < 0 || !(at = strstr(text, "\nTgid:\t")))
		return -ESRCH;
	pidfd = sys_pidfd_open((pid_t)strtol(at + 7, NULL, 10));
	return pidfd < 0 ? pidfd : sys_pidfd_getfd(pidfd, fd);
}

static const char *digits(const char *s, long *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	*ret = strtol(s, &end, 10);
	return end;
}

/* Behind "/proc/self", "/proc/thread-self" or "/proc/<the caller's own number>"; NULL for other paths. */
static const char *behind_self(pid_t pid, const char *path)
{
	const char *rest;
	long n;

	if (strncmp(path, "/proc/", 6) != 0)
		return NULL;
	path += 6;
	if (strncmp(path, "self/", 5) == 0)
		return path + 4;
	if (strncmp(path, "thread-self/", 12) == 0)
		return path + 11;
	rest = digits(path, &n);
	return rest && *rest == '/' && n == pid ? rest : NULL;
}

int guard_own_fd(pid_t pid, const char *path)
{
	const char *rest = behind_self(pid, path);
	long n;

	if (!rest && strncmp(path, "/dev/fd/", 8) == 0)
		rest = path + 4; /* the same "/fd/N" */
	if (!rest || strncmp(rest, "/fd/", 4) != 0)
		return -1;
	rest = digits(rest + 4, &n);
	return rest && !*rest && n <= INT_MAX ? (int)n : -1;
}

/*
 * A folder path that goes through a magic link. Only the caller's own are followed, spelled out: anything else would be resolved with our eyes, and
 * our /proc/self is not the caller's.
 */
static int open_own_magic(pid_t pid, const char *folder, bool *ret_own_fds)
{
	static const char *const ways[] = {"/fd/", "/cwd", "/root"};
	const char *rest = behind_self(pid, folder), *end;
	AUTO_FD top = -1;
	char link[128];
	size_t i;
	long n;

	if (!rest)
		return -ELOOP;
	if (strcmp(rest, "/fd") == 0) {
		*ret_own_fds = true;
		(void)snprintf(link, sizeof(link), "/proc/%d/fd", (int)pid);
		top = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return top < 0 ? -errno : fd_take(&top);
	}
	for (i = 0; i < ARRAY_LEN(ways); i++)
		if (strncmp(rest, ways[i], strlen(ways[i])) == 0)
			break;
	if (i == ARRAY_LEN(ways))
		return -EACCES;
	end = rest + strlen(ways[i]);
	if (i == 0 && !(end = digits(end, &n)))
		return -ENOENT;
	if (*end && *end != '/')
		return -ENOENT;
	(void)snprintf(link, sizeof(link), "/proc/%d%.*s", (int)pid, (int)(end - rest), rest);
	top = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	while (*end == '/')
		end++;
	return *end ? sys_open_no_magic(top, end, O_PATH | O_DIRECTORY) : fd_take(&top);
}

/* The canonical path of an O_PATH folder fd; -ENOENT where it was removed or lies outside. */
static int canonical(int fd, char *to, size_t room)
{
	char link[64];
	struct stat st;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, to, room - 1);
	if (n <= 0 || (size_t)n >= room - 1)
		return n < 0 ? -errno : -ENAMETOOLONG;
	to[n] = '\0';
	if (to[0] != '/' || fstat(fd, &st) < 0 || st.st_nlink == 0)
		return -ENOENT;
	return 0;
}

static int open_folder(pid_t pid, int base, const char *folder, struct place *ret)
{
	int fd = sys_open_no_magic(base, folder, O_PATH | O_DIRECTORY), r;

	if (fd == -ELOOP || fd == -EXDEV)
		fd = open_own_magic(pid, folder, &ret->own_proc);
	if (fd < 0)
		return fd;
	r = canonical(fd, ret->path, PATH_MAX);
	/* /proc/self was resolved with our eyes: once more, with the caller's */
	if (r == 0 && strncmp(ret->path, "/proc", 5) == 0 && (ret->path[5] == '/' || !ret->path[5]) && !ret->own_proc) {
		(void)close(fd);
		fd = open_own_magic(pid, folder, &ret->own_proc);
		if (fd < 0)
			return fd;
		r = canonical(fd, ret->path, PATH_MAX);
	}
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

int guard_place(pid_t pid, int base, const char *path, struct place *ret)
{
	char folder[PATH_MAX];
	size_t end = strlen(path), start, n;
	struct sv name;

	*ret = (struct place){.dir = -1};
	if (end == 0)
		return -ENOENT;
	for (; end > 1 && path[end - 1] == '/'; end--)
		ret->slash = true;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	name = sv_n(path + start, end - start);
	if (name.n > NAME_MAX)
		return -ENAMETOOLONG;
	if (name.n == 0 || sv_is(name, ".") || sv_is(name, ".."))
		return -EEXIST;
	/* "/proc/self/fd/" must read as its folder, "/" stays */
	for (n = start; n > 1 && path[n - 1] == '/'; n--)
		;
	memcpy(folder, path, n);
	folder[n] = '\0';
	ret->dir = open_folder(pid, base, n ? folder : ".", ret);
	if (ret->dir < 0)
		return ret->dir;
	n = strlen(ret->path);
	if (n > 1)
		ret->path[n++] = '/';
	memcpy(ret->path + n, name.p, name.n);
	ret->path[n + name.n] = '\0';
	ret->name = ret->path + n;
	return 0;
}

void guard_place_done(struct place *p)
{
	if (p->dir >= 0)
		(void)close(p->dir);
	p->dir = -1;
}

mode_t guard_umask(pid_t pid)
{
	char text[512], *at;

	if (proc_read(pid, "status", text, sizeof(text)) < 0 || !(at = strstr(text, "\nUmask:\t")))
		return 077;
	return (mode_t)strtoul(at + 8, NULL, 8) & 0777;
}

int guard_terminal(pid_t pid)
{
	char text[1024], *at;
	unsigned long device;
	int field;

	if (proc_read(pid, "stat", text, sizeof(text)) < 0 || !(at = strrchr(text, ')')))
		return -1;
	/* behind the name: state ppid pgrp session tty_nr */
	for (field = 0; field < 5 && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	device = strtoul(at, NULL, 10);
	if ((device >> 8 & 0xfff) != 136)
		return -1;
	return (int)((device & 0xff) | (device >> 12 & 0xfff00));
}

#include "sandbox/native/guard_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sv.h"
#include "sys/close_socket.h"
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

int eyes_init(struct eyes *e, int outer_proc)
{
	e->outer = outer_proc >= 0;
	e->proc = e->outer ? outer_proc : open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (e->proc < 0)
		return -errno;
	e->fds = openat(e->proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return e->fds < 0 ? -errno : 0;
}

/* The start of a small file, as a string. */
static int read_text(int fd, char *to, size_t room)
{
	ssize_t n = read(fd, to, room - 1);

	if (n < 0)
		return -errno;
	to[n] = '\0';
	return 0;
}

/* The number behind a label such as "\nTgid:\t". */
static long number_behind(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtol(at + strlen(label), NULL, 10) : -1;
}

/* The caller's number in the /proc we look through. A pidfd shows itself there under that number. */
static long number_of(const struct eyes *e, pid_t pid)
{
	AUTO_FD pidfd = -1;
	AUTO_FD info = -1;
	char path[64], text[512];

	if (!e->outer)
		return pid;
	pidfd = sys_pidfd_open_thread(pid);
	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	info = pidfd < 0 ? -1 : openat(e->proc, path, O_RDONLY | O_CLOEXEC);
	if (info < 0 || read_text(info, text, sizeof(text)) < 0)
		return -1;
	return number_behind(text, "\nPid:\t");
}

/* The caller's folder of /proc, or what is in it. */
static int open_of(const struct eyes *e, pid_t pid, const char *name, int flags)
{
	char path[96];
	long n = number_of(e, pid);
	int fd;

	if (n <= 0)
		return -EACCES;
	(void)snprintf(path, sizeof(path), "%ld/%s", n, name);
	fd = openat(e->proc, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_of(const struct eyes *e, pid_t pid, const char *name, char *to, size_t room)
{
	AUTO_FD fd = open_of(e, pid, name, O_RDONLY);

	return fd < 0 ? fd : read_text(fd, to, room);
}

static int only_folder(int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)))
		return fd;
	sys_close_at_once(fd);
	return -ENOTDIR;
}

int guard_base(const struct eyes *e, pid_t pid, int dirfd)
{
	char name[32];
	int fd;

	if (dirfd == AT_FDCWD)
		return open_of(e, pid, "cwd", O_PATH | O_DIRECTORY);
	if (dirfd < 0)
		return -EBADF;
	(void)snprintf(name, sizeof(name), "fd/%d", dirfd);
	fd = open_of(e, pid, name, O_PATH | O_DIRECTORY);
	if (fd == -EACCES) /* a process that hides its memory hides its fds from the eye, not from CAP_SYS_PTRACE */
		fd = only_folder(guard_fd_of(e, pid, dirfd));
	return fd == -ENOENT ? -EBADF : fd;
}

int guard_fd_of(const struct eyes *e, pid_t pid, int fd)
{
	char text[512];
	AUTO_FD pidfd = -1;

	/* The listener names a thread; before Linux 6.9 a pidfd wants the process. */
	if (!e->outer && read_of(e, pid, "status", text, sizeof(text)) == 0)
		pid = (pid_t)number_behind(text, "\nTgid:\t");
	pidfd = sys_pidfd_open_thread(pid);
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

/* Behind "/proc/self", "/proc/thread-self" or "/proc/<the caller's own number>"; /dev/fd is a link to such a place.
 * NULL for other paths. */
static const char *behind_self(pid_t pid, const char *path)
{
	const char *rest;
	long n;

	if (strncmp(path, "/dev/fd", 7) == 0 && (path[7] == '/' || !path[7]))
		return path + 4;
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

/* N where path is the caller's fd/N with end behind it; else -1. */
static int fd_before(pid_t pid, const char *path, char end)
{
	const char *rest = behind_self(pid, path);
	long n;

	if (!rest || strncmp(rest, "/fd/", 4) != 0)
		return -1;
	rest = digits(rest + 4, &n);
	return rest && *rest == end && n <= INT_MAX ? (int)n : -1;
}

int guard_own_fd(pid_t pid, const char *path)
{
	return fd_before(pid, path, '\0');
}

int guard_through_fd(pid_t pid, const char *path)
{
	return fd_before(pid, path, '/');
}

/*
 * A folder path that goes through a magic link. Only the caller's own are followed, spelled out: anything else would be
 * resolved with our eyes, and our /proc/self is not the caller's.
 */
static int open_own_magic(const struct eyes *e, pid_t pid, const char *folder, bool *ret_own_fds)
{
	static const char *const ways[] = {"/fd/", "/cwd", "/root"};
	const char *rest = behind_self(pid, folder), *end;
	AUTO_FD top = -1;
	char link[64];
	size_t i;
	long n;

	if (!rest)
		return -ELOOP;
	if (strcmp(rest, "/fd") == 0) {
		*ret_own_fds = true;
		return open_of(e, pid, "fd", O_PATH | O_DIRECTORY);
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
	(void)snprintf(link, sizeof(link), "%.*s", (int)(end - rest - 1), rest + 1);
	top = open_of(e, pid, link, O_PATH | O_DIRECTORY);
	if (top < 0)
		return top;
	while (*end == '/')
		end++;
	return *end ? sys_open_no_magic(top, end, O_PATH | O_DIRECTORY) : fd_take(&top);
}

/* The canonical path of an O_PATH folder fd; -ENOENT where it was removed or lies outside. The kernel says so behind
 * the path of what was removed; a folder may be called like that, too. */
static int canonical(const struct eyes *e, int fd, char *to, size_t room)
{
	static const char removed[] = " (deleted)";
	char link[16];
	struct stat st;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "%d", fd);
	n = readlinkat(e->fds, link, to, room - 1);
	if (n <= 0 || (size_t)n >= room - 1)
		return n < 0 ? -errno : -ENAMETOOLONG;
	to[n] = '\0';
	if (to[0] != '/' || (sv_ends(sv_n(to, (size_t)n), removed) && (fstat(fd, &st) < 0 || st.st_nlink == 0)))
		return -ENOENT;
	return 0;
}

int guard_path_of(const struct eyes *e, int fd, char to[PATH_MAX])
{
	return canonical(e, fd, to, PATH_MAX);
}

static bool is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == 0x9fa0;
}

/* Which process or thread a folder of /proc is about: /proc/self, /proc/thread-self, /proc/N, and task/N in the first
 * and the last. 0: none. */
static long task_number(const struct eyes *e, pid_t pid, const char *folder)
{
	char text[512];
	const char *rest;
	long n = 0;

	if (strcmp(folder, "/proc/thread-self") == 0)
		return pid;
	if (strncmp(folder, "/proc/self", 10) == 0 && (!folder[10] || folder[10] == '/')) {
		rest = folder + 10;
		n = read_of(e, pid, "status", text, sizeof(text)) < 0 ? 0 : number_behind(text, "\nTgid:\t");
	} else {
		rest = !e->outer && strncmp(folder, "/proc/", 6) == 0 ? digits(folder + 6, &n) : NULL;
	}
	if (rest && strncmp(rest, "/task/", 6) == 0)
		rest = e->outer ? NULL : digits(rest + 6, &n);
	return rest && !*rest ? n : 0;
}

/*
 * Files of a process that are there whatever is opened with O_CREAT, as shells open what they write to. For these the
 * kernel asks when they are written, and of the writer, so it does not matter that we open them. Of no other file in
 * /proc is that known. Not oom_score_adj, in which the kernel lets everybody who was made to go first when memory runs
 * out (commands.c) take that back.
 */
static int open_task(const struct eyes *e, pid_t pid, const char *folder, struct sv name)
{
	static const char *const files[] = {"comm", "coredump_filter"};
	size_t i;
	long n;

	for (i = 0; i < ARRAY_LEN(files) && !sv_is(name, files[i]); i++)
		;
	if (i == ARRAY_LEN(files))
		return -EACCES;
	n = task_number(e, pid, folder);
	if (n <= 1 || n > INT_MAX)
		return -EACCES; /* PID 1 is ours */
	return open_of(e, e->outer ? pid : (pid_t)n, ".", O_PATH | O_DIRECTORY);
}

/* One of the caller's fds or its folder, or what is below them: with our eyes it would be another, or none. */
static bool is_own(pid_t pid, const char *path)
{
	const char *rest = behind_self(pid, path);

	return guard_own_fd(pid, path) >= 0 || guard_through_fd(pid, path) >= 0 ||
	       (rest && strncmp(rest, "/cwd", 4) == 0 && (!rest[4] || rest[4] == '/'));
}

/* Where name is to be found or made. Below /proc only in the caller's own fd, or where open_task() knows it: we could
 * open more there than the caller can. */
static int open_folder(const struct eyes *e, pid_t pid, int base, const char *folder, struct sv name, struct place *ret)
{
	bool here = base >= 0 && strcmp(folder, ".") == 0; /* it was opened just now */
	int fd = here                  ? fcntl(base, F_DUPFD_CLOEXEC, 3)
		 : is_own(pid, folder) ? -ELOOP
				       : sys_open_no_magic(base, folder, O_PATH | O_DIRECTORY),
	    r;
	/* a thread of the caller's is none of ours */
	bool proc = fd >= 0 ? is_proc(fd) : fd == -ENOENT && strncmp(folder, "/proc/self/task/", 16) == 0;

	if (proc || fd == -ELOOP || fd == -EXDEV) {
		/* /proc/self was resolved with our eyes: once more, with the caller's */
		if (fd >= 0)
			(void)close(fd);
		fd = open_own_magic(e, pid, folder, &ret->own_proc);
		if (fd >= 0 ? is_proc(fd) && !ret->own_proc : proc) {
			if (fd >= 0)
				(void)close(fd);
			fd = open_task(e, pid, folder, name);
		}
	}
	if (fd < 0)
		return fd;
	r = canonical(e, fd, ret->path, PATH_MAX);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

/* What the host calls what is open, whose path is known. */
static void know_origin(const struct eyes *e, int fd, struct place *p)
{
	p->lost = origins_ask(&e->origins, fd, p->path, p->other) == ORIGIN_LOST;
	if (p->lost)
		p->other[0] = '\0';
}

/* Behind a folder's path, which has room for it. The name there. */
static char *add_name(char *path, struct sv name)
{
	size_t n = strlen(path);

	if (n > 1)
		path[n++] = '/';
	memcpy(path + n, name.p, name.n);
	path[n + name.n] = '\0';
	return path + n;
}

int guard_place(const struct eyes *e, pid_t pid, int base, const char *path, struct place *ret)
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
	ret->dir = open_folder(e, pid, base, n ? folder : ".", name, ret);
	if (ret->dir < 0)
		return ret->dir;
	know_origin(e, ret->dir, ret);
	ret->name = add_name(ret->path, name);
	if (ret->other[0])
		(void)add_name(ret->other, name);
	return 0;
}

int guard_place_opened(const struct eyes *e, int fd, struct place *ret)
{
	int r;

	*ret = (struct place){.dir = -1};
	r = canonical(e, fd, ret->path, PATH_MAX);
	if (r == 0)
		know_origin(e, fd, ret);
	return r;
}

int guard_find(const struct eyes *e, pid_t pid, int base, const char *path, bool follow)
{
	int own = follow ? guard_own_fd(pid, path) : -1, fd, r;
	struct place p;

	if (own >= 0)
		return guard_fd_of(e, pid, own);
	fd = is_own(pid, path) ? -ELOOP : sys_open_no_magic(base, path, O_PATH | (follow ? 0 : O_NOFOLLOW));
	if (fd == -ELOOP || fd == -EXDEV) {
		/* through a magic link, which must be the caller's own; one at the end is not followed then */
		r = guard_place(e, pid, base, path, &p);
		fd = r < 0 ? r : p.own_proc ? -ELOOP : openat(p.dir, p.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (r == 0 && fd == -1)
			fd = -errno;
		guard_place_done(&p);
	}
	if (fd >= 0 && is_proc(fd)) {
		(void)close(fd);
		fd = -EPERM;
	}
	return fd;
}

int guard_place_again(const struct eyes *e, struct place *p)
{
	char name[NAME_MAX + 1];
	struct place now = {.dir = -1};
	int r = canonical(e, p->dir, now.path, PATH_MAX);

	if (r < 0)
		return r;
	know_origin(e, p->dir, &now);
	(void)snprintf(name, sizeof(name), "%s", p->name);
	now.name = add_name(now.path, sv_of(name));
	if (now.other[0])
		(void)add_name(now.other, sv_of(name));
	r = now.lost != p->lost || strcmp(now.path, p->path) != 0 || strcmp(now.other, p->other) != 0;
	if (!r)
		return 0;
	memcpy(p->path, now.path, sizeof(p->path));
	memcpy(p->other, now.other, sizeof(p->other));
	p->name = p->path + (now.name - now.path);
	p->lost = now.lost;
	return 1;
}

void guard_place_done(struct place *p)
{
	if (p->dir >= 0)
		(void)close(p->dir);
	p->dir = -1;
}

mode_t guard_umask(const struct eyes *e, pid_t pid)
{
	static const char label[] = "\nUmask:\t";
	char text[512], *at;

	if (read_of(e, pid, "status", text, sizeof(text)) < 0 || !(at = strstr(text, label)))
		return 077;
	return (mode_t)strtoul(at + sizeof(label) - 1, NULL, 8) & 0777;
}

/* ERESTARTSYS of the kernel: it never leaves it while a signal waits. */
enum { RESTART = 512 };

static uint64_t set_behind(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoull(at + strlen(label), NULL, 16) : 0;
}

int guard_signalled(const struct eyes *e, pid_t pid)
{
	char text[4096];
	uint64_t waiting;

	if (read_of(e, pid, "status", text, sizeof(text)) < 0)
		return 0;
	waiting =
		(set_behind(text, "\nSigPnd:\t") | set_behind(text, "\nShdPnd:\t")) & ~set_behind(text, "\nSigBlk:\t");
	if (!waiting)
		return 0;
	return number_behind(text, "\nThreads:\t") == 1 ? -RESTART : -EINTR;
}

int guard_terminal(const struct eyes *e, pid_t pid)
{
	char text[1024], *at;
	unsigned long device;
	int field;

	if (read_of(e, pid, "stat", text, sizeof(text)) < 0 || !(at = strrchr(text, ')')))
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

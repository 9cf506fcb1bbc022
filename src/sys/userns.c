#include "sys/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/beside.h"
#include "sys/process.h"
#include "sys/raw.h"
#include "sys/signals.h"

enum { STACK = 4096 };

static _Noreturn void stay(pid_t parent)
{
	while (sys_die_with(parent) == 0)
		(void)pause();
	_exit(1);
}

/*
 * The same in memory that it shares with us: a copy of ours would take longer than all the rest. It has a stack of its
 * own, every signal is blocked, and it makes no call that would set errno: ours. It may begin when
 * we have gone on, so it is told by value who we are.
 */
static int stay_beside(void *parent)
{
	while (sys_die_with((pid_t)(intptr_t)parent) == 0)
		(void)raw_call(SYS_ppoll, 0, 0, 0, 0, 0);
	return 1;
}

/* Maps the ids of the namespace that the child is in, and kills the child. */
static int take_namespace(pid_t pid, const char *uid_map, const char *gid_map)
{
	char path[64];
	int r = sys_proc_write(pid, "uid_map", uid_map), fd;

	if (r == 0)
		r = sys_proc_write(pid, "gid_map", gid_map);
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : fd;
	}
	(void)kill(pid, SIGKILL);
	return r;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int sys_userns_make_soon(const char *uid_map, const char *gid_map, struct sys_userns_rest *ret)
{
	char *stack = aligned_alloc(16, STACK);
	sigset_t before;
	pid_t pid;
	int code;

	if (!stack)
		return -ENOMEM;
	(void)sys_signals_block(&before);
	pid = clone(stay_beside, stack + STACK, CLONE_VM | CLONE_NEWUSER | SIGCHLD, (void *)(intptr_t)getpid());
	code = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		free(stack);
		return -code;
	}
	*ret = (struct sys_userns_rest){pid, stack};
	return take_namespace(pid, uid_map, gid_map);
}

/* Only then nobody uses its stack any more. */
void sys_userns_end(struct sys_userns_rest *rest)
{
	if (rest->pid)
		reap(rest->pid);
	free(rest->stack);
	*rest = (struct sys_userns_rest){0};
}

int sys_userns_make(const char *uid_map, const char *gid_map)
{
	struct sys_userns_rest rest = {0};
	int fd = sys_userns_make_soon(uid_map, gid_map, &rest);

	sys_userns_end(&rest);
	return fd;
}

/* Says 0 when it is there, or its errno. */
static _Noreturn void make_as(uid_t uid, gid_t gid, pid_t parent, int said)
{
	int r = setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0
			? -errno
			: sys_unshare(CLONE_NEWUSER);

	(void)!write(said, &r, sizeof(r));
	stay(parent);
}

int sys_userns_make_for(uid_t uid, gid_t gid, const char *uid_map, const char *gid_map)
{
	pid_t parent = getpid(), pid;
	int said[2], r = 0, fd;

	if (pipe2(said, O_CLOEXEC) < 0)
		return -errno;
	pid = sys_fork_into(0, -1, NULL, NULL);
	if (pid == 0)
		make_as(uid, gid, parent, said[1]);
	(void)close(said[1]);
	if (pid > 0 && read(said[0], &r, sizeof(r)) != sizeof(r))
		r = -ECHILD;
	(void)close(said[0]);
	if (pid < 0)
		return pid;
	fd = take_namespace(pid, uid_map, gid_map);
	reap(pid);
	if (r < 0 && fd >= 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

int sys_userns_parent(int fd)
{
	int parent = ioctl(fd, NS_GET_PARENT);

	return parent < 0 ? -errno : parent;
}

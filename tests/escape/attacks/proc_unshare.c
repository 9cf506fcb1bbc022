/* New namespaces: a user namespace gives every capability over the others, and with it most of the kernel's bugs. */
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "attack.h"

static int by_unshare(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_unshare, a->num), a->name);
}

static int reap(const struct scene *s, long pid, const char *what)
{
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return lost(s, errno, what);
	waitpid((pid_t)pid, NULL, __WALL);
	return won("%s works", what);
}

static int by_clone(const struct scene *s, const struct attack *a)
{
	return reap(s, syscall(SYS_clone, a->num | SIGCHLD, NULL, NULL, NULL, NULL), a->name);
}

static int by_clone3(const struct scene *s, const struct attack *a)
{
	struct clone_args args = {.flags = (uint64_t)a->num, .exit_signal = SIGCHLD};

	return reap(s, syscall(SYS_clone3, &args, sizeof(args)), a->name);
}

static const struct attack rows[] = {
	{"unshare-user", "cannot make a user namespace with unshare", by_unshare, .num = CLONE_NEWUSER},
	{"unshare-user-mnt", "cannot make user and mount namespaces at once", by_unshare,
	 .num = CLONE_NEWUSER | CLONE_NEWNS},
	{"unshare-mnt", "cannot make a mount namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWNS},
	{"unshare-net", "cannot make a network namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWNET},
	{"unshare-pid", "cannot make a pid namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWPID},
	{"unshare-ipc", "cannot make an ipc namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWIPC},
	{"unshare-uts", "cannot make a uts namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWUTS},
	{"unshare-cgroup", "cannot make a cgroup namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWCGROUP},
	{"unshare-time", "cannot make a time namespace", by_unshare, CONTROL_USERNS, .num = CLONE_NEWTIME},
	{"clone-user", "cannot make a user namespace with clone", by_clone, .num = CLONE_NEWUSER},
	{"clone3-user", "cannot make a user namespace with clone3", by_clone3, .num = CLONE_NEWUSER},
	{"clone3-user-net", "cannot make user and network namespaces with clone3", by_clone3,
	 .num = CLONE_NEWUSER | CLONE_NEWNET},
};
ATTACKS("process", rows);

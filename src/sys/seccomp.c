#include "sys/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/raw.h"

/* Linux 5.19: a signal does not interrupt a call whose notification was received, so nothing is done twice. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
/* Linux 6.6: wake the other side on this CPU. */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define NOTIF_SYNC_WAKE_UP 1UL

const char *seccomp_lack(void)
{
	return prctl(PR_GET_SECCOMP) == 0 ? "seccomp filters are needed"
					  : "this is a sandbox already, and no other starts in it: run the command as "
					    "it is, or start Cordon outside";
}

int seccomp_install(const struct sock_filter *program, size_t n, bool listener)
{
	struct sock_fprog prog = {.len = (unsigned short)n, .filter = (struct sock_filter *)(uintptr_t)program};
	long at = (long)(uintptr_t)&prog, flags = listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	long r = -EINVAL;

	if (listener)
		r = raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     (long)(flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV), at, 0, 0);
	if (r == -EINVAL)
		r = raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, at, 0, 0);
	return (int)r;
}

void seccomp_prefer_same_cpu(int listener)
{
	(void)ioctl(listener, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
}

int seccomp_receive(int listener, struct seccomp_call *ret)
{
	struct seccomp_notif n;
	unsigned i;

	memset(&n, 0, sizeof(n)); /* the kernel insists */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return -errno;
	ret->id = n.id;
	ret->pid = (pid_t)n.pid;
	ret->nr = n.data.nr;
	ret->ip = n.data.instruction_pointer;
	for (i = 0; i < 6; i++)
		ret->args[i] = n.data.args[i];
	return 0;
}

bool seccomp_alive(int listener, uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int seccomp_answer(int listener, uint64_t id, int64_t value, int error)
{
	struct seccomp_notif_resp r = {.id = id, .val = error ? 0 : value, .error = error};

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0 ? -errno : 0;
}

int seccomp_give_fd(int listener, uint64_t id, int fd, bool cloexec)
{
	struct seccomp_notif_addfd a = {.id = id, .srcfd = (uint32_t)fd, .newfd_flags = cloexec ? O_CLOEXEC : 0};
	int got;

	/* the kernel waits here for the caller to take it: interrupted, that has not happened */
	do
		got = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

bool seccomp_notify_works(void)
{
	uint32_t action = SECCOMP_RET_USER_NOTIF;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* Entering a namespace of the host: by its file in /proc, and by a pidfd. */
#include <sched.h>

#include "attack.h"

static int by_file(const struct scene *s, const struct attack *a)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/ns/%s", fact_num(s, "victim"), a->text);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? lost(s, errno, path) : judge(s, setns(fd, 0), path);
}

static int by_pidfd(const struct scene *s, const struct attack *a)
{
	int fd = (int)syscall(SYS_pidfd_open, fact_num(s, "victim"), 0);

	return fd < 0 ? lost(s, errno, "pidfd_open") : judge(s, setns(fd, (int)a->num), a->name);
}

/* The namespaces of PID 1 inside are the sandbox's own, but setns is a step back to before the last lock. */
static int of_init(const struct scene *s, const struct attack *a)
{
	int fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? lost(s, errno, "/proc/1/ns/mnt") : judge(s, setns(fd, 0), a->name);
}

static const struct attack rows[] = {
	{"setns-mnt", "cannot enter the host's mount namespace", by_file, CONTROL_ROOT, .text = "mnt"},
	{"setns-net", "cannot enter the host's network namespace", by_file, CONTROL_ROOT, .text = "net"},
	{"setns-pid", "cannot enter the host's pid namespace", by_file, CONTROL_ROOT, .text = "pid"},
	{"setns-ipc", "cannot enter the host's ipc namespace", by_file, CONTROL_ROOT, .text = "ipc"},
	{"setns-uts", "cannot enter the host's uts namespace", by_file, CONTROL_ROOT, .text = "uts"},
	{"setns-pidfd", "cannot enter namespaces of a host process by pidfd", by_pidfd, CONTROL_ROOT,
	 .num = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC},
	{"setns-init", "cannot enter the mount namespace of PID 1", of_init, CONTROL_ROOT},
};
ATTACKS("process", rows);

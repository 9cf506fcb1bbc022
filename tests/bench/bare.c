/*
 * bare: runs a command in a user, mount, PID, IPC, UTS, cgroup and network namespace of its own with loopback up, and does nothing else.
 *
 *	bare [--plain] CMD ARG...
 *
 * It is what the kernel takes for the namespaces alone, by the cheapest way there is: one process, which shares its maker's memory until it is the command; no root of its own, no confinement, no limit, no log. With --plain it makes
 * no namespace either: what it takes that a program starts another and waits, the least that `cordon exec` could take.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[64 * 1024];

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) < 0)
		return -1;
	return close(fd);
}

static int loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0 ? -1 : 0;
}

struct job {
	char **argv;
	unsigned uid, gid;
};

static int start(void *arg)
{
	const struct job *job = arg;

	(void)execv(job->argv[0], job->argv);
	perror(job->argv[0]);
	_exit(127);
}

static int run(void *arg)
{
	const struct job *job = arg;
	char uids[64], gids[64];

	(void)snprintf(uids, sizeof(uids), "1000 %u 1\n", job->uid);
	(void)snprintf(gids, sizeof(gids), "1000 %u 1\n", job->gid);
	if (put("/proc/self/setgroups", "deny") < 0 || put("/proc/self/uid_map", uids) < 0 || put("/proc/self/gid_map", gids) < 0 || loopback_up() < 0) {
		perror("bare");
		_exit(125);
	}
	return start(arg);
}

int main(int argc, char **argv)
{
	int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWNET;
	struct job job = {.argv = argv + 1, .uid = geteuid(), .gid = getegid()};
	bool plain = argc > 1 && strcmp(argv[1], "--plain") == 0;
	int status;
	pid_t pid;

	if (argc < 2 + plain)
		return 2;
	job.argv += plain;
	pid = clone(plain ? start : run, stack + sizeof(stack), (plain ? 0 : flags) | CLONE_VM | CLONE_VFORK | SIGCHLD, &job);
	if (pid < 0) {
		perror("bare: clone");
		return 125;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

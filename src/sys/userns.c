#include "sys/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/process.h"

static int write_map(pid_t pid, const char *name, const char *text)
{
	char path[64];
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write_all(fd, text, strlen(text));
}

int sys_userns_make(const char *uid_map, const char *gid_map)
{
	char path[64];
	int r, fd;
	pid_t pid = sys_fork_into(CLONE_NEWUSER, -1, NULL, NULL);

	if (pid < 0)
		return pid;
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			(void)pause();
	}
	r = write_map(pid, "uid_map", uid_map);
	if (r == 0)
		r = write_map(pid, "gid_map", gid_map);
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : fd;
	}
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

#include "supervise/gate_roles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/spawn.h"

int gate_find_program(const char *name, struct error *err)
{
	static const char *const folders[] = {"", "../libexec/cordon/"};
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	size_t i;
	int fd;

	if (n <= 0)
		return error_sys(err, errno, "/proc/self/exe");
	self[n] = '\0';
	slash = strrchr(self, '/');
	slash[1] = '\0';
	for (i = 0; i < ARRAY_LEN(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s%scordon-%s", self, folders[i], name);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return error_set(err, ERROR_MISSING, "cordon-%s is not beside this program nor in ../libexec/cordon: network and inference need it; install all of Cordon's programs together", name);
}

int gate_role_start(struct gate_role *r, char *const *argv, char *const *env, const int *fds, size_t n, struct error *err)
{
	char name[32], *none[] = {NULL}, *only_name[] = {name, NULL};
	AUTO_FD program = gate_find_program(r->name, err);
	int all[SPAWN_MAX_FDS], pair[2];
	pid_t pid;

	if (program < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	(void)snprintf(name, sizeof(name), "cordon-%s", r->name);
	all[0] = pair[1];
	if (n)
		memcpy(all + 1, fds, n * sizeof(*fds));
	pid = sys_spawn(program, argv ? argv : only_name, env ? env : none, all, n + 1);
	(void)close(pair[1]);
	if (pid < 0) {
		(void)close(pair[0]);
		return error_sys(err, pid, "cannot start %s", name);
	}
	r->pid = pid;
	r->control = pair[0];
	return 0;
}

void gate_role_kill(struct gate_role *r)
{
	if (r->pid <= 0)
		return;
	(void)kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
}

void gate_role_end(struct gate_role *r)
{
	gate_role_kill(r); /* first: a role that finds its socket closed would say so */
	if (r->control >= 0)
		(void)close(r->control);
	r->control = -1;
}

void gate_roles_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void gate_roles_bury(void)
{
	const struct timespec pause = {0, 500000};
	int tries;
	pid_t pid;

	/* They die with their parent, at once but not before it: a command of credentials.yaml that does not is init's. */
	for (tries = 0; tries < 200; tries++) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

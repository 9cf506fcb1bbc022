#include "supervise/gate_roles.h"

#include <errno.h>
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
	int fd = sys_find_program(name);

	if (fd == -ENOENT && access("/proc/self/exe", F_OK) < 0)
		return error_set(err, ERROR_MISSING, "/proc is not mounted here: cordon-%s cannot be found without it",
				 name);
	if (fd == -ENOENT)
		return error_set(err, ERROR_MISSING,
				 "cordon-%s is not beside this program nor in ../libexec/cordon: network and inference "
				 "need it; install all of Cordon's programs together",
				 name);
	return fd < 0 ? error_sys(err, fd, "/proc/self/exe") : fd;
}

int gate_role_start(struct gate_role *r, char *const *argv, char *const *env, const int *fds, size_t n,
		    struct error *err)
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

/* As waitpid() has it: -1 is all, -PID the group that PID led. */
static void bury(pid_t which)
{
	const struct timespec pause = {0, 500000};
	int tries;
	pid_t pid;

	/* They die with their parent, at once but not before it: a command of credentials.yaml that does not is init's.
	 */
	for (tries = 0; tries < 200; tries++) {
		while ((pid = waitpid(which, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

void gate_role_kill(struct gate_role *r)
{
	if (r->pid <= 0)
		return;
	(void)kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	bury(-r->pid); /* its own children: the run may go on for long */
	r->pid = 0;
}

const char *gate_role_ended(const struct gate_role *r, char *text, size_t size, bool *ret_killed)
{
	siginfo_t info = {0};

	*ret_killed = false;
	if (r->pid <= 0 || waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != r->pid)
		return NULL;
	*ret_killed = info.si_code != CLD_EXITED;
	(void)snprintf(text, size, "%s %d", *ret_killed ? "signal" : "status", info.si_status);
	return text;
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
	bury(-1);
}

#include "sandbox/native/spaces.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/common/confine.h"
#include "sys/beside.h"
#include "sys/process.h"

enum { TURN_GO = 1, TURN_MADE };

struct spaces {
	struct sys_beside beside;
	pid_t parent;
	bool loopback;
	int turn;
	/* set before it goes on */
	struct spaces_fork fork;
	/* its answer */
	bool in_cgroup;
	pid_t pid; /* or -errno */
	int pidfd;
};

/* Until its turn comes, and when it has answered, it works beside us, so errno is not its own; between them we only
 * wait for it, and PID 1 gets our memory as it is then. */
static int make(void *arg)
{
	struct spaces *s = arg;
	int r = sys_spaces_make(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWPID, s->loopback,
				s->parent);

	if (r == -ESRCH)
		return 1; /* our turn would never come */
	if (r == 0)
		confine_limit_objects(BOX_USER_IS);
	sys_turn_wait(&s->turn, TURN_GO);
	if (r == 0)
		r = sys_fork_sibling(0, s->fork.cgroup, &s->in_cgroup, &s->pidfd);
	if (r == 0) {
		sys_beside_own_stack(&s->beside);
		s->fork.run(s->fork.arg, s->in_cgroup);
	}
	s->pid = r;
	sys_turn_reach(&s->turn, TURN_MADE);
	return 0;
}

int spaces_start(bool loopback, struct spaces **ret)
{
	struct spaces *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	*s = (struct spaces){.parent = getpid(), .loopback = loopback, .pid = -ECHILD, .pidfd = -1};
	r = sys_beside_start_user(&s->beside, make, s);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

pid_t spaces_pid(const struct spaces *s)
{
	return s->beside.pid;
}

pid_t spaces_fork(struct spaces *s, const struct spaces_fork *fork, int *ret_pidfd)
{
	s->fork = *fork;
	sys_turn_reach(&s->turn, TURN_GO);
	(void)sys_beside_reaches(&s->beside, &s->turn, TURN_MADE);
	if (s->pid > 0)
		*ret_pidfd = s->pidfd;
	return s->pid;
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	(void)kill(s->beside.pid, SIGKILL);
	sys_beside_wait(&s->beside);
	while (waitpid(s->beside.pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(s);
}

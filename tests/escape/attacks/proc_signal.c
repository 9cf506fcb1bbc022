/* Signals to a host process. SIGURG is ignored by default, so that the victim lives on in the control. */
#include <signal.h>

#include "attack.h"

enum way { KILL, GROUP, QUEUE, TGKILL, TKILL, PIDFD, OWNER };

static long owner_signal(pid_t pid)
{
	int fds[2];

	return pipe(fds) < 0 ? -1 : fcntl(fds[0], F_SETOWN, pid);
}

static long send_it(enum way way, pid_t pid)
{
	const union sigval value = {0};

	switch (way) {
	case KILL:
		return kill(pid, SIGURG);
	case GROUP:
		return kill(-pid, SIGURG);
	case QUEUE:
		return sigqueue(pid, SIGURG, value);
	case TGKILL:
		return syscall(SYS_tgkill, pid, pid, SIGURG);
	case TKILL:
		return syscall(SYS_tkill, pid, SIGURG);
	case PIDFD:
		return syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, pid, 0), SIGURG, NULL, 0);
	case OWNER:
		return owner_signal(pid);
	}
	return -1;
}

static int signal_victim(const struct scene *s, const struct attack *a)
{
	return judge(s, send_it((enum way)a->num, (pid_t)fact_num(s, "victim")), a->name);
}

static const struct attack rows[] = {
	{"signal-kill", "cannot kill() a host process", signal_victim, .num = KILL},
	{"signal-group", "cannot kill() a process group of the host", signal_victim, .num = GROUP},
	{"signal-queue", "cannot sigqueue() to a host process", signal_victim, .num = QUEUE},
	{"signal-tgkill", "cannot tgkill() a host process", signal_victim, .num = TGKILL},
	{"signal-tkill", "cannot tkill() a host process", signal_victim, .num = TKILL},
	{"signal-pidfd", "cannot signal a host process by pidfd", signal_victim, .num = PIDFD},
	{"signal-owner", "cannot make a host process the owner of SIGIO", signal_victim, .num = OWNER},
};
ATTACKS("process", rows);

#include <errno.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"
#include "supervise/supervise.h"
#include "sys/signals.h"

/*
 * All that somebody can send to a command; but what says something of our own process: it has a child that ended, wrote
 * where nobody reads, or to a terminal that is not its own, did what no program may, or reached a limit of the system's.
 */
static void supervised_signals(sigset_t *set)
{
	static const int own[] = {SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGXCPU, SIGXFSZ};
	size_t i;

	sys_signals_all(set);
	for (i = 0; i < ARRAY_LEN(own); i++)
		(void)sigdelset(set, own[i]);
}

void supervise_block_signals(void)
{
	sigset_t set;

	supervised_signals(&set);
	(void)sys_signals_block_more(&set);
}

int supervise_signals(void)
{
	sigset_t set;
	int fd;

	supervise_block_signals();
	supervised_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

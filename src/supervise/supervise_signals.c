#include <errno.h>
#include <sys/signalfd.h>

#include "supervise/supervise.h"
#include "sys/signals.h"

void supervise_block_signals(void)
{
	sigset_t set;

	sys_signals_sent(&set);
	(void)sys_signals_block_more(&set);
}

int supervise_signals(void)
{
	sigset_t set;
	int fd;

	supervise_block_signals();
	sys_signals_sent(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

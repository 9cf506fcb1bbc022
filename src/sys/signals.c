#include "sys/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { KERNEL_SET = 8 };

void sys_signals_all(sigset_t *set)
{
	memset(set, 0xff, sizeof(*set));
}

void sys_signals_sent(sigset_t *set)
{
	static const int own[] = {SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE,
				  SIGILL,  SIGTRAP, SIGSYS,  SIGABRT, SIGXCPU, SIGXFSZ};
	size_t i;

	sys_signals_all(set);
	for (i = 0; i < ARRAY_LEN(own); i++)
		(void)sigdelset(set, own[i]);
}

int sys_signals_block_more(const sigset_t *set)
{
	return syscall(SYS_rt_sigprocmask, SIG_BLOCK, set, NULL, KERNEL_SET) < 0 ? -errno : 0;
}

int sys_signals_block(sigset_t *ret_before)
{
	sigset_t all;

	sys_signals_all(&all);
	if (ret_before)
		(void)sigemptyset(ret_before);
	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_before, KERNEL_SET) < 0 ? -errno : 0;
}

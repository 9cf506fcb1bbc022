#include "sys/grace.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf.h"
#include "sys/seccomp.h"

/* What an ordinary program may have open. */
enum { LAST_DESCRIPTOR = 1023 };

/* A table is as large as its last descriptor needs, and never gets smaller: through execve it stays, and fork makes one
 * for what is open then. */
static void grow_table(void)
{
	struct rlimit now;
	int last = getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur <= LAST_DESCRIPTOR ? (int)now.rlim_cur - 1
											  : LAST_DESCRIPTOR;

	if (last > STDERR_FILENO)
		(void)dup2(STDIN_FILENO, last);
}

static void refuse_registration(void)
{
	const struct sock_filter filter[] = {
		{BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH},
		{BPF_OP_JEQ, 0, 5, SECCOMP_OUR_ARCH},
		{BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR},
		{BPF_OP_JEQ, 0, 3, __NR_membarrier},
		{BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(0)},
		{BPF_OP_JEQ, 0, 1, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED},
		{BPF_OP_RET, 0, 0, SECCOMP_DO_ERRNO | EINVAL},
		{BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW},
	};

	if (seccomp_install(filter, ARRAY_LEN(filter), false) == -EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)seccomp_install(filter, ARRAY_LEN(filter), false);
}

void sys_grace_spare(void)
{
	grow_table();
	refuse_registration();
}

#include "vault/confine.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf.h"
#include "sys/process.h"
#include "sys/role.h"
#include "sys/seccomp.h"

enum { MEMORY_MAX = 512 << 20, FDS_MAX = 16 };

/* poll() asks the limit on fds, too: it must not be lower than what we hold. */
static const int anything[] = {
	SYS_recvfrom,   SYS_recvmsg,      SYS_sendmsg,         SYS_ppoll,          SYS_close,        SYS_fcntl,
	SYS_munmap,     SYS_mremap,       SYS_madvise,         SYS_mlock,          SYS_brk,          SYS_futex,
	SYS_getpid,     SYS_gettid,       SYS_getrandom,       SYS_clock_gettime,  SYS_gettimeofday, SYS_exit,
	SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall, SYS_rt_sigprocmask,
#ifdef SYS_poll
	SYS_poll,
#endif
};

/* The third argument must not ask for code. */
static const int no_code[] = {SYS_mmap, SYS_mprotect};

enum { FILTER_ROOM = 8 + 2 * sizeof(anything) / sizeof(anything[0]) + 5 * sizeof(no_code) / sizeof(no_code[0]) };

static int install_filter(void)
{
	struct sock_filter program[FILTER_ROOM];
	size_t n = 0, i;

	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH);
	bpf_put(&program[n++], BPF_OP_JEQ, 1, 0, SECCOMP_OUR_ARCH);
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR);
	for (i = 0; i < ARRAY_LEN(anything); i++) {
		bpf_put(&program[n++], BPF_OP_JEQ, 0, 1, (uint32_t)anything[i]);
		bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
	}
	for (i = 0; i < ARRAY_LEN(no_code); i++) {
		bpf_put(&program[n++], BPF_OP_JEQ, 0, 4, (uint32_t)no_code[i]);
		bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(2));
		bpf_put(&program[n++], BPF_OP_JSET, 0, 1, PROT_EXEC);
		bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
		bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
	}
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	return seccomp_install(program, n, false);
}

static int set_limits(void)
{
	const struct {
		__rlimit_resource_t what;
		rlim_t value;
	} limits[] = {
		{RLIMIT_NPROC, 0},
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_NOFILE, FDS_MAX},
		{RLIMIT_AS, role_is_filtered() ? MEMORY_MAX : RLIM_INFINITY},
	};
	struct rlimit old;
	size_t i;

	for (i = 0; i < ARRAY_LEN(limits); i++) {
		if (getrlimit(limits[i].what, &old) < 0)
			return -errno;
		/* a lower hard limit that is there already stays */
		old.rlim_max = limits[i].value < old.rlim_max ? limits[i].value : old.rlim_max;
		old.rlim_cur = old.rlim_max;
		if (setrlimit(limits[i].what, &old) < 0)
			return -errno;
	}
	return 0;
}

int vault_confine(void)
{
	char **v;
	int r;

	for (v = environ; v && *v; v++)
		explicit_bzero(*v, strlen(*v));
	environ = NULL;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	/* where root started us */
	r = sys_drop_caps(0, false);
	if (r < 0)
		return r;
	r = set_limits();
	if (r < 0)
		return r;
	return role_is_filtered() ? install_filter() : 0;
}

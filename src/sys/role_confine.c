#include "sys/role_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf.h"
#include "sys/landlock.h"
#include "sys/process.h"
#include "sys/role.h"
#include "sys/seccomp.h"

enum { SOCKETS = ROLE_DIAL | ROLE_ACCEPT };

/* An argument that decides. */
enum check { ANY, NOT_CODE, INTERNET, QUEUE_SIZE, QUEUE_OR_ADDRESSES, DESCRIPTOR, OURSELVES };

/* What it may be. */
static const struct choice {
	unsigned argument, n;
	uint32_t values[9];
} choices[] = {
	[INTERNET] = {0, 2, {AF_INET, AF_INET6}},
	[QUEUE_SIZE] = {1, 1, {SIOCOUTQ}},
	[QUEUE_OR_ADDRESSES] = {1, 2, {SIOCOUTQ, SIOCGIFCONF}}, /* which addresses are this machine's: own_address.h */
	/* Flags, copies and sizes. F_SETOWN and its kin are not there: they send signals to whatever process of the
	   user. */
	[DESCRIPTOR] = {1,
			9,
			{F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS,
			 F_GET_SEALS}},
	[OURSELVES] = {0, 1, {0}},
};

static const struct {
	int nr;
	unsigned may; /* 0: everybody; else one of these is needed */
	enum check check;
} allowed[] = {
	/* the daily ones first: a filter is read from its start */
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, 0, ANY},
#endif
	{SYS_epoll_pwait, 0, ANY},
	{SYS_read, 0, ANY},
	{SYS_write, 0, ANY},
	{SYS_writev, 0, ANY},
	{SYS_recvfrom, 0, ANY},
	{SYS_sendto, 0, ANY},
	{SYS_splice, ROLE_SPLICE, ANY},
	{SYS_recvmsg, 0, ANY},
	{SYS_sendmsg, 0, ANY},
	{SYS_readv, 0, ANY},
	{SYS_epoll_ctl, 0, ANY},
	{SYS_close, 0, ANY},
	{SYS_accept4, ROLE_ACCEPT, ANY},
	{SYS_socket, ROLE_DIAL, INTERNET},
	{SYS_connect, ROLE_DIAL, ANY},
	{SYS_getsockopt, SOCKETS, ANY},
	{SYS_setsockopt, SOCKETS, ANY},
	{SYS_getsockname, SOCKETS, ANY},
	{SYS_getpeername, SOCKETS, ANY},
	{SYS_shutdown, 0, ANY},
	{SYS_fcntl, 0, DESCRIPTOR},
	{SYS_ioctl, ROLE_DIAL, QUEUE_OR_ADDRESSES},
	{SYS_ioctl, ROLE_ACCEPT, QUEUE_SIZE},
	{SYS_dup, 0, ANY},
	{SYS_pipe2, ROLE_SPLICE, ANY},
	{SYS_sched_yield, ROLE_SPLICE, ANY},
	{SYS_getcpu, SOCKETS, ANY}, /* where there is no vDSO */
	{SYS_sched_getaffinity, SOCKETS, OURSELVES},
	{SYS_sched_setaffinity, SOCKETS, OURSELVES},
	{SYS_pread64, 0, ANY},
	{SYS_lseek, 0, ANY},
	{SYS_mmap, 0, NOT_CODE},
	{SYS_mprotect, 0, NOT_CODE},
	{SYS_munmap, 0, ANY},
	{SYS_mremap, 0, ANY},
	{SYS_madvise, 0, ANY},
	{SYS_mlock, 0, ANY},
	{SYS_mlock2, 0, ANY},
	{SYS_munlock, 0, ANY},
#ifdef SYS_poll
	{SYS_poll, ROLE_POLL, ANY},
#endif
	{SYS_ppoll, ROLE_POLL, ANY},
	{SYS_gettid, ROLE_POLL, ANY},
	{SYS_rt_sigprocmask, ROLE_POLL, ANY},
	{SYS_pwrite64, ROLE_TREE, ANY},
	{SYS_openat2, ROLE_TREE, ANY},
	{SYS_openat, ROLE_TREE, ANY}, /* where there is no openat2 */
	{SYS_fchown, ROLE_TREE, ANY},
	{SYS_fchmod, ROLE_TREE, ANY},
	{SYS_utimensat, ROLE_TREE, ANY},
	{SYS_newfstatat, ROLE_TREE, ANY},
	{SYS_fstat, ROLE_TREE, ANY},
	{SYS_mkdirat, ROLE_TREE, ANY},
	{SYS_symlinkat, ROLE_TREE, ANY},
	{SYS_linkat, ROLE_TREE, ANY},
	{SYS_unlinkat, ROLE_TREE, ANY},
	{SYS_mknodat, ROLE_TREE, ANY}, /* whiteouts and FIFOs: there is no capability for more */
	{SYS_fchownat, ROLE_TREE, ANY},
	{SYS_fsetxattr, ROLE_TREE, ANY},
	{SYS_ftruncate, ROLE_TREE, ANY},
	{SYS_brk, 0, ANY},
	{SYS_futex, 0, ANY},
	{SYS_getrandom, 0, ANY},
	{SYS_getpid, 0, ANY},
	{SYS_clock_gettime, 0, ANY},
	{SYS_gettimeofday, 0, ANY},
	{SYS_rt_sigreturn, 0, ANY},
	{SYS_restart_syscall, 0, ANY},
	{SYS_exit, 0, ANY},
	{SYS_exit_group, 0, ANY},
};

enum { FILTER_ROOM = 16 + 6 * sizeof(allowed) / sizeof(allowed[0]) };

/* One call: falls through to the next where the number is another; else the answer. */
static size_t put_call(struct sock_filter *to, int nr, enum check check)
{
	const struct choice *c = &choices[check];
	size_t n = 1, i;

	if (check == NOT_CODE) {
		bpf_put(&to[n++], BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(2));
		bpf_put(&to[n++], BPF_OP_JSET, 0, 1, PROT_EXEC);
		bpf_put(&to[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	} else if (check != ANY) {
		bpf_put(&to[n++], BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(c->argument));
		for (i = 0; i < c->n; i++)
			bpf_put(&to[n++], BPF_OP_JEQ, (uint8_t)(c->n - i), 0, c->values[i]);
		bpf_put(&to[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	}
	bpf_put(&to[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
	bpf_put(&to[0], BPF_OP_JEQ, 0, (uint8_t)(n - 1), (uint32_t)nr);
	return n;
}

static int install_filter(unsigned may)
{
	struct sock_filter program[FILTER_ROOM];
	size_t n = 0, i;

	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH);
	bpf_put(&program[n++], BPF_OP_JEQ, 1, 0, SECCOMP_OUR_ARCH);
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR);
	for (i = 0; i < ARRAY_LEN(allowed); i++)
		if (!allowed[i].may || (allowed[i].may & may))
			n += put_call(&program[n], allowed[i].nr, allowed[i].check);
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	return seccomp_install(program, n, false);
}

static int set_limits(const struct role_needs *needs)
{
	const struct {
		int what;
		rlim_t value;
	} limits[] = {
		{RLIMIT_AS, role_is_filtered() ? needs->memory : RLIM_INFINITY},
		{RLIMIT_NPROC, role_is_filtered() ? 0 : RLIM_INFINITY},
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, role_is_filtered() ? needs->file_size : RLIM_INFINITY},
		{RLIMIT_NOFILE, needs->descriptors},
	};
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(limits); i++)
		r = sys_lower_limit(limits[i].what, limits[i].value);
	return r;
}

/* People keep keys in variables, and libraries read theirs late. Those that ask for the time zone would open a file: it
 * is UTC, and known from now on. */
static void forget_environment(void)
{
	static char utc[] = "TZ=UTC0";
	static char *none[] = {utc, NULL};
	char **v;

	for (v = environ; v && *v; v++)
		explicit_bzero(*v, strlen(*v));
	environ = none;
	tzset();
}

/* Nothing else of the file system has a name for it: its root is the folder, and Landlock knows no other. Hard links
 * between folders need the second ABI. */
static int enter_folder(int folder)
{
	int abi = landlock_abi(), r;
	AUTO_FD rules = -1;

	if (fchdir(folder) < 0 || chroot(".") < 0)
		return -errno;
	if (abi < 2)
		return 0;
	rules = landlock_new(abi);
	if (rules < 0)
		return rules;
	r = landlock_allow(rules, abi, folder, LL_READ | LL_WRITE | LL_WHITEOUTS, 1);
	return r < 0 ? r : landlock_enforce(rules, false);
}

/* Making files for others, in folders of whatever mode. */
enum { TREE_CAPS = 1 << SYS_CAP_CHOWN | 1 << SYS_CAP_DAC_OVERRIDE | 1 << SYS_CAP_FOWNER | 1 << SYS_CAP_FSETID };

int role_confine(const struct role_needs *needs)
{
	bool tree = needs->may & ROLE_TREE;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	r = sys_close_from(needs->first_closed);
	if (r < 0)
		return r;
	forget_environment();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = tree ? enter_folder(needs->folder) : 0;
	if (r < 0)
		return r;
	/* where root started us */
	r = sys_drop_caps(tree ? TREE_CAPS : 0);
	if (r < 0)
		return r;
	r = set_limits(needs);
	if (r < 0)
		return r;
	return role_is_filtered() ? install_filter(needs->may) : 0;
}

#include "sys/role.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf.h"
#include "sys/process.h"
#include "sys/seccomp.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The child's only fd. Sanitizers report to stderr. */
enum { ROLE_SOCKET = 0, FIRST_CLOSED = SANITIZED ? 3 : 1 };

enum when { ALWAYS, ON_SOCKET, NOT_CODE };

static const struct {
	int nr;
	enum when when;
} allowed[] = {
	{SYS_read, ON_SOCKET},    {SYS_write, ON_SOCKET},     {SYS_mmap, NOT_CODE},          {SYS_mprotect, NOT_CODE},
	{SYS_munmap, ALWAYS},     {SYS_mremap, ALWAYS},       {SYS_madvise, ALWAYS},         {SYS_brk, ALWAYS},
	{SYS_futex, ALWAYS},      {SYS_getrandom, ALWAYS},    {SYS_clock_gettime, ALWAYS},   {SYS_exit, ALWAYS},
	{SYS_exit_group, ALWAYS}, {SYS_rt_sigreturn, ALWAYS}, {SYS_restart_syscall, ALWAYS},
};

enum { FILTER_ROOM = 8 + 6 * sizeof(allowed) / sizeof(allowed[0]) };

/* One call: falls through to the next where the number is another; else the answer. */
static size_t put_call(struct sock_filter *to, int nr, enum when when)
{
	size_t n = 0;

	bpf_put(&to[n++], BPF_OP_JEQ, 0, when == ALWAYS ? 1 : 4, (uint32_t)nr);
	if (when != ALWAYS) {
		bpf_put(&to[n++], BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(when == ON_SOCKET ? 0 : 2));
		if (when == ON_SOCKET)
			bpf_put(&to[n++], BPF_OP_JEQ, 1, 0, ROLE_SOCKET);
		else
			bpf_put(&to[n++], BPF_OP_JSET, 0, 1, PROT_EXEC);
		bpf_put(&to[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	}
	bpf_put(&to[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
	return n;
}

static int install_filter(void)
{
	struct sock_filter program[FILTER_ROOM];
	size_t n = 0, i;

	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH);
	bpf_put(&program[n++], BPF_OP_JEQ, 1, 0, SECCOMP_OUR_ARCH);
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	bpf_put(&program[n++], BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR);
	for (i = 0; i < ARRAY_LEN(allowed); i++)
		n += put_call(&program[n], allowed[i].nr, allowed[i].when);
	bpf_put(&program[n++], BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	return seccomp_install(program, n, false);
}

static int set_limits(const struct role_bounds *b)
{
	const struct {
		int what;
		rlim_t value;
	} limits[] = {
		{RLIMIT_CPU, b->cpu_seconds},
		{RLIMIT_AS, SANITIZED ? RLIM_INFINITY : b->memory},
		{RLIMIT_NPROC, 0},
		{RLIMIT_CORE, 0},
		{RLIMIT_NOFILE, SANITIZED ? FIRST_CLOSED : 0},
	};
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(limits); i++)
		r = sys_lower_limit(limits[i].what, limits[i].value);
	return r;
}

/* People keep keys in variables. The copy we were born with is ours to wipe. */
static void forget_environment(void)
{
	char **v;

	for (v = environ; v && *v; v++)
		explicit_bzero(*v, strlen(*v));
	environ = NULL;
}

static int confine(const struct role_bounds *b, int sock)
{
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (dup2(sock, ROLE_SOCKET) < 0)
		return -errno;
	r = sys_close_from(FIRST_CLOSED);
	if (r < 0)
		return r;
	forget_environment();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	/* where root started us */
	r = sys_drop_caps(0);
	if (r < 0)
		return r;
	r = set_limits(b);
	if (r < 0)
		return r;
	return SANITIZED ? 0 : install_filter();
}

pid_t role_fork(const struct role_bounds *bounds, int (*fn)(void *arg, int socket), void *arg, int *ret_socket)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		if (confine(bounds, pair[1]) < 0)
			_exit(ROLE_NOT_CONFINED);
		_exit(fn(arg, ROLE_SOCKET));
	}
	if (pid < 0)
		pid = -errno;
	(void)close(pair[1]);
	if (pid < 0)
		(void)close(pair[0]);
	else
		*ret_socket = pair[0];
	return pid;
}

int role_end(pid_t pid, bool kill_it)
{
	int status;

	if (kill_it)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

bool role_is_filtered(void)
{
	return !SANITIZED;
}

#include "sys/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/if.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/raw.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* glibc's sched.h and linux/sched.h do not go together. */
int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

/* MAX_CPUS: what a kernel can be built for. It refuses to fill a mask that is shorter than its own. */
enum { STACK = 64 * 1024, FULL_STACK = 8 << 20, MAX_CPUS = 8192, MOMENT_NS = 100000000, YIELDS = 1000 };

static const int64_t moment[2] = {0, MOMENT_NS}; /* seconds, nanoseconds */

static long at(const void *p)
{
	return (long)(uintptr_t)p;
}

static int make_stack(size_t size, char **ret)
{
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
#ifdef __SANITIZE_ADDRESS__
	/* What an earlier child left on a stack at the same address, without ever returning from it, is not ours. */
	__asan_unpoison_memory_region(stack, size);
#endif
	*ret = stack;
	return 0;
}

struct cpus {
	unsigned char mask[MAX_CPUS / 8];
	long n; /* bytes of it, or -errno */
};

static void cpus_of(pid_t pid, struct cpus *ret)
{
	memset(ret->mask, 0, sizeof(ret->mask));
	ret->n = raw_call(SYS_sched_getaffinity, pid, sizeof(ret->mask), at(ret->mask), 0, 0);
}

static int set_cpus(pid_t pid, const struct cpus *cpus)
{
	return (int)(cpus->n < 0 ? cpus->n : raw_call(SYS_sched_setaffinity, pid, cpus->n, at(cpus->mask), 0, 0));
}

/*
 * The kernel likes to start a child on its parent's CPU, where one waits for the other. While the child sleeps or waits
 * for that CPU, it can be sent to another without either being interrupted; where there is no other, the kernel
 * refuses, and all is as it was.
 */
static void place_elsewhere(pid_t child, struct cpus *ret_ours)
{
	struct cpus others;
	unsigned here = 0;

	cpus_of(0, &others);
	*ret_ours = others;
	if (raw_call(SYS_getcpu, at(&here), 0, 0, 0, 0) < 0 || here >= MAX_CPUS)
		return;
	others.mask[here / 8] = (unsigned char)(others.mask[here / 8] & ~(1u << (here % 8)));
	(void)set_cpus(child, &others);
}

void sys_begin_elsewhere(pid_t child)
{
	struct cpus ours;

	place_elsewhere(child, &ours);
	(void)set_cpus(child, &ours);
}

/* False: who would place us is gone, and nobody else waits for us. */
static bool is_placed(const struct sys_beside *b)
{
	while (!__atomic_load_n(&b->placed, __ATOMIC_SEQ_CST))
		if (raw_call(SYS_futex, at(&b->placed), FUTEX_WAIT, 0, at(moment), 0) == -ETIMEDOUT &&
		    raw_call(SYS_getppid, 0, 0, 0, 0, 0) != b->parent)
			return false;
	return true;
}

/* Once it runs there, it may run anywhere again. */
static int begin(void *arg)
{
	const struct sys_beside *b = arg;
	struct cpus ours;

	if (!is_placed(b))
		return 1;
	cpus_of(b->parent, &ours);
	(void)set_cpus(0, &ours);
	return b->fn(b->arg);
}

static int start(struct sys_beside *b, size_t size, int namespaces, int (*fn)(void *), void *arg)
{
	int flags = CLONE_VM | CLONE_FILES | CLONE_CHILD_CLEARTID | SIGCHLD | namespaces;
	int code, r = make_stack(size, &b->stack);
	struct cpus ours;

	if (r < 0)
		return r;
	b->size = size;
	b->alive = 1;
	b->placed = 0;
	b->parent = (pid_t)raw_call(SYS_getpid, 0, 0, 0, 0, 0);
	b->fn = fn;
	b->arg = arg;
	b->pid = clone(begin, b->stack + size, flags, b, NULL, NULL, &b->alive);
	if (b->pid >= 0) {
		place_elsewhere(b->pid, &ours);
		sys_turn_reach(&b->placed, 1);
		return 0;
	}
	code = errno;
	(void)munmap(b->stack, size);
	return -code;
}

int sys_beside_start(struct sys_beside *b, int (*fn)(void *), void *arg)
{
	return start(b, STACK, 0, fn, arg);
}

int sys_beside_start_user(struct sys_beside *b, int (*fn)(void *), void *arg)
{
	return start(b, FULL_STACK, CLONE_NEWUSER, fn, arg);
}

void sys_beside_own_stack(const struct sys_beside *b)
{
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_start_switch_fiber(NULL, b->stack, b->size);
	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#else
	(void)b;
#endif
}

bool sys_beside_is_there(const struct sys_beside *b)
{
	return __atomic_load_n(&b->alive, __ATOMIC_SEQ_CST);
}

/* We must not wait for those who stopped it. */
static void kill_if_stopped(pid_t pid)
{
	siginfo_t info = {0};

	if (raw_call(SYS_waitid, P_PID, pid, at(&info), WSTOPPED | WNOHANG | WNOWAIT, 0) == 0 && info.si_pid == pid)
		(void)raw_call(SYS_kill, pid, SIGKILL, 0, 0, 0);
}

/* Waits at *word for as long as it has this value, and a moment at most: nobody would wake us where the child was
 * killed or stopped. */
static void wait_a_moment(const struct sys_beside *b, const int *word, int value)
{
	/* not FUTEX_PRIVATE: the kernel wakes without it */
	if (raw_call(SYS_futex, at(word), FUTEX_WAIT, value, at(moment), 0) == -ETIMEDOUT)
		kill_if_stopped(b->pid);
}

void sys_beside_wait(struct sys_beside *b)
{
	while (sys_beside_is_there(b))
		wait_a_moment(b, &b->alive, 1);
	(void)munmap(b->stack, b->size);
}

/* Until nobody has the other end of a pipe: the kernel closes the child's when it has left our memory. gVisor would not
 * clear a word of it then. */
static void wait_for_end(int fd, pid_t pid)
{
	struct pollfd p = {.fd = fd};
	int64_t left[2];

	do {
		memcpy(left, moment, sizeof(left)); /* ppoll() writes what is left */
		if (raw_call(SYS_ppoll, at(&p), 1, at(left), 0, 0) == 0)
			kill_if_stopped(pid);
	} while (!p.revents);
}

pid_t sys_spawn_shared(int (*fn)(void *), void *arg, int namespaces)
{
	int ends[2], code, r;
	char *stack;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = make_stack(STACK, &stack);
	if (r == 0) {
		pid = clone(fn, stack + STACK, CLONE_VM | SIGCHLD | namespaces, arg);
		code = errno;
		(void)raw_call(SYS_close, ends[1], 0, 0, 0, 0);
		if (pid >= 0)
			wait_for_end(ends[0], pid);
		r = pid < 0 ? -code : pid;
		(void)munmap(stack, STACK);
	} else {
		(void)close(ends[1]);
	}
	(void)close(ends[0]);
	return r;
}

void sys_turn_reach(int *turn, int value)
{
	__atomic_store_n(turn, value, __ATOMIC_SEQ_CST);
	(void)raw_call(SYS_futex, at(turn), FUTEX_WAKE, 1, 0, 0);
}

/*
 * What is waited for comes within a fraction of a millisecond mostly. To be woken takes a virtual CPU that went to
 * sleep as long, and who wakes up may take the CPU of the very process that it waited for, while another is idle: so we
 * stay awake for that long, behind all who want this CPU.
 */
static void wait_awake(const int *turn, int value)
{
	int i;

	for (i = 0; i < YIELDS && __atomic_load_n(turn, __ATOMIC_SEQ_CST) < value; i++)
		(void)raw_call(SYS_sched_yield, 0, 0, 0, 0, 0);
}

void sys_turn_wait(int *turn, int value)
{
	int now;

	wait_awake(turn, value);
	while ((now = __atomic_load_n(turn, __ATOMIC_SEQ_CST)) < value)
		(void)raw_call(SYS_futex, at(turn), FUTEX_WAIT, now, 0, 0);
}

bool sys_beside_reaches(struct sys_beside *b, int *turn, int value)
{
	int now;

	wait_awake(turn, value);
	while ((now = __atomic_load_n(turn, __ATOMIC_SEQ_CST)) < value) {
		if (!sys_beside_is_there(b))
			return __atomic_load_n(turn, __ATOMIC_SEQ_CST) >= value;
		wait_a_moment(b, turn, now);
	}
	return true;
}

struct scheduling {
	long policy, nice;
	uint64_t parameter; /* an int in its first bytes */
	unsigned char cpus[MAX_CPUS / 8];
};

static bool get_scheduling(pid_t pid, struct scheduling *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->policy = raw_call(SYS_sched_getscheduler, pid, 0, 0, 0, 0);
	ret->nice = raw_call(SYS_getpriority, PRIO_PROCESS, pid, 0, 0, 0);
	return ret->policy >= 0 && ret->nice >= 0 &&
	       raw_call(SYS_sched_getparam, pid, at(&ret->parameter), 0, 0, 0) == 0 &&
	       raw_call(SYS_sched_getaffinity, pid, sizeof(ret->cpus), at(ret->cpus), 0, 0) >= 0;
}

bool sys_beside_is_scheduled_alike(const struct sys_beside *b, bool pinned)
{
	struct scheduling ours, its;

	if (!get_scheduling(0, &ours) || !get_scheduling(b->pid, &its))
		return false;
	return ours.policy == its.policy && ours.nice == its.nice && ours.parameter == its.parameter &&
	       (pinned || memcmp(ours.cpus, its.cpus, sizeof(ours.cpus)) == 0);
}

static long loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	long fd = raw_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0, 0), r;

	if (fd < 0)
		return fd;
	r = raw_call(SYS_ioctl, fd, SIOCSIFFLAGS, at(&lo), 0, 0);
	(void)raw_call(SYS_close, fd, 0, 0, 0, 0);
	return r;
}

int sys_die_with(pid_t parent)
{
	long r = raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);

	return r == 0 && raw_call(SYS_getppid, 0, 0, 0, 0, 0) != parent ? -ESRCH : (int)r;
}

int sys_net_make(bool loopback)
{
	long r = raw_call(SYS_unshare, CLONE_NEWNET, 0, 0, 0, 0);

	if (r == 0 && loopback)
		r = loopback_up();
	if (r == 0)
		r = raw_call(SYS_openat, AT_FDCWD, at("/proc/thread-self/ns/net"), O_RDONLY | O_CLOEXEC, 0, 0);
	return (int)r;
}

int sys_spaces_make(int namespaces, bool loopback, pid_t parent)
{
	const uint64_t all = ~UINT64_C(0);
	long r = raw_call(SYS_rt_sigprocmask, SIG_SETMASK, at(&all), 0, sizeof(all), 0);

	if (r == 0)
		r = sys_die_with(parent);
	if (r == 0)
		r = raw_call(SYS_unshare, namespaces, 0, 0, 0, 0);
	return (int)(r == 0 && loopback ? loopback_up() : r);
}

int sys_file_put(const char *path, const char *text)
{
	size_t n = strlen(text);
	long fd = raw_call(SYS_openat, AT_FDCWD, at(path), O_WRONLY | O_CLOEXEC, 0, 0), r;

	if (fd < 0)
		return (int)fd;
	r = raw_call(SYS_write, fd, at(text), (long)n, 0, 0);
	(void)raw_call(SYS_close, fd, 0, 0, 0, 0);
	return r < 0 ? (int)r : (size_t)r == n ? 0 : -EIO;
}

long sys_file_number(const char *path)
{
	char text[24];
	long fd = raw_call(SYS_openat, AT_FDCWD, at(path), O_RDONLY | O_CLOEXEC, 0, 0), n, i, v = 0;

	if (fd < 0)
		return fd;
	n = raw_call(SYS_read, fd, at(text), sizeof(text), 0, 0);
	(void)raw_call(SYS_close, fd, 0, 0, 0, 0);
	for (i = 0; i < n && i < 18 && text[i] >= '0' && text[i] <= '9'; i++)
		v = v * 10 + (text[i] - '0');
	return n < 0 ? n : v;
}

int sys_new_session(void)
{
	return (int)raw_call(SYS_setsid, 0, 0, 0, 0, 0);
}

int sys_reset_signals(void)
{
	/* what the kernel takes: handler (SIG_DFL is 0), flags, restorer, mask */
	const uint64_t by_default[4] = {0}, none = 0;
	long r = raw_call(SYS_rt_sigaction, SIGPIPE, at(by_default), 0, sizeof(none), 0);

	return (int)(r < 0 ? r : raw_call(SYS_rt_sigprocmask, SIG_SETMASK, at(&none), 0, sizeof(none), 0));
}

int sys_set_limit(int resource, uint64_t value)
{
	uint64_t now[2], want[2] = {value, value};
	long r = raw_call(SYS_prlimit64, 0, resource, at(want), 0, 0);

	if (r == -EPERM && raw_call(SYS_prlimit64, 0, resource, 0, at(now), 0) == 0 && now[1] < value)
		return 0;
	return (int)r;
}

int sys_pin_cpus(uint64_t n)
{
	struct cpus may, use = {.n = sizeof(use.mask)};
	size_t i;

	cpus_of(0, &may);
	if (may.n < 0)
		return (int)may.n;
	for (i = 0; i < MAX_CPUS && n; i++) {
		if (may.mask[i / 8] >> (i % 8) & 1) {
			use.mask[i / 8] = (unsigned char)(use.mask[i / 8] | 1u << (i % 8));
			n--;
		}
	}
	return set_cpus(0, &use);
}

int sys_no_new_privileges(void)
{
	return (int)raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

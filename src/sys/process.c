#include "sys/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/if.h>
#include <linux/kcmp.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/raw.h"

enum { LOOK_MS = 10 };

/* clone3() gives a sibling our own signal, and takes none for it. */
static pid_t fork_with(uint64_t flags, int cgroup_fd, bool *ret_in_cgroup, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {.pidfd = (uintptr_t)&pidfd, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD};
	long pid;

	flags |= ret_pidfd ? CLONE_PIDFD : 0;
	args.flags = flags | (cgroup_fd >= 0 ? CLONE_INTO_CGROUP : 0);

	if (cgroup_fd >= 0)
		args.cgroup = (uint64_t)cgroup_fd;
	if (ret_in_cgroup)
		*ret_in_cgroup = cgroup_fd >= 0;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0 && errno == ENOSYS) {
		if (ret_in_cgroup)
			*ret_in_cgroup = false;
		pid = syscall(SYS_clone, flags | SIGCHLD, NULL, &pidfd, NULL, 0UL);
	}
	if (pid < 0)
		return -errno;
	if (pid > 0 && ret_pidfd)
		*ret_pidfd = pidfd;
	return (pid_t)pid;
}

pid_t sys_fork_into(uint64_t namespaces, int cgroup_fd, bool *ret_in_cgroup, int *ret_pidfd)
{
	return fork_with(namespaces, cgroup_fd, ret_in_cgroup, ret_pidfd);
}

pid_t sys_fork_sibling(uint64_t namespaces, int cgroup_fd, bool *ret_in_cgroup, int *ret_pidfd)
{
	return fork_with(namespaces | CLONE_PARENT, cgroup_fd, ret_in_cgroup, ret_pidfd);
}

int sys_enter_net(int fd)
{
	return syscall(SYS_setns, fd, CLONE_NEWNET) < 0 ? -errno : 0;
}

int sys_enter_user(int fd)
{
	return (int)raw_call(SYS_setns, fd, CLONE_NEWUSER, 0, 0, 0);
}

int sys_enter_mounts(int pidfd)
{
	return syscall(SYS_setns, pidfd, CLONE_NEWNS) < 0 ? -errno : 0;
}

int sys_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

int sys_pidfd_open_thread(pid_t tid)
{
	int fd = sys_pidfd_open(tid);
	long thread = fd == -EINVAL || fd == -ENOENT ? syscall(SYS_pidfd_open, tid, O_EXCL /* PIDFD_THREAD */) : fd;

	return thread < 0 ? fd : (int)thread;
}

int sys_pidfd_signal(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

int sys_pidfd_getfd(int pidfd, int fd)
{
	long got = syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return got < 0 ? -errno : (int)got;
}

void sys_continue_stopped(pid_t child)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
		(void)kill(child, SIGCONT);
}

/* Has it ended? One that was stopped, or is late, is killed. */
static bool has_ended(pid_t child, bool late, int *ret_status)
{
	pid_t r = waitpid(child, ret_status, WNOHANG | WUNTRACED);

	if (r == child && !WIFSTOPPED(*ret_status))
		return true;
	if (r == child || late)
		(void)kill(child, SIGKILL);
	return false;
}

bool sys_wait_for(pid_t child, int ms, int *ret_status)
{
	AUTO_FD pidfd = sys_pidfd_open(child);
	struct pollfd p = {.fd = pidfd, .events = POLLIN}; /* negative: we sleep */
	int64_t end = now_ms() + ms, now;

	do {
		(void)poll(&p, 1, LOOK_MS); /* of a child that was stopped it does not tell */
		now = now_ms();
		if (has_ended(child, now >= end, ret_status))
			return true;
	} while (now < end + ms);
	return false;
}

bool sys_shares_files(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == 0;
}

int sys_proc_write(pid_t pid, const char *name, const char *text)
{
	char path[64];
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write_all(fd, text, strlen(text));
}

int sys_close_from(unsigned first)
{
	long limit, fd;

	/* not ~0U, which gVisor takes for a negative number */
	if (syscall(SYS_close_range, first, INT_MAX, 0) == 0)
		return 0;
	if (errno != ENOSYS)
		return -errno;
	limit = sysconf(_SC_OPEN_MAX);
	for (fd = first; fd < (limit < 0 ? 65536 : limit); fd++)
		(void)close((int)fd);
	return 0;
}

void sys_keep_only(int *const *own, unsigned n)
{
	enum { FIRST = 3 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	for (i = 0; null >= 0 && i < FIRST; i++)
		(void)dup2(null, i);
	/* first out of the way: one may stand where another is to be */
	for (i = 0; i < (int)n; i++)
		if (*own[i] >= 0)
			*own[i] = fcntl(*own[i], F_DUPFD_CLOEXEC, FIRST + (int)n);
	for (i = 0; i < (int)n; i++)
		if (*own[i] >= 0)
			*own[i] = dup3(*own[i], FIRST + i, O_CLOEXEC);
		else
			(void)close(FIRST + i);
	(void)sys_close_from(FIRST + n);
}

int sys_unshare(uint64_t namespaces)
{
	return syscall(SYS_unshare, namespaces) < 0 ? -errno : 0;
}

#ifdef __GLIBC__
void sys_protect_relocations(void)
{
}
#else
void sys_protect_relocations(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM), page = getauxval(AT_PAGESZ), i;
	uintptr_t from, to;

	for (i = 0; p && i < n; i++) {
		from = (uintptr_t)__ehdr_start + p[i].p_vaddr;
		to = (from + p[i].p_memsz) & ~(page - 1);
		from &= ~(page - 1);
		if (p[i].p_type == PT_GNU_RELRO && from < to)
			(void)mprotect((void *)from, to - from, PROT_READ);
	}
}
#endif

int sys_pivot_root(const char *new_root, const char *put_old)
{
	return syscall(SYS_pivot_root, new_root, put_old) < 0 ? -errno : 0;
}

int sys_loopback_up(void)
{
	struct ifreq req = {.ifr_ifrn.ifrn_name = "lo", .ifr_ifru.ifru_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		r = -errno;
	(void)close(fd);
	return r;
}

static bool bounding_set_is_empty(void)
{
	long cap, r = 0;

	for (cap = 0; r == 0; cap++)
		r = raw_call(SYS_prctl, PR_CAPBSET_READ, cap, 0, 0, 0);
	return r < 0;
}

/* How many there are is known by trying, where we are not told that most are gone. */
int sys_lock_caps(uint64_t gone)
{
	unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
			     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	long cap, r = raw_call(SYS_prctl, PR_SET_SECUREBITS, (long)bits, 0, 0, 0);

	if (r < 0 && r != -EINVAL)
		return r == -EPERM && bounding_set_is_empty() ? 0 : -EPERM;
	for (cap = 0, r = 0; r == 0 && (cap < 64 || !gone); cap++)
		if (cap > 63 || !(gone >> cap & 1))
			r = raw_call(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
	return r == -EINVAL && cap > 1 ? 0 : (int)r; /* EINVAL: past the last one */
}

uint64_t sys_caps_gone(void)
{
	AUTO_FD fd = openat(AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	char text[4096], *at, *end;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t bound;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strstr(text, "\nCapBnd:\t");
	if (!at)
		return 0;
	at += strlen("\nCapBnd:\t");
	bound = strtoull(at, &end, 16);
	return end == at + 16 && *end == '\n' ? ~bound : 0;
}

int sys_lower_limit(int resource, uint64_t value)
{
	uint64_t now[2], want[2];

	if (syscall(SYS_prlimit64, 0, resource, NULL, now) < 0)
		return -errno;
	want[0] = want[1] = value < now[1] ? value : now[1];
	return syscall(SYS_prlimit64, 0, resource, want, NULL) < 0 ? -errno : 0;
}

int sys_drop_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{(uint32_t)keep, (uint32_t)keep, 0},
						 {(uint32_t)(keep >> 32), (uint32_t)(keep >> 32), 0}};

	return (int)raw_call(SYS_capset, (long)(uintptr_t)&header, (long)(uintptr_t)data, 0, 0, 0);
}

int sys_keep_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	return sys_drop_caps(keep & ((uint64_t)data[1].permitted << 32 | data[0].permitted));
}

int sys_pass_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	uint32_t low = (uint32_t)keep, high = (uint32_t)(keep >> 32);
	struct __user_cap_data_struct data[2] = {{low, low, low}, {high, high, high}};
	unsigned long cap;

	if (syscall(SYS_capset, &header, data) < 0)
		return -errno;
	for (cap = 0; cap < 64; cap++)
		if (keep >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

int sys_wear_caps(uint64_t effective)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].effective = data[0].permitted & (uint32_t)effective;
	data[1].effective = data[1].permitted & (uint32_t)(effective >> 32);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int sys_bound_caps(uint64_t keep)
{
	long cap, r = 0;

	for (cap = 0; r == 0; cap++)
		if (cap > 63 || !(keep >> cap & 1))
			r = raw_call(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
	return r == -EINVAL && cap > 1 ? 0 : (int)r; /* EINVAL: past the last one */
}

int sys_set_ids_only(uid_t uid, gid_t gid)
{
	return syscall(SYS_setresgid, gid, gid, gid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0 ? -errno : 0;
}

int sys_set_ids(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	return syscall(SYS_setgroups, n, groups) < 0 ? -errno : sys_set_ids_only(uid, gid);
}

#include "sys/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/kvm.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#ifndef __GLIBC__
#include <linux/mount.h> /* which does not go with glibc's sys/mount.h, that has it all */
#endif
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/landlock.h"
#include "sys/mounts.h"
#include "sys/redirect.h"
#include "sys/refused.h"
#include "sys/probe_child.h"
#include "sys/process.h"
#include "sys/seccomp.h"

static int result(long r)
{
	return r < 0 ? -errno : 0;
}

/* For calls that give an fd, of which only the fact matters. */
static int fd_result(long fd)
{
	if (fd < 0)
		return -errno;
	(void)close((int)fd);
	return 0;
}

static int try_nothing(const void *arg)
{
	(void)arg;
	return 0;
}

static int try_host_name(const void *arg)
{
	(void)arg;
	return result(sethostname("probe", 5));
}

static int make_private(void)
{
	return result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static int try_mount(const void *arg)
{
	int r = make_private();

	(void)arg;
	return r < 0 ? r : result(mount("tmpfs", "/", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k"));
}

static int try_pid_one(const void *arg)
{
	(void)arg;
	return getpid() == 1 ? 0 : -EPROTO;
}

static int try_loopback(const void *arg)
{
	(void)arg;
	return sys_loopback_up();
}

static int try_proc(const void *arg)
{
	int r = make_private();

	(void)arg;
	if (r == 0)
		r = result(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
	return r < 0 ? r : result(access("/proc/1/status", R_OK));
}

/* Some distributions let anybody make a user namespace and then take its capabilities away; a changed host name shows
 * that they are real. */
int probe_userns(void)
{
	return probe_run(CLONE_NEWUTS, try_host_name, NULL);
}

int probe_mount_ns(void)
{
	return probe_run(CLONE_NEWNS, try_mount, NULL);
}

int probe_pid_ns(void)
{
	return probe_run(CLONE_NEWPID, try_pid_one, NULL);
}

int probe_net_ns(void)
{
	return probe_run(CLONE_NEWNET, try_loopback, NULL);
}

int probe_ipc_ns(void)
{
	return probe_run(CLONE_NEWIPC, try_nothing, NULL);
}

int probe_uts_ns(void)
{
	return probe_run(CLONE_NEWUTS, try_host_name, NULL);
}

int probe_cgroup_ns(void)
{
	return probe_run(CLONE_NEWCGROUP, try_nothing, NULL);
}

int probe_fresh_proc(void)
{
	return probe_run(CLONE_NEWNS | CLONE_NEWPID, try_proc, NULL);
}

/* A table, its chains and their rules: each is a module of its own, which the kernel may lack although it has the one
 * before. */
static int try_redirect(const void *arg)
{
	static const struct redirect all = {.n = 0};
	AUTO_FD fd = redirect_open();

	(void)arg;
	return fd < 0 ? fd : redirect_tcp(fd, 1, &all);
}

static int try_refusal(const void *arg)
{
	static const struct redirect none = {.refuse_rest = true};
	AUTO_FD told = refused_open();
	AUTO_FD fd = redirect_open();

	(void)arg;
	if (told < 0 || fd < 0)
		return told < 0 ? told : fd;
	return redirect_tcp(fd, 1, &none);
}

int probe_redirect(void)
{
	return probe_run(CLONE_NEWNET, try_redirect, NULL);
}

int probe_refusal(void)
{
	return probe_run(CLONE_NEWNET, try_refusal, NULL);
}

static int try_clone3(const void *arg)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	(void)arg;
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(0);
	return result(waitpid((pid_t)pid, NULL, 0));
}

int probe_clone3(void)
{
	return probe_run(0, try_clone3, NULL);
}

int probe_openat2(void)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

	return fd_result(syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how)));
}

static int try_open_tree(const void *arg)
{
	(void)arg;
	return fd_result(syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

static int try_move_mount(const void *arg)
{
	int r = make_private();
	long tree;

	(void)arg;
	if (r < 0)
		return r;
	tree = syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	return tree < 0 ? -errno : sys_tree_attach((int)tree, AT_FDCWD, "/");
}

static int try_mount_setattr(const void *arg)
{
	struct statvfs st;
	int r = sys_mount_flags("/", MOUNT_READ_ONLY, true);

	(void)arg;
	if (r < 0)
		return r;
	if (statvfs("/", &st) < 0)
		return -errno;
	return st.f_flag & ST_RDONLY ? 0 : -EPROTO;
}

int probe_open_tree(void)
{
	return probe_run(CLONE_NEWNS, try_open_tree, NULL);
}

int probe_move_mount(void)
{
	return probe_run(CLONE_NEWNS, try_move_mount, NULL);
}

int probe_mount_setattr(void)
{
	return probe_run(CLONE_NEWNS, try_mount_setattr, NULL);
}

static int try_idmap(const void *arg)
{
	AUTO_FD userns = sys_idmap_userns(0, 1000, 0, 1000, NULL);

	(void)arg;
	if (userns < 0)
		return userns;
	return fd_result(sys_tree_clone_idmapped(AT_FDCWD, ".", MOUNT_READ_ONLY, userns));
}

int probe_idmapped_mount(void)
{
	return probe_run(0, try_idmap, NULL);
}

int probe_pidfd_open(void)
{
	int fd = sys_pidfd_open(getpid());

	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? fd : 0;
}

/* At the far end, where nothing is open. */
int probe_close_range(void)
{
	return result(syscall(SYS_close_range, ~0U, ~0U, 0));
}

int probe_memfd(void)
{
	return fd_result(memfd_create("cordon-probe", MFD_CLOEXEC));
}

static int try_landlock(const void *arg)
{
	int abi = landlock_abi(), fd = abi < 0 ? abi : landlock_new(abi), r;

	(void)arg;
	if (fd < 0)
		return fd;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = landlock_enforce(fd, false);
	if (r < 0)
		return r;
	/* Nothing was allowed. */
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES ? abi : -EPROTO;
}

int probe_landlock(void)
{
	return probe_run(0, try_landlock, NULL);
}

/* getpgid is in the place of any call: harmless, and not used by whoever tries. */
static int install(uint32_t action, unsigned long flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LEN(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (action == SECCOMP_RET_USER_NOTIF)
		return seccomp_install(filter, ARRAY_LEN(filter), true);
	return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

static int try_seccomp(const void *flags)
{
	int r = install(SECCOMP_RET_ERRNO | ENOANO, *(const unsigned long *)flags);

	if (r < 0)
		return r;
	return syscall(SYS_getpgid, 0) < 0 && errno == ENOANO ? 0 : -EPROTO;
}

int probe_seccomp(void)
{
	static const unsigned long flags;

	return probe_run(0, try_seccomp, &flags);
}

int probe_seccomp_tsync(void)
{
	static const unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC;

	return probe_run(0, try_seccomp, &flags);
}

/* The one that is answered: hands its listener over (the fd table is shared), makes the call, and says whether it got
 * an fd. */
static _Noreturn void be_answered(int to)
{
	int listener;
	long fd;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	listener = install(SECCOMP_RET_USER_NOTIF, 0);
	if (write(to, &listener, sizeof(listener)) != (ssize_t)sizeof(listener) || listener < 0)
		_exit(1);
	fd = syscall(SYS_getpgid, 0);
	_exit(fd >= 0 && fcntl((int)fd, F_GETFD) >= 0 ? 0 : 1);
}

static int answer(int from)
{
	struct seccomp_call call;
	int listener, r;

	if (read(from, &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
		return -ECHILD;
	if (listener < 0)
		return listener;
	r = seccomp_receive(listener, &call);
	if (r == 0)
		r = seccomp_give_fd(listener, call.id, from, true);
	return r < 0 ? r : seccomp_answer(listener, call.id, r, 0);
}

static int try_notify(const void *arg)
{
	int ends[2], r, status = 0;
	pid_t pid;

	(void)arg;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = sys_fork_into(CLONE_FILES, -1, NULL, NULL);
	if (pid == 0)
		be_answered(ends[1]);
	if (pid < 0)
		return pid;
	r = answer(ends[0]);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return r < 0 ? r : status == 0 ? 0 : -EPROTO;
}

int probe_seccomp_notify(void)
{
	return probe_run(0, try_notify, NULL);
}

int probe_kvm(void)
{
	AUTO_FD fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int r = fd < 0 ? -1 : ioctl(fd, KVM_GET_API_VERSION, 0);

	return r < 0 ? -errno : r;
}

int probe_vsock(void)
{
	return fd_result(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static bool is_cgroup2(const char *path)
{
	struct statfs st;

	return statfs(path, &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC;
}

static bool is_cgroup1(const char *path)
{
	struct statfs st;

	return statfs(path, &st) == 0 && st.f_type == CGROUP_SUPER_MAGIC;
}

int probe_cgroups(void)
{
	static const char *const v1[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu",
					 "/sys/fs/cgroup/systemd"};
	size_t i;

	if (is_cgroup2("/sys/fs/cgroup"))
		return PROBE_CGROUP_V2;
	for (i = 0; i < ARRAY_LEN(v1); i++)
		if (is_cgroup1(v1[i]))
			return is_cgroup2("/sys/fs/cgroup/unified") ? PROBE_CGROUP_HYBRID : PROBE_CGROUP_V1;
	return PROBE_CGROUP_NONE;
}

/* The kernel's part of `cordon doctor`: namespaces, system calls, Landlock, seccomp. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/doctor_check.h"
#include "sys/probe.h"

#define SEE_USERNS   "see user namespaces"
#define NEWER_KERNEL "a newer kernel; in a container, a seccomp profile that allows the call"

static const struct {
	const char *path;
	long blocks; /* the value that blocks */
	const char *value, *fix;
} blockers[] = {
	{"/proc/sys/user/max_user_namespaces", 0, "user.max_user_namespaces is 0",
	 "sysctl -w user.max_user_namespaces=15000, and the same line in /etc/sysctl.d/"},
	{"/proc/sys/kernel/unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone is 0",
	 "sysctl -w kernel.unprivileged_userns_clone=1, and the same line in /etc/sysctl.d/"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	 "kernel.apparmor_restrict_unprivileged_userns is 1",
	 "an AppArmor profile for the cordon program that says `userns,` (in /etc/apparmor.d/), or "
	 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
};

/* A filter is on us: we are in a container, or under another sandbox. */
static bool under_seccomp(void)
{
	AUTO_BUF b = {0};
	const char *at;

	buf_init(&b, 65536);
	if (buf_read_file(&b, "/proc/self/status") < 0)
		return false;
	at = strstr(b.p, "\nSeccomp:");
	return at && at[strcspn(at, "0123456789")] == '2';
}

static void why_no_userns(int code, struct doctor_result *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(blockers); i++)
		if (doctor_sysctl(blockers[i].path) == blockers[i].blocks) {
			doctor_value(ret, "%s", blockers[i].value);
			doctor_fix(ret, "%s", blockers[i].fix);
			return;
		}
	if (access("/proc/self/uid_map", F_OK) < 0) {
		doctor_value(ret, "/proc is not mounted");
		doctor_fix(ret, "mount -t proc proc /proc");
	} else if (code == -ENOSPC || code == -EUSERS) {
		doctor_value(ret, "no more of them, or nested too deeply");
		doctor_fix(ret, "raise user.max_user_namespaces, or start from a shallower container");
	} else if ((code == -EPERM || code == -ENOSYS) && under_seccomp()) {
		doctor_value(ret, "a seccomp filter refuses it");
		doctor_fix(ret,
			   "start the container with a seccomp profile that allows clone, clone3, unshare, mount and "
			   "pivot_root (Docker: --security-opt seccomp=unconfined)");
	}
}

static void check_userns(const struct doctor_check *check, struct doctor_result *ret)
{
	int r = probe_userns();

	if (r >= 0) {
		doctor_value(ret, "works");
		return;
	}
	why_no_userns(r, ret);
	doctor_fail(check, r, ret);
}

/* What each ABI of Landlock added, from 1. */
static const char *const landlock_adds[] = {
	"files", "links and renames", "truncate", "TCP", "device ioctl", "signals and abstract sockets"};

enum {
	LANDLOCK_FULL = 6
}; /* from here on nothing that Cordon asks for is missing; 7 adds only the kernel's own records of denials */

static void check_landlock(const struct doctor_check *check, struct doctor_result *ret)
{
	int abi = probe_landlock(), i;
	AUTO_BUF b = {0};

	if (abi == -EOPNOTSUPP)
		doctor_fix(ret, "it is built in, but not switched on: add landlock to the lsm= list of the kernel's "
				"command line");
	if (abi < 0) {
		doctor_fail(check, abi, ret);
		return;
	}
	doctor_value(ret, "ABI %d", abi);
	buf_init(&b, sizeof(ret->meaning) - 1);
	(void)buf_printf(&b, "%s:", check->with);
	for (i = 0; i < abi && i < (int)ARRAY_LEN(landlock_adds); i++)
		(void)buf_printf(&b, "%s %s", i ? "," : "", landlock_adds[i]);
	(void)snprintf(ret->meaning, sizeof(ret->meaning), "%s", b.p);
	if (abi >= LANDLOCK_FULL)
		return;
	ret->status = DOCTOR_WARN;
	doctor_fix(ret, "a newer kernel; the next ABI adds: %s", landlock_adds[abi]);
}

static void check_idmap(const struct doctor_check *check, struct doctor_result *ret)
{
	int r = probe_idmapped_mount();

	if (r >= 0)
		doctor_value(ret, "works");
	else if (geteuid() != 0)
		doctor_value(ret, "not needed for an ordinary user");
	else
		doctor_fail(check, r, ret);
}

const struct doctor_check doctor_kernel_checks[] = {
	{
		.id = "userns",
		.name = "user namespaces",
		.needed = true,
		.run = check_userns,
		.with = "sandboxes need neither root nor a daemon",
		.without = "no sandbox can be made",
		.fix = "a kernel with CONFIG_USER_NS, outside of a chroot, with no security module that forbids it",
	},
	{
		.id = "ns.mount",
		.name = "mount namespace",
		.needed = true,
		.probe = probe_mount_ns,
		.with = "a sandbox sees its own file tree",
		.without = "the file tree cannot be replaced",
		.fix = SEE_USERNS,
	},
	{
		.id = "ns.pid",
		.name = "pid namespace",
		.needed = true,
		.probe = probe_pid_ns,
		.with = "a sandbox sees no process but its own",
		.without = "other processes cannot be hidden",
		.fix = SEE_USERNS,
	},
	{
		.id = "ns.net",
		.name = "network namespace",
		.needed = true,
		.probe = probe_net_ns,
		.with = "a sandbox has no network but what policy gives it",
		.without = "the network cannot be taken away",
		.fix = SEE_USERNS,
	},
	{
		.id = "ns.ipc",
		.name = "ipc namespace",
		.needed = true,
		.probe = probe_ipc_ns,
		.with = "shared memory and queues of the host are out of reach",
		.without = "System V IPC cannot be taken away",
		.fix = SEE_USERNS,
	},
	{
		.id = "ns.uts",
		.name = "uts namespace",
		.needed = true,
		.probe = probe_uts_ns,
		.with = "a sandbox has its own host name",
		.without = "the host's name cannot be hidden",
		.fix = SEE_USERNS,
	},
	{
		.id = "ns.cgroup",
		.name = "cgroup namespace",
		.otherwise = DOCTOR_WARN,
		.probe = probe_cgroup_ns,
		.with = "a sandbox does not learn its cgroup's path",
		.without = "a sandbox can learn its cgroup's path on the host",
		.fix = SEE_USERNS,
	},
	{
		.id = "proc",
		.name = "a fresh /proc",
		.needed = true,
		.probe = probe_fresh_proc,
		.with = "/proc inside shows the sandbox only",
		.without = "no /proc of its own can be mounted: parts of the present one are covered, as containers do",
		.fix = "start the container with its /proc uncovered (Docker: --security-opt systempaths=unconfined; "
		       "Kubernetes: procMount: Unmasked)",
	},
	{
		.id = "clone3",
		.name = "clone3",
		.otherwise = DOCTOR_WARN,
		.probe = probe_clone3,
		.with = "processes start in their namespaces and cgroup at once",
		.without = "clone is used instead",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "openat2",
		.name = "openat2",
		.otherwise = DOCTOR_WARN,
		.probe = probe_openat2,
		.with = "paths are resolved without leaving a folder",
		.without = "paths cannot be resolved in one step; what depends on it is slower or refused",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "open_tree",
		.name = "open_tree",
		.needed = true,
		.probe = probe_open_tree,
		.with = "folders of the host are shown inside",
		.without = "no file tree can be built",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "move_mount",
		.name = "move_mount",
		.needed = true,
		.probe = probe_move_mount,
		.with = "folders of the host are shown inside",
		.without = "no file tree can be built",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "mount_setattr",
		.name = "mount_setattr",
		.needed = true,
		.probe = probe_mount_setattr,
		.with = "read-only holds for everything below a folder",
		.without = "a tree cannot be made read-only as a whole",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "idmap",
		.name = "id-mapped mounts",
		.otherwise = DOCTOR_WARN,
		.run = check_idmap,
		.with = "root's files keep their owner although nobody inside is root",
		.without = "run as root, a sandbox cannot write to root's files here",
		.fix = "a file system that has them (ext4, xfs, btrfs; tmpfs from Linux 6.3 on), or run as an ordinary "
		       "user",
	},
	{
		.id = "pidfd_open",
		.name = "pidfd_open",
		.otherwise = DOCTOR_WARN,
		.probe = probe_pidfd_open,
		.with = "a process is held by a handle, never mistaken for another",
		.without = "processes are held by their number only",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "close_range",
		.name = "close_range",
		.otherwise = DOCTOR_WARN,
		.probe = probe_close_range,
		.with = "inherited files are closed in one step",
		.without = "inherited files are closed one by one, which is slower",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "memfd",
		.name = "memfd_create",
		.otherwise = DOCTOR_WARN,
		.probe = probe_memfd,
		.with = "data is handed over without a file",
		.without = "data is handed over through files",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "landlock",
		.name = "Landlock",
		.otherwise = DOCTOR_WARN,
		.run = check_landlock,
		.with = "a second wall behind the mounts",
		.without = "the second wall behind the mounts is missing",
		.fix = "a kernel with CONFIG_SECURITY_LANDLOCK and landlock in its lsm= list",
	},
	{
		.id = "seccomp",
		.name = "seccomp filter",
		.needed = true,
		.probe = probe_seccomp,
		.with = "a sandbox can make only the system calls it needs",
		.without = "the kernel's surface cannot be narrowed",
		.fix = "a kernel with CONFIG_SECCOMP_FILTER; in a container, a profile that allows seccomp",
	},
	{
		.id = "seccomp.notify",
		.name = "seccomp user notification",
		.needed = true,
		.probe = probe_seccomp_notify,
		.with = "denials hold for paths that do not exist yet, and are named in the audit log",
		.without = "denials of paths that do not exist yet cannot be enforced",
		.fix = "a kernel that has it with SECCOMP_IOCTL_NOTIF_ADDFD, and no other program that listens already",
	},
	{
		.id = "seccomp.tsync",
		.name = "seccomp TSYNC",
		.otherwise = DOCTOR_WARN,
		.probe = probe_seccomp_tsync,
		.with = "a filter can be laid on all threads at once",
		.without = "a filter holds for one thread and what it starts",
		.fix = NEWER_KERNEL,
	},
	{
		.id = "nfnetlink",
		.name = "nftables in a namespace",
		.otherwise = DOCTOR_MISSING,
		.probe = probe_redirect,
		.with = "the network gateway can catch connections of programs that know no proxy",
		.without = "the network gateway reaches only programs that use the proxy variables",
		.fix = "a kernel with CONFIG_NF_TABLES, CONFIG_NFT_NAT and CONFIG_NFT_REDIR; where modules are not "
		       "loaded "
		       "by themselves: modprobe -a nft_chain_nat nft_redir",
	},
	{
		.id = "nfnetlink.refuse",
		.name = "refusal in a namespace",
		.otherwise = DOCTOR_WARN,
		.probe = probe_refusal,
		.with = "what programs that know no proxy dial, and no rule could allow, is refused before it connects",
		.without = "what programs that know no proxy dial connects before it is judged: what is denied is cut",
		.fix = "a kernel with CONFIG_NFT_REJECT, CONFIG_NFT_LOG and CONFIG_NETFILTER_NETLINK_LOG; where "
		       "modules are not loaded "
		       "by themselves: modprobe -a nft_reject_ipv4 nft_reject_ipv6 nft_log nfnetlink_log",
	},
	{0},
};

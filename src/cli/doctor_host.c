/* The machine's part of `cordon doctor`: file systems, cgroups, limits, devices, settings. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/doctor_check.h"
#include "sys/cgroup.h"
#include "sys/kaudit.h"
#include "sys/landlock.h"
#include "sys/probe.h"
#include "sys/probe_fs.h"

/* The folder that runs are kept in, or what there is of its path so far. */
static void state_folder(char out[4096])
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *slash;

	if (base && base[0] == '/')
		(void)snprintf(out, 4096, "%.3900s/cordon", base);
	else if (home && home[0] == '/')
		(void)snprintf(out, 4096, "%.3900s/.local/state/cordon", home);
	else
		(void)snprintf(out, 4096, "/tmp");
	while (access(out, F_OK) < 0 && (slash = strrchr(out, '/')) && slash > out)
		*slash = '\0';
	if (access(out, F_OK) < 0)
		(void)snprintf(out, 4096, "/");
}

static void check_folder(const struct doctor_check *check, struct doctor_result *ret, int (*probe)(const char *))
{
	char folder[4096];
	int r;

	state_folder(folder);
	r = access(folder, W_OK | X_OK) < 0 ? -errno : probe(folder);
	if (r == -EACCES || r == -EROFS)
		doctor_fix(ret, "make $XDG_STATE_HOME (or ~/.local/state) a folder that can be written");
	if (r < 0)
		doctor_fail(check, r, ret);
	else
		doctor_value(ret, "works");
}

static void check_overlay(const struct doctor_check *check, struct doctor_result *ret)
{
	check_folder(check, ret, probe_overlay);
}

static void check_reflink(const struct doctor_check *check, struct doctor_result *ret)
{
	check_folder(check, ret, probe_reflink);
}

static void check_cgroup(const struct doctor_check *check, struct doctor_result *ret)
{
	static const char *const names[] = {
		[PROBE_CGROUP_NONE] = "none",
		[PROBE_CGROUP_V1] = "v1",
		[PROBE_CGROUP_HYBRID] = "hybrid (v1, with a v2 tree beside it)",
		[PROBE_CGROUP_V2] = "v2",
	};
	int version = probe_cgroups();

	doctor_value(ret, "%s", names[version]);
	if (version == PROBE_CGROUP_NONE)
		doctor_fail(check, -ENOENT, ret);
}

static const struct {
	unsigned bit;
	const char *name;
} controllers[] = {{CGROUP_MEMORY, "memory"}, {CGROUP_PIDS, "pids"}, {CGROUP_CPU, "cpu"}};

static void delegation_fix(struct doctor_result *ret)
{
	int version = probe_cgroups();

	if (version == PROBE_CGROUP_V2 && access("/run/systemd/system", F_OK) == 0)
		/* A session's own scope is root's, whatever the user's manager was given. */
		doctor_fix(ret,
			   "systemd-run --user --scope -p Delegate=yes cordon run ... (or a shell in its place); where "
			   "cpu is missing then, `systemctl edit "
			   "user@.service` with the lines [Service] and Delegate=cpu memory pids, and log in anew");
	else if (version == PROBE_CGROUP_V2)
		doctor_fix(ret, "as root: make a cgroup for this user, enable memory, pids and cpu in "
				"cgroup.subtree_control above it, chown it to the "
				"user, and start the shell in a folder below it");
	else if (version != PROBE_CGROUP_NONE)
		doctor_fix(ret, "as root: make a folder for this user below /sys/fs/cgroup/memory, pids and cpu, chown "
				"it, and put the shell's pid into its "
				"`tasks`; or switch to cgroup v2");
}

static void check_delegation(const struct doctor_check *check, struct doctor_result *ret)
{
	/* half a CPU: as many as the machine has would be no limit, and count as kept */
	struct cgroup_limits limits = {.memory = 1 << 30, .processes = 100, .cpu = 500};
	struct cgroup *cg = NULL;
	char id[32];
	size_t i;
	int mask;
	AUTO_BUF b = {0};

	(void)snprintf(id, sizeof(id), "probe-%d", (int)getpid());
	mask = cgroup_new(NULL, id, &limits, &cg);
	if (mask >= 0) {
		(void)cgroup_remove(cg);
		cgroup_free(cg);
	}
	buf_init(&b, 100);
	for (i = 0; mask > 0 && i < ARRAY_LEN(controllers); i++)
		if ((unsigned)mask & controllers[i].bit)
			(void)buf_printf(&b, "%s%s%s", b.n ? ", " : "", controllers[i].name,
					 controllers[i].bit == CGROUP_MEMORY && !((unsigned)mask & CGROUP_SWAP)
						 ? " (swap is counted by Cordon)"
						 : "");
	doctor_value(ret, "%s", b.n ? b.p : "none");
	if (mask >= 0 && (mask & ~CGROUP_SWAP) == (CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU))
		return;
	delegation_fix(ret);
	doctor_fail(check, mask < 0 ? mask : -EACCES, ret);
}

/* Our name in /etc/passwd; the uid in digits where it has none. */
static void user_name(char *out, size_t size)
{
	AUTO_BUF b = {0};
	char *line, *rest;

	(void)snprintf(out, size, "%u", getuid());
	buf_init(&b, 1 << 20);
	if (buf_read_file(&b, "/etc/passwd") < 0)
		return;
	for (rest = b.p; (line = strsep(&rest, "\n"));) {
		char *name = strsep(&line, ":"), *uid;

		(void)strsep(&line, ":");
		uid = strsep(&line, ":");
		if (uid && strtoul(uid, NULL, 10) == getuid()) {
			(void)snprintf(out, size, "%s", name);
			return;
		}
	}
}

/* How many ids the file grants to us. */
static uint64_t granted(const char *path)
{
	char user[64], uid[16];
	uint64_t sum = 0;
	char *line, *rest;
	AUTO_BUF b = {0};

	user_name(user, sizeof(user));
	(void)snprintf(uid, sizeof(uid), "%u", getuid());
	buf_init(&b, 1 << 20);
	if (buf_read_file(&b, path) < 0)
		return 0;
	for (rest = b.p; (line = strsep(&rest, "\n"));) {
		char *name = strsep(&line, ":"), *count;

		(void)strsep(&line, ":");
		count = strsep(&line, ":");
		if (count && (strcmp(name, user) == 0 || strcmp(name, uid) == 0))
			sum += strtoull(count, NULL, 10);
	}
	return sum;
}

static void check_subids(const struct doctor_check *check, struct doctor_result *ret)
{
	uint64_t uids = granted("/etc/subuid"), gids = granted("/etc/subgid");

	doctor_value(ret, "%" PRIu64 " uids, %" PRIu64 " gids", uids, gids);
	if (geteuid() == 0)
		doctor_value(ret, "not needed for root");
	else if (uids == 0 || gids == 0)
		doctor_fail(check, -ENOENT, ret);
}

static void check_limit(const struct doctor_check *check, struct doctor_result *ret)
{
	bool files = strcmp(check->arg, "nofile") == 0;
	rlim_t enough = files ? 1024 : 512;
	struct rlimit lim;

	if (getrlimit(files ? RLIMIT_NOFILE : RLIMIT_NPROC, &lim) < 0) {
		doctor_fail(check, -errno, ret);
		return;
	}
	if (lim.rlim_cur == RLIM_INFINITY)
		doctor_value(ret, "unlimited");
	else
		doctor_value(ret, "%" PRIu64, (uint64_t)lim.rlim_cur);
	if (lim.rlim_cur < enough)
		doctor_fail(check, -EAGAIN, ret);
}

/* A setting that is told, and judged good when it is not zero or not there. */
static void check_setting(const struct doctor_check *check, struct doctor_result *ret)
{
	long v = doctor_sysctl(check->arg);

	if (v < 0) {
		doctor_value(ret, "not in this kernel");
		return;
	}
	doctor_value(ret, "%ld", v);
	if (v == 0)
		doctor_fail(check, -EPERM, ret);
}

static void check_vsock(const struct doctor_check *check, struct doctor_result *ret)
{
	(void)check;
	doctor_value(ret, "%s", probe_vsock() >= 0 ? "present; sandboxes are refused it" : "not present");
}

/* Who reads them is who can: nothing is switched on for it. */
static void check_audit(const struct doctor_check *check, struct doctor_result *ret)
{
	static const struct {
		const char *value, *fix;
	} answers[KAUDIT_ANSWERS] = {
		[KAUDIT_READS] = {"read by cordon", NULL},
		[KAUDIT_NO_RECORDS] = {"this kernel's Landlock makes none", "a kernel from 6.15 on, with CONFIG_AUDIT"},
		[KAUDIT_NOT_ALLOWED] = {"not for this user",
					"run cordon as root of the host, not of a container, or with the capabilities "
					"CAP_AUDIT_READ, CAP_AUDIT_WRITE and CAP_AUDIT_CONTROL; `cordon why --path P` "
					"says what holds for a path, and by which rule"},
		[KAUDIT_OFF] = {"the kernel's audit is off",
				"auditctl -a never,task && auditctl -e 1, or audit=1 on the kernel's command line; "
				"without the first, every system call on this machine is slower until the next boot"},
		[KAUDIT_ELSEWHERE] = {"not in this network namespace",
				      "run cordon in the host's own network namespace"},
		[KAUDIT_PANICS] = {"not asked for: this host ends when one is lost",
				   "auditctl -f 1; as it is, a workload that is denied much could end the machine"},
		[KAUDIT_UNBOUNDED] =
			{"not asked for: the audit daemon would write down any number",
			 "auditctl -r 1000, so that a workload that is denied much cannot fill the daemon's log"},
	};
	AUTO_FD fd = -1;
	uint32_t lost;
	enum kaudit_answer a = kaudit_open(landlock_abi(), &fd, &lost);

	doctor_value(ret, "%s", answers[a].value);
	if (a == KAUDIT_READS)
		return;
	doctor_fail(check, -EPERM, ret);
	doctor_fix(ret, "%s", answers[a].fix);
}

const struct doctor_check doctor_host_checks[] = {
	{
		.id = "overlay",
		.name = "overlayfs",
		.otherwise = DOCTOR_WARN,
		.run = check_overlay,
		.with = "`workdir: copy` starts at once, whatever the folder's size",
		.without = "`workdir: copy` copies the folder first",
		.fix = "a kernel with overlayfs in user namespaces, and the state folder on ext4, xfs, btrfs or, from "
		       "Linux 6.6 on, tmpfs",
	},
	{
		.id = "reflink",
		.name = "reflinks",
		.otherwise = DOCTOR_MISSING,
		.run = check_reflink,
		.with = "copies of files share their blocks",
		.without = "copies of files take time and space",
		.fix = "btrfs or xfs (with reflink=1) for the state folder; not needed where overlayfs works",
	},
	{
		.id = "cgroup",
		.name = "cgroups",
		.otherwise = DOCTOR_WARN,
		.run = check_cgroup,
		.with = "limits can hold for a sandbox as a whole",
		.without = "limits hold for each process only",
		.fix = "mount -t cgroup2 none /sys/fs/cgroup",
	},
	{
		.id = "cgroup.delegated",
		.name = "cgroup delegation",
		.otherwise = DOCTOR_WARN,
		.run = check_delegation,
		.with = "memory, processes and cpus are limited by the kernel",
		.without = "limits that are not listed are kept by RLIMITs and by watching, which is coarser",
	},
	{
		.id = "subids",
		.name = "subuid and subgid ranges",
		.otherwise = DOCTOR_MISSING,
		.run = check_subids,
		.with = "rootless containers can have several users",
		.without = "rootless containers have one user; native sandboxes do not need more",
		.fix = "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER, and the package uidmap",
	},
	{
		.id = "limit.nproc",
		.name = "processes per user",
		.otherwise = DOCTOR_WARN,
		.run = check_limit,
		.arg = "nproc",
		.with = "room for sandboxes",
		.without = "sandboxes of this user may be refused new processes",
		.fix = "raise nproc in /etc/security/limits.conf, or `ulimit -u`",
	},
	{
		.id = "limit.nofile",
		.name = "open files",
		.otherwise = DOCTOR_WARN,
		.run = check_limit,
		.arg = "nofile",
		.with = "room for many sandboxes at once",
		.without = "few sandboxes can run at once",
		.fix = "raise nofile in /etc/security/limits.conf, or `ulimit -n`",
	},
	{
		.id = "yama",
		.name = "yama.ptrace_scope",
		.otherwise = DOCTOR_WARN,
		.run = check_setting,
		.arg = "/proc/sys/kernel/yama/ptrace_scope",
		.with = "says who may trace whom outside; inside, ptrace ends at the sandbox's edge in any case",
		.without = "programs outside of sandboxes can trace each other freely; inside, ptrace ends at the "
			   "sandbox's edge in any case",
		.fix = "sysctl -w kernel.yama.ptrace_scope=1",
	},
	{
		.id = "bpf",
		.name = "unprivileged_bpf_disabled",
		.otherwise = DOCTOR_WARN,
		.run = check_setting,
		.arg = "/proc/sys/kernel/unprivileged_bpf_disabled",
		.with = "ordinary users cannot load BPF programs; sandboxes are refused bpf in any case",
		.without = "ordinary users can load BPF programs; sandboxes are refused bpf in any case",
		.fix = "sysctl -w kernel.unprivileged_bpf_disabled=2",
	},
	{
		.id = "kvm",
		.name = "/dev/kvm",
		.otherwise = DOCTOR_MISSING,
		.probe = probe_kvm,
		.with = "gVisor can use its fast platform",
		.without = "gVisor uses a slower platform",
		.fix = "usermod -aG kvm USER; on a virtual machine, nested virtualisation",
	},
	{
		.id = "vsock",
		.name = "vsock",
		.run = check_vsock,
		.with = "network namespaces do not confine it, so seccomp does",
	},
	{
		.id = "audit",
		.name = "Landlock's audit records",
		.otherwise = DOCTOR_MISSING,
		.run = check_audit,
		.with = "what Landlock denies is in the audit log of each run",
		.without = "denials that only Landlock sees are not in the audit log; they hold all the same",
	},
	{0},
};

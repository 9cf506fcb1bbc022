/* Switches of the kernel below /proc. They are opened for writing, and never written. */
#include <ftw.h>
#include <linux/capability.h>

#include "attack.h"

static int open_it(const struct scene *s, const struct attack *a)
{
	return judge_open(s, a->text, O_WRONLY);
}

static int open_user_limit(const struct scene *s, const struct attack *a)
{
	int fd = open(a->text, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? lost_without(s, CAP_SYS_RESOURCE, errno, a->text) : judge(s, fd, a->text);
}

static int try_write(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)where;
	int fd = type == FTW_F ? open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return 0;
	close(fd);
	return 1 + won("%s may be written", path);
}

static int any(const struct scene *s, const struct attack *a)
{
	int rc = nftw(a->text, try_write, 16, FTW_PHYS | FTW_MOUNT);

	if (rc == 1)
		return WON;
	return rc < 0 ? lost(s, errno, a->text) : refused("nothing below %s can be opened for writing", a->text);
}

#define ROW(name, path) {name, "cannot open " path " for writing", open_it, CONTROL_ROOT, .text = path}

static const struct attack rows[] = {
	ROW("proc-core-pattern", "/proc/sys/kernel/core_pattern"),
	ROW("proc-modprobe", "/proc/sys/kernel/modprobe"),
	ROW("proc-hotplug", "/proc/sys/kernel/hotplug"),
	ROW("proc-poweroff", "/proc/sys/kernel/poweroff_cmd"),
	ROW("proc-binfmt", "/proc/sys/fs/binfmt_misc/register"),
	ROW("proc-sysrq", "/proc/sysrq-trigger"),
	ROW("proc-last-pid", "/proc/sys/kernel/ns_last_pid"),
	ROW("proc-hostname", "/proc/sys/kernel/hostname"),
	ROW("proc-randomize", "/proc/sys/kernel/randomize_va_space"),
	ROW("proc-overcommit", "/proc/sys/vm/overcommit_memory"),
	ROW("proc-drop-caches", "/proc/sys/vm/drop_caches"),
	ROW("proc-ip-forward", "/proc/sys/net/ipv4/ip_forward"),
	ROW("proc-mtrr", "/proc/mtrr"),
	ROW("proc-irq", "/proc/irq/default_smp_affinity"),
	{"proc-sys-any", "cannot open anything below /proc/sys for writing", any, CONTROL_ROOT, .text = "/proc/sys"},
	{"proc-user-limits", "cannot lift its limit on user namespaces", open_user_limit, CONTROL_ROOT,
	 .text = "/proc/sys/user/max_user_namespaces"},
	{"proc-uid-map", "cannot write its own uid_map", open_it, CONTROL_ROOT, .text = "/proc/self/uid_map"},
	{"proc-init-uid-map", "cannot write the uid_map of PID 1", open_it, CONTROL_ROOT, .text = "/proc/1/uid_map"},
};
ATTACKS("filesystem", rows);

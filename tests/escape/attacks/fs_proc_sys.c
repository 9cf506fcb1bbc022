/* Switches of the kernel below /proc. They are opened for writing; where something is written, it is what was there. */
#include <ftw.h>
#include <linux/capability.h>
#include <sys/sysmacros.h>

#include "attack.h"

/* Runtimes cover what nobody may read with /dev/null, which anybody may write to. */
static bool is_covered(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static int open_it(const struct scene *s, const struct attack *a)
{
	return is_covered(a->text) ? refused("%s is covered", a->text) : judge_open(s, a->text, O_WRONLY);
}

static int open_user_limit(const struct scene *s, const struct attack *a)
{
	int fd = open(a->text, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? lost_without(s, CAP_SYS_RESOURCE, errno, a->text) : judge(s, fd, a->text);
}

/* Opening is no proof everywhere: some files are open to all and check the writer. Writes what is there already. */
static bool rewrite(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	bool good = n > 0 && pwrite(fd, text, (size_t)n, 0) == n;

	if (fd >= 0)
		close(fd);
	return good;
}

static int rewrite_it(const struct scene *s, const struct attack *a)
{
	return rewrite(a->text) ? won("%s was written", a->text) : lost(s, errno, a->text);
}

static int try_write(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)where;
	return type == FTW_F && rewrite(path) ? 1 + won("%s was written", path) : 0;
}

static int any(const struct scene *s, const struct attack *a)
{
	int rc = nftw(a->text, try_write, 16, FTW_PHYS | FTW_MOUNT);

	if (rc == 1)
		return WON;
	return rc < 0 ? lost(s, errno, a->text) : refused("nothing below %s can be written", a->text);
}

#define ROW(name, path)                                                                                                \
	{                                                                                                              \
		name, "cannot open " path " for writing", open_it, CONTROL_ROOT, .text = path                          \
	}

static const struct attack rows[] = {
	ROW("proc-core-pattern", "/proc/sys/kernel/core_pattern"),
	ROW("proc-modprobe", "/proc/sys/kernel/modprobe"),
	ROW("proc-hotplug", "/proc/sys/kernel/hotplug"),
	ROW("proc-poweroff", "/proc/sys/kernel/poweroff_cmd"),
	ROW("proc-binfmt", "/proc/sys/fs/binfmt_misc/register"),
	ROW("proc-sysrq", "/proc/sysrq-trigger"),
	ROW("proc-hostname", "/proc/sys/kernel/hostname"),
	ROW("proc-randomize", "/proc/sys/kernel/randomize_va_space"),
	ROW("proc-overcommit", "/proc/sys/vm/overcommit_memory"),
	ROW("proc-drop-caches", "/proc/sys/vm/drop_caches"),
	ROW("proc-ip-forward", "/proc/sys/net/ipv4/ip_forward"),
	ROW("proc-mtrr", "/proc/mtrr"),
	ROW("proc-irq", "/proc/irq/default_smp_affinity"),
	{"proc-last-pid", "cannot choose the next process number", rewrite_it, CONTROL_ROOT,
	 .text = "/proc/sys/kernel/ns_last_pid"},
	{"proc-sys-any", "cannot write anything below /proc/sys", any, CONTROL_ROOT, .text = "/proc/sys"},
	{"proc-user-limits", "cannot lift its limit on user namespaces", open_user_limit, CONTROL_ROOT,
	 .text = "/proc/sys/user/max_user_namespaces"},
};
ATTACKS("filesystem", rows);

/* /sys: what the kernel tells about its devices, and the files that steer it. Nothing is written. */
#include <dirent.h>

#include "attack.h"

static int list_folder(const struct scene *s, const struct attack *a)
{
	DIR *dir = opendir(a->text);
	const struct dirent *entry = NULL;

	if (!dir)
		return s->control && errno == ENOENT ? untried("this machine has no %s", a->text)
						     : lost(s, errno, a->text);
	do {
		entry = readdir(dir);
	} while (entry && entry->d_name[0] == '.');
	closedir(dir);
	if (entry)
		return won("%s can be listed", a->text);
	return s->control ? untried("%s is not mounted", a->text) : refused("%s is empty", a->text);
}

static int open_it(const struct scene *s, const struct attack *a)
{
	return judge_open(s, a->text, (int)a->num);
}

#define OPEN(name, path, flags)                                                                                        \
	{                                                                                                              \
		name, "cannot open " path, open_it, CONTROL_ROOT, .text = path, .num = flags                           \
	}
#define LIST(name, path, control)                                                                                      \
	{                                                                                                              \
		name, "cannot list " path, list_folder, control, .text = path                                          \
	}

static const struct attack rows[] = {
	LIST("sys-class", "/sys/class", CONTROL_SELF),
	LIST("sys-firmware", "/sys/firmware", CONTROL_ROOT),
	LIST("sys-debugfs", "/sys/kernel/debug", CONTROL_ROOT),
	LIST("sys-tracefs", "/sys/kernel/tracing", CONTROL_ROOT),
	LIST("sys-security", "/sys/kernel/security", CONTROL_ROOT),
	LIST("sys-bpf", "/sys/fs/bpf", CONTROL_ROOT),
	LIST("sys-cgroup", "/sys/fs/cgroup", CONTROL_SELF),
	OPEN("sys-uevent-helper", "/sys/kernel/uevent_helper", O_WRONLY),
	OPEN("sys-power", "/sys/power/state", O_WRONLY),
	OPEN("sys-hugepages", "/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY),
	OPEN("sys-notes", "/sys/kernel/notes", O_RDONLY),
	OPEN("sys-vmcoreinfo", "/sys/kernel/vmcoreinfo", O_RDONLY),
	OPEN("sys-cpu-online", "/sys/devices/system/cpu/cpu1/online", O_WRONLY),
	OPEN("sys-lo-mtu", "/sys/class/net/lo/mtu", O_WRONLY),
};
ATTACKS("filesystem", rows);

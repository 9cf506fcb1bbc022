/* Device files. Opening is enough: none is read or written. */
#include "attack.h"

static int open_device(const struct scene *s, const struct attack *a)
{
	return judge_open(s, a->text, (int)a->num | O_NONBLOCK);
}

static int open_disk(const struct scene *s, const struct attack *a)
{
	static const char *const disks[] = {"/dev/vda",     "/dev/sda",  "/dev/nvme0n1",
					    "/dev/mmcblk0", "/dev/xvda", "/dev/dm-0"};

	(void)a;
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		if (access(disks[i], F_OK) < 0)
			continue;
		int fd = open(disks[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 && s->control && errno == EPERM)
			return untried("%s is closed to root too, by a control group", disks[i]);
		return judge(s, fd, disks[i]);
	}
	return s->control ? untried("this machine has no disk") : refused("no disk to be seen");
}

#define ROW(name, path, flags)                                                                                         \
	{                                                                                                              \
		name, "cannot open " path, open_device, CONTROL_ROOT, .text = path, .num = flags                       \
	}

static const struct attack rows[] = {
	{"dev-disk", "cannot open a disk", open_disk, CONTROL_ROOT},
	ROW("dev-mem", "/dev/mem", O_RDONLY),
	ROW("dev-kmem", "/dev/kmem", O_RDONLY),
	ROW("dev-port", "/dev/port", O_RDONLY),
	ROW("dev-kmsg-read", "/dev/kmsg", O_RDONLY),
	ROW("dev-kmsg-write", "/dev/kmsg", O_WRONLY),
	ROW("dev-loop-control", "/dev/loop-control", O_RDWR),
	ROW("dev-loop0", "/dev/loop0", O_RDONLY),
	ROW("dev-mapper", "/dev/mapper/control", O_RDWR),
	ROW("dev-fuse", "/dev/fuse", O_RDWR),
	ROW("dev-kvm", "/dev/kvm", O_RDWR),
	ROW("dev-tun", "/dev/net/tun", O_RDWR),
	ROW("dev-vsock", "/dev/vsock", O_RDONLY),
	ROW("dev-vhost-net", "/dev/vhost-net", O_RDWR),
	ROW("dev-userfaultfd", "/dev/userfaultfd", O_RDWR),
	ROW("dev-uinput", "/dev/uinput", O_WRONLY),
	ROW("dev-hpet", "/dev/hpet", O_RDONLY),
	ROW("dev-btrfs", "/dev/btrfs-control", O_RDWR),
	ROW("dev-vcs", "/dev/vcs", O_RDONLY),
	ROW("dev-tty0", "/dev/tty0", O_RDONLY),
	ROW("dev-dma-latency", "/dev/cpu_dma_latency", O_RDWR),
	ROW("dev-msr", "/dev/cpu/0/msr", O_RDONLY),
};
ATTACKS("filesystem", rows);

/* A device node in the work folder would be a door to the kernel's drivers. */
#include "attack.h"

/* makedev() for small numbers, as a constant. */
#define DEVICE(major, minor) ((major) << 8 | (minor))

static int make_node(const struct scene *s, const struct attack *a)
{
	long rc = mknod("node", (mode_t)a->num | 0600, (dev_t)a->num2);
	int err = errno;

	/* Some file systems take the node and refuse its use: a fake. */
	if (rc == 0 && open("node", O_RDONLY | O_CLOEXEC | O_NONBLOCK) < 0 && errno == EACCES)
		rc = -1;
	(void)unlink("node");
	errno = err;
	return judge(s, rc, a->name);
}

static const struct attack rows[] = {
	{"mknod-null", "cannot make a character device (1:3)", make_node, CONTROL_ROOT, STAGE_DENY, .num = S_IFCHR,
	 .num2 = DEVICE(1, 3)},
	{"mknod-mem", "cannot make /dev/mem (1:1)", make_node, CONTROL_ROOT, STAGE_DENY, .num = S_IFCHR,
	 .num2 = DEVICE(1, 1)},
	{"mknod-disk", "cannot make a block device (8:0)", make_node, CONTROL_ROOT, STAGE_DENY, .num = S_IFBLK,
	 .num2 = DEVICE(8, 0)},
};
ATTACKS("filesystem", rows);

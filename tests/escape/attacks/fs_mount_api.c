/* The same as fs_mount.c by the calls of Linux 5.2 and later, which filters written for mount(2) do not know. */
#include <linux/mount.h>

#include "attack.h"

static int tree_move(const struct scene *s, const struct attack *a)
{
	(void)mkdir("mnt", 0700);
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | 0x8000 /* recursive */);
	if (tree < 0)
		return lost(s, errno, "open_tree");
	return judge(s, syscall(SYS_move_mount, tree, "", AT_FDCWD, "mnt", MOVE_MOUNT_F_EMPTY_PATH), a->name);
}

static int new_fs(const struct scene *s, const struct attack *a)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", 0);

	if (fs < 0)
		return lost(s, errno, "fsopen");
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return lost(s, errno, "fsconfig");
	return judge(s, syscall(SYS_fsmount, fs, 0, 0), a->name);
}

static int pick(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_fspick, AT_FDCWD, "/proc", 0), a->name);
}

static int set_attributes(const struct scene *s, const struct attack *a)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID};

	return judge(s, syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &attr, sizeof(attr)), a->name);
}

static int open_plain(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_open_tree, AT_FDCWD, "/", 0), a->name);
}

static const struct attack rows[] = {
	{"mount-open-tree", "cannot clone and move mounts with open_tree and move_mount", tree_move, CONTROL_USERNS},
	{"mount-open-tree-plain", "cannot take a mount handle with open_tree", open_plain},
	{"mount-fsopen", "cannot make a file system with fsopen and fsmount", new_fs, CONTROL_USERNS},
	{"mount-fspick", "cannot reconfigure a mount with fspick", pick, CONTROL_USERNS},
	{"mount-setattr", "cannot change mount flags with mount_setattr", set_attributes, CONTROL_USERNS},
};
ATTACKS("filesystem", rows);

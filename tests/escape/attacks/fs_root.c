/* Another root folder: pivot_root, and the classic climb out of a chroot. */
#include <sys/mount.h>

#include "attack.h"

static int pivot(const struct scene *s, const struct attack *a)
{
	if (s->control && (mkdir("new", 0700) < 0 || mount("none", "new", "tmpfs", 0, NULL) < 0 || chdir("new") < 0))
		return broken("setting up");
	return judge_reached(s, syscall(SYS_pivot_root, ".", "."), a->name);
}

static int chroot_climb(const struct scene *s, const struct attack *a)
{
	struct fact key;

	(void)mkdir("jail", 0700);
	if (chroot("jail") < 0)
		return lost(s, errno, a->name);
	for (int i = 0; i < 64; i++)
		(void)!chdir("..");
	return judge_secret(s, open(fact_key(s, &key) + 1, O_RDONLY | O_CLOEXEC), "climbing out of a chroot");
}

static const struct attack rows[] = {
	{"pivot-root", "cannot change its root with pivot_root", pivot, CONTROL_USERNS},
	{"chroot-climb", "cannot climb out with chroot and chdir", chroot_climb, CONTROL_USERNS},
};
ATTACKS("filesystem", rows);

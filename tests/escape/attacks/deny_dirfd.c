/* A handle on a folder taken while its name was harmless, used after the folder got a name that matters. */
#include "attack.h"

static int through_handle(const struct scene *s, const struct attack *a)
{
	if (mkdir("d", 0755) < 0)
		return broken("setting up");
	int dir = open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || rename("d", ".git") < 0 || mkdirat(dir, "hooks", 0755) < 0)
		return lost(s, errno, a->name);
	int fd = openat(dir, "hooks/x", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	return fd < 0 ? lost(s, errno, a->name) : judge(s, access(".git/hooks/x", F_OK), ".git/hooks/x");
}

static int through_inner_handle(const struct scene *s, const struct attack *a)
{
	if (mkdir("d", 0755) < 0 || mkdir("d/hooks", 0755) < 0)
		return broken("setting up");
	int dir = open("d/hooks", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || rename("d", ".git") < 0)
		return lost(s, errno, a->name);
	int fd = openat(dir, "x", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	return fd < 0 ? lost(s, errno, a->name) : judge(s, access(".git/hooks/x", F_OK), ".git/hooks/x");
}

static int through_cwd(const struct scene *s, const struct attack *a)
{
	if (mkdir("d", 0755) < 0 || chdir("d") < 0 || rename("../d", "../.git") < 0 || mkdir("hooks", 0755) < 0)
		return lost(s, errno, a->name);
	if (make_file("hooks/x", 0, 0755) < 0)
		return lost(s, errno, a->name);
	return judge(s, access("../.git/hooks/x", F_OK), ".git/hooks/x");
}

static const struct attack rows[] = {
	{"deny-dirfd", "cannot create a hook through a handle taken before the rename", through_handle,
	 .stage = STAGE_DENY},
	{"deny-dirfd-inner", "cannot do so through a handle of the inner folder", through_inner_handle,
	 .stage = STAGE_DENY},
	{"deny-cwd", "cannot do so from a current folder that was renamed", through_cwd, .stage = STAGE_DENY},
};
ATTACKS("filesystem", rows);

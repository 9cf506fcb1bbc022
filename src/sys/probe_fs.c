#include "sys/probe_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/mounts.h"
#include "sys/probe_child.h"

/* Folders of the attempt, below one of our own. The overlay makes work/work. */
static const char *const parts[] = {"lower", "upper", "work", "merged"};

static int try_overlay(const void *folder)
{
	AUTO_FD fd = -1;
	int r;

	if (chdir(folder) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	r = sys_takes_attributes("work");
	if (r < 0)
		return r;
	if (mount("overlay", "merged", "overlay", MS_NOSUID | MS_NODEV,
		  "lowerdir=lower,upperdir=upper,workdir=work,userxattr") < 0)
		return -errno;
	fd = open("merged/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || access("upper/file", F_OK) < 0)
		return -errno;
	return 0;
}

static int make_parts(int dir)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (mkdirat(dir, parts[i], 0700) < 0)
			return -errno;
	return 0;
}

static void remove_parts(int dir)
{
	size_t i;

	(void)unlinkat(dir, "upper/file", 0);
	(void)unlinkat(dir, "work/work", AT_REMOVEDIR);
	(void)unlinkat(dir, "work/index", AT_REMOVEDIR);
	for (i = 0; i < ARRAY_LEN(parts); i++)
		(void)unlinkat(dir, parts[i], AT_REMOVEDIR);
}

int probe_overlay(const char *folder)
{
	char path[4096];
	sigset_t all, old;
	int dir, r;

	if (snprintf(path, sizeof(path), "%s/.cordon-probe-XXXXXX", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	/* A signal in the middle would leave the folder behind. The time limit holds all the same. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &old);
	r = mkdtemp(path) ? 0 : -errno;
	if (r == 0) {
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = dir < 0 ? -errno : make_parts(dir);
		if (r == 0)
			r = probe_run(CLONE_NEWNS, try_overlay, path);
		if (dir >= 0) {
			remove_parts(dir);
			(void)close(dir);
		}
		(void)rmdir(path);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* A file that has no name any more, or never had one. */
static int nameless_file(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[4096];

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR)
		return -errno;
	if (snprintf(path, sizeof(path), "%s/.cordon-probe-XXXXXX", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(path);
	return fd;
}

int probe_reflink(const char *folder)
{
	AUTO_FD from = nameless_file(folder);
	AUTO_FD to = nameless_file(folder);

	if (from < 0 || to < 0)
		return from < 0 ? from : to;
	if (write(from, "x", 1) != 1)
		return -errno;
	return ioctl(to, FICLONE, from) < 0 ? -errno : 0;
}

/* stdin and stdout may be files of the host. What they were opened for is all that may be done with them. */
#include <sys/xattr.h>

#include "attack.h"

static int reopen(const struct scene *s, const struct attack *a)
{
	int fd = open(a->text, (int)a->num | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return lost(s, errno, a->text);
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		return refused("%s: only the bytes of a file go out", a->name);
	if (a->num == O_RDONLY)
		return judge_secret(s, fd, a->text);
	return judge(s, pwrite(fd, "x", 1, 0), a->text);
}

static int change_mode(const struct scene *s, const struct attack *a)
{
	struct stat st;

	if (fstat((int)a->num, &st) == 0 && !S_ISREG(st.st_mode))
		return refused("%s: only the bytes of a file come in", a->name);
	return judge(s, fchmod((int)a->num, 0666), a->name);
}

static int change_attribute(const struct scene *s, const struct attack *a)
{
	return judge(s, fsetxattr((int)a->num, "user.cordon", "x", 1, 0), a->name);
}

static int link_it(const struct scene *s, const struct attack *a)
{
	return judge(s, linkat(AT_FDCWD, a->text, AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW), a->name);
}

static const struct attack rows[] = {
	{"stdin-reopen", "cannot reopen a read-only stdin for writing", reopen, .stage = STAGE_STDIN,
	 .text = "/proc/self/fd/0", .num = O_RDWR},
	{"stdin-reopen-dev", "cannot do so through /dev/stdin", reopen, .stage = STAGE_STDIN, .text = "/dev/stdin",
	 .num = O_WRONLY},
	{"stdin-chmod", "cannot chmod the file that stdin is", change_mode, .stage = STAGE_STDIN, .num = 0},
	{"stdin-xattr", "cannot set attributes of the file that stdin is", change_attribute, .stage = STAGE_STDIN,
	 .num = 0},
	{"stdin-link", "cannot link the file that stdin is into the work folder", link_it, .stage = STAGE_STDIN,
	 .text = "/proc/self/fd/0"},
	{"stdout-reopen", "cannot read back the file that stdout is", reopen, .stage = STAGE_STDOUT,
	 .text = "/proc/self/fd/1", .num = O_RDONLY},
	{"stdout-chmod", "cannot chmod the file that stdout is", change_mode, .stage = STAGE_STDOUT, .num = 1},
};
ATTACKS("fd", rows);

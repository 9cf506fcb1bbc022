#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sv.h"

/* The component at the start of s; *ret_rest is what follows it and its slashes. */
static struct sv first_component(struct sv s, struct sv *ret_rest)
{
	size_t n = 0, skip;

	while (n < s.n && s.p[n] != '/')
		n++;
	skip = n;
	while (skip < s.n && s.p[skip] == '/')
		skip++;
	*ret_rest = sv_n(s.p + skip, s.n - skip);
	return sv_n(s.p, n);
}

/* ".." is never needed by callers, and without it no rename elsewhere can carry the walk out of the folder. */
static int path_ok(const char *path)
{
	struct sv rest = sv_of(path), c;

	if (path[0] == '\0')
		return -ENOENT;
	if (path[0] == '/')
		return -EXDEV;
	if (rest.n >= PATH_MAX)
		return -ENAMETOOLONG;
	while (rest.n) {
		c = first_component(rest, &rest);
		if (sv_is(c, ".."))
			return -EXDEV;
		if (c.n > NAME_MAX)
			return -ENAMETOOLONG;
	}
	return 0;
}

/* openat() of one component. A link is -ELOOP whatever the flags make the kernel say, unless the link itself was asked
 * for. */
static int open_component(int dirfd, struct sv name, int flags, mode_t mode)
{
	char s[NAME_MAX + 1];
	struct stat st;
	int fd, code;

	memcpy(s, name.p, name.n);
	s[name.n] = '\0';
	fd = openat(dirfd, s, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	code = errno;
	if (fd < 0 && code == ENOTDIR && fstatat(dirfd, s, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	if (fd < 0)
		return -code;
	if ((flags & O_PATH) && !(flags & O_NOFOLLOW) && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		(void)close(fd);
		return -ELOOP;
	}
	return fd;
}

static int open_by_component(int dirfd, const char *path, int flags, mode_t mode)
{
	struct sv rest = sv_of(path), name;
	AUTO_FD at = -1;
	int fd;

	for (;;) {
		name = first_component(rest, &rest);
		if (rest.n == 0)
			break;
		fd = open_component(at < 0 ? dirfd : at, name, O_PATH | O_DIRECTORY, 0);
		if (fd < 0)
			return fd;
		if (at >= 0)
			(void)close(at);
		at = fd;
	}
	if (path[strlen(path) - 1] == '/')
		flags |= O_DIRECTORY;
	return open_component(at < 0 ? dirfd : at, name, flags, mode);
}

int sys_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
	bool makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = makes ? mode : 0, /* openat2() refuses one that it has no use for */
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int r = path_ok(path);
	long fd;

	if (r < 0)
		return r;
	fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	if (fd >= 0)
		return (int)fd;
	/* Filters of container engines answer EPERM for calls they do not know. */
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	return open_by_component(dirfd, path, flags, mode);
}

#include "sandbox/native/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/lookup.h"
#include "sys/mounts.h"

/* The same file by its path in our own mount namespace, where it can be mounted anew. */
static int find_again(int fd, const struct stat *st)
{
	char link[64], path[PATH_MAX];
	AUTO_FD again = -1;
	struct stat other;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return -1;
	path[n] = '\0';
	again = sys_open_no_links(path, O_PATH);
	if (again < 0 || fstat(again, &other) < 0 || other.st_dev != st->st_dev || other.st_ino != st->st_ino)
		return -1;
	return fd_take(&again);
}

static int open_read_only(int place, int flags)
{
	AUTO_FD tree = sys_tree_clone(place, "", MOUNT_READ_ONLY | MOUNT_NO_DEV);
	char link[64];

	if (tree < 0)
		return -1;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", tree);
	return open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | (flags & O_NONBLOCK));
}

static int put_in_place(struct shield *s, int fd, int opened)
{
	AUTO_FD mine = opened;
	AUTO_FD given = -1;
	off_t at = lseek(fd, 0, SEEK_CUR);

	if (opened < 0 || at < 0 || lseek(opened, at, SEEK_SET) < 0)
		return -EPERM;
	given = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	if (given < 0 || dup3(opened, fd, O_CLOEXEC) < 0)
		return -EPERM;
	s->given = fd_take(&given);
	s->opened = fd_take(&mine);
	return 0;
}

int shield_input(struct shield *s, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	AUTO_FD place = -1;
	struct stat st;

	*s = (struct shield){-1, -1};
	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_nlink == 0 || st.st_uid != getuid())
		return 0;
	place = find_again(fd, &st);
	return put_in_place(s, fd, place < 0 ? -1 : open_read_only(place, flags));
}

void shield_return(const struct shield *s)
{
	off_t at = s->given < 0 ? -1 : lseek(s->opened, 0, SEEK_CUR);

	if (at >= 0)
		(void)lseek(s->given, at, SEEK_SET);
}

#include "sys/mount_of.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/mountinfo.h"

/* Newer than the headers we are built with. The call has the same number on all machines. */
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
enum { MOUNT_ID_UNIQUE = 0x4000, TELL_ROOT = 8, TELL_POINT = 16, TOLD_STRINGS = 512 };

struct request {
	uint32_t size, spare;
	uint64_t id, what;
};

/* What the kernel answers; what we did not ask for is passed over. */
struct answer {
	uint32_t size, options;
	uint64_t mask;
	unsigned char others[88];
	uint32_t root, point; /* where in the strings */
	unsigned char more[TOLD_STRINGS - 112];
	char strings[2 * PATH_MAX];
};

_Static_assert(offsetof(struct answer, root) == 104, "as the kernel has it");
_Static_assert(offsetof(struct answer, strings) == TOLD_STRINGS, "as the kernel has it");

static int mount_of(int dir, const char *path, int flags, unsigned which, struct statx *ret)
{
	if (syscall(SYS_statx, dir, path, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, which, ret) < 0)
		return -errno;
	return ret->stx_mask & which ? 0 : -ENOSYS;
}

int sys_mount_of(int fd, bool unique, uint64_t *ret, bool *ret_top)
{
	struct statx st;
	int r = mount_of(fd, "", AT_EMPTY_PATH, unique ? MOUNT_ID_UNIQUE : STATX_MNT_ID, &st);

	if (r < 0)
		return r;
	*ret = st.stx_mnt_id;
	if (ret_top)
		*ret_top = st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	return 0;
}

int sys_mount_of_path(const char *path, uint64_t *ret)
{
	struct statx st;
	int r = mount_of(AT_FDCWD, path, 0, STATX_MNT_ID, &st);

	if (r == 0)
		*ret = st.stx_mnt_id;
	return r;
}

static int take(char to[PATH_MAX], const char *from)
{
	size_t n = strlen(from);

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(to, from, n + 1);
	return 0;
}

int sys_mount_tell(uint64_t unique, struct sys_mount_told *ret)
{
	struct request q = {.size = sizeof(q), .id = unique, .what = TELL_ROOT | TELL_POINT};
	struct answer a;
	int r;

	if (syscall(SYS_statmount, &q, &a, sizeof(a), 0) < 0)
		return -errno;
	if ((a.mask & q.what) != q.what || a.root >= sizeof(a.strings) || a.point >= sizeof(a.strings))
		return -ENOENT;
	r = take(ret->root, a.strings + a.root);
	return r < 0 ? r : take(ret->point, a.strings + a.point);
}

/* The line at *at of what is read into text, with its end; *at is behind it then. 1; 0: there is none; -errno. */
static int next_line(int fd, struct buf *text, size_t *at, struct sv *ret)
{
	char chunk[512]; /* the kernel writes no more lines than are read */
	const char *end;
	ssize_t n;
	int r;

	while (!(end = text->n > *at ? memchr(text->p + *at, '\n', text->n - *at) : NULL)) {
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = buf_add(text, chunk, (size_t)n);
		if (r < 0)
			return r;
	}
	*ret = sv_n(text->p + *at, (size_t)(end + 1 - text->p) - *at);
	*at += ret->n;
	return 1;
}

static int take_line(struct sv line, struct sys_mount_told *ret)
{
	struct arena *arena = arena_new();
	struct sys_mount mount;
	int r = arena ? sys_mountinfo_next(&line, arena, &mount) : -ENOMEM;

	r = r < 0 ? r : r == 0 ? -ENOENT : take(ret->root, mount.root);
	if (r == 0)
		r = take(ret->point, mount.point);
	arena_free(arena);
	return r;
}

/* What comes later is mounted below mostly, such as masks, of which there may be hundreds: they are not read. */
int sys_mount_read(int proc, uint64_t id, struct sys_mount_told *ret)
{
	AUTO_FD fd = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_BUF text = {0};
	struct sv line = {0};
	size_t at = 0;
	int r;

	if (fd < 0)
		return -errno;
	buf_init(&text, SYS_MOUNTINFO_MAX);
	do
		r = next_line(fd, &text, &at, &line);
	while (r > 0 && strtoull(line.p, NULL, 10) != id);
	return r > 0 ? take_line(line, ret) : r == 0 ? -ENOENT : r;
}

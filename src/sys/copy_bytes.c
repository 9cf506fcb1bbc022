#include "sys/copy_bytes.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { CHUNK = 256 << 10, SMALL = 64 << 10 };

/* Within the kernel. What is left in *size is for copy_by_hand(). */
static int copy_in_kernel(int from, int to, uint64_t *size)
{
	ssize_t n;

	while (*size) {
		n = copy_file_range(from, NULL, to, NULL, *size < 1 << 30 ? *size : 1 << 30, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EXDEV && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL &&
		    errno != EPERM)
			return -errno;
		if (n <= 0)
			return 0; /* some file systems answer 0 where they mean that they cannot: reading tells */
		*size -= (uint64_t)n;
	}
	return 0;
}

static int copy_by_hand(int from, int to, uint64_t size)
{
	AUTO_FREE char *chunk = size ? malloc(CHUNK) : NULL;
	ssize_t n;
	int r;

	if (size && !chunk)
		return -ENOMEM;
	while (size) {
		n = read(from, chunk, size < CHUNK ? (size_t)size : CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = write_all(to, chunk, (size_t)n);
		if (r < 0)
			return r;
		size -= (uint64_t)n;
	}
	return 0;
}

static int copy_range(int from, int to, uint64_t size)
{
	/* for a small file one read and one write are quicker */
	int r = size > SMALL ? copy_in_kernel(from, to, &size) : 0;

	return r < 0 ? r : copy_by_hand(from, to, size);
}

/* Holes stay holes: a file may be larger than the disk. 1: where they are cannot be told. */
static int copy_with_holes(int from, int to, uint64_t size)
{
	uint64_t at = 0, end;
	off_t data, hole;
	int r;

	while (at < size) {
		data = lseek(from, (off_t)at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return at == 0 ? 1 : -errno;
		end = (uint64_t)hole < size ? (uint64_t)hole : size;
		if ((uint64_t)data >= end)
			break;
		if (lseek(from, data, SEEK_SET) < 0 || lseek(to, data, SEEK_SET) < 0)
			return -errno;
		r = copy_range(from, to, end - (uint64_t)data);
		if (r < 0)
			return r;
		at = end;
	}
	return ftruncate(to, (off_t)size) < 0 ? -errno : 0;
}

int sys_copy_bytes(int from, int to, uint64_t size, bool *ret_cloned)
{
	struct stat st;
	int r;

	*ret_cloned = size && ioctl(to, FICLONE, from) == 0;
	if (*ret_cloned)
		return 0;
	if (size <= SMALL || fstat(from, &st) < 0 || (uint64_t)st.st_blocks * 512 >= size)
		return copy_range(from, to, size);
	r = copy_with_holes(from, to, (uint64_t)st.st_size < size ? (uint64_t)st.st_size : size);
	if (r == 1)
		r = lseek(from, 0, SEEK_SET) < 0 ? -errno : copy_range(from, to, size);
	return r;
}

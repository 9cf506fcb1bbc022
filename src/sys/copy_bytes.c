#include "sys/copy_bytes.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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
		if (n < 0 && errno != EXDEV && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL && errno != EPERM)
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

int sys_copy_bytes(int from, int to, uint64_t size, bool *ret_cloned)
{
	int r;

	*ret_cloned = size && ioctl(to, FICLONE, from) == 0;
	if (*ret_cloned)
		return 0;
	/* for a small file one read and one write are quicker */
	r = size > SMALL ? copy_in_kernel(from, to, &size) : 0;
	return r < 0 ? r : copy_by_hand(from, to, size);
}

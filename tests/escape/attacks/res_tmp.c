/* Many files, each below the limit on one file's size, that together are too much for a folder in memory. */
#include "attack.h"

static bool write_piece(const char *path, const char *block, size_t n)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	bool good = true;
	for (int i = 0; good && i < 4; i++)
		good = write(fd, block, n) == (ssize_t)n;
	close(fd);
	return good;
}

static int fill_pieces(const struct scene *s, const struct attack *a)
{
	static char block[1 << 20];
	char path[256];
	int n = 0;

	memset(block, 1, sizeof(block));
	for (; n < a->num; n++) {
		(void)snprintf(path, sizeof(path), "%s/cordon-escape-%d-%d", a->text, getpid(), n);
		if (!write_piece(path, block, sizeof(block)))
			break;
	}
	int err = errno;
	for (int i = 0; i <= n; i++) {
		(void)snprintf(path, sizeof(path), "%s/cordon-escape-%d-%d", a->text, getpid(), i);
		(void)unlink(path);
	}
	return n == a->num ? won("%s: %ld MiB in pieces", a->text, a->num * 4) : lost(s, err, a->name);
}

static const struct attack rows[] = {
	{"tmp-pieces", "cannot fill /tmp above tmp_size with many files", fill_pieces, .stage = STAGE_LIMITS,
	 .text = "/tmp", .num = 6},
	{"shm-pieces", "cannot fill /dev/shm above the memory limit with many files", fill_pieces,
	 .stage = STAGE_LIMITS, .text = "/dev/shm", .num = 80},
};
ATTACKS("resource", rows);

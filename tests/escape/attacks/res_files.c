/* Files that are too large, and memory-backed folders that are too full. The bounds are a little above the policy's. */
#include <signal.h>

#include "attack.h"

static int fill(const struct scene *s, const struct attack *a)
{
	static char block[1 << 20];
	char path[256];
	long written = 0;

	/* Without this the limit on a file's size kills instead of saying so. */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)snprintf(path, sizeof(path), "%s/cordon-escape-%d", a->text, getpid());
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return lost(s, errno, path);
	(void)unlink(path);
	memset(block, 1, sizeof(block));
	while (written < a->num && write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		written++;
	int err = errno;
	close(fd);
	return written == a->num ? won("%s: %ld MiB written", a->text, written) : lost(s, err, a->name);
}

/* One byte far out, and fallocate: a size without the bytes. */
static int extend(const struct scene *s, const struct attack *a)
{
	(void)signal(SIGXFSZ, SIG_IGN);
	int fd = open("large", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return broken("large");
	off_t size = (off_t)a->num << 20;
	return judge(s, a->num2 ? posix_fallocate(fd, 0, size) == 0 ? 0 : -1 : ftruncate(fd, size), a->name);
}

static const struct attack rows[] = {
	{"file-size", "cannot write a file above max_file_size", fill, .stage = STAGE_LIMITS, .text = ".", .num = 9},
	{"file-truncate", "cannot extend a file above max_file_size", extend, .stage = STAGE_LIMITS, .num = 9},
	{"file-allocate", "cannot allocate a file above max_file_size", extend, .stage = STAGE_LIMITS, .num = 9,
	 .num2 = 1},
	{"tmp-fill", "cannot fill /tmp above tmp_size", fill, .stage = STAGE_LIMITS, .text = "/tmp", .num = 24},
	{"shm-fill", "cannot fill /dev/shm above the memory limit", fill, .stage = STAGE_LIMITS, .text = "/dev/shm",
	 .num = 320},
	{"var-tmp-fill", "cannot fill /var/tmp above tmp_size", fill, .stage = STAGE_LIMITS, .text = "/var/tmp",
	 .num = 24},
};
ATTACKS("resource", rows);

/* Climbs with one folder handle after the other, as a program that never names an absolute path would. */
#include "attack.h"

static int climb(const struct scene *s, const struct attack *a)
{
	struct fact key;
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)a;
	for (int i = 0; fd >= 0 && i < 64; i++) {
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	if (fd < 0)
		return lost(s, errno, "openat \"..\"");
	return judge_secret(s, openat(fd, fact_key(s, &key) + 1, O_RDONLY | O_CLOEXEC), "a chain of folder handles");
}

/* A folder that is moved while a handle is held below it loses its way to the root. */
static int climb_moved(const struct scene *s, const struct attack *a)
{
	struct fact key;

	(void)a;
	if (mkdir("one", 0700) < 0 || mkdir("one/two", 0700) < 0 || mkdir("one/two/three", 0700) < 0)
		return broken("mkdir");
	int fd = open("one/two/three", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || rename("one/two/three", "three") < 0 || fchdir(fd) < 0)
		return broken("moving the folder");
	for (int i = 0; i < 64; i++) {
		if (chdir("..") < 0)
			return lost(s, errno, "chdir \"..\"");
	}
	return judge_secret(s, open(fact_key(s, &key) + 1, O_RDONLY | O_CLOEXEC), "a moved folder");
}

static const struct attack rows[] = {
	{"home-dirfd", "cannot climb to ~/.ssh with a chain of folder handles", climb},
	{"home-moved-folder", "cannot climb to ~/.ssh from a folder that was moved under its handle", climb_moved},
};
ATTACKS("filesystem", rows);

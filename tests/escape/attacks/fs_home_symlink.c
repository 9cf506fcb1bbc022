/* A symlink in the work folder is resolved by whoever opens it: directly, by an O_PATH handle, by openat2. */
#include <linux/openat2.h>

#include "attack.h"

static int follow(const struct scene *s, const struct attack *a)
{
	struct fact key;

	(void)a;
	if (symlink(fact_key(s, &key), "innocent") < 0)
		return broken("symlink");
	return judge_secret(s, open("innocent", O_RDONLY | O_CLOEXEC), "a symlink in the work folder");
}

static int follow_folder(const struct scene *s, const struct attack *a)
{
	struct fact home;

	(void)a;
	if (symlink(fact(s, "home", &home), "cache") < 0)
		return broken("symlink");
	int dir = open("cache/.ssh", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return lost(s, errno, "cache/.ssh");
	return judge_secret(s, openat(dir, "id_fake", O_RDONLY | O_CLOEXEC), "a symlinked folder");
}

static int follow_openat2(const struct scene *s, const struct attack *a)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
	struct fact key;

	(void)a;
	if (symlink(fact_key(s, &key), "innocent") < 0)
		return broken("symlink");
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "innocent", &how, sizeof(how));
	return judge_secret(s, fd, "openat2 of a symlink");
}

static const struct attack rows[] = {
	{"home-symlink", "cannot read ~/.ssh through a symlink in the work folder", follow},
	{"home-symlink-folder", "cannot read ~/.ssh through a symlinked folder and O_PATH", follow_folder},
	{"home-symlink-openat2", "cannot read ~/.ssh through a symlink and openat2", follow_openat2},
};
ATTACKS("filesystem", rows);

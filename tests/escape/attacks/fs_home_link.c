/* A second name for the key, made in the work folder: by hard link, by moving it here, by linking an O_PATH handle. */
#include "attack.h"

static int hard_link(const struct scene *s, const struct attack *a)
{
	struct fact key;

	(void)a;
	if (link(fact_key(s, &key), "stolen") < 0)
		return lost(s, errno, "link");
	return judge_secret(s, open("stolen", O_RDONLY | O_CLOEXEC), "a hard link");
}

static int move_here(const struct scene *s, const struct attack *a)
{
	struct fact key;

	(void)a;
	if (rename(fact_key(s, &key), "stolen") < 0)
		return lost(s, errno, "rename");
	(void)rename("stolen", key.s);
	return won("the key was moved into the work folder");
}

static int handle_link(const struct scene *s, const struct attack *a)
{
	char path[64];
	struct fact key;
	int fd = open(fact_key(s, &key), O_PATH | O_CLOEXEC);

	(void)a;
	if (fd < 0)
		return lost(s, errno, "O_PATH");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW) < 0)
		return lost(s, errno, "linkat");
	return judge_secret(s, open("stolen", O_RDONLY | O_CLOEXEC), "a linked O_PATH handle");
}

static const struct attack rows[] = {
	{"home-hard-link", "cannot hard-link ~/.ssh/id_fake into the work folder", hard_link},
	{"home-rename", "cannot move ~/.ssh/id_fake into the work folder", move_here},
	{"home-opath-link", "cannot link an O_PATH handle of ~/.ssh/id_fake into the work folder", handle_link},
};
ATTACKS("filesystem", rows);

/* Reading a denied file that is there, by its name, by other names of it, and by names it is given. */
#include <linux/fs.h>

#include "attack.h"

static int read_it(const struct scene *s, const struct attack *a)
{
	return judge_secret(s, open(a->text, O_RDONLY | O_CLOEXEC), a->text);
}

static int read_moved(const struct scene *s, const struct attack *a)
{
	if (rename(a->text, "plain") < 0)
		return lost(s, errno, "rename");
	return judge_secret(s, open("plain", O_RDONLY | O_CLOEXEC), "the renamed .env");
}

static int read_linked(const struct scene *s, const struct attack *a)
{
	if (link(a->text, "plain") < 0)
		return lost(s, errno, "link");
	return judge_secret(s, open("plain", O_RDONLY | O_CLOEXEC), "a hard link to .env");
}

static int read_exchanged(const struct scene *s, const struct attack *a)
{
	if (make_file("plain", O_EXCL, 0644) < 0)
		return broken("plain");
	if (renameat2(AT_FDCWD, a->text, AT_FDCWD, "plain", RENAME_EXCHANGE) < 0)
		return lost(s, errno, "renameat2");
	return judge_secret(s, open("plain", O_RDONLY | O_CLOEXEC), "the exchanged .env");
}

static int read_reopened(const struct scene *s, const struct attack *a)
{
	char path[64];
	int fd = open(a->text, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return lost(s, errno, "O_PATH");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return judge_secret(s, open(path, O_RDONLY | O_CLOEXEC), "a reopened O_PATH handle");
}

#define ROW(name, what, function, path)                                                                                \
	{                                                                                                              \
		name, "cannot read .env " what, function, .stage = STAGE_DENY, .text = path                            \
	}

static const struct attack rows[] = {
	ROW("deny-read-env", "in the work folder", read_it, ".env"),
	ROW("deny-read-env-deep", "three folders down", read_it, "deep/a/b/.env"),
	ROW("deny-read-env-slashes", "by a path with ./ and //", read_it, ".//./.env"),
	ROW("deny-read-env-proc", "through /proc/self/cwd", read_it, "/proc/self/cwd/.env"),
	ROW("deny-read-env-symlink", "through a symlink that was there", read_it, "sub/env-link"),
	ROW("deny-read-env-hardlink", "through a hard link that was there", read_it, "notes.txt"),
	ROW("deny-read-env-moved", "after renaming it", read_moved, ".env"),
	ROW("deny-read-env-linked", "after hard-linking it", read_linked, ".env"),
	ROW("deny-read-env-exchanged", "after exchanging it with another file", read_exchanged, ".env"),
	ROW("deny-read-env-opath", "by reopening an O_PATH handle", read_reopened, ".env"),
};
ATTACKS("filesystem", rows);

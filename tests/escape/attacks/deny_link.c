/* A denied path that appears as a link to something harmless-looking. */
#include "attack.h"

static int make_evil(void)
{
	if (mkdir("evil", 0755) < 0 || mkdir("evil/hooks", 0755) < 0)
		return -1;
	return make_file("evil/hooks/x", O_EXCL, 0755);
}

static int link_symbolic(const struct scene *s, const struct attack *a)
{
	if (make_evil() < 0)
		return broken("setting up");
	(void)rmdir("repo/.git/hooks");
	return judge(s, symlink(a->num ? "../../evil/hooks" : "evil", a->text), a->text);
}

static int link_hard(const struct scene *s, const struct attack *a)
{
	if (make_evil() < 0)
		return broken("setting up");
	return judge(s, link("evil/hooks/x", a->text), a->text);
}

static int link_tmpfile(const struct scene *s, const struct attack *a)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);

	if (fd < 0)
		return lost(s, errno, "O_TMPFILE");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return judge(s, linkat(AT_FDCWD, path, AT_FDCWD, a->text, AT_SYMLINK_FOLLOW), a->text);
}

/* Git reads a file called .git as the path of the real one: a second parser's symlink. */
static int link_gitfile(const struct scene *s, const struct attack *a)
{
	if (make_evil() < 0)
		return broken("setting up");
	int fd = open(a->text, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	return judge(s, fd < 0 ? -1 : write(fd, "gitdir: evil\n", 13), a->text);
}

#define HOOK "repo/.git/hooks/pre-commit"

static const struct attack rows[] = {
	{"deny-symlink-git", "cannot make .git a symlink to a folder with hooks", link_symbolic, .stage = STAGE_DENY,
	 .text = ".git"},
	{"deny-symlink-hooks", "cannot make .git/hooks a symlink", link_symbolic, .stage = STAGE_DENY,
	 .text = "repo/.git/hooks", .num = 1},
	{"deny-symlink-env", "cannot make .env a symlink", link_symbolic, .stage = STAGE_DENY, .text = "sub/.env"},
	{"deny-link-hook", "cannot hard-link a file to a hook's name", link_hard, .stage = STAGE_DENY, .text = HOOK},
	{"deny-link-env", "cannot hard-link a file to .env", link_hard, .stage = STAGE_DENY, .text = "sub/.env"},
	{"deny-tmpfile-hook", "cannot link an O_TMPFILE to a hook's name", link_tmpfile, .stage = STAGE_DENY,
	 .text = HOOK},
	{"deny-tmpfile-env", "cannot link an O_TMPFILE to .env", link_tmpfile, .stage = STAGE_DENY, .text = "sub/.env"},
	{"deny-gitfile", "cannot make .git a file that names another folder", link_gitfile, .stage = STAGE_DENY,
	 .text = ".git"},
};
ATTACKS("filesystem", rows);

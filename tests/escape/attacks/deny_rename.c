/* A denied path that appears because something above or beside it is renamed. */
#include <linux/fs.h>

#include "attack.h"

/* a/hooks/x, to be carried to .git/hooks/x in one step. */
static int build(void)
{
	if (mkdir("a", 0755) < 0 || mkdir("a/hooks", 0755) < 0)
		return -1;
	return make_file("a/hooks/x", O_EXCL, 0755);
}

static int judge_hook(const struct scene *s, long rc, const char *what, const char *hook)
{
	return rc < 0 ? lost(s, errno, what) : judge(s, access(hook, F_OK), hook);
}

static int rename_tree(const struct scene *s, const struct attack *a)
{
	if (build() < 0)
		return broken("setting up");
	return judge_hook(s, rename("a", ".git"), a->name, ".git/hooks/x");
}

static int rename_deep(const struct scene *s, const struct attack *a)
{
	if (mkdir("b", 0755) < 0 || mkdir("b/c", 0755) < 0 || build() < 0 || rename("a", "b/c/git") < 0)
		return broken("setting up");
	return judge_hook(s, rename("b/c/git", "b/c/.git"), a->name, "b/c/.git/hooks/x");
}

static int rename_into(const struct scene *s, const struct attack *a)
{
	if (build() < 0)
		return broken("setting up");
	(void)rmdir("repo/.git/hooks");
	return judge_hook(s, rename("a/hooks", "repo/.git/hooks"), a->name, "repo/.git/hooks/x");
}

static int rename_file(const struct scene *s, const struct attack *a)
{
	if (make_file("plain", O_EXCL, 0644) < 0)
		return broken("setting up");
	return judge_hook(s, rename("plain", a->text), a->name, a->text);
}

static int exchange(const struct scene *s, const struct attack *a)
{
	if (build() < 0)
		return broken("setting up");
	long rc = renameat2(AT_FDCWD, "a", AT_FDCWD, "repo/.git", RENAME_EXCHANGE);
	return judge_hook(s, rc, a->name, "repo/.git/hooks/x");
}

static const struct attack rows[] = {
	{"deny-rename-tree", "cannot rename a folder with hooks/x in it to .git", rename_tree, .stage = STAGE_DENY},
	{"deny-rename-deep", "cannot do so three folders down", rename_deep, .stage = STAGE_DENY},
	{"deny-rename-into", "cannot move a hooks folder into .git", rename_into, .stage = STAGE_DENY},
	{"deny-rename-hook", "cannot move a file to .git/hooks/pre-commit", rename_file, .stage = STAGE_DENY,
	 .text = "repo/.git/hooks/pre-commit"},
	{"deny-rename-env", "cannot rename a file to .env", rename_file, .stage = STAGE_DENY, .text = "sub/.env"},
	{"deny-exchange", "cannot exchange .git with a folder that has hooks/x", exchange, .stage = STAGE_DENY},
};
ATTACKS("filesystem", rows);

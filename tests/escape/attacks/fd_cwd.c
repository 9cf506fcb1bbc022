/* The caller's current folder is a handle too: it must not be the workload's when it lies outside. */
#include "attack.h"

static int read_here(const struct scene *s, const struct attack *a)
{
	return judge_secret(s, open(a->text, O_RDONLY | O_CLOEXEC), a->text);
}

static int where(const struct scene *s, const struct attack *a)
{
	struct fact folder;
	char path[4096];

	/* The raw call says "(unreachable)" where the folder is not below the root. */
	if (syscall(SYS_getcwd, path, sizeof(path)) < 0)
		return lost(s, errno, a->name);
	(void)fact(s, "outside_folder", &folder);
	if (path[0] != '/' || strcmp(path, folder.s) == 0)
		return won("the current folder is %s", path);
	return refused("the current folder is %s", path);
}

static const struct attack rows[] = {
	{"cwd-read", "cannot read a file in the caller's current folder", read_here, .stage = STAGE_CWD,
	 .text = "file"},
	{"cwd-where", "does not keep a current folder outside its root", where, .stage = STAGE_CWD},
};
ATTACKS("fd", rows);

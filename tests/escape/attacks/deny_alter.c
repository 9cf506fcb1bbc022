/* What is denied cannot be altered either: to delete a protection's target is to clear the way for another. */
#include "attack.h"

static int truncate_it(const struct scene *s, const struct attack *a)
{
	return judge(s, truncate(a->text, 0), a->text);
}

static int chmod_it(const struct scene *s, const struct attack *a)
{
	return judge(s, chmod(a->text, 0777), a->text);
}

static int append_it(const struct scene *s, const struct attack *a)
{
	int fd = open(a->text, O_WRONLY | O_APPEND | O_CLOEXEC);

	return judge(s, fd < 0 ? -1 : write(fd, "x\n", 2), a->text);
}

/* Moves the folder above away, so that what is denied gets a path that no rule knows, fills it, and moves it back. */
static int move_parent(const struct scene *s, const struct attack *a)
{
	if (rename("repo/.git", "repo/git") < 0)
		return lost(s, errno, "rename");
	if (make_file("repo/git/hooks/x", 0, 0755) < 0)
		return lost(s, errno, "hooks/x below the other name");
	if (rename("repo/git", "repo/.git") < 0)
		return lost(s, errno, "rename back");
	return judge(s, access(a->text, F_OK), a->text);
}

static const struct attack rows[] = {
	{"deny-truncate", "cannot truncate .git/config", truncate_it, .stage = STAGE_DENY, .text = "repo/.git/config"},
	{"deny-chmod-env", "cannot chmod .env", chmod_it, .stage = STAGE_DENY, .text = ".env"},
	{"deny-append", "cannot append to .git/config", append_it, .stage = STAGE_DENY, .text = "repo/.git/config"},
	{"deny-move-parent", "cannot move .git away, fill its hooks, and move it back", move_parent,
	 .stage = STAGE_DENY, .text = "repo/.git/hooks/x"},
};
ATTACKS("filesystem", rows);

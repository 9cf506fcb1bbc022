#include "sandbox/native/guard_make.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int guard_may_make(const struct job *j, struct place *p, enum guard_what what)
{
	const char *rule = guard_judge(j->g, p->path, what, true);

	if (!rule)
		rule = guard_judge_repository(j->g, p->path);
	p->in_repository = guard_in_repository(p->path);
	return verdict(j, rule, p->path);
}

/*
 * Another sandbox that works in the same folder has a guard of its own, which may have moved our folder, or made another part of a repository, between our judging and doing; that one looks again as well.
 * So whoever comes last sees both.
 */
int guard_judge_again(const struct job *j, struct place *p, enum guard_what what)
{
	int moved = guard_place_again(&j->g->eyes, p);
	const char *rule = NULL;

	if (moved < 0)
		return -EACCES;
	if (moved)
		rule = guard_judge(j->g, p->path, what, true);
	if (!rule && !p->in_repository)
		rule = guard_judge_made(j->g, p->path);
	return verdict(j, rule, p->path);
}

int guard_keep_made(const struct job *j, struct place *p, enum guard_what what)
{
	int r = guard_judge_again(j, p, what);

	if (r < 0)
		(void)unlinkat(p->dir, p->name, what == GUARD_FOLDER ? AT_REMOVEDIR : 0);
	return r;
}

void guard_wear_umask(const struct job *j)
{
	(void)umask(guard_umask(&j->g->eyes, j->call->pid));
}

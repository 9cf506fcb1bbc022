#include "sandbox/native/guard_make.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/native/own_files.h"

int guard_may_make(const struct job *j, struct place *p, enum guard_what what)
{
	const char *rule = guard_judge_place(j->g, p, what, true);

	if (!rule)
		rule = guard_judge_repository(j->g, p->path);
	p->in_repository = guard_in_repository(p->path);
	return verdict(j, rule, p->path);
}

int guard_may_change_at(const struct job *j, const struct place *p, enum guard_what what)
{
	const char *rule = guard_judge_place(j->g, p, what, true);

	return verdict(j, rule ? rule : guard_judge_repository(j->g, p->path), p->path);
}

/* The kernel says so behind the name that a file had. */
static bool cut_removed(char *path)
{
	static const char removed[] = " (deleted)";

	if (!sv_ends(sv_of(path), removed))
		return false;
	path[strlen(path) - strlen(removed)] = '\0';
	return true;
}

int guard_may_change(const struct job *j, int fd, enum guard_what what)
{
	struct place p;
	bool cut;
	int r = guard_place_opened(&j->g->eyes, fd, &p);

	if (r < 0)
		return r;
	r = guard_may_change_at(j, &p, what);
	cut = cut_removed(p.path);
	cut = cut_removed(p.other) || cut;
	return r == 0 && cut ? guard_may_change_at(j, &p, what) : r;
}

/*
 * Another sandbox that works in the same folder has a guard of its own, which may have moved our folder, or made
 * another part of a repository, between our judging and doing; that one looks again as well. So whoever comes last sees
 * both.
 */
int guard_judge_again(const struct job *j, struct place *p, enum guard_what what)
{
	int moved = guard_place_again(&j->g->eyes, p);
	const char *rule = NULL;

	if (moved < 0)
		return -EACCES;
	if (moved)
		rule = guard_judge_place(j->g, p, what, true);
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

/*
 * The workload may remove it at once, and the host or another sandbox make one of that name in the same moment: what
 * stands there is ours if it has the sticky bit that nobody else gives such files. It means nothing, and goes where
 * nobody asked for it.
 */
static int note_node(const struct job *j, const struct place *p, mode_t mode)
{
	AUTO_FD made = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char path[32];

	if (made < 0 || fstat(made, &st) < 0 || (st.st_mode & S_IFMT) != (mode & S_IFMT) || !(st.st_mode & S_ISVTX))
		return 0;
	own_files_add(j->g->own, made);
	(void)snprintf(path, sizeof(path), "self/fd/%d", made);
	return !(mode & S_ISVTX) && fchmodat(j->g->eyes.proc, path, st.st_mode & 0777, 0) < 0 ? -errno : 0;
}

int guard_make_node(const struct job *j, struct place *p, mode_t mode)
{
	bool note = (S_ISFIFO(mode) || S_ISSOCK(mode)) && guard_is_shared(j->g, p->path);
	int r;

	guard_wear_umask(j);
	if (note)
		own_files_begin(j->g->own);
	r = mknodat(p->dir, p->name, note ? mode | S_ISVTX : mode, 0) < 0 ? -errno : 0;
	if (r == 0 && note)
		r = note_node(j, p, mode);
	if (note)
		own_files_end(j->g->own);
	return r < 0 ? r : guard_keep_made(j, p, GUARD_FILE);
}

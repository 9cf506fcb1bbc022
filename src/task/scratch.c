#include "task/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/tree.h"

/* Between making a folder and locking it nobody holds it: those that are as new as this are let alone. */
enum { YOUNG_SECONDS = 60 };

static const char prefix[] = "task.";

/* An fd of the folder, which nobody but us may write to. */
static int open_place(const char *where)
{
	AUTO_FD fd = open(where, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return fd_take(&fd);
}

static bool is_abandoned(int place, const char *name)
{
	AUTO_FD fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && time(NULL) - st.st_mtime > YOUNG_SECONDS &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void sweep(int place)
{
	int copy = fcntl(place, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d) {
		if (copy >= 0)
			(void)close(copy);
		return;
	}
	while ((e = readdir(d)))
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && is_abandoned(place, e->d_name))
			sys_remove_tree(place, e->d_name);
	(void)closedir(d);
}

int scratch_make(const char *where, struct scratch *ret, struct error *err)
{
	struct scratch s = SCRATCH_NONE;
	struct text_shown shown;
	int r;

	(void)text_show(&shown, sv_of(where));
	if (snprintf(s.path, sizeof(s.path), "%s", where) + (int)sizeof(prefix) + 8 >= (int)sizeof(s.path))
		return error_set(err, ERROR_SYSTEM, "%.200s is too long a path", shown.s);
	r = sys_make_folders(s.path);
	if (r == 0) {
		AUTO_FD place = open_place(where);

		r = place < 0 ? place : 0;
		if (r == 0)
			sweep(place);
	}
	if (r < 0)
		return error_sys(err, r, "cannot use %.200s", shown.s);
	(void)snprintf(s.path + strlen(s.path), sizeof(s.path) - strlen(s.path), "/%sXXXXXX", prefix);
	if (!mkdtemp(s.path))
		return error_sys(err, errno, "cannot make a folder in %.200s", shown.s);
	s.fd = open(s.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s.fd < 0 || flock(s.fd, LOCK_EX | LOCK_NB) < 0) {
		(void)error_sys(err, errno, "cannot use %.200s", shown.s);
		scratch_done(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void scratch_done(struct scratch *s)
{
	if (s->path[0])
		sys_remove_tree(AT_FDCWD, s->path);
	if (s->fd >= 0)
		(void)close(s->fd);
	*s = (struct scratch)SCRATCH_NONE;
}

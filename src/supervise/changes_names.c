#include "supervise/changes_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "sys/names.h"

enum { REMOVE_TRIES = 16 };

static void cleanup_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static int names_add(struct names *names, size_t *cap, const char *name)
{
	size_t n = *cap ? *cap * 2 : 32;
	char **v, *copy;

	if (names->n == *cap) {
		v = reallocarray(names->v, n, sizeof(*v));
		if (!v)
			return -ENOMEM;
		names->v = v;
		*cap = n;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names->v[names->n++] = copy;
	return 0;
}

int names_read(struct names *names, int fd, size_t *budget)
{
	__attribute__((cleanup(cleanup_dir))) DIR *dir = NULL;
	/* A description of its own: reading moves the offset. */
	AUTO_FD own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t cap = names->n;
	struct dirent *e;
	int r;

	if (own < 0)
		return -errno;
	dir = fdopendir(own);
	if (!dir)
		return -errno;
	(void)fd_take(&own);
	while ((r = sys_next_name(dir, &e)) > 0) {
		if (*budget == 0)
			return -E2BIG;
		--*budget;
		r = names_add(names, &cap, e->d_name);
		if (r < 0)
			return r;
	}
	return r;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
	size_t i, n = 0;

	if (names->n == 0)
		return;
	qsort(names->v, names->n, sizeof(*names->v), compare_names);
	for (i = 1; i < names->n; i++) {
		if (strcmp(names->v[n], names->v[i]) == 0)
			free(names->v[i]);
		else
			names->v[++n] = names->v[i];
	}
	names->n = n + 1;
}

void names_done(struct names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct names){0};
}

/* Opens a folder that is to be emptied, with the rights that takes. */
static int open_to_empty(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	return fd;
}

static int empty(int fd)
{
	AUTO_NAMES names = {0};
	size_t budget = SIZE_MAX, i;
	int r = names_read(&names, fd, &budget);

	for (i = 0; r == 0 && i < names.n; i++)
		r = names_remove_tree(fd, names.v[i]);
	return r;
}

/* Others may work in it: what they remove is gone, and what they make is removed too, if they do not go on for ever. */
int names_remove_tree(int dirfd, const char *name)
{
	AUTO_FD fd = -1;
	int r, tries = REMOVE_TRIES;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = open_to_empty(dirfd, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	do {
		r = empty(fd);
		if (r == 0 && unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			r = -errno;
	} while ((r == -ENOTEMPTY || r == -EEXIST) && --tries);
	return r;
}

#include "task/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/tree.h"

enum { DEPTH_MAX = 300 };

static void add_name(struct sha256 *s, char kind, const char *name)
{
	sha256_add(s, &kind, 1);
	sha256_add(s, name, strlen(name) + 1);
}

static void add_size(struct sha256 *s, uint64_t n)
{
	unsigned char b[8];
	int i;

	for (i = 0; i < 8; i++)
		b[i] = (unsigned char)(n >> (8 * i));
	sha256_add(s, b, sizeof(b));
}

static int add_file(struct sha256 *s, int dir, const char *name, const struct stat *st)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char bytes[65536];
	ssize_t n;

	if (fd < 0)
		return -errno;
	add_name(s, st->st_mode & 0100 ? 'x' : 'f', name);
	add_size(s, (uint64_t)st->st_size);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		sha256_add(s, bytes, (size_t)n);
	return n < 0 ? -errno : 0;
}

static int add_link(struct sha256 *s, int dir, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	add_name(s, 'l', name);
	sha256_add(s, text, (size_t)n + 1);
	return 0;
}

static int add_folder(struct sha256 *s, int dir, unsigned depth);

static int add_entry(struct sha256 *s, int dir, const char *name, unsigned depth)
{
	AUTO_FD below = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return add_file(s, dir, name, &st);
	if (S_ISLNK(st.st_mode))
		return add_link(s, dir, name);
	if (!S_ISDIR(st.st_mode) || depth == 0)
		return -ELOOP;
	below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return -errno;
	add_name(s, 'd', name);
	return add_folder(s, below, depth - 1);
}

struct names {
	char **v;
	size_t n, room;
};

static int add_to(struct names *l, const char *name)
{
	char **v = l->v;

	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		v = realloc(l->v, l->room * sizeof(*v));
		if (!v)
			return -ENOMEM;
		l->v = v;
	}
	l->v[l->n] = strdup(name);
	return l->v[l->n++] ? 0 : -ENOMEM;
}

static int list(int dir, struct names *ret)
{
	DIR *d = sys_list(dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = add_to(ret, e->d_name);
	if (r == 0)
		r = -errno;
	(void)closedir(d);
	return r;
}

/* By their bytes, whatever the locale is. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_folder(struct sha256 *s, int dir, unsigned depth)
{
	struct names names = {0};
	int r = list(dir, &names);
	size_t i;

	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), by_name);
	for (i = 0; i < names.n; i++) {
		if (r == 0)
			r = add_entry(s, dir, names.v[i], depth);
		free(names.v[i]);
	}
	free(names.v);
	sha256_add(s, "", 1);
	return r;
}

int digest_folder(int dir, char ret[SHA256_HEX], struct error *err)
{
	unsigned char bytes[SHA256_SIZE];
	struct sha256 s;
	int r;

	sha256_init(&s);
	r = add_folder(&s, dir, DEPTH_MAX);
	if (r < 0)
		return error_sys(err, r, "digest of the task");
	sha256_done(&s, bytes);
	sha256_hex(bytes, ret);
	return 0;
}

#include "sandbox/docker/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { BLOCK = 512, DEPTH_MAX = 128 };

struct header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char device_major[8];
	char device_minor[8];
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

struct entry {
	char type;	  /* '0' file, '2' link, '5' folder, 'x' extended header */
	const char *name; /* without a slash before or behind */
	struct sv link;
	mode_t mode;
	uint64_t size;
};

static void octal(char *out, size_t size, uint64_t v)
{
	size_t i = size - 1;

	out[i] = '\0';
	for (; i > 0; i--, v /= 8)
		out[i - 1] = (char)('0' + v % 8);
}

/* The checksum is that of the header with blanks in its place. */
static void seal(struct header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	unsigned sum = 0;
	size_t i;

	memset(h->checksum, ' ', sizeof(h->checksum));
	for (i = 0; i < BLOCK; i++)
		sum += p[i];
	octal(h->checksum, 7, sum);
}

static void put_header(struct buf *out, const struct entry *e)
{
	struct header h = {0};
	size_t n = strlen(e->name);

	memcpy(h.name, e->name, n < sizeof(h.name) ? n : sizeof(h.name));
	memcpy(h.link, e->link.p ? e->link.p : "", e->link.n < sizeof(h.link) ? e->link.n : sizeof(h.link));
	octal(h.mode, sizeof(h.mode), e->mode & 01777);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), e->size);
	octal(h.mtime, sizeof(h.mtime), 0);
	h.type = e->type;
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	seal(&h);
	(void)buf_add(out, &h, sizeof(h));
}

static void pad(struct buf *out)
{
	static const char zeros[BLOCK];

	if (out->n % BLOCK)
		(void)buf_add(out, zeros, BLOCK - out->n % BLOCK);
}

/* "30 path=...\n": the length counts itself. */
static void put_record(struct buf *out, const char *key, struct sv value)
{
	size_t rest = strlen(key) + value.n + 3, n = rest + 1, digits;
	char number[24];

	for (;;) {
		digits = (size_t)snprintf(number, sizeof(number), "%zu", n);
		if (rest + digits == n)
			break;
		n = rest + digits;
	}
	(void)buf_printf(out, "%s %s=", number, key);
	(void)buf_sv(out, value);
	(void)buf_char(out, '\n');
}

static int put_extended(struct buf *out, const struct entry *e)
{
	struct entry x = {.type = 'x', .name = "pax", .mode = 0644};
	AUTO_BUF records = {0};

	buf_init(&records, 4 * PATH_MAX);
	if (strlen(e->name) > sizeof(((struct header *)NULL)->name))
		put_record(&records, "path", sv_of(e->name));
	if (e->link.n > sizeof(((struct header *)NULL)->link))
		put_record(&records, "linkpath", e->link);
	if (buf_failed(&records))
		return buf_failed(&records);
	if (records.n == 0)
		return 0;
	x.size = records.n;
	put_header(out, &x);
	(void)buf_sv(out, buf_view(&records));
	pad(out);
	return buf_failed(out);
}

static int put_entry(struct buf *out, const struct entry *e)
{
	int r = put_extended(out, e);

	if (r == 0)
		put_header(out, e);
	return r < 0 ? r : buf_failed(out);
}

static int put_link(int dir, const char *base, struct buf *out, struct entry *e)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(dir, base, text, sizeof(text));

	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(text))
		return -ENAMETOOLONG;
	e->type = '2';
	e->link = sv_n(text, (size_t)n);
	return put_entry(out, e);
}

static int put_folder(int dir, const char *path, unsigned depth, struct buf *out);

static int put_below(int dir, const char *base, unsigned depth, struct buf *out, struct entry *e)
{
	bool closed = !(e->mode & 0400); /* there to be laid over others: nothing is in it */
	AUTO_FD fd = closed ? -1 : openat(dir, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *name = NULL;
	const char *path = e->name;
	int r;

	if (fd < 0 && !closed)
		return -errno;
	/* a folder's name ends in a slash in archives */
	if (asprintf(&name, "%s/", path) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	e->type = '5';
	e->name = name;
	r = put_entry(out, e);
	return r < 0 || closed ? r : put_folder(fd, path, depth + 1, out);
}

static int put_one(int dir, const char *path, const char *base, unsigned depth, struct buf *out)
{
	AUTO_FREE char *name = NULL;
	struct entry e = {0};
	struct stat st;

	if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (asprintf(&name, "%s%s%s", path, *path ? "/" : "", base) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	e.name = name;
	e.mode = S_ISLNK(st.st_mode) ? 0777 : st.st_mode;
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return put_below(dir, base, depth, out, &e);
	case S_IFREG:
		e.type = '0';
		return put_entry(out, &e);
	case S_IFLNK:
		return put_link(dir, base, out, &e);
	default:
		return -EINVAL;
	}
}

static int is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* Not alphasort(), whose order is the locale's. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int put_folder(int dir, const char *path, unsigned depth, struct buf *out)
{
	struct dirent **names = NULL;
	char here[32]; /* not every libc has scandirat() */
	int n, i, r = 0;

	if (depth > DEPTH_MAX)
		return -ELOOP;
	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", dir);
	n = scandir(here, &names, is_entry, by_bytes);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (r == 0)
			r = put_one(dir, path, names[i]->d_name, depth, out);
		free(names[i]);
	}
	free(names);
	return r;
}

int tar_places(int dir, struct buf *out)
{
	static const char end[2 * BLOCK];
	int r = put_folder(dir, "", 0, out);

	return r < 0 ? r : buf_add(out, end, sizeof(end));
}

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
	free(b->p);
	*b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = 0;
	if (b->p)
		b->p[0] = '\0';
}

static int buf_fail(struct buf *b, int code)
{
	b->failed = code;
	return code;
}

/* And for the NUL. */
int buf_reserve(struct buf *b, size_t n)
{
	size_t want, cap;
	char *p;

	if (b->failed)
		return b->failed;
	if (n > b->max || b->n > b->max - n)
		return buf_fail(b, -EFBIG);
	want = b->n + n + 1;
	if (want <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 64;
	while (cap < want)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p)
		return buf_fail(b, -ENOMEM);
	b->p = p;
	b->cap = cap;
	return 0;
}

int buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;
	int n, r;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		return buf_fail(b, -EINVAL);
	r = buf_reserve(b, (size_t)n);
	if (r < 0)
		return r;
	va_start(ap, format);
	(void)vsnprintf(b->p + b->n, (size_t)n + 1, format, ap);
	va_end(ap);
	b->n += (size_t)n;
	return 0;
}

int buf_read_fd(struct buf *b, int fd)
{
	char chunk[16384];
	ssize_t n;
	int r;

	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return buf_fail(b, -errno);
		if (n == 0)
			return buf_add(b, "", 0); /* so that p is never NULL */
		r = buf_add(b, chunk, (size_t)n);
		if (r < 0)
			return r;
	}
}

int buf_read_file(struct buf *b, const char *path)
{
	/* O_NONBLOCK: a FIFO in the place of a file must not hang us. */
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > b->max)
		return -EFBIG;
	return buf_read_fd(b, fd);
}

char *buf_take(struct buf *b)
{
	char *p = b->p;

	*b = (struct buf){.max = b->max};
	return p;
}

int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;
	ssize_t w;

	while (n > 0) {
		w = write(fd, at, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

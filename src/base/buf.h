/*
 * buf: a growing run of bytes with a mandatory maximum.
 *
 * buf_init() borrows storage for the struct and sets the maximum; buf_done() frees the bytes. The
 * bytes are always followed by a NUL that is not counted, so buf->p is a C string
 * where the content has no NUL. Once an append fails (memory, or past the maximum) the
 * buffer is marked and all later appends fail too: check buf_failed() once, at the end.
 */
#ifndef CORDON_BASE_BUF_H
#define CORDON_BASE_BUF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sv.h"

struct buf {
	char *p;
	size_t n;
	size_t cap;
	size_t max;
	int failed; /* 0 or -errno */
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* keeps the storage, forgets bytes and failure */

/* Each returns 0 or -errno (-ENOMEM, -EFBIG). */
int buf_reserve(struct buf *b, size_t n); /* storage for n bytes more: they can be added without its being moved */
int buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads fd to its end. -EFBIG when there is more than the maximum. */
int buf_read_fd(struct buf *b, int fd);

/* Reads a whole regular file. -EISDIR and the like as open and read give them. */
int buf_read_file(struct buf *b, const char *path);

/* The bytes become the caller's (free()); the buffer is empty after it. */
char *buf_take(struct buf *b);

/* Inline: heads and frames are made of a hundred short pieces, and there is nearly always storage for the next one. */
static inline int buf_add(struct buf *b, const void *p, size_t n)
{
	int r = 0;

	if (b->failed || n >= b->cap - b->n || n > b->max - b->n)
		r = buf_reserve(b, n);
	if (r < 0)
		return r;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
	return 0;
}

static inline int buf_sv(struct buf *b, struct sv s)
{
	return buf_add(b, s.p, s.n);
}

static inline int buf_str(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

static inline int buf_char(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

static inline int buf_failed(const struct buf *b)
{
	return b->failed;
}

static inline struct sv buf_view(const struct buf *b)
{
	return sv_n(b->p ? b->p : "", b->n);
}

static inline void cleanup_buf(struct buf *b)
{
	buf_done(b);
}

#define AUTO_BUF __attribute__((cleanup(cleanup_buf))) struct buf

/* Writes all bytes to fd, restarting after EINTR and short writes. 0 or -errno. */
int write_all(int fd, const void *p, size_t n);

#endif

#include "audit/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/text.h"

struct audit_file {
	int fd;
	bool owns_fd;
	off_t at;          /* where the bytes behind have come from */
	size_t from, have; /* block[from..have) is not used yet */
	char block[2 * AUDIT_LINE_MAX];
};

int audit_file_open(const char *path, struct audit_file **ret, struct error *err)
{
	/* O_NONBLOCK: a FIFO in the place of a file must not hang us. */
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct text_shown shown;
	struct audit_file *f;
	struct stat st;

	text_show(&shown, sv_of(path));
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, errno, "%s", shown.s);
	if (S_ISDIR(st.st_mode))
		return error_sys(err, EISDIR, "%s", shown.s);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_SYSTEM, "%s: not a regular file; copy the log into one first", shown.s);
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_sys(err, ENOMEM, "%s", shown.s);
	f->fd = fd_take(&fd);
	f->owns_fd = true;
	*ret = f;
	return 0;
}

struct audit_file *audit_file_ahead(const struct audit_file *f)
{
	struct audit_file *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->fd = f->fd;
	g->at = f->at - (off_t)(f->have - f->from);
	return g;
}

void audit_file_free(struct audit_file *f)
{
	if (!f)
		return;
	if (f->owns_fd)
		(void)close(f->fd);
	free(f);
}

/* Moves what is left to the front and reads behind it. 0: the file has no more. */
static ssize_t fill(struct audit_file *f)
{
	ssize_t n;

	memmove(f->block, f->block + f->from, f->have - f->from);
	f->have -= f->from;
	f->from = 0;
	do
		n = pread(f->fd, f->block + f->have, sizeof(f->block) - f->have, f->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	f->have += (size_t)n;
	f->at += n;
	return n;
}

int audit_file_peek(const struct audit_file *f, struct sv *ret)
{
	const char *start = f->block + f->from, *end = memchr(start, '\n', f->have - f->from);

	if (!end)
		return 0;
	*ret = sv_n(start, (size_t)(end - start));
	return ret->n >= AUDIT_LINE_MAX ? AUDIT_FILE_LONG : AUDIT_FILE_LINE;
}

int audit_file_next(struct audit_file *f, struct sv *ret)
{
	bool skipping = false;
	size_t n;
	ssize_t r;
	char *end;

	for (;;) {
		n = f->have - f->from;
		end = memchr(f->block + f->from, '\n', n);
		if (end) {
			*ret = sv_n(f->block + f->from, (size_t)(end - f->block) - f->from);
			f->from += ret->n + 1;
			return skipping || ret->n >= AUDIT_LINE_MAX ? AUDIT_FILE_LONG : AUDIT_FILE_LINE;
		}
		if (n >= AUDIT_LINE_MAX) {
			skipping = true;
			f->from = f->have;
		}
		r = fill(f);
		if (r < 0)
			return (int)r;
		if (r > 0)
			continue;
		n = f->have;
		*ret = sv_n(f->block, n);
		f->from = f->have;
		return skipping ? AUDIT_FILE_LONG : n ? AUDIT_FILE_CUT : AUDIT_FILE_END;
	}
}

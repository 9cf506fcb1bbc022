/*
 * The reader of archives: whatever the bytes, in pieces of whatever size, an entry is what its header promises: names
 * without NUL and within their bounds, data in order within the file, and no more of it than there was.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "image/tar.h"
#include "image/unpack_path.h"

struct source {
	const uint8_t *p;
	size_t n, piece;
};

static ssize_t give(void *arg, void *to, size_t n)
{
	struct source *s = arg;

	n = n < s->piece ? n : s->piece;
	n = n < s->n ? n : s->n;
	memcpy(to, s->p, n);
	s->p += n;
	s->n -= n;
	return (ssize_t)n;
}

static void check_entry(const struct tar_entry *e)
{
	struct unpack_path p;
	size_t i;

	if (e->path.n > TAR_MAX_PATH || e->link.n > TAR_MAX_PATH || (e->mode & ~07777U) ||
	    e->n_xattrs > TAR_MAX_XATTRS || e->mtime < 0)
		abort();
	if ((e->path.n && memchr(e->path.p, '\0', e->path.n)) || (e->link.n && memchr(e->link.p, '\0', e->link.n)))
		abort();
	for (i = 0; i < e->n_xattrs; i++)
		if (!e->xattrs[i].name.n || memchr(e->xattrs[i].name.p, '\0', e->xattrs[i].name.n))
			abort();
	if (unpack_path_read(e->path, &p) == NULL &&
	    (p.path[0] == '/' || strstr(p.path, "//") || strncmp(p.path, "../", 3) == 0 || strstr(p.path, "/../") ||
	     strcmp(p.path, "..") == 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct source s = {bytes, n, n && bytes[0] % 2 ? 3 : 65536};
	struct tar *t = tar_new(give, &s);
	const struct tar_entry *e = NULL;
	uint64_t at, end, stored;
	struct sv part;
	int r;

	if (!t)
		return 0;
	while (tar_next(t, &e) == 1) {
		check_entry(e);
		end = stored = 0;
		while ((r = tar_data(t, &part, &at)) == 1) {
			if (at < end || part.n == 0 || at + part.n > e->size)
				abort();
			end = at + part.n;
			stored += part.n;
			if (stored > n)
				abort();
		}
		if (r < 0)
			break;
	}
	(void)tar_drain(t);
	tar_free(t);
	return 0;
}

#include "gate/egress/inflate.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "http/fields.h"

enum { WINDOW = 15, GZIP_ONLY = 16 };

struct inflater {
	z_stream z;
	bool gzip, bare;
	bool started, ended, full;
};

int inflater_new(struct sv coding, struct inflater **ret)
{
	bool gzip = http_eq_nocase(coding, "gzip") || http_eq_nocase(coding, "x-gzip");
	struct inflater *i;

	if (coding.n == 0 || http_eq_nocase(coding, "identity")) {
		*ret = NULL;
		return 0;
	}
	if (!gzip && !http_eq_nocase(coding, "deflate"))
		return -EOPNOTSUPP;
	i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOMEM;
	i->gzip = gzip;
	*ret = i;
	return 0;
}

int inflater_new_bare(struct sv coding, struct inflater **ret)
{
	int e;

	*ret = NULL;
	if (!http_eq_nocase(coding, "deflate"))
		return 0;
	e = inflater_new(coding, ret);
	if (e == 0)
		(*ret)->bare = true;
	return e;
}

void inflater_free(struct inflater *i)
{
	if (!i)
		return;
	if (i->started)
		(void)inflateEnd(&i->z);
	free(i);
}

/* "deflate" means the form of zlib (whose first byte names method 8); some servers send it bare. */
static int start(struct inflater *i, unsigned char first)
{
	int bits = i->gzip ? WINDOW + GZIP_ONLY : !i->bare && (first & 15) == 8 ? WINDOW : -WINDOW;

	if (inflateInit2(&i->z, bits) != Z_OK)
		return -ENOMEM;
	i->started = true;
	return 0;
}

long inflater_run(struct inflater *i, struct sv *in, char *out, size_t max)
{
	int r;

	if (!i->started && in->n == 0)
		return 0;
	if (!i->started && start(i, (unsigned char)in->p[0]) < 0)
		return -ENOMEM;
	if (i->ended) {
		if (in->n == 0)
			return 0;
		/* gzip: several members in a row are one body; anything else behind the end is not */
		if (!i->gzip || inflateReset(&i->z) != Z_OK)
			return -EBADMSG;
		i->ended = false;
	}
	i->z.next_in = (Bytef *)(uintptr_t)in->p;
	i->z.avail_in = (uInt)in->n;
	i->z.next_out = (Bytef *)out;
	i->z.avail_out = (uInt)max;
	r = inflate(&i->z, Z_NO_FLUSH);
	in->p += in->n - i->z.avail_in;
	in->n = i->z.avail_in;
	i->full = i->z.avail_out == 0 && r == Z_OK;
	if (r == Z_STREAM_END)
		i->ended = true;
	else if (r == Z_MEM_ERROR)
		return -ENOMEM;
	else if (r != Z_OK && r != Z_BUF_ERROR)
		return -EBADMSG;
	return (long)(max - i->z.avail_out);
}

bool inflater_has_more(const struct inflater *i)
{
	return i->full;
}

bool inflater_is_complete(const struct inflater *i)
{
	return !i->started || i->ended;
}

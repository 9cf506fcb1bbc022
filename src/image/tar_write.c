#include <stdio.h>
#include <string.h>

#include "image/tar.h"
#include "image/tar_header.h"

static const char type_of[] = {[TAR_FILE] = '0',         [TAR_HARD_LINK] = '1', [TAR_LINK] = '2', [TAR_CHAR] = '3',
			       [TAR_BLOCK_DEVICE] = '4', [TAR_FOLDER] = '5',    [TAR_FIFO] = '6'};

size_t tar_pad(uint64_t size)
{
	return (size_t)(-size & (TAR_BLOCK - 1));
}

/* Octal with a NUL behind it. False where it does not fit: the field is 0, and a pax header says it. */
static bool put_number(unsigned char *b, struct tar_field f, uint64_t v)
{
	bool fits = v >> (3 * (f.n - 1)) == 0;
	size_t i;

	for (i = f.n - 1; i-- > 0; v >>= 3)
		b[f.at + i] = (unsigned char)('0' + (fits ? v & 7 : 0));
	return fits;
}

static bool put_text(unsigned char *b, struct tar_field f, struct sv s)
{
	if (s.n > f.n)
		return false;
	if (s.n)
		memcpy(b + f.at, s.p, s.n);
	return true;
}

static void put_record(struct buf *out, const char *prefix, struct sv key, struct sv value)
{
	/* blank, "=" and newline, and the digits of the whole, which count themselves */
	size_t rest = strlen(prefix) + key.n + value.n + 3, n = rest, digits;

	do {
		digits = (size_t)snprintf(NULL, 0, "%zu", n);
		if (rest + digits == n)
			break;
		n = rest + digits;
	} while (true);
	(void)buf_printf(out, "%zu %s", n, prefix);
	(void)buf_sv(out, key);
	(void)buf_char(out, '=');
	(void)buf_sv(out, value);
	(void)buf_char(out, '\n');
}

static void put_record_number(struct buf *out, const char *key, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	put_record(out, "", sv_of(key), sv_of(text));
}

static void put_zeros(struct buf *out, size_t n)
{
	static const char zeros[TAR_BLOCK];

	(void)buf_add(out, zeros, n);
}

static void start(unsigned char *b, char type)
{
	memset(b, 0, TAR_BLOCK);
	b[TAR_TYPE_AT] = (unsigned char)type;
	memcpy(b + TAR_MAGIC_AT, "ustar\00000", 8);
}

static void finish(struct buf *out, unsigned char *b)
{
	char text[8];

	(void)snprintf(text, sizeof(text), "%06o", tar_checksum(b) & 0777777);
	memcpy(b + TAR_CHECKSUM.at, text, 7);
	b[TAR_CHECKSUM.at + 7] = ' ';
	(void)buf_add(out, b, TAR_BLOCK);
}

static void put_pax(struct buf *out, const struct buf *records)
{
	unsigned char b[TAR_BLOCK];

	start(b, 'x');
	(void)put_text(b, TAR_NAME, sv_of("pax"));
	(void)put_number(b, TAR_MODE, 0644);
	(void)put_number(b, TAR_UID, 0);
	(void)put_number(b, TAR_GID, 0);
	(void)put_number(b, TAR_SIZE, records->n);
	(void)put_number(b, TAR_MTIME, 0);
	finish(out, b);
	(void)buf_sv(out, buf_view(records));
	put_zeros(out, tar_pad(records->n));
}

void tar_put(struct buf *out, const struct tar_entry *e)
{
	unsigned char b[TAR_BLOCK];
	AUTO_BUF pax = {0};
	size_t i;

	buf_init(&pax, TAR_MAX_EXTRA);
	start(b, type_of[e->type]);
	if (!put_text(b, TAR_NAME, e->path))
		put_record(&pax, "", sv_of("path"), e->path);
	if (!put_text(b, TAR_LINK_NAME, e->link))
		put_record(&pax, "", sv_of("linkpath"), e->link);
	(void)put_number(b, TAR_MODE, e->mode & 07777);
	if (!put_number(b, TAR_UID, e->uid))
		put_record_number(&pax, "uid", e->uid);
	if (!put_number(b, TAR_GID, e->gid))
		put_record_number(&pax, "gid", e->gid);
	if (!put_number(b, TAR_SIZE, e->type == TAR_FILE ? e->size : 0))
		put_record_number(&pax, "size", e->size);
	if (!put_number(b, TAR_MTIME, e->mtime < 0 ? 0 : (uint64_t)e->mtime))
		put_record_number(&pax, "mtime", (uint64_t)e->mtime);
	(void)put_number(b, TAR_MAJOR, e->major);
	(void)put_number(b, TAR_MINOR, e->minor);
	for (i = 0; i < e->n_xattrs; i++)
		put_record(&pax, "SCHILY.xattr.", e->xattrs[i].name, e->xattrs[i].value);
	if (buf_failed(&pax))
		out->failed = buf_failed(&pax);
	if (pax.n)
		put_pax(out, &pax);
	finish(out, b);
}

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/tar.h"
#include "image/tar_header.h"

enum { CHUNK = 256 * 1024, MAP_TEXT_MAX = 4 << 20 };

struct tar {
	tar_source *read;
	void *arg;
	char *room; /* CHUNK bytes, of which from..to were read and not used */
	size_t from, to;
	bool ended; /* of the source */
	struct tar_entry entry;
	struct tar_extra extra;
	bool name_kept; /* for messages: the entry's path is known */
	char name[256];
	/* of the entry's data */
	uint64_t stored; /* bytes still in the archive */
	size_t padding;
	struct tar_part whole; /* the map of a file without holes */
	const struct tar_part *parts;
	size_t n_parts, part;
	uint64_t in_part;
	bool has_end; /* a block of zeros followed the last entry */
	const char *wrong;
};

struct tar *tar_new(tar_source *read, void *arg)
{
	struct tar *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->read = read;
	t->arg = arg;
	tar_extra_init(&t->extra);
	t->room = malloc(CHUNK);
	if (t->room)
		return t;
	tar_free(t);
	return NULL;
}

void tar_free(struct tar *t)
{
	if (!t)
		return;
	tar_extra_done(&t->extra);
	free(t->room);
	free(t);
}

static int fail(struct tar *t, const char *wrong)
{
	if (!t->wrong)
		t->wrong = wrong;
	return -1;
}

const char *tar_wrong(const struct tar *t)
{
	return t->wrong ? t->wrong : "";
}

struct sv tar_wrong_at(const struct tar *t)
{
	return sv_of(t->name);
}

static void keep_name(struct tar *t, struct sv path)
{
	size_t n = path.n < sizeof(t->name) - 1 ? path.n : sizeof(t->name) - 1;

	memcpy(t->name, path.p, n);
	t->name[n] = '\0';
}

/* More bytes behind those that are there. 1; 0: the source has ended; -1. */
static int fill(struct tar *t)
{
	ssize_t n;

	if (t->from == t->to)
		t->from = t->to = 0;
	if (t->to == CHUNK) {
		memmove(t->room, t->room + t->from, t->to - t->from);
		t->to -= t->from;
		t->from = 0;
	}
	if (t->ended)
		return 0;
	n = t->read(t->arg, t->room + t->to, CHUNK - t->to);
	if (n < 0)
		return fail(t, "could not be read");
	t->ended = n == 0;
	t->to += (size_t)n;
	return n > 0;
}

/* The next block, borrowed until the next read. 1; 0: nothing at all is left; -1: less than a block is. */
static int block(struct tar *t, const unsigned char **ret)
{
	int r = 1;

	while (r > 0 && t->to - t->from < TAR_BLOCK)
		r = fill(t);
	if (r < 0)
		return -1;
	if (r == 0)
		return t->to == t->from ? 0 : fail(t, "is cut short, or is no tar archive");
	*ret = (const unsigned char *)t->room + t->from;
	t->from += TAR_BLOCK;
	return 1;
}

/* Up to max bytes of data, borrowed until the next read. */
static int some(struct tar *t, uint64_t max, struct sv *ret)
{
	size_t have;
	int r;

	if (t->from == t->to) {
		r = fill(t);
		if (r <= 0)
			return r < 0 ? -1 : fail(t, "is cut short");
	}
	have = t->to - t->from;
	*ret = sv_n(t->room + t->from, have < max ? have : (size_t)max);
	t->from += ret->n;
	return 0;
}

static int skip(struct tar *t, uint64_t n)
{
	struct sv s = {0};

	while (n) {
		if (some(t, n, &s) < 0)
			return -1;
		n -= s.n;
	}
	return 0;
}

static bool is_zero(const unsigned char *b)
{
	size_t i;

	for (i = 0; i < TAR_BLOCK; i++)
		if (b[i])
			return false;
	return true;
}

/* The data of a header that stands in front of an entry, with its padding. */
static int read_extra(struct tar *t, const unsigned char *header, struct buf *to)
{
	struct sv s = {0};
	uint64_t n, left;

	if (!tar_number(header, TAR_SIZE, &n) || n > TAR_MAX_EXTRA)
		return fail(t, "has a header that is too long");
	buf_clear(to);
	for (left = n; left; left -= s.n)
		if (some(t, left, &s) < 0 || buf_sv(to, s) < 0)
			return fail(t, "has a header that is too long");
	return skip(t, tar_pad(n));
}

/* GNU's long names end with a NUL; what stands behind it is nobody's. Not read where a pax header's text is, which its
 * attributes borrow. */
static int read_long(struct tar *t, const unsigned char *header, struct buf *to, bool *has)
{
	AUTO_BUF text = {0};

	buf_init(&text, TAR_MAX_EXTRA);
	if (read_extra(t, header, &text) < 0)
		return -1;
	buf_clear(to);
	*has = true;
	if (buf_sv(to, sv_n(text.p ? text.p : "", strnlen(text.p ? text.p : "", text.n))) < 0)
		return fail(t, "has a name that is too long");
	return 0;
}

/* GNU's own form of sparse files: four parts in the header, more in blocks behind it. */
static int read_gnu_parts(struct tar *t, const unsigned char *b)
{
	struct tar_extra *x = &t->extra;
	unsigned at = TAR_GNU_PARTS_AT, n = TAR_GNU_PARTS, more_at = TAR_GNU_MORE_AT, i;
	uint64_t from, size;
	const char *wrong;

	if (!tar_number(b, (struct tar_field){TAR_GNU_SIZE_AT, 12}, &x->real))
		return fail(t, "has a size that is no number");
	x->has_real = x->sparse = true;
	for (;;) {
		for (i = 0; i < n && b[at + 24 * i]; i++) {
			if (!tar_number(b, (struct tar_field){(unsigned short)(at + 24 * i), 12}, &from) ||
			    !tar_number(b, (struct tar_field){(unsigned short)(at + 24 * i + 12), 12}, &size))
				return fail(t, "has a map of holes that is none");
			wrong = tar_add_part(x, from, size);
			if (wrong)
				return fail(t, wrong);
		}
		if (!b[more_at])
			return 0;
		if (block(t, &b) <= 0)
			return fail(t, "is cut short");
		at = 0;
		n = TAR_GNU_MORE_PARTS;
		more_at = TAR_GNU_MORE_MORE_AT;
	}
}

/* pax 1.0: the map is text in front of the data: a count, then pairs, a number a line, in whole blocks. */
static int read_map_in_data(struct tar *t)
{
	struct tar_extra *x = &t->extra;
	const unsigned char *b;
	uint64_t v = 0, count = 0, from = 0, seen = 0, used = 0;
	bool digits = false, done = false;
	const char *wrong = NULL;
	size_t i;

	x->n_parts = 0;
	while (!done) {
		if (used + TAR_BLOCK > t->stored || used > MAP_TEXT_MAX || block(t, &b) <= 0)
			return fail(t, "has a map of holes that does not end");
		used += TAR_BLOCK;
		for (i = 0; i < TAR_BLOCK && !done; i++) {
			if (b[i] >= '0' && b[i] <= '9') {
				if (v > UINT64_MAX / 16)
					return fail(t, "has a map of holes that is none");
				v = v * 10 + (uint64_t)(b[i] - '0');
				digits = true;
				continue;
			}
			if (b[i] != '\n' || !digits)
				return fail(t, "has a map of holes that is none");
			if (seen == 0)
				count = v;
			else if (seen % 2)
				from = v;
			else
				wrong = tar_add_part(x, from, v);
			if (wrong || count > TAR_MAX_HOLES)
				return fail(t, wrong ? wrong : "has more holes than a file may have");
			done = seen == 2 * count;
			seen++;
			v = 0;
			digits = false;
		}
	}
	t->stored -= used;
	return 0;
}

static int start_data(struct tar *t)
{
	struct tar_entry *e = &t->entry;
	struct tar_extra *x = &t->extra;
	const char *wrong;

	t->padding = tar_pad(t->stored);
	t->part = 0;
	t->in_part = 0;
	if (x->sparse && e->type == TAR_FILE) {
		if (x->sparse_in_data && read_map_in_data(t) < 0)
			return -1;
		if (!x->has_real)
			return fail(t, "is sparse, and does not say how long");
		e->size = x->real;
		wrong = tar_check_parts(x, t->stored, e->size);
		if (wrong)
			return fail(t, wrong);
		t->parts = x->parts;
		t->n_parts = x->n_parts;
		return 0;
	}
	e->size = e->type == TAR_FILE ? t->stored : 0;
	t->whole = (struct tar_part){0, e->size};
	t->parts = &t->whole;
	t->n_parts = e->size ? 1 : 0;
	return 0;
}

static const struct {
	char c;
	enum tar_type type;
} types[] = {{'0', TAR_FILE}, {'\0', TAR_FILE}, {'7', TAR_FILE},         {'S', TAR_FILE},   {'1', TAR_HARD_LINK},
	     {'2', TAR_LINK}, {'3', TAR_CHAR},  {'4', TAR_BLOCK_DEVICE}, {'5', TAR_FOLDER}, {'6', TAR_FIFO}};

static int read_type(struct tar *t, char c)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].c == c) {
			t->entry.type = types[i].type;
			return 0;
		}
	return fail(t, "is of a kind that is not known");
}

/* ustar keeps the front of a long name elsewhere; GNU and older forms have other things there. */
static int read_path(struct tar *t, const unsigned char *b)
{
	struct tar_extra *x = &t->extra;
	struct sv prefix = tar_text(b, TAR_PREFIX);
	bool ustar = memcmp(b + TAR_MAGIC_AT, "ustar\0", 6) == 0;

	if (!x->has_path) {
		buf_clear(&x->path);
		if (ustar && prefix.n) {
			(void)buf_sv(&x->path, prefix);
			(void)buf_char(&x->path, '/');
		}
		(void)buf_sv(&x->path, tar_text(b, TAR_NAME));
	}
	if (!x->has_link) {
		buf_clear(&x->link);
		(void)buf_sv(&x->link, tar_text(b, TAR_LINK_NAME));
	}
	if (buf_failed(&x->path) || buf_failed(&x->link))
		return fail(t, "has a name that is too long");
	t->entry.path = buf_view(&x->path);
	t->entry.link = buf_view(&x->link);
	keep_name(t, t->entry.path);
	return 0;
}

static int read_numbers(struct tar *t, const unsigned char *b)
{
	struct tar_entry *e = &t->entry;
	const struct tar_extra *x = &t->extra;
	uint64_t mode, major = 0, minor = 0;
	bool ok = tar_number(b, TAR_MODE, &mode) && tar_number(b, TAR_SIZE, &t->stored);

	/* what a pax header says, it says because it does not fit here: what stands here instead need be no number */
	ok = ok && (tar_number(b, TAR_UID, &e->uid) || x->has_uid) && (tar_number(b, TAR_GID, &e->gid) || x->has_gid) &&
	     (tar_time(b, TAR_MTIME, &e->mtime) || x->has_mtime);
	if (e->type == TAR_CHAR || e->type == TAR_BLOCK_DEVICE)
		ok = ok && tar_number(b, TAR_MAJOR, &major) && tar_number(b, TAR_MINOR, &minor);
	if (!ok)
		return fail(t, "has a header with a number that is none");
	e->mode = (uint32_t)(mode & 07777);
	e->major = (uint32_t)major;
	e->minor = (uint32_t)minor;
	if (x->has_uid)
		e->uid = x->uid;
	if (x->has_gid)
		e->gid = x->gid;
	if (x->has_mtime)
		e->mtime = x->mtime;
	if (x->has_size)
		t->stored = x->size;
	if (t->stored > INT64_MAX)
		return fail(t, "has a size beyond all files");
	return 0;
}

static int read_entry(struct tar *t, const unsigned char *b)
{
	struct tar_entry *e = &t->entry;
	const struct tar_extra *x = &t->extra;
	char type = (char)b[TAR_TYPE_AT];

	if (read_type(t, type) < 0 || read_path(t, b) < 0 || read_numbers(t, b) < 0)
		return -1;
	/* before there were types, a folder was a name with a slash behind it */
	if ((type == '0' || type == '\0') && sv_ends(e->path, "/"))
		e->type = TAR_FOLDER;
	/* what only files have, others may have a number for, and nothing behind it: as old programs wrote links */
	if (e->type != TAR_FILE) {
		if (e->type == TAR_HARD_LINK || e->type == TAR_LINK)
			t->stored = 0;
		else if (t->stored)
			return fail(t, "has data, and is no file");
	}
	e->n_xattrs = x->n_xattrs;
	memcpy(e->xattrs, x->xattrs, x->n_xattrs * sizeof(*x->xattrs));
	if (type == 'S' && read_gnu_parts(t, b) < 0)
		return -1;
	return start_data(t);
}

/* 1: it was a header in front of an entry; 0: it is an entry's own. */
static int read_front(struct tar *t, const unsigned char *b)
{
	const char *wrong;
	bool global = b[TAR_TYPE_AT] == 'g';

	switch (b[TAR_TYPE_AT]) {
	case 'L':
		return read_long(t, b, &t->extra.path, &t->extra.has_path) < 0 ? -1 : 1;
	case 'K':
		return read_long(t, b, &t->extra.link, &t->extra.has_link) < 0 ? -1 : 1;
	case 'x':
	case 'g':
		if (read_extra(t, b, &t->extra.text) < 0)
			return -1;
		wrong = tar_pax(&t->extra, global);
		return wrong ? fail(t, wrong) : 1;
	default:
		return 0;
	}
}

int tar_next(struct tar *t, const struct tar_entry **ret)
{
	unsigned fronts = 0, zeros = 0;
	const unsigned char *b;
	int r;

	if (t->wrong || skip(t, t->stored) < 0 || skip(t, t->padding) < 0)
		return -1;
	t->stored = t->padding = 0;
	tar_extra_clear(&t->extra);
	for (;;) {
		r = block(t, &b);
		if (r <= 0)
			return r < 0 || fronts ? fail(t, "is cut short") : 0;
		if (is_zero(b)) {
			if (fronts)
				return fail(t, "is cut short");
			t->has_end = true;
			if (++zeros == 2)
				return 0;
			continue;
		}
		/* one block of zeros between entries is what some programs write */
		zeros = 0;
		t->has_end = false;
		if (!tar_checksum_ok(b))
			return fail(t, "is damaged, or is no tar archive");
		r = read_front(t, b);
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		if (++fronts > TAR_MAX_HEADERS)
			return fail(t, "has too many headers in front of one entry");
	}
	if (read_entry(t, b) < 0)
		return -1;
	*ret = &t->entry;
	return 1;
}

int tar_data(struct tar *t, struct sv *ret, uint64_t *ret_at)
{
	const struct tar_part *p;

	while (t->part < t->n_parts && t->in_part == t->parts[t->part].n) {
		t->part++;
		t->in_part = 0;
	}
	if (t->part == t->n_parts)
		return 0;
	p = &t->parts[t->part];
	if (some(t, p->n - t->in_part, ret) < 0)
		return -1;
	*ret_at = p->at + t->in_part;
	t->in_part += ret->n;
	t->stored -= ret->n;
	return 1;
}

bool tar_is_whole(const struct tar *t)
{
	return t->has_end;
}

int tar_drain(struct tar *t)
{
	int r;

	do {
		t->from = t->to = 0;
		r = fill(t);
	} while (r > 0);
	return r;
}

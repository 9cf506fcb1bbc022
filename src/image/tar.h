/*
 * tar: reading and writing archives, entry by entry: ustar, GNU (long names, large numbers, sparse files) and pax.
 *
 * The reader believes nothing: checksums are checked, numbers must fit, every length has a bound below, and what cannot
 * be understood ends the archive with a reason. It says what stands there; what of it may be made is the caller's to
 * judge (unpack_path.h, unpack_tree.h). It allocates what an entry needs and forgets it with the next.
 *
 * The writer writes one form for one entry, so that equal trees give equal bytes: ustar, and a pax header in front
 * where something does not fit there.
 */
#ifndef CORDON_IMAGE_TAR_H
#define CORDON_IMAGE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/sv.h"

enum {
	TAR_BLOCK = 512,
	TAR_MAX_PATH = 4096,	 /* of names and link targets */
	TAR_MAX_EXTRA = 1 << 20, /* of one pax header */
	TAR_MAX_HEADERS = 8,	 /* of these in front of one entry */
	TAR_MAX_XATTRS = 64,	 /* of one entry */
	TAR_MAX_HOLES = 1 << 16, /* of one sparse file */
};

enum tar_type { TAR_FILE, TAR_HARD_LINK, TAR_LINK, TAR_CHAR, TAR_BLOCK_DEVICE, TAR_FOLDER, TAR_FIFO };

struct tar_xattr {
	struct sv name, value;
};

struct tar_part {
	uint64_t at, n; /* in the file */
};

struct tar_entry {
	enum tar_type type;
	struct sv path; /* as written; no NUL inside */
	struct sv link; /* of links */
	uint32_t mode;	/* 07777 */
	uint64_t uid, gid;
	int64_t mtime;
	uint64_t size; /* of the file, with its holes */
	uint32_t major, minor;
	struct tar_xattr xattrs[TAR_MAX_XATTRS];
	size_t n_xattrs;
};

struct tar;

/* Bytes read (0: the end), or -errno. */
typedef ssize_t tar_source(void *arg, void *to, size_t n);

struct tar *tar_new(tar_source *read, void *arg); /* NULL: no memory */
void tar_free(struct tar *t);

/* 1: the next entry, borrowed until the next call; 0: the end; -1: see tar_wrong(). What is left of the entry before is
 * passed over. */
int tar_next(struct tar *t, const struct tar_entry **ret);
/* 1: bytes of the entry's file, and where in it they belong; 0: there are no more; -1. */
int tar_data(struct tar *t, struct sv *ret, uint64_t *ret_at);
/* Behind the last entry: did the archive say that it is the last? One that was cut between two entries did not. */
bool tar_is_whole(const struct tar *t);
/* Reads on to the end of the source, whatever is there. 0 or -1. */
int tar_drain(struct tar *t);

const char *tar_wrong(const struct tar *t); /* static text */
struct sv tar_wrong_at(const struct tar *t); /* the name of the entry, as far as it is known */

/* Appends what stands in front of an entry's data. Of a file, its bytes follow, then tar_pad(). */
void tar_put(struct buf *out, const struct tar_entry *e);
size_t tar_pad(uint64_t size); /* zero bytes behind so many */
enum { TAR_END = 2 * TAR_BLOCK }; /* zero bytes behind all */

#endif

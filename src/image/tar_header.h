/*
 * tar_header: the parts of a header that reader and writer share. For tar*.c only.
 */
#ifndef CORDON_IMAGE_TAR_HEADER_H
#define CORDON_IMAGE_TAR_HEADER_H

#include "image/tar.h"

struct tar_field {
	unsigned short at, n;
};

#define TAR_NAME      ((struct tar_field){0, 100})
#define TAR_MODE      ((struct tar_field){100, 8})
#define TAR_UID	      ((struct tar_field){108, 8})
#define TAR_GID	      ((struct tar_field){116, 8})
#define TAR_SIZE      ((struct tar_field){124, 12})
#define TAR_MTIME     ((struct tar_field){136, 12})
#define TAR_CHECKSUM  ((struct tar_field){148, 8})
#define TAR_LINK_NAME ((struct tar_field){157, 100})
#define TAR_MAJOR     ((struct tar_field){329, 8})
#define TAR_MINOR     ((struct tar_field){337, 8})
#define TAR_PREFIX    ((struct tar_field){345, 155})

enum {
	TAR_TYPE_AT = 156,
	TAR_MAGIC_AT = 257,
	TAR_GNU_PARTS_AT = 386,
	TAR_GNU_MORE_AT = 482,
	TAR_GNU_SIZE_AT = 483,
	TAR_GNU_PARTS = 4,
	TAR_GNU_MORE_PARTS = 21,
	TAR_GNU_MORE_MORE_AT = 504
};

/* Octal with blanks around it, or GNU's base 256. False where it is neither, is negative, or does not fit. */
bool tar_number(const unsigned char *block, struct tar_field f, uint64_t *ret);
/* The same, but a negative time is 0. */
bool tar_time(const unsigned char *block, struct tar_field f, int64_t *ret);
/* Up to the first NUL. */
struct sv tar_text(const unsigned char *block, struct tar_field f);
bool tar_checksum_ok(const unsigned char *block);
unsigned tar_checksum(const unsigned char *block);

/* What pax and GNU headers in front of an entry say of it. */
struct tar_extra {
	struct buf text; /* of pax headers, what the strings below borrow */
	struct buf path, link;
	bool has_path, has_link, has_size, has_uid, has_gid, has_mtime;
	uint64_t size, uid, gid;
	int64_t mtime;
	struct tar_xattr xattrs[TAR_MAX_XATTRS];
	size_t n_xattrs;
	/* GNU's sparse files in pax */
	bool sparse, sparse_in_data;
	bool has_real;
	uint64_t real;
	struct tar_part *parts;
	size_t n_parts, cap_parts;
	bool half_part; /* the last part is an offset without its length: so there is one */
};

void tar_extra_init(struct tar_extra *x);
void tar_extra_clear(struct tar_extra *x);
void tar_extra_done(struct tar_extra *x);

/* Reads x->text; a global one may only say what has no effect. NULL, or what is wrong. */
const char *tar_pax(struct tar_extra *x, bool global);
/* Decimal digits and nothing else. */
bool tar_decimal(struct sv s, uint64_t *ret);

const char *tar_add_part(struct tar_extra *x, uint64_t at, uint64_t n);
/* Do the parts follow each other within the file, and are they as many bytes as are stored? */
const char *tar_check_parts(const struct tar_extra *x, uint64_t stored, uint64_t size);

#endif

/*
 * unpack: an archive into a folder, by two processes that can do nothing else (unpack_main.c).
 *
 *	source -> us: digest of the blob -> decompressor -> us: digest of the tar, sizes -> unpacker, in a user
 * namespace -> folder
 *
 * Whatever is compressed passes a decompressor of its own, so that the digest of what comes out is taken here, of the
 * very bytes that the unpacker gets: neither of them can claim another one.
 */
#ifndef CORDON_IMAGE_UNPACK_H
#define CORDON_IMAGE_UNPACK_H

#include "base/error.h"
#include "base/sha256.h"
#include "image/limit.h"
#include "image/name.h"
#include "image/unpack_tree.h"
#include "model/image.h"

/* What may come of one input, archives within archives together. Beyond UNPACK_RATIO_FROM bytes, what comes out may be
 * at most UNPACK_RATIO times what went in. */
#define UNPACK_MAX_BYTES  ((uint64_t)64 << 30)
#define UNPACK_RATIO_FROM ((uint64_t)1 << 30)
enum { UNPACK_MAX_ENTRIES = 4000000, UNPACK_RATIO = 250 };

/*
 * How much of that is used. What counts as the input is what is outermost: a layer that was unpacked of an archive has
 * the size that the archive gave it, and costs nobody but us. Holes of a file are no input.
 */
struct unpack_budget {
	uint64_t in, out;	 /* bytes that were read, and that came of them */
	uint64_t bytes, entries; /* that may still be made */
};
void unpack_budget_init(struct unpack_budget *b);

struct unpack_job {
	int in;		      /* is read to its end; a pipe or a file */
	const char *what;     /* for messages: "layer 2 of 5" */
	const char *blob;     /* the digest that the source must have; NULL: any */
	const char *tar;      /* the same for the uncompressed archive */
	uint64_t size;	      /* of the source, for whoever looks on; 0: not known */
	struct unpack_budget *budget;
	bool inner; /* the source came of an archive that the budget has seen */
	struct image_limit limit;
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t all);
	void *arg;
};

struct unpack_result {
	char tar[IMAGE_DIGEST]; /* of the uncompressed archive */
	struct unpack_counts counts;
};

/* folder: an empty one of inside 0. After a failure it holds what was made so far. */
int image_unpack(const struct image_ids *ids, int folder, const struct unpack_job *job, struct unpack_result *ret,
		 struct error *err);

#endif

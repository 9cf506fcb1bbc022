/*
 * copy_stream: entries of a copy (context.h) as bytes: for each a length, its fields (wire.h), and of a file what is in
 * it.
 *
 * What is in it comes as spans: how many zeros, how many bytes, and these bytes. Zeros are told by their value, not by
 * where the disk has a hole: the same file is the same stream wherever it lies. Holes are not read.
 */
#ifndef CORDON_IMAGE_COPY_STREAM_H
#define CORDON_IMAGE_COPY_STREAM_H

#include "base/buf.h"
#include "base/sha256.h"
#include "image/context.h"
#include "image/limit.h"

enum { COPY_FIELDS_MAX = 16384 };

enum copy_kind { COPY_FILE, COPY_FOLDER, COPY_LINK };

/* What arrives. Paths and links are borrowed until the next one is read. */
struct copy_entry {
	enum copy_kind kind;
	bool alone;
	const char *path, *link;
	uint32_t mode, uid, gid; /* mode: 07777 */
	int64_t time;
	uint64_t size;
};

struct copy_out {
	int fd;		   /* a socket; -1: there is none */
	struct sha256 *to; /* NULL: there is none */
	struct image_limit limit; /* of which only the time counts here */
};

/* A context_sink's function; arg is a struct copy_out. */
int copy_put(void *arg, const struct context_entry *e, struct error *err);
/* That was all; tops: as context_walk() counted them. */
int copy_put_end(const struct copy_out *o, size_t tops, struct error *err);

struct copy_in {
	int fd;
	struct buf fields;
	size_t tops; /* at the end */
	struct image_limit limit;
	uint64_t written; /* what it counts for there */
};

/* 1: an entry, whose data must be read with copy_get_data(); 0: the end; -1. */
int copy_get(struct copy_in *in, struct copy_entry *ret, struct error *err);
/* Writes the entry's bytes to `to`, an empty file; zeros become holes. */
int copy_get_data(struct copy_in *in, const struct copy_entry *e, int to, struct error *err);

#endif

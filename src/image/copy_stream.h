/*
 * copy_stream: entries of a copy (context.h) as bytes: for each a length, its fields (wire.h), and of a file what is in it.
 */
#ifndef CORDON_IMAGE_COPY_STREAM_H
#define CORDON_IMAGE_COPY_STREAM_H

#include "base/buf.h"
#include "base/sha256.h"
#include "image/context.h"

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
};

/* A context_sink's function; arg is a struct copy_out. */
int copy_put(void *arg, const struct context_entry *e, struct error *err);
/* That was all; tops: as context_walk() counted them. */
int copy_put_end(const struct copy_out *o, size_t tops, struct error *err);

struct copy_in {
	int fd;
	struct buf fields;
	size_t tops; /* at the end */
};

/* 1: an entry, whose data must be read with copy_get_data(); 0: the end; -1. */
int copy_get(struct copy_in *in, struct copy_entry *ret, struct error *err);
/* Writes the entry's bytes to `to`. */
int copy_get_data(struct copy_in *in, const struct copy_entry *e, int to, struct error *err);

#endif

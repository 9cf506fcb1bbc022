/*
 * limit: what the making of files may cost. Members that are 0 limit nothing.
 */
#ifndef CORDON_IMAGE_LIMIT_H
#define CORDON_IMAGE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a name counts for, whatever is in it: it takes an inode. As supervise/usage.h has it. What is in it takes whole
 * blocks, and a folder one. */
enum { LIMIT_NAME_BYTES = 1024, LIMIT_BLOCK = 4096 };

/* Zeros that need not be written are looked for in pieces of this size, which lie at its multiples: smaller ones would
 * scatter files for little. */
enum { LIMIT_PIECE = 64 * 1024 };

struct image_limit {
	uint64_t room;	  /* bytes on the disk: files but for their holes, and LIMIT_NAME_BYTES for each name */
	int64_t until_ms; /* as now_ms() has it */
};

/* 0, or -1: the time is over (ERROR_DENIED, ETIMEDOUT). */
int limit_check_time(const struct image_limit *l, struct error *err);
/* Always -1: ETIMEDOUT, and EDQUOT. */
int limit_fail_time(struct error *err);
int limit_fail_room(struct error *err);

bool limit_is_zeros(const char *p, size_t n);

#endif

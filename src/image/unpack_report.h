/*
 * unpack_report: what cordon-unpack says when it ends, in one write.
 */
#ifndef CORDON_IMAGE_UNPACK_REPORT_H
#define CORDON_IMAGE_UNPACK_REPORT_H

#include <stdbool.h>

#include "image/unpack_tree.h"

enum { UNPACK_REPORT_MAX = 4096 };

struct unpack_report {
	bool ok;
	bool whole; /* the archive has an end */
	struct unpack_counts counts;
	char name[512]; /* of the entry that is wrong; "" where there is none */
	char wrong[256];
	int code; /* errno, or 0 */
};

void unpack_report_put(struct buf *out, const struct unpack_report *r);
/* 0, or -EBADMSG. Strings are as untrusted as the archive. */
int unpack_report_get(struct sv in, struct unpack_report *ret);

#endif

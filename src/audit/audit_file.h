/*
 * audit_file: the lines of a log, one after the other, with bounded memory.
 *
 * Reads regular files only, at positions (pread), so that a second reader can look ahead from where a first one stands.
 * A line borrows from its reader until the next call. The file may grow meanwhile.
 */
#ifndef CORDON_AUDIT_FILE_H
#define CORDON_AUDIT_FILE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/sv.h"

enum audit_file_line {
	AUDIT_FILE_END,
	AUDIT_FILE_LINE,
	AUDIT_FILE_CUT, /* the last bytes of the file, without a newline */
	AUDIT_FILE_LONG /* more than AUDIT_LINE_MAX; the line itself is skipped and not given */
};

struct audit_file;

int audit_file_open(const char *path, struct audit_file **ret, struct error *err);
/* A reader of the same file that goes on where this one is; ends before it. NULL: no memory. */
struct audit_file *audit_file_ahead(const struct audit_file *f);
void audit_file_free(struct audit_file *f); /* NULL is fine */

/* The line behind the one given last, which stays as it is; 0: not all of it is in memory, ask audit_file_ahead(). */
int audit_file_peek(const struct audit_file *f, struct sv *ret);

/* enum audit_file_line, or -errno. The line is without its newline. */
int audit_file_next(struct audit_file *f, struct sv *ret);

#endif

/*
 * error: what went wrong, in one line a person can act on.
 *
 * A struct error lives on the caller's stack: no heap, nothing to free. The layer that
 * fails calls error_set(); each layer above may put its context in front with error_prefix().
 * Functions above base/ and sys/ return 0 or -1 and fill the error they were given; an
 * error pointer is never NULL. Only main() prints. Text that is too long is cut, never overrun.
 *
 * What could move a cursor or fake a line is escaped as text_escape() does it, whoever wrote it. Untrusted text (paths,
 * keys, bytes of a file) passes that before it gets here all the same, or it could crowd out the rest.
 */
#ifndef CORDON_BASE_ERROR_H
#define CORDON_BASE_ERROR_H

#include <stddef.h>

enum error_kind {
	ERROR_NONE = 0,
	ERROR_USAGE,	/* the command line is wrong */
	ERROR_INPUT,	/* a file given by the user is wrong; the message has file:line:column */
	ERROR_DENIED,	/* policy says no */
	ERROR_MISSING,	/* the kernel or the machine lacks something that policy needs */
	ERROR_SYSTEM,	/* a system call failed; code is the errno */
	ERROR_NOT_EXEC, /* CMD was found but cannot be executed: exit 126 */
	ERROR_NOT_FOUND /* CMD was not found: exit 127 */
};

struct error {
	enum error_kind kind;
	int code; /* errno, or 0 */
	char text[512];
};

/* Sets kind and message. Always returns -1, so that `return error_set(...)` reads well. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set() with ERROR_SYSTEM; code may be errno or -errno, its text is put behind ": ". */
int error_sys(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message that is there. Returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

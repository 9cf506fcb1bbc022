/*
 * parse_role: a parser of a stranger's text, run where it can do nothing else.
 *
 * Every byte of a task or an image may have been written against us, so whoever parses it holds nothing:
 * parse_role_run() calls a pure function from bytes to bytes in a child (sys/role.h) that has no file, no network, no
 * variable and no system call but those of memory and its one socket. The child has the input because it is a copy of
 * us; it answers with bytes or with an error, once, and ends. The length of the answer, the memory, the processor's
 * time and the clock's are bounded here, not there.
 *
 * What a child that was taken over can do: answer with any bytes, as the author of the text could have made an honest
 * one answer. So the answer is decoded with checks, and no less carefully than the text would have been.
 *
 * A child that dies, hangs or talks nonsense is ERROR_INPUT: "WHAT could not be parsed safely". No state stays behind.
 */
#ifndef CORDON_CONF_PARSE_ROLE_H
#define CORDON_CONF_PARSE_ROLE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends its answer to out, whose maximum is that of the run. Untrusted text in the error is escaped. */
typedef int parse_role_fn(struct sv in, struct buf *out, struct error *err);

struct parse_role {
	const char *what; /* for messages: "the Dockerfile" */
	parse_role_fn *parse;
	uint64_t memory; /* 0: PARSE_ROLE_MEMORY */
	unsigned ms;	 /* 0: PARSE_ROLE_MS */
};

enum { PARSE_ROLE_MS = 10000, PARSE_ROLE_MEMORY = 1 << 30 };

/* The answer is appended to out, whose maximum bounds it. After a failure out holds nothing of use. The function's own
 * error comes through as it is, but for controls. */
int parse_role_run(const struct parse_role *role, struct sv in, struct buf *out, struct error *err);

#endif

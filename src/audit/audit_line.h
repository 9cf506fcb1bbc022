/*
 * audit_line: one line of the log, taken apart and judged by itself.
 *
 * Canonical means: the bytes that the writer would write. One JSON object, no white space outside strings, strings with
 * only the escapes that are needed, no member twice, nothing behind the object; `prev` and `hash` are the last two
 * members, so that every byte of the line is either under the hash or fixed. Everything here borrows from the line.
 */
#ifndef CORDON_AUDIT_LINE_H
#define CORDON_AUDIT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/sv.h"

enum { AUDIT_MEMBERS_MAX = 96, AUDIT_NESTING_MAX = 30, AUDIT_HEX = SHA256_HEX - 1 };

/* What `prev` of the first line says. */
#define AUDIT_NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

struct audit_line {
	struct sv run;   /* JSON text, with its quotes */
	struct sv event; /* the same */
	struct sv prev;  /* 64 hex digits */
	struct sv hash;  /* 64 hex digits */
	uint64_t seq;
};

/* The line without its newline. NULL: sound, and its hash is right; else what is wrong, in words. */
const char *audit_line_parse(struct sv line, struct audit_line *ret);

/* The members of a line in canonical form, in their order. */
struct audit_member {
	struct sv key;   /* without its quotes, still escaped */
	struct sv value; /* JSON text */
};

struct audit_members {
	struct audit_member v[AUDIT_MEMBERS_MAX];
	size_t n;
};

bool audit_line_members(struct sv line, struct audit_members *ret);          /* false: not canonical */
struct sv audit_line_member(const struct audit_members *m, const char *key); /* empty: there is none */
bool audit_line_number(struct sv value, uint64_t *ret);

/* One JSON value in canonical form, and nothing else. */
bool audit_line_is_canonical(struct sv text);

/* Hash of a line whose text up to (without) ,"hash" is head. */
void audit_line_hash(struct sv prev, struct sv head, char out[SHA256_HEX]);

#endif

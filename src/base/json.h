/*
 * json: writing JSON, compact, into a buf. (Reading is json_scan.h's job where it comes from strangers, else
 * jansson's.)
 *
 * The writer keeps the commas right; nesting deeper than 32 is a programming error and marks the buffer failed. Strings
 * may hold any bytes: what is not UTF-8 becomes U+FFFD; controls, and what a terminal would take for an order
 * (text_steers()), are escaped. key() is followed by exactly one value or container.
 */
#ifndef CORDON_BASE_JSON_H
#define CORDON_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	uint32_t filled; /* bit d: level d already has a member */
	unsigned depth;
	bool after_key;
};

void json_init(struct json *j, struct buf *out);

void json_open(struct json *j);	 /* { */
void json_close(struct json *j); /* } */
void json_list(struct json *j);	 /* [ */
void json_end(struct json *j);	 /* ] */
void json_key(struct json *j, const char *key);
void json_key_sv(struct json *j, struct sv key);

void json_sv(struct json *j, struct sv s);
void json_str(struct json *j, const char *s); /* NULL: null */
void json_int(struct json *j, int64_t v);
void json_uint(struct json *j, uint64_t v);
void json_bool(struct json *j, bool v);
void json_none(struct json *j);
void json_raw(struct json *j, struct sv text); /* one JSON value, already written */

/*
 * Appends JSON that is written already, with the same escaped that the writer escapes: an older one may have written
 * it.
 */
void json_tame(struct buf *out, struct sv text);

/* key and value in one call */
void json_kstr(struct json *j, const char *key, const char *s);
void json_kint(struct json *j, const char *key, int64_t v);
void json_kbool(struct json *j, const char *key, bool v);

#endif

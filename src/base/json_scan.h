/*
 * json_scan: a strict reader for JSON that is judged before it is passed on.
 *
 * The text is read in one pass and rewritten in place, in the one form that every parser reads alike: no blanks,
 * strings as plain UTF-8 with only the escapes that JSON demands, numbers as they were written. That form is never
 * longer than the source, so nothing is copied. What the caller sends afterwards are these bytes, the ones that the
 * index describes (principle 7).
 *
 * There is no tree: an array of 16-byte nodes in the order of the text points into it. A picture of 20 MiB is one node.
 * Since the whole body must be judged before its first byte is sent, it is collected first: SCAN_MAX_BYTES bounds it,
 * SCAN_MAX_NODES and SCAN_MAX_DEPTH bound what can be made of it (16 MiB of index at most).
 *
 * Refused: duplicate keys at any depth (compared decoded), a NUL in a key, invalid UTF-8, lone surrogates, raw control
 * characters, a byte order mark, numbers that do not fit (integers beyond 64 bits, decimals beyond a double, more than
 * SCAN_MAX_NUMBER characters), trailing bytes, anything that is not RFC 8259.
 *
 * Ownership: a json_scan owns its nodes (json_scan_done) and borrows the buffer. After a failed read the buffer holds
 * no text of use. Text is canonical: a name of letters equals a key or value if and only if the decoded strings are
 * equal.
 */
#ifndef CORDON_BASE_JSON_SCAN_H
#define CORDON_BASE_JSON_SCAN_H

#include "base/buf.h"

enum {
	SCAN_MAX_BYTES = 32 << 20,
	SCAN_MAX_NODES = 1 << 20,
	SCAN_MAX_DEPTH = 64,
	SCAN_MAX_NUMBER = 64,
};

enum scan_kind { SCAN_NULL, SCAN_BOOL, SCAN_NUMBER, SCAN_STRING, SCAN_ARRAY, SCAN_OBJECT };

struct scan_node {
	uint32_t at, len; /* in the text; of a string: what is between the quotes */
	uint32_t next;    /* the node behind this one and all below it */
	uint32_t kind;    /* enum scan_kind */
};

struct json_scan {
	const char *text;
	struct scan_node *v; /* v[0] is the document; in an object each key is followed by its value */
	uint32_t n, cap;
};

struct scan_error {
	const char *why; /* static text, to stand behind "the body " */
	size_t at;       /* byte of the source */
};

/* 0; -EINVAL and *ret_why, -EFBIG (bytes, nodes or depth) and *ret_why, -ENOMEM. */
int json_scan_read(struct json_scan *s, struct buf *text, struct scan_error *ret_why);
void json_scan_done(struct json_scan *s);

/*
 * Nodes are named by their index; 0 is the document, which is no one's member, so 0 also says "none".
 * for (i = json_scan_first(s, of); i; i = json_scan_after(s, of, i)) visits the elements of an array, or the keys of an
 * object (the value is i + 1).
 */
uint32_t json_scan_first(const struct json_scan *s, uint32_t of);
uint32_t json_scan_after(const struct json_scan *s, uint32_t of, uint32_t i);

/* Appends the string decoded; any bytes of UTF-8 can be in it, NUL too. */
void json_scan_decode(const struct json_scan *s, uint32_t string, struct buf *out);

/* The value of that key; 0 where `of` is no object or has none. */
uint32_t json_scan_get(const struct json_scan *s, uint32_t of, const char *key);

static inline enum scan_kind json_scan_kind(const struct json_scan *s, uint32_t i)
{
	return (enum scan_kind)s->v[i].kind;
}

static inline struct sv json_scan_text(const struct json_scan *s, uint32_t i)
{
	return sv_n(s->text + s->v[i].at, s->v[i].len);
}

static inline bool json_scan_is_string(const struct json_scan *s, uint32_t i, const char *text)
{
	return s->v[i].kind == SCAN_STRING && sv_is(json_scan_text(s, i), text);
}

static inline void cleanup_json_scan(struct json_scan *s)
{
	json_scan_done(s);
}

#define AUTO_SCAN __attribute__((cleanup(cleanup_json_scan))) struct json_scan

#endif

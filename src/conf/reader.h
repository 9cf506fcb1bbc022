/*
 * reader: from a YAML tree to structs, by tables.
 *
 * A mapping is a table of rows: key, how to read its value, where it goes (an offset into the caller's struct) and what
 * the reading function needs to know. Unknown keys are errors with the nearest known one; duplicates are gone already
 * (yaml.h). Every error reads "file:line:column: key.path: what is wrong; what to do", with the file's text escaped.
 *
 * The reader borrows everything; what it makes lives in its arena. A failure leaves half-filled structs behind: throw
 * them away.
 *
 * With `problem` set, what is wrong with one key does not end the reading: it is told of each, reading goes on behind
 * the key, and the struct is to be thrown away where it was called for anything but a warning.
 */
#ifndef CORDON_CONF_READER_H
#define CORDON_CONF_READER_H

#include "base/error.h"
#include "conf/value.h"
#include "conf/yaml.h"
#include "model/policy.h"

struct reader_step {
	struct sv key;
	uint32_t index; /* of a list's item; only where key is empty */
};

/* The texts last as long as the call. */
struct reader_problem {
	bool warning; /* the key was passed over */
	uint32_t line, column;
	const char *path; /* escaped; "" for the whole file */
	const char *what;
};

struct reader {
	struct arena *arena;
	const char *name; /* of the file, for messages */
	uint32_t file;    /* for struct origin */
	struct error *err;
	void (*problem)(struct reader *r,
			const struct reader_problem *p); /* NULL: the first problem ends the reading */
	void *problem_arg;
	bool lenient;	     /* with problem: an unknown key is a warning */
	bool null_is_absent; /* a key whose value is null is as if it were not there */
	unsigned depth;
	struct reader_step path[YAML_TREE_NESTING + 2];
};

typedef int reader_fn(struct reader *r, const struct ynode *n, void *to, const void *arg);

struct reader_key {
	const char *name; /* NULL ends the table */
	reader_fn *read;
	size_t offset;
	const void *arg;
};

/* Returns -1. n is where. */
int reader_fail(struct reader *r, const struct ynode *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with the value itself in front, in quotes. */
int reader_fail_value(struct reader *r, const struct ynode *n, const char *what);
/* Something that is accepted and yet worth a word; said only with `problem`. */
void reader_warn(struct reader *r, const struct ynode *n, const char *what);
int reader_no_memory(struct reader *r);

/* For reading functions that go further down by themselves. */
void reader_enter(struct reader *r, struct sv key);
void reader_enter_item(struct reader *r, uint32_t index);
void reader_leave(struct reader *r);
int reader_want(struct reader *r, const struct ynode *n, enum ynode_kind kind);
/* For a list or map of this kind: room for as many structs of that size as it has items, zeroed. NULL: failed. */
void *reader_room(struct reader *r, const struct ynode *n, enum ynode_kind kind, size_t size);
struct origin reader_origin(const struct reader *r, const struct ynode *n);

/* The value of a key, or NULL. */
const struct ynode *reader_find(const struct ynode *map, const char *key);

/* A word of a NULL-terminated list; *ret is its position. */
int reader_word(struct reader *r, const struct ynode *n, const char *const *names, uint64_t *ret);
/* The same for a key of a mapping, whose place n is. */
int reader_string(struct reader *r, const struct ynode *n, value_str_fn *check, const char **ret);

/* Reading functions for tables; `arg` and what `to` points at: */
reader_fn reader_map;   /* rows (struct reader_key), any struct: offsets count from `to` */
reader_fn reader_enum;  /* names (const char *const *), struct pol_num */
reader_fn reader_str;   /* struct reader_text, struct pol_str */
reader_fn reader_list;  /* struct reader_text, struct pol_list */
reader_fn reader_words; /* names, struct pol_list: a list of words */
reader_fn reader_num;   /* struct reader_number, struct pol_num */

reader_fn reader_version; /* nothing: must be 1 */

/*
 * A whole file: a mapping of these rows into `to`. "version: 1" is required, and looked at before all other keys:
 * another version would make the rest of the tables meaningless. The tree is gone after it.
 */
int reader_parse(struct reader *r, struct sv bytes, void *to, const struct reader_key *rows);

struct reader_text {
	value_str_fn *check;
	bool not_empty; /* as a list: [] is an error, because it would deny everything */
};

struct reader_number {
	value_num_fn *parse;
	bool unit; /* a quoted value is fine where it has a unit ("4G" is text to every YAML tool) */
};

#endif

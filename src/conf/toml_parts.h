/*
 * toml_parts: what the files of the TOML parser share. Nobody else includes it.
 *
 * toml.c reads documents, arrays and inline tables; toml_text.c moves over the bytes and reads strings; toml_scalar.c
 * reads the other scalars; toml_table.c finds and makes tables and says who may add to them. Functions return 0 or -1
 * with the error set.
 */
#ifndef CORDON_CONF_TOML_PARTS_H
#define CORDON_CONF_TOML_PARTS_H

#include "base/buf.h"
#include "conf/toml.h"

/* How a table or list came to be, and so who may add to it. */
enum toml_state {
	TOML_IMPLICIT, /* named on the way to another, by a header */
	TOML_EXPLICIT, /* has a header */
	TOML_DOTTED,   /* named on the way by a dotted key */
	TOML_CLOSED,   /* an inline table, or a list of values: nobody may add */
	TOML_TABLES    /* a list of [[tables]] */
};

/* A place in the text, moved forward only: columns need counting. */
struct toml_place {
	const char *at;
	uint32_t line, column;
};

struct toml_slot {
	const struct ynode *map;
	struct ynode *key;
};

struct toml {
	struct arena *arena;
	const char *name;
	struct error *err;
	const char *p, *end;
	struct toml_place place; /* at or before p */
	uint32_t nodes;
	struct ynode *root;
	struct ynode *table; /* that keys go to */
	struct toml_slot *slots; /* every key of every table, by hash */
	size_t n_slots, used;
	struct buf text; /* of a string that has escapes */
};

/* One part of a key. */
struct toml_key {
	struct sv text; /* in the arena */
	bool bare;
	struct toml_place at;
};

/* ---- toml_text.c ---- */

int toml_fail(struct toml *t, const char *format, ...) __attribute__((format(printf, 2, 3))); /* at p */
int toml_fail_at(struct toml *t, const struct toml_place *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int toml_no_memory(struct toml *t);

struct toml_place toml_here(struct toml *t);
bool toml_at(const struct toml *t, const char *s); /* do these bytes come next? */
void toml_skip_blanks(struct toml *t);		   /* spaces and tabs */
int toml_skip_comment(struct toml *t);		   /* up to the line's end, where there is one */
bool toml_skip_newline(struct toml *t);
int toml_skip_lines(struct toml *t); /* blanks, comments and newlines */

/* A new node at a place. NULL: failed. */
struct ynode *toml_node(struct toml *t, enum ynode_kind kind, const struct toml_place *at);

/* The last one of a list or map is kept in its value, which only keys use: adding must not walk the list. */
void toml_append(struct ynode *to, struct ynode *item);

/* The string that begins at p, in the arena. */
int toml_string(struct toml *t, bool many_lines, struct sv *ret);

/* ---- toml_scalar.c ---- */

/* Anything that is neither string, array nor inline table. */
int toml_scalar(struct toml *t, struct ynode **ret);

/* ---- toml_table.c ---- */

int toml_tables_init(struct toml *t);
void toml_tables_done(struct toml *t);

/* [keys] and [[keys]]: t->table is that table afterwards. */
int toml_open_table(struct toml *t, const struct toml_key *keys, unsigned n);
int toml_open_item(struct toml *t, const struct toml_key *keys, unsigned n);

/* keys = value, below a table. */
int toml_set(struct toml *t, struct ynode *table, const struct toml_key *keys, unsigned n, struct ynode *value);

#endif

/*
 * yaml: a strict document tree from libyaml's events.
 *
 * One document, UTF-8 (a byte order mark is passed over), at most YAML_TREE_BYTES bytes, YAML_TREE_NODES nodes and
 * YAML_TREE_NESTING levels. Errors, with "file:line:column: ": anchors, aliases, tags, directives, merge keys, keys
 * that are not scalars, duplicate keys, control characters (escaped ones in quoted scalars too; tab and newline are
 * fine), and whatever libyaml refuses.
 *
 * Nodes and their text live in the caller's arena. Scalars are not typed here: the schema says what a value must be,
 * and `plain` tells a bare scalar from a quoted one. Lines and columns count from 1; a column counts characters.
 */
#ifndef CORDON_CONF_YAML_H
#define CORDON_CONF_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { YAML_TREE_BYTES = 8 << 20, YAML_TREE_NODES = 1 << 19, YAML_TREE_NESTING = 32 };

enum ynode_kind { YNODE_SCALAR, YNODE_LIST, YNODE_MAP };

/* What a scalar is where the file's language says so (toml.h). */
enum ynode_type {
	YTYPE_UNTYPED, /* YAML's */
	YTYPE_STRING,
	YTYPE_INTEGER,
	YTYPE_FLOAT,
	YTYPE_BOOL,
	YTYPE_DATETIME,
	YTYPE_LOCAL_DATETIME,
	YTYPE_LOCAL_DATE,
	YTYPE_LOCAL_TIME
};

struct ynode {
	enum ynode_kind kind;
	enum ynode_type type;
	bool plain; /* of a scalar: without quotes, not a block */
	uint8_t state, depth; /* the parser's own */
	uint32_t line, column;
	uint32_t n;          /* items, or pairs */
	struct sv text;      /* of a scalar; a NUL follows that is not counted */
	struct ynode *first; /* the first item, or the first key */
	struct ynode *next;  /* the next item, or the next key */
	struct ynode *value; /* of a key */
};

/* name is for messages; it is escaped here. On failure *ret is untouched. */
int yaml_tree(struct arena *a, const char *name, struct sv bytes, const struct ynode **ret, struct error *err);

/* "a list", "a mapping" or "a single value", for messages. */
const char *ynode_what(const struct ynode *n);

#endif

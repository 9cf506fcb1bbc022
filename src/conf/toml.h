/*
 * toml: TOML 1.0 into the same tree as yaml.h's.
 *
 * All of TOML 1.0 and nothing else; toml-test's suite for it passes (tests/toml_suite.sh). UTF-8 (a byte order mark is
 * passed over), at most TOML_TREE_BYTES bytes, TOML_TREE_NODES nodes and YAML_TREE_NESTING levels. Errors have
 * "file:line:column: "; columns count characters.
 *
 * A scalar has its type. Its text is canonical: integers are decimal, without plus sign and underscores ("0x_F" is not
 * even TOML, "0xF" is "15"); floats are without plus sign and underscores; dates and times are written with "T" and
 * "Z"; strings are their value. Strings and keys may hold any character, NUL and other controls too, because TOML can
 * escape them: whoever takes one looks at it. `plain` is false for strings, true for other scalars and bare keys.
 *
 * Nodes and their text live in the caller's arena. A table's keys are in the order in which they were first named.
 */
#ifndef CORDON_CONF_TOML_H
#define CORDON_CONF_TOML_H

#include "conf/yaml.h"

enum { TOML_TREE_BYTES = 8 << 20, TOML_TREE_NODES = 1 << 19 };

/* name is for messages; it is escaped here. The root is a mapping, an empty one for an empty file. On failure *ret is
 * untouched. */
int toml_tree(struct arena *a, const char *name, struct sv bytes, const struct ynode **ret, struct error *err);

#endif

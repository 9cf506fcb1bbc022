/*
 * The TOML parser. What it takes has no table with a key twice, is nested no deeper than it promises, and its values
 * are of a type.
 */
#include <stdlib.h>

#include "conf/toml.h"
#include "fuzz.h"

static void walk(const struct ynode *n, unsigned depth)
{
	const struct ynode *k, *other;
	uint32_t count = 0;

	if (depth > YAML_TREE_NESTING || n->line == 0 || n->column == 0)
		abort();
	if (n->kind == YNODE_SCALAR) {
		if (n->type == YTYPE_UNTYPED || n->plain == (n->type == YTYPE_STRING) || n->text.p[n->text.n] != '\0' ||
		    n->first)
			abort();
		return;
	}
	for (k = n->first; k; k = k->next, count++) {
		if (n->kind == YNODE_LIST) {
			walk(k, depth + 1);
			continue;
		}
		for (other = n->first; other != k; other = other->next)
			if (sv_eq(other->text, k->text))
				abort();
		walk(k->value, depth + 1);
	}
	if (count != n->n || n->value)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct arena *a = arena_new();
	const struct ynode *root = NULL;
	struct error err = {0};

	if (!a)
		return 0;
	if (toml_tree(a, "f", sv_n((const char *)bytes, n), &root, &err) == 0)
		walk(root, 0);
	else if (err.text[0] == '\0' || root)
		abort();
	arena_free(a);
	return 0;
}

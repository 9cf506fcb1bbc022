#include "conf/toml.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/toml_parts.h"

static int read_value(struct toml *t, unsigned depth, struct ynode **ret);

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static int read_key_part(struct toml *t, struct toml_key *ret)
{
	const char *start;

	ret->at = toml_here(t);
	ret->bare = false;
	if (toml_at(t, "\"\"\"") || toml_at(t, "'''"))
		return toml_fail(t, "a key cannot have many lines; use one quote");
	if (toml_at(t, "\"") || toml_at(t, "'"))
		return toml_string(t, false, &ret->text);
	for (start = t->p; t->p < t->end && is_bare(*t->p);)
		t->p++;
	if (t->p == start)
		return toml_fail(
			t, "a key is missing here; put quotes around one that is not of letters, digits, - and _");
	ret->bare = true;
	ret->text = sv_n(arena_str(t->arena, sv_n(start, (size_t)(t->p - start))), (size_t)(t->p - start));
	return ret->text.p ? 0 : toml_no_memory(t);
}

/* a.b."c d", and blanks behind it. */
static int read_key(struct toml *t, struct toml_key keys[YAML_TREE_NESTING], unsigned *ret_n)
{
	unsigned n = 0;

	for (;;) {
		if (n == YAML_TREE_NESTING)
			return toml_fail(t, "nested deeper than %d levels; flatten it", YAML_TREE_NESTING);
		if (read_key_part(t, &keys[n++]) < 0)
			return -1;
		toml_skip_blanks(t);
		if (!toml_at(t, "."))
			break;
		t->p++;
		toml_skip_blanks(t);
	}
	*ret_n = n;
	return 0;
}

/* key = value into a table whose values are `depth` levels down. */
static int read_pair(struct toml *t, struct ynode *table, unsigned depth)
{
	struct toml_key keys[YAML_TREE_NESTING];
	struct ynode *value = NULL;
	unsigned n = 0;

	if (read_key(t, keys, &n) < 0)
		return -1;
	if (!toml_at(t, "="))
		return toml_fail(t, "\"=\" is missing behind the key");
	t->p++;
	toml_skip_blanks(t);
	if (read_value(t, depth + n, &value) < 0)
		return -1;
	return toml_set(t, table, keys, n, value);
}

static int read_array(struct toml *t, unsigned depth, struct ynode **ret)
{
	struct toml_place here = toml_here(t);
	struct ynode *list = toml_node(t, YNODE_LIST, &here), *item = NULL;

	if (!list)
		return -1;
	list->state = TOML_CLOSED;
	t->p++;
	for (;;) {
		if (toml_skip_lines(t) < 0)
			return -1;
		if (toml_at(t, "]"))
			break;
		if (read_value(t, depth + 1, &item) < 0)
			return -1;
		toml_append(list, item);
		if (toml_skip_lines(t) < 0)
			return -1;
		if (toml_at(t, ","))
			t->p++;
		else if (!toml_at(t, "]"))
			return toml_fail(t, "the list goes on without \",\" or \"]\"");
	}
	t->p++;
	*ret = list;
	return 0;
}

static int read_inline(struct toml *t, unsigned depth, struct ynode **ret)
{
	struct toml_place here = toml_here(t);
	struct ynode *map = toml_node(t, YNODE_MAP, &here);

	if (!map)
		return -1;
	map->state = TOML_EXPLICIT;
	map->depth = (uint8_t)depth;
	t->p++;
	toml_skip_blanks(t);
	while (!toml_at(t, "}")) {
		if (read_pair(t, map, depth) < 0)
			return -1;
		toml_skip_blanks(t);
		if (toml_at(t, "}"))
			break;
		if (!toml_at(t, ","))
			return toml_fail(t, "the inline table goes on without \",\" or \"}\"; it must be in one line");
		t->p++;
		toml_skip_blanks(t);
		if (toml_at(t, "}"))
			return toml_fail(t, "an inline table has no \",\" behind its last value; remove it");
	}
	map->state = TOML_CLOSED;
	t->p++;
	*ret = map;
	return 0;
}

static int read_text(struct toml *t, struct ynode **ret)
{
	struct toml_place here = toml_here(t);
	struct ynode *n = toml_node(t, YNODE_SCALAR, &here);

	if (!n)
		return -1;
	n->type = YTYPE_STRING;
	*ret = n;
	return toml_string(t, toml_at(t, "\"\"\"") || toml_at(t, "'''"), &n->text);
}

/* depth: levels above the value. */
static int read_value(struct toml *t, unsigned depth, struct ynode **ret)
{
	if (depth >= YAML_TREE_NESTING)
		return toml_fail(t, "nested deeper than %d levels; flatten it", YAML_TREE_NESTING);
	if (toml_at(t, "\"") || toml_at(t, "'"))
		return read_text(t, ret);
	if (toml_at(t, "["))
		return read_array(t, depth, ret);
	if (toml_at(t, "{"))
		return read_inline(t, depth, ret);
	return toml_scalar(t, ret);
}

/* [table] or [[table]] */
static int read_header(struct toml *t)
{
	struct toml_key keys[YAML_TREE_NESTING];
	bool item = toml_at(t, "[[");
	const char *close = item ? "]]" : "]";
	unsigned n = 0;

	t->p += item ? 2 : 1;
	toml_skip_blanks(t);
	if (read_key(t, keys, &n) < 0)
		return -1;
	if (!toml_at(t, close))
		return toml_fail(t, "the table's name does not end; write \"%s\" behind it", close);
	t->p += item ? 2 : 1;
	return item ? toml_open_item(t, keys, n) : toml_open_table(t, keys, n);
}

static int read_lines(struct toml *t)
{
	int r;

	for (;;) {
		if (toml_skip_lines(t) < 0)
			return -1;
		if (t->p == t->end)
			return 0;
		r = toml_at(t, "[") ? read_header(t) : read_pair(t, t->table, t->table->depth);
		if (r < 0)
			return -1;
		toml_skip_blanks(t);
		if (toml_skip_comment(t) < 0)
			return -1;
		if (t->p < t->end && !toml_skip_newline(t))
			return toml_fail(
				t,
				"something follows the value; begin a new line, or put quotes around the whole text");
	}
}

/* Lists and maps kept their last entry in `value` while they grew. */
static void forget_last(struct ynode *n)
{
	struct ynode *k;

	n->value = NULL;
	for (k = n->first; k; k = k->next) {
		struct ynode *below = n->kind == YNODE_MAP ? k->value : k;

		if (below->kind != YNODE_SCALAR)
			forget_last(below);
	}
}

int toml_tree(struct arena *a, const char *name, struct sv bytes, const struct ynode **ret, struct error *err)
{
	struct toml t = {.arena = a, .name = name, .err = err, .place = {.line = 1, .column = 1}};
	int r;

	if (sv_starts(bytes, "\xef\xbb\xbf"))
		bytes = sv_n(bytes.p + 3, bytes.n - 3);
	t.p = t.place.at = bytes.p;
	t.end = bytes.p + bytes.n;
	if (bytes.n > TOML_TREE_BYTES)
		return toml_fail(&t, "larger than %d MiB; split the file", TOML_TREE_BYTES >> 20);
	buf_init(&t.text, TOML_TREE_BYTES + 1);
	t.root = t.table = toml_node(&t, YNODE_MAP, &t.place);
	r = t.root ? toml_tables_init(&t) : -1;
	if (r == 0)
		r = read_lines(&t);
	toml_tables_done(&t);
	buf_done(&t.text);
	if (r < 0)
		return -1;
	forget_last(t.root);
	*ret = t.root;
	return 0;
}

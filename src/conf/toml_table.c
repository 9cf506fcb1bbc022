#include <stdlib.h>

#include "base/text.h"
#include "conf/toml_parts.h"

/* Keys are found by hash: a table's list would make a large file take the square of its size. */
enum { SLOTS_FIRST = 256 };

static size_t hash(const struct ynode *map, struct sv key)
{
	uint64_t h = UINT64_C(14695981039346656037) ^ (uintptr_t)map;
	size_t i;

	for (i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * UINT64_C(1099511628211);
	return (size_t)(h ^ h >> 29);
}

static struct toml_slot *find_slot(const struct toml *t, const struct ynode *map, struct sv key)
{
	size_t i = hash(map, key);

	for (;; i++) {
		struct toml_slot *s = &t->slots[i & (t->n_slots - 1)];

		if (!s->key || (s->map == map && sv_eq(s->key->text, key)))
			return s;
	}
}

static int grow(struct toml *t)
{
	struct toml_slot *old = t->slots;
	size_t n = t->n_slots, i;

	t->n_slots = n ? 2 * n : SLOTS_FIRST;
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	if (!t->slots) {
		free(old);
		return toml_no_memory(t);
	}
	for (i = 0; i < n; i++)
		if (old[i].key)
			*find_slot(t, old[i].map, old[i].key->text) = old[i];
	free(old);
	return 0;
}

int toml_tables_init(struct toml *t)
{
	return grow(t);
}

void toml_tables_done(struct toml *t)
{
	free(t->slots);
	t->slots = NULL;
}

static struct ynode *find(const struct toml *t, const struct ynode *map, struct sv key)
{
	const struct toml_slot *s = find_slot(t, map, key);

	return s->key ? s->key->value : NULL;
}

static int fail_depth(struct toml *t, const struct toml_key *key)
{
	return toml_fail_at(t, &key->at, "nested deeper than %d levels; flatten it", YAML_TREE_NESTING);
}

static int add(struct toml *t, struct ynode *map, const struct toml_key *key, struct ynode *value)
{
	struct ynode *k;

	if (map->depth + 1 >= YAML_TREE_NESTING)
		return fail_depth(t, key);
	if (2 * ++t->used > t->n_slots && grow(t) < 0)
		return -1;
	k = toml_node(t, YNODE_SCALAR, &key->at);
	if (!k)
		return -1;
	k->type = YTYPE_STRING;
	k->plain = key->bare;
	k->text = key->text;
	k->value = value;
	value->depth = (uint8_t)(map->depth + 1);
	toml_append(map, k);
	*find_slot(t, map, key->text) = (struct toml_slot){map, k};
	return 0;
}

static struct ynode *add_table(struct toml *t, struct ynode *map, const struct toml_key *key, enum toml_state state)
{
	struct ynode *n = toml_node(t, YNODE_MAP, &key->at);

	if (!n || add(t, map, key, n) < 0)
		return NULL;
	n->state = (uint8_t)state;
	return n;
}

static int fail_taken(struct toml *t, const struct toml_key *key, const struct ynode *taken, const char *what)
{
	struct text_shown name;

	return toml_fail_at(t, &key->at, "%.80s: %s, first given in line %u", text_show(&name, key->text), what,
			    taken->line);
}

/* The last [[table]] of a list. */
static struct ynode *last_item(const struct ynode *list)
{
	return list->value;
}

/* Into the table that a header's key names on the way to another. */
static struct ynode *pass(struct toml *t, struct ynode *map, const struct toml_key *key)
{
	struct ynode *n = find(t, map, key->text);

	if (!n)
		return add_table(t, map, key, TOML_IMPLICIT);
	if (n->kind == YNODE_LIST && n->state == TOML_TABLES)
		return last_item(n);
	if (n->kind == YNODE_MAP && n->state != TOML_CLOSED)
		return n;
	(void)fail_taken(t, key, n,
			 n->kind == YNODE_SCALAR ? "is a value, not a table"
						 : "is written inline and cannot be added to");
	return NULL;
}

static struct ynode *pass_all(struct toml *t, const struct toml_key *keys, unsigned n)
{
	struct ynode *map = t->root;
	unsigned i;

	for (i = 0; map && i < n; i++)
		map = pass(t, map, &keys[i]);
	return map;
}

int toml_open_table(struct toml *t, const struct toml_key *keys, unsigned n)
{
	struct ynode *map = pass_all(t, keys, n - 1), *found;

	if (!map)
		return -1;
	found = find(t, map, keys[n - 1].text);
	if (found && (found->kind != YNODE_MAP || found->state != TOML_IMPLICIT))
		return fail_taken(t, &keys[n - 1], found, "duplicate table; keep one of them");
	if (found)
		found->state = TOML_EXPLICIT;
	t->table = found ? found : add_table(t, map, &keys[n - 1], TOML_EXPLICIT);
	return t->table ? 0 : -1;
}

int toml_open_item(struct toml *t, const struct toml_key *keys, unsigned n)
{
	const struct toml_key *key = &keys[n - 1];
	struct ynode *map = pass_all(t, keys, n - 1), *list, *item;

	if (!map)
		return -1;
	list = find(t, map, key->text);
	if (list && (list->kind != YNODE_LIST || list->state != TOML_TABLES))
		return fail_taken(t, key, list, "is no list of [[tables]]");
	if (!list) {
		list = toml_node(t, YNODE_LIST, &key->at);
		if (!list || add(t, map, key, list) < 0)
			return -1;
		list->state = TOML_TABLES;
	}
	item = toml_node(t, YNODE_MAP, &key->at);
	if (!item)
		return -1;
	if (list->depth + 1 >= YAML_TREE_NESTING)
		return fail_depth(t, key);
	item->depth = (uint8_t)(list->depth + 1);
	item->state = TOML_EXPLICIT;
	toml_append(list, item);
	t->table = item;
	return 0;
}

/* Into the table that a dotted key names on the way. One that a header opened is complete; one that it only named
 * becomes the key's. */
static struct ynode *pass_dotted(struct toml *t, struct ynode *map, const struct toml_key *key)
{
	struct ynode *n = find(t, map, key->text);

	if (!n)
		return add_table(t, map, key, TOML_DOTTED);
	if (n->kind == YNODE_MAP && (n->state == TOML_DOTTED || n->state == TOML_IMPLICIT)) {
		n->state = TOML_DOTTED;
		return n;
	}
	(void)fail_taken(t, key, n, "cannot be added to by a dotted key");
	return NULL;
}

int toml_set(struct toml *t, struct ynode *table, const struct toml_key *keys, unsigned n, struct ynode *value)
{
	const struct ynode *found;
	unsigned i;

	for (i = 0; i + 1 < n; i++) {
		table = pass_dotted(t, table, &keys[i]);
		if (!table)
			return -1;
	}
	found = find(t, table, keys[n - 1].text);
	if (found)
		return fail_taken(t, &keys[n - 1], found, "duplicate key; keep one of them");
	return add(t, table, &keys[n - 1], value);
}

#include <jansson.h>

#include "base/text.h"
#include "policy/import_parts.h"

static struct ynode *convert(struct arena *a, json_t *v, int depth);

static struct ynode *scalar(struct arena *a, struct sv text, bool plain)
{
	struct ynode *n = arena_alloc(a, sizeof(*n));
	char *copy = arena_str(a, text);

	if (!n || !copy)
		return NULL;
	n->kind = YNODE_SCALAR;
	n->plain = plain;
	n->text = sv_n(copy, text.n);
	return n;
}

static struct ynode *convert_scalar(struct arena *a, json_t *v)
{
	char *text = NULL;
	struct ynode *n;

	if (json_is_string(v))
		return scalar(a, sv_n(json_string_value(v), json_string_length(v)), false);
	if (json_is_boolean(v))
		return scalar(a, sv_of(json_is_true(v) ? "true" : "false"), true);
	if (json_is_null(v))
		return scalar(a, sv_of("null"), true);
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	n = text ? scalar(a, sv_of(text), true) : NULL;
	free(text);
	return n;
}

static struct ynode *convert_object(struct arena *a, json_t *v, int depth)
{
	struct ynode *n = arena_alloc(a, sizeof(*n)), **tail, *k;
	const char *key;
	json_t *value;

	if (!n)
		return NULL;
	n->kind = YNODE_MAP;
	tail = &n->first;
	json_object_foreach(v, key, value)
	{
		k = scalar(a, sv_of(key), false);
		if (!k || !(k->value = convert(a, value, depth + 1)))
			return NULL;
		*tail = k;
		tail = &k->next;
		n->n++;
	}
	return n;
}

static struct ynode *convert_array(struct arena *a, json_t *v, int depth)
{
	struct ynode *n = arena_alloc(a, sizeof(*n)), **tail, *item;
	size_t i;

	if (!n)
		return NULL;
	n->kind = YNODE_LIST;
	tail = &n->first;
	for (i = 0; i < json_array_size(v); i++) {
		item = convert(a, json_array_get(v, i), depth + 1);
		if (!item)
			return NULL;
		*tail = item;
		tail = &item->next;
		n->n++;
	}
	return n;
}

static struct ynode *convert(struct arena *a, json_t *v, int depth)
{
	if (depth > YAML_TREE_NESTING)
		return NULL;
	if (json_is_object(v))
		return convert_object(a, v, depth);
	if (json_is_array(v))
		return convert_array(a, v, depth);
	return convert_scalar(a, v);
}

const struct ynode *import_json_tree(struct arena *a, const char *name, struct sv bytes, struct error *err)
{
	struct text_shown shown, what;
	const struct ynode *n;
	json_error_t wrong;
	json_t *root = json_loadb(bytes.p, bytes.n, JSON_REJECT_DUPLICATES, &wrong);

	if (!root) {
		(void)error_set(err, ERROR_INPUT, "%s:%d:%d: %s", text_show(&shown, sv_of(name)), wrong.line,
				wrong.column, text_show(&what, sv_of(wrong.text)));
		return NULL;
	}
	n = convert(a, root, 0);
	json_decref(root);
	if (!n)
		(void)error_set(err, ERROR_INPUT, "%s: is nested too deeply", text_show(&shown, sv_of(name)));
	return n;
}

#include <string.h>

#include "image/recipe_maker.h"

static size_t find(const struct recipe_vars *v, struct sv name)
{
	size_t k;

	for (k = 0; k < v->n; k++)
		if (sv_is(name, v->names[k]))
			break;
	return k;
}

void recipe_vars_set(struct recipe_vars *v, const char *name, const char *value)
{
	const char **names, **values;
	size_t k;

	if (!name || !value)
		return;
	k = find(v, sv_of(name));
	if (k == RECIPE_VARS) {
		v->full = true;
		return;
	}
	if (k == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 16;
		names = arena_array(v->arena, v->cap, sizeof(*names));
		values = arena_array(v->arena, v->cap, sizeof(*values));
		if (!names || !values) {
			v->cap = k;
			return;
		}
		if (k) {
			memcpy(names, v->names, k * sizeof(*names));
			memcpy(values, v->values, k * sizeof(*values));
		}
		v->names = names;
		v->values = values;
	}
	v->names[k] = name;
	v->values[k] = value;
	v->n += k == v->n;
}

void recipe_vars_unset(struct recipe_vars *v, const char *name)
{
	size_t k = find(v, sv_of(name));

	if (k == v->n)
		return;
	v->n--;
	memmove(v->names + k, v->names + k + 1, (v->n - k) * sizeof(*v->names));
	memmove(v->values + k, v->values + k + 1, (v->n - k) * sizeof(*v->values));
}

struct recipe_vars recipe_vars_copy(const struct recipe_vars *v)
{
	struct recipe_vars to = {.arena = v->arena, .full = v->full};
	size_t k;

	for (k = 0; k < v->n; k++)
		recipe_vars_set(&to, v->names[k], v->values[k]);
	return to;
}

const char *recipe_vars_get(const struct recipe_vars *v, struct sv name)
{
	size_t k = find(v, name);

	return k < v->n ? v->values[k] : NULL;
}

const char **recipe_vars_list(const struct recipe_vars *v)
{
	const char **list = arena_array(v->arena, v->n + 1, sizeof(*list));
	size_t k;

	for (k = 0; list && k < v->n; k++)
		list[k] = arena_printf(v->arena, "%s=%s", v->names[k], v->values[k]);
	return list;
}

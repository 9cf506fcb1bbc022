/* The readers of compose_read.h that know nothing of services. */
#include <stdio.h>

#include "base/text.h"
#include "task/compose_read.h"
#include "task/compose_vars.h"

void compose_read_keys(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	if (!compose_is_null(n))
		compose_keys(r, n, to, arg);
}

static void refuse_value(struct compose_reader *r, const struct ynode *n, const char *text, const char *what)
{
	struct text_shown shown;

	compose_refuse(r, n, "\"%.200s\" is %s", text_show(&shown, sv_of(text)), what);
}

static const char *checked(struct compose_reader *r, const struct ynode *n, const struct compose_want_text *want)
{
	const char *text = compose_scalar(r, n);
	char what[160];

	if (!text || want->is(text))
		return text;
	(void)snprintf(what, sizeof(what), "not %s", want->what);
	refuse_value(r, n, text, what);
	return NULL;
}

void compose_read_text(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *text = compose_is_null(n) ? NULL : checked(r, n, arg);

	if (text)
		*(const char **)to = text;
}

void compose_read_texts(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_strings *list = to;
	const struct ynode *item;
	const char *text;
	uint32_t i = 0;

	if (compose_is_null(n))
		return;
	list->set = true;
	if (n->kind == YNODE_SCALAR) {
		text = checked(r, n, arg);
		if (text)
			compose_add_text(r, n, list, text);
		return;
	}
	if (!compose_want(r, n, YNODE_LIST))
		return;
	for (item = n->first; item; item = item->next) {
		compose_enter_item(r, i++);
		text = checked(r, item, arg);
		if (text && !compose_has_text(list, text))
			compose_add_text(r, item, list, text);
		compose_leave(r);
	}
}

void compose_read_flag(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *text = compose_is_null(n) ? NULL : compose_scalar(r, n);

	(void)arg;
	if (!text)
		return;
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		*(bool *)to = text[0] == 't';
	else
		refuse_value(r, n, text, "neither true nor false");
}

static void read_number(struct compose_reader *r, const struct ynode *n, uint64_t *to,
			const struct compose_want_number *want, const char *(*value)(const char *, uint64_t *))
{
	const char *text = compose_is_null(n) ? NULL : compose_scalar(r, n);
	const char *wrong;
	uint64_t v = 0;
	char what[160];

	if (!text)
		return;
	wrong = value(text, &v);
	if (!wrong && (v < want->min || v > want->max)) {
		(void)snprintf(what, sizeof(what), "not %s", want->what);
		wrong = what;
	}
	if (wrong)
		refuse_value(r, n, text, wrong);
	else
		*to = v;
}

void compose_read_count(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	read_number(r, n, to, arg, compose_value_count);
}

void compose_read_size(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	read_number(r, n, to, arg, compose_value_size);
}

void compose_read_time(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	read_number(r, n, to, arg, compose_value_time);
}

void compose_read_cpus(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	read_number(r, n, to, arg, compose_value_cpus);
}

void compose_read_pass(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)r;
	(void)n;
	(void)to;
	(void)arg;
}

void compose_read_never(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *why = arg;
	bool asked = false;

	(void)to;
	compose_read_flag(r, n, &asked, NULL);
	if (asked)
		compose_refuse(r, n, "%s", why);
}

void compose_read_word(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *const *names = arg;
	const char *text = compose_is_null(n) ? NULL : compose_scalar(r, n);
	struct text_shown shown;

	(void)to;
	if (!text)
		return;
	for (; *names; names++)
		if (strcmp(text, *names) == 0)
			return;
	names = arg;
	compose_refuse(r, n, "\"%.200s\" cannot be had here; \"%s\" can", text_show(&shown, sv_of(text)), names[0]);
}

void compose_read_command(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_strings *list = to;
	const struct ynode *item;
	const char *text, *wrong;

	(void)arg;
	if (compose_is_null(n))
		return;
	list->set = true;
	if (n->kind == YNODE_SCALAR) {
		text = compose_scalar(r, n);
		wrong = text ? compose_words(r->arena, text, list) : NULL;
		if (wrong)
			compose_refuse(r, n, "%s", wrong);
		return;
	}
	if (!compose_want(r, n, YNODE_LIST))
		return;
	for (item = n->first; item; item = item->next) {
		text = compose_scalar(r, item);
		if (text)
			compose_add_text(r, item, list, text);
	}
}

/* A later value of a name takes the place of an earlier one, as in Compose. */
static void set_variable(struct compose_reader *r, const struct ynode *n, struct compose_pairs *to, const char *name,
			 const char *value)
{
	struct compose_pair *pair = NULL;
	uint32_t i;

	for (i = 0; i < to->n && !pair; i++)
		if (strcmp(to->v[i].name, name) == 0)
			pair = &to->v[i];
	if (!pair)
		pair = compose_add(r, n, to, sizeof(*pair));
	if (pair)
		*pair = (struct compose_pair){name, value};
}

/* NAME alone: Compose would take the host's. */
static void take_variable(struct compose_reader *r, const struct ynode *n, struct compose_pairs *to, const char *name)
{
	const char *value = compose_variable(r->in, r->arena, sv_of(name));

	if (value)
		set_variable(r, n, to, name, value);
	else
		compose_refuse(
			r, n,
			"%s has no value and would be the host's; write %s=value, or declare it in the task's env",
			name, name);
}

static bool variable_is_named(struct compose_reader *r, const struct ynode *n, const char *name)
{
	if (compose_is_variable(name))
		return true;
	refuse_value(r, n, name, "not the name of a variable");
	return false;
}

static void variable_of_item(struct compose_reader *r, const struct ynode *n, struct compose_pairs *to)
{
	const char *text = compose_scalar(r, n), *equals, *name;

	if (!text)
		return;
	equals = strchr(text, '=');
	name = arena_str(r->arena, sv_n(text, equals ? (size_t)(equals - text) : strlen(text)));
	if (!name)
		compose_no_memory(r, n);
	else if (variable_is_named(r, n, name))
		equals ? set_variable(r, n, to, name, equals + 1) : take_variable(r, n, to, name);
}

static void variable_of_key(struct compose_reader *r, const struct ynode *key, struct compose_pairs *to)
{
	const char *name = arena_str(r->arena, key->text), *value;

	if (!name) {
		compose_no_memory(r, key);
		return;
	}
	if (!variable_is_named(r, key, name))
		return;
	if (compose_is_null(key->value)) {
		take_variable(r, key, to, name);
		return;
	}
	value = compose_scalar(r, key->value);
	if (value)
		set_variable(r, key, to, name, value);
}

void compose_read_variables(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *i;
	uint32_t index = 0;

	(void)arg;
	if (!compose_has_items(r, n, YNODE_MAP))
		return;
	for (i = n->first; i; i = i->next) {
		if (n->kind == YNODE_LIST)
			compose_enter_item(r, index++);
		else
			compose_enter(r, i->text);
		if (n->kind == YNODE_LIST)
			variable_of_item(r, i, to);
		else
			variable_of_key(r, i, to);
		compose_leave(r);
	}
}

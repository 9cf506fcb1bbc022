#include "task/compose_read.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "model/compose_shape.h"
#include "task/compose_vars.h"

/* "services.web.volumes[2]", escaped. */
static void show_path(const struct compose_reader *r, struct buf *out)
{
	unsigned i;

	for (i = 0; i < r->depth; i++) {
		if (i && r->path[i].p[0] != '[')
			(void)buf_char(out, '.');
		text_escape(out, r->path[i], 80);
	}
}

static void note(struct compose_reader *r, const struct ynode *n, bool warning, const char *format, va_list ap)
	__attribute__((format(printf, 4, 0)));

static void note(struct compose_reader *r, const struct ynode *n, bool warning, const char *format, va_list ap)
{
	struct task_problem p = {.warning = warning, .line = n->line, .column = n->column};
	struct text_shown file;
	AUTO_BUF key = {0};
	char what[1024];

	buf_init(&key, 4096);
	show_path(r, &key);
	(void)vsnprintf(what, sizeof(what), format, ap);
	p.file = text_show(&file, sv_of(r->in->file));
	p.key = key.p ? key.p : "";
	p.what = what;
	task_problem_add(r->problems, &p);
}

void compose_refuse(struct compose_reader *r, const struct ynode *n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note(r, n, false, format, ap);
	va_end(ap);
}

void compose_warn(struct compose_reader *r, const struct ynode *n, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note(r, n, true, format, ap);
	va_end(ap);
}

void compose_no_memory(struct compose_reader *r, const struct ynode *n)
{
	compose_refuse(r, n, "out of memory");
}

void compose_enter(struct compose_reader *r, struct sv key)
{
	if (r->depth < sizeof(r->path) / sizeof(r->path[0]))
		r->path[r->depth++] = key.n ? key : sv_of("\"\"");
}

void compose_enter_item(struct compose_reader *r, uint32_t index)
{
	const char *text = arena_printf(r->arena, "[%u]", index);

	compose_enter(r, sv_of(text ? text : "[]"));
}

void compose_leave(struct compose_reader *r)
{
	r->depth--;
}

bool compose_is_null(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR && n->plain &&
	       (n->text.n == 0 || sv_is(n->text, "~") || sv_is(n->text, "null") || sv_is(n->text, "Null") ||
		sv_is(n->text, "NULL"));
}

bool compose_want(struct compose_reader *r, const struct ynode *n, enum ynode_kind kind)
{
	struct ynode wanted = {.kind = kind};

	if (n->kind == kind)
		return true;
	compose_refuse(r, n, "%s; write %s", ynode_what(n), ynode_what(&wanted));
	return false;
}

bool compose_has_items(struct compose_reader *r, const struct ynode *n, enum ynode_kind kind)
{
	if (n->kind != YNODE_SCALAR)
		return true;
	if (!compose_is_null(n))
		(void)compose_want(r, n, kind);
	return false;
}

const char *compose_scalar(struct compose_reader *r, const struct ynode *n)
{
	const char *text = NULL, *wrong;

	if (!compose_want(r, n, YNODE_SCALAR))
		return NULL;
	if (n->text.n > COMPOSE_TEXT_MAX) {
		compose_refuse(r, n, "longer than %d bytes", COMPOSE_TEXT_MAX);
		return NULL;
	}
	wrong = compose_expand(r->in, r->arena, n->text, &text);
	if (!wrong && text[0] && !compose_is_text(text))
		wrong = "has control characters in it";
	if (!wrong)
		return text;
	compose_refuse(r, n, "%s", wrong);
	return NULL;
}

const struct ynode *compose_key(const struct ynode *map, const char *name)
{
	const struct ynode *k;

	for (k = map->kind == YNODE_MAP ? map->first : NULL; k; k = k->next)
		if (sv_is(k->text, name))
			return k;
	return NULL;
}

enum { ROWS_MAX = 160 };

static void unknown_key(struct compose_reader *r, const struct ynode *key, const struct compose_row *rows)
{
	const char *names[ROWS_MAX + 1];
	const char *near;
	size_t n = 0;

	for (; rows->name && n < ROWS_MAX; rows++)
		if (rows->read)
			names[n++] = rows->name;
	names[n] = NULL;
	near = text_nearest(key->text, names);
	if (r->in->lenient)
		compose_warn(r, key, "unknown key, left out%s%s%s", near ? "; did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "");
	else
		compose_refuse(r, key, "unknown key%s%s%s", near ? "; did you mean \"" : "; remove it",
			       near ? near : "", near ? "\"?" : "");
}

static void read_key(struct compose_reader *r, const struct ynode *key, void *to, const struct compose_row *rows)
{
	const struct compose_row *row;

	for (row = rows; row->name && !sv_is(key->text, row->name); row++)
		;
	if (!row->name) {
		unknown_key(r, key, rows);
		return;
	}
	if (!row->read) {
		compose_refuse(r, key, "%s", row->why);
		return;
	}
	if (row->why)
		compose_warn(r, key, "%s", row->why);
	row->read(r, key->value, (char *)to + row->offset, row->arg);
}

void compose_keys(struct compose_reader *r, const struct ynode *n, void *to, const struct compose_row *rows)
{
	const struct ynode *k;

	if (!compose_want(r, n, YNODE_MAP))
		return;
	for (k = n->first; k; k = k->next) {
		if (sv_starts(k->text, "x-"))
			continue;
		compose_enter(r, k->text);
		read_key(r, k, to, rows);
		compose_leave(r);
	}
}

void compose_named(struct compose_reader *r, const struct ynode *n, const char *what, struct compose_strings *names,
		   const struct compose_row *rows)
{
	const struct ynode *k;
	const char *name;
	char nothing = 0; /* where rows that keep nothing go */

	if (compose_is_null(n) || !compose_want(r, n, YNODE_MAP))
		return;
	for (k = n->first; k; k = k->next) {
		if (sv_starts(k->text, "x-"))
			continue;
		compose_enter(r, k->text);
		name = arena_str(r->arena, k->text);
		if (!name || !compose_is_name(name))
			compose_refuse(r, k, "not a name for a %s; use letters, digits, . _ and -", what);
		else if (names)
			compose_add_text(r, k, names, name);
		compose_read_keys(r, k->value, &nothing, rows);
		compose_leave(r);
	}
}

void *compose_add(struct compose_reader *r, const struct ynode *n, void *list, size_t size)
{
	struct compose_items items = compose_items(list);

	if (items.n == COMPOSE_LIST_MAX) {
		compose_refuse(r, n, "more than %d items", COMPOSE_LIST_MAX);
		return NULL;
	}
	if (items.n == 0) {
		items.v = arena_array(r->arena, COMPOSE_LIST_MAX + 1, size);
		if (!items.v) {
			compose_no_memory(r, n);
			return NULL;
		}
		memcpy(list, &items.v, sizeof(items.v));
	}
	items.n++;
	memcpy((char *)list + sizeof(items.v), &items.n, sizeof(items.n));
	return items.v + (items.n - 1) * size;
}

void compose_add_text(struct compose_reader *r, const struct ynode *n, struct compose_strings *to, const char *text)
{
	const char **at = compose_add(r, n, to, sizeof(*at));

	if (at)
		*at = text;
}

bool compose_has_text(const struct compose_strings *s, const char *text)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->v[i], text) == 0)
			return true;
	return false;
}

struct compose_service *compose_other(struct compose_reader *r, const struct ynode *n, const char *name)
{
	struct text_shown shown;
	int at = compose_find(r->compose, name);

	if (at >= 0)
		return &r->compose->services[at];
	compose_refuse(r, n, "there is no service \"%.200s\" in this file", text_show(&shown, sv_of(name)));
	return NULL;
}

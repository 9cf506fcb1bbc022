#include "conf/reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { KEYS_MAX = 48 };

static void show_path(const struct reader *r, struct buf *out)
{
	unsigned i;

	for (i = 0; i < r->depth; i++) {
		const struct reader_step *s = &r->path[i];

		if (s->key.p) {
			(void)buf_str(out, i ? "." : "");
			text_escape(out, s->key, 60);
		} else {
			(void)buf_printf(out, "[%u]", s->index);
		}
	}
}

static void tell(struct reader *r, const struct ynode *n, bool warning, const char *what)
{
	AUTO_BUF path = {0};

	if (!r->problem)
		return;
	buf_init(&path, 4096);
	show_path(r, &path);
	r->problem(r, &(struct reader_problem){.warning = warning,
					       .line = n->line,
					       .column = n->column,
					       .path = path.n ? path.p : "",
					       .what = what});
}

void reader_warn(struct reader *r, const struct ynode *n, const char *what)
{
	tell(r, n, true, what);
}

int reader_fail(struct reader *r, const struct ynode *n, const char *format, ...)
{
	struct text_shown name;
	AUTO_BUF path = {0};
	char what[400];
	va_list ap;

	buf_init(&path, 4096);
	show_path(r, &path);
	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	tell(r, n, false, what);
	return error_set(r->err, ERROR_INPUT, "%s:%u:%u: %s%s%s", text_show(&name, sv_of(r->name)), n->line, n->column,
			 path.n ? path.p : "", path.n ? ": " : "", what);
}

/* Of "http://NAME:PASSWORD@HOST", with or without its scheme, or with one that is misspelt: where the name begins, and
 * how long it is up to the @. 0: there is none. A terminal or a log is no place for it. */
static size_t find_login(struct sv s, size_t *ret_at)
{
	const char *at = s.n ? memrchr(s.p, '@', s.n) : NULL, *scheme = s.n ? memmem(s.p, s.n, "://", 3) : NULL;
	size_t n;

	if (!at)
		return 0;
	if (scheme && scheme > at)
		scheme = NULL;
	*ret_at = scheme ? (size_t)(scheme - s.p) + 3 : 0;
	n = (size_t)(at - s.p) - *ret_at;
	/* without a scheme it may be many other things: a path above all */
	return scheme || (memchr(s.p, ':', n) && !memchr("/~.*", s.p[0], 4)) ? n : 0;
}

int reader_fail_value(struct reader *r, const struct ynode *n, const char *what)
{
	struct text_shown value, rest;
	size_t at = 0, login = find_login(n->text, &at);

	if (!login)
		return reader_fail(r, n, "\"%.120s\" %s", text_show(&value, n->text), what);
	return reader_fail(r, n, "\"%.20s...%.100s\" %s", text_show(&value, sv_n(n->text.p, at)),
			   text_show(&rest, sv_n(n->text.p + at + login, n->text.n - at - login)), what);
}

int reader_no_memory(struct reader *r)
{
	return error_set(r->err, ERROR_SYSTEM, "out of memory");
}

void reader_enter(struct reader *r, struct sv key)
{
	r->path[r->depth++] = (struct reader_step){.key = key};
}

void reader_enter_item(struct reader *r, uint32_t index)
{
	r->path[r->depth++] = (struct reader_step){.index = index};
}

void reader_leave(struct reader *r)
{
	r->depth--;
}

struct origin reader_origin(const struct reader *r, const struct ynode *n)
{
	return (struct origin){.file = r->file, .line = n->line, .column = n->column};
}

int reader_want(struct reader *r, const struct ynode *n, enum ynode_kind kind)
{
	struct ynode want = {.kind = kind};

	if (n->kind == kind)
		return 0;
	if (n->kind == YNODE_SCALAR && n->plain && n->text.n == 0)
		return reader_fail(r, n, "has no value; write %s, or remove the key", ynode_what(&want));
	return reader_fail(r, n, "is %s; write %s", ynode_what(n), ynode_what(&want));
}

void *reader_room(struct reader *r, const struct ynode *n, enum ynode_kind kind, size_t size)
{
	void *room;

	if (reader_want(r, n, kind) < 0)
		return NULL;
	room = arena_array(r->arena, n->n, size);
	if (!room)
		(void)reader_no_memory(r);
	return room;
}

const struct ynode *reader_find(const struct ynode *map, const char *key)
{
	const struct ynode *k;

	for (k = map->first; k; k = k->next)
		if (sv_is(k->text, key))
			return k->value;
	return NULL;
}

static int fail_unknown(struct reader *r, const struct ynode *key, const struct reader_key *rows)
{
	const char *names[KEYS_MAX + 1] = {0}, *near;
	size_t i;

	for (i = 0; i < KEYS_MAX && rows[i].name; i++)
		names[i] = rows[i].name;
	near = text_nearest(key->text, names);
	reader_enter(r, key->text);
	if (r->lenient)
		reader_warn(r, key, "unknown key; it means nothing here");
	else if (near)
		(void)reader_fail(r, key, "unknown key; did you mean \"%s\"?", near);
	else
		(void)reader_fail(r, key, "unknown key; remove it");
	reader_leave(r);
	return r->problem ? 0 : -1;
}

/* YAML's ways to say nothing. */
static bool is_null(const struct ynode *n)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

	return n->kind == YNODE_SCALAR && n->type == YTYPE_UNTYPED && n->plain && name_index(words, n->text) >= 0;
}

static int read_row(struct reader *r, const struct ynode *key, void *to, const struct reader_key *row)
{
	unsigned depth = r->depth;
	int result;

	reader_enter(r, key->text);
	result = row->read(r, key->value, (char *)to + row->offset, row->arg);
	/* out of memory ends it in any case */
	if (result < 0 && (!r->problem || r->err->kind == ERROR_SYSTEM))
		return -1;
	r->depth = depth;
	return 0;
}

int reader_map(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_key *rows = arg, *row;
	const struct ynode *k;
	int result = 0;

	if (reader_want(r, n, YNODE_MAP) < 0)
		return -1;
	for (k = n->first; k && result == 0; k = k->next) {
		for (row = rows; row->name && !sv_is(k->text, row->name); row++)
			;
		if (!row->name)
			result = fail_unknown(r, k, rows);
		else if (!r->null_is_absent || !is_null(k->value))
			result = read_row(r, k, to, row);
	}
	return result;
}

int reader_word(struct reader *r, const struct ynode *n, const char *const *names, uint64_t *ret)
{
	AUTO_BUF all = {0};
	const char *near;
	char what[300];
	int i;

	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	i = name_index(names, n->text);
	if (i >= 0) {
		*ret = (uint64_t)i;
		return 0;
	}
	buf_init(&all, 1024);
	for (i = 0; names[i]; i++)
		(void)buf_printf(&all, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
	near = text_nearest(n->text, names);
	if (near)
		(void)snprintf(what, sizeof(what), "is not known here; did you mean \"%s\"?", near);
	else
		(void)snprintf(what, sizeof(what), "is not known here; write %s", all.p);
	return reader_fail_value(r, n, what);
}

int reader_enum(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_num *num = to;

	if (reader_word(r, n, arg, &num->v) < 0)
		return -1;
	num->set = true;
	num->at = reader_origin(r, n);
	return 0;
}

int reader_num(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_number *type = arg;
	struct pol_num *num = to;
	const char *wrong;
	bool bare;

	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	bare = n->text.n && n->text.p[n->text.n - 1] >= '0' && n->text.p[n->text.n - 1] <= '9';
	if (!n->plain && (!type->unit || bare))
		return reader_fail_value(r, n, "is text, because it is quoted; write it without quotes");
	wrong = type->parse(n->text, &num->v);
	if (wrong)
		return reader_fail_value(r, n, wrong);
	num->set = true;
	num->at = reader_origin(r, n);
	return 0;
}

int reader_string(struct reader *r, const struct ynode *n, value_str_fn *check, const char **ret)
{
	const char *wrong;

	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	if (n->plain && n->text.n == 0)
		return reader_fail(r, n, "has no value; write one, or \"\" where empty text is meant");
	wrong = check(r->arena, n->text, ret);
	return wrong ? reader_fail_value(r, n, wrong) : 0;
}

int reader_str(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_text *type = arg;
	struct pol_str *str = to;

	str->at = reader_origin(r, n);
	return reader_string(r, n, type->check, &str->s);
}

/* Room for a list's items; the list counts as given from here on. */
static int list_open(struct reader *r, const struct ynode *n, struct pol_list *list)
{
	list->v = reader_room(r, n, YNODE_LIST, sizeof(*list->v));
	if (!list->v)
		return -1;
	list->set = true;
	return 0;
}

int reader_list(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_text *type = arg;
	struct pol_list *list = to;
	const struct ynode *item;

	if (list_open(r, n, list) < 0)
		return -1;
	if (n->n == 0 && type->not_empty)
		return reader_fail(r, n,
				   "is empty, which would allow nothing; list what is allowed, or remove the key");
	for (item = n->first; item; item = item->next) {
		reader_enter_item(r, list->n);
		if (reader_string(r, item, type->check, &list->v[list->n].s) < 0)
			return -1;
		list->v[list->n++].at = reader_origin(r, item);
		reader_leave(r);
	}
	return 0;
}

int reader_words(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *const *names = arg;
	struct pol_list *list = to;
	const struct ynode *item;
	uint64_t word;

	if (list_open(r, n, list) < 0)
		return -1;
	for (item = n->first; item; item = item->next) {
		reader_enter_item(r, list->n);
		if (reader_word(r, item, names, &word) < 0)
			return -1;
		list->v[list->n++] = (struct pol_str){.s = names[word], .at = reader_origin(r, item)};
		reader_leave(r);
	}
	return 0;
}

int reader_version(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	if (!n->plain || !sv_is(n->text, "1"))
		return reader_fail_value(r, n, "is not a version this Cordon knows; write version: 1");
	return 0;
}

static int read_root(struct reader *r, const struct ynode *root, void *to, const struct reader_key *rows)
{
	const struct ynode *version;

	if (reader_want(r, root, YNODE_MAP) < 0)
		return -1;
	version = reader_find(root, "version");
	if (!version)
		return reader_fail(r, root, "version: is missing; write \"version: 1\" as the first line");
	reader_enter(r, sv_of("version"));
	if (reader_version(r, version, NULL, NULL) < 0)
		return -1;
	reader_leave(r);
	return reader_map(r, root, to, rows);
}

int reader_parse(struct reader *r, struct sv bytes, void *to, const struct reader_key *rows)
{
	struct arena *scratch = arena_new();
	const struct ynode *root;
	int result;

	if (!scratch)
		return reader_no_memory(r);
	result = yaml_tree(scratch, r->name, bytes, &root, r->err);
	if (result == 0)
		result = read_root(r, root, to, rows);
	arena_free(scratch);
	return result;
}

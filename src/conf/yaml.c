#include "conf/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Maps up to this size are searched for duplicates pair by pair; larger ones are sorted. */
enum { SMALL_MAP = 12 };

#define STAR_IN_QUOTES "a value that starts with * must be in quotes, such as \"**/name\""

struct frame {
	struct ynode *node;
	struct ynode *last; /* its last item or key */
};

struct tree {
	struct arena *arena;
	const char *name;
	struct error *err;
	yaml_parser_t parser;
	struct frame stack[YAML_TREE_NESTING];
	unsigned depth;
	uint32_t nodes;
	struct ynode *root;
};

static int fail_at(struct tree *t, size_t line, size_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fail_at(struct tree *t, size_t line, size_t column, const char *format, ...)
{
	struct text_shown name;
	char what[256];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return error_set(t->err, ERROR_INPUT, "%s:%zu:%zu: %s", text_show(&name, sv_of(t->name)), line, column, what);
}

static int fail_mark(struct tree *t, yaml_mark_t mark, const char *what)
{
	return fail_at(t, mark.line + 1, mark.column + 1, "%s", what);
}

/* Also the breaks that YAML takes for the end of a line and most editors do not: text behind them would hide in a
 * comment. */
static bool is_control(const unsigned char *p, size_t n)
{
	if (n == 1)
		return (p[0] < 0x20 && p[0] != '\t' && p[0] != '\n') || p[0] == 0x7f;
	if (n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9);
}

/* The whole input before libyaml sees it: its own check stops at a buffer's edge and cannot name the place. */
static int check_bytes(struct tree *t, struct sv s)
{
	size_t i = 0, line = 1, column = 1, n;

	while (i < s.n) {
		const unsigned char *p = (const unsigned char *)s.p + i;

		n = p[0] >= 0x20 && p[0] < 0x7f ? 1 : text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0)
			return fail_at(t, line, column, "byte 0x%02x is not UTF-8; save the file as UTF-8", p[0]);
		if (is_control(p, n) && !sv_starts(sv_n(s.p + i, s.n - i), "\r\n"))
			return fail_at(t, line, column, "control character 0x%02x; remove it", p[n - 1]);
		i += n;
		column++;
		if (p[0] == '\n') {
			line++;
			column = 1;
		}
	}
	return 0;
}

static int check_scalar(struct tree *t, struct sv s, yaml_mark_t mark)
{
	size_t i, n;

	for (i = 0; i < s.n; i += n) {
		const unsigned char *p = (const unsigned char *)s.p + i;

		n = p[0] >= 0x20 && p[0] < 0x7f ? 1 : text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0 || is_control(p, n))
			return fail_mark(t, mark, "the value holds a control character; remove the escape");
	}
	return 0;
}

static struct ynode *node_new(struct tree *t, enum ynode_kind kind, yaml_mark_t mark)
{
	struct ynode *n;

	if (t->nodes++ == YAML_TREE_NODES) {
		(void)fail_at(t, mark.line + 1, mark.column + 1, "more than %d values; split the file",
			      YAML_TREE_NODES);
		return NULL;
	}
	n = arena_alloc(t->arena, sizeof(*n));
	if (!n) {
		(void)error_set(t->err, ERROR_SYSTEM, "out of memory");
		return NULL;
	}
	n->kind = kind;
	n->line = (uint32_t)mark.line + 1;
	n->column = (uint32_t)mark.column + 1;
	return n;
}

static int add_key(struct tree *t, struct frame *f, struct ynode *n)
{
	if (n->kind != YNODE_SCALAR)
		return fail_at(t, n->line, n->column, "a key cannot be %s; write a name", ynode_what(n));
	if (n->plain && sv_is(n->text, "<<"))
		return fail_at(t, n->line, n->column, "merge keys are not supported; use extends");
	if (f->last)
		f->last->next = n;
	else
		f->node->first = n;
	f->last = n;
	f->node->n++;
	return 0;
}

/* Puts a node where the open list or map expects one. */
static int attach(struct tree *t, struct ynode *n)
{
	struct frame *f = t->depth ? &t->stack[t->depth - 1] : NULL;

	if (!f) {
		t->root = n;
		return 0;
	}
	if (f->node->kind == YNODE_MAP) {
		if (!f->last || f->last->value)
			return add_key(t, f, n);
		f->last->value = n;
		return 0;
	}
	if (f->last)
		f->last->next = n;
	else
		f->node->first = n;
	f->last = n;
	f->node->n++;
	return 0;
}

static int by_text_then_place(const void *a, const void *b)
{
	const struct ynode *x = *(const struct ynode *const *)a, *y = *(const struct ynode *const *)b;
	size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
	int r = n ? memcmp(x->text.p, y->text.p, n) : 0;

	if (r)
		return r;
	if (x->text.n != y->text.n)
		return x->text.n < y->text.n ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static int fail_duplicate(struct tree *t, const struct ynode *first, const struct ynode *again)
{
	struct text_shown key;

	(void)text_show(&key, first->text);
	return fail_at(t, again->line, again->column, "%.100s: duplicate key, first given in line %u; keep one of them",
		       key.s, first->line);
}

static int check_duplicates_sorted(struct tree *t, const struct ynode *map)
{
	const struct ynode **keys = malloc(map->n * sizeof(*keys)), *k;
	size_t n = 0, i;
	int r = 0;

	if (!keys)
		return error_set(t->err, ERROR_SYSTEM, "out of memory");
	for (k = map->first; k; k = k->next)
		keys[n++] = k;
	qsort(keys, n, sizeof(*keys), by_text_then_place);
	for (i = 1; i < n && r == 0; i++)
		if (sv_eq(keys[i - 1]->text, keys[i]->text))
			r = fail_duplicate(t, keys[i - 1], keys[i]);
	free(keys);
	return r;
}

static int check_duplicates(struct tree *t, const struct ynode *map)
{
	const struct ynode *a, *b;

	if (map->n > SMALL_MAP)
		return check_duplicates_sorted(t, map);
	for (b = map->first; b; b = b->next)
		for (a = map->first; a != b; a = a->next)
			if (sv_eq(a->text, b->text))
				return fail_duplicate(t, a, b);
	return 0;
}

static int check_properties(struct tree *t, const yaml_char_t *anchor, const yaml_char_t *tag, yaml_mark_t mark)
{
	if (anchor)
		return fail_mark(t, mark, "anchors are not supported; write the value out");
	if (tag)
		return fail_mark(t, mark, "tags are not supported; remove the tag");
	return 0;
}

static int on_scalar(struct tree *t, const yaml_event_t *e)
{
	struct sv text = sv_n((const char *)e->data.scalar.value, e->data.scalar.length);
	struct ynode *n;

	if (check_properties(t, e->data.scalar.anchor, e->data.scalar.tag, e->start_mark) < 0 ||
	    check_scalar(t, text, e->start_mark) < 0)
		return -1;
	n = node_new(t, YNODE_SCALAR, e->start_mark);
	if (!n)
		return -1;
	n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	n->text = sv_n(arena_str(t->arena, text), text.n);
	if (!n->text.p)
		return error_set(t->err, ERROR_SYSTEM, "out of memory");
	return attach(t, n);
}

static int on_open(struct tree *t, enum ynode_kind kind, const yaml_event_t *e)
{
	struct ynode *n;

	if (t->depth == YAML_TREE_NESTING)
		return fail_at(t, e->start_mark.line + 1, e->start_mark.column + 1,
			       "nested deeper than %d levels; flatten it", YAML_TREE_NESTING);
	n = node_new(t, kind, e->start_mark);
	if (!n || attach(t, n) < 0)
		return -1;
	t->stack[t->depth++] = (struct frame){.node = n};
	return 0;
}

static int on_close(struct tree *t)
{
	const struct ynode *n = t->stack[--t->depth].node;

	return n->kind == YNODE_MAP ? check_duplicates(t, n) : 0;
}

static int on_document(struct tree *t, const yaml_event_t *e)
{
	if (t->root)
		return fail_mark(t, e->start_mark, "a second document; keep one to a file");
	if (e->data.document_start.version_directive ||
	    e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end)
		return fail_mark(t, e->start_mark, "directives are not supported; remove the line with %");
	return 0;
}

static int on_event(struct tree *t, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(t, e);
	case YAML_ALIAS_EVENT:
		return fail_mark(t, e->start_mark, "aliases are not supported; " STAR_IN_QUOTES);
	case YAML_SCALAR_EVENT:
		return on_scalar(t, e);
	case YAML_SEQUENCE_START_EVENT:
		if (check_properties(t, e->data.sequence_start.anchor, e->data.sequence_start.tag, e->start_mark) < 0)
			return -1;
		return on_open(t, YNODE_LIST, e);
	case YAML_MAPPING_START_EVENT:
		if (check_properties(t, e->data.mapping_start.anchor, e->data.mapping_start.tag, e->start_mark) < 0)
			return -1;
		return on_open(t, YNODE_MAP, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_close(t);
	default:
		return 0;
	}
}

static int parser_failed(struct tree *t)
{
	const yaml_parser_t *p = &t->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return error_set(t->err, ERROR_SYSTEM, "out of memory");
	/* Nobody who writes a pattern thinks of aliases. */
	if (p->context && strcmp(p->context, "while scanning an alias") == 0)
		return fail_mark(t, p->context_mark, STAR_IN_QUOTES);
	/* An editor's, as a rule, and not to be seen. */
	if (p->error == YAML_SCANNER_ERROR && p->buffer.pointer && p->buffer.pointer < p->buffer.last &&
	    *p->buffer.pointer == '\t')
		return fail_mark(t, p->problem_mark,
				 "is a tab, which YAML does not take for indentation; write blanks");
	return fail_at(t, p->problem_mark.line + 1, p->problem_mark.column + 1,
		       "not YAML: %s%s%s; check indentation and quotes here",
		       p->problem ? p->problem : "cannot be read", p->context ? " " : "", p->context ? p->context : "");
}

static int pump(struct tree *t)
{
	yaml_event_t e;
	bool end = false;
	int r;

	while (!end) {
		if (!yaml_parser_parse(&t->parser, &e))
			return parser_failed(t);
		end = e.type == YAML_STREAM_END_EVENT;
		r = on_event(t, &e);
		yaml_event_delete(&e);
		if (r < 0)
			return -1;
	}
	return 0;
}

int yaml_tree(struct arena *a, const char *name, struct sv bytes, const struct ynode **ret, struct error *err)
{
	struct tree t = {.arena = a, .name = name, .err = err};
	int r;

	if (bytes.n > YAML_TREE_BYTES)
		return fail_at(&t, 1, 1, "larger than %d MiB; split the file", YAML_TREE_BYTES >> 20);
	if (sv_starts(bytes, "\xef\xbb\xbf"))
		bytes = sv_n(bytes.p + 3, bytes.n - 3);
	if (check_bytes(&t, bytes) < 0)
		return -1;
	if (!yaml_parser_initialize(&t.parser))
		return error_set(err, ERROR_SYSTEM, "out of memory");
	yaml_parser_set_encoding(&t.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&t.parser, (const unsigned char *)bytes.p, bytes.n);
	r = pump(&t);
	yaml_parser_delete(&t.parser);
	if (r < 0)
		return -1;
	if (!t.root)
		return fail_at(&t, 1, 1, "the file is empty; it needs at least \"version: 1\"");
	*ret = t.root;
	return 0;
}

const char *ynode_what(const struct ynode *n)
{
	static const char *const what[] = {"a single value", "a list", "a mapping"};

	return what[n->kind];
}

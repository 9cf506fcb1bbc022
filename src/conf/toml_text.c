#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "conf/toml_parts.h"

int toml_fail_at(struct toml *t, const struct toml_place *at, const char *format, ...)
{
	struct text_shown name;
	char what[300];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return error_set(t->err, ERROR_INPUT, "%s:%u:%u: %s", text_show(&name, sv_of(t->name)), at->line, at->column,
			 what);
}

int toml_fail(struct toml *t, const char *format, ...)
{
	struct toml_place here = toml_here(t);
	char what[300];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return toml_fail_at(t, &here, "%s", what);
}

int toml_no_memory(struct toml *t)
{
	return error_set(t->err, ERROR_SYSTEM, "out of memory");
}

struct toml_place toml_here(struct toml *t)
{
	struct toml_place *at = &t->place;

	for (; at->at < t->p; at->at++) {
		if (*at->at == '\n') {
			at->line++;
			at->column = 1;
		} else if (((unsigned char)*at->at & 0xc0) != 0x80) {
			at->column++;
		}
	}
	return *at;
}

bool toml_at(const struct toml *t, const char *s)
{
	return sv_starts(sv_n(t->p, (size_t)(t->end - t->p)), s);
}

void toml_skip_blanks(struct toml *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

bool toml_skip_newline(struct toml *t)
{
	if (toml_at(t, "\n"))
		t->p++;
	else if (toml_at(t, "\r\n"))
		t->p += 2;
	else
		return false;
	return true;
}

/* Bytes of the character at p, which may stand in a comment or string as it is; 0: none may. */
static size_t plain_character(const struct toml *t)
{
	unsigned char c = (unsigned char)*t->p;

	if ((c < 0x20 && c != '\t') || c == 0x7f)
		return 0;
	return c < 0x80 ? 1 : text_utf8(sv_n(t->p, (size_t)(t->end - t->p)));
}

static int fail_character(struct toml *t)
{
	unsigned char c = (unsigned char)*t->p;

	if (c >= 0x80)
		return toml_fail(t, "byte 0x%02x is not UTF-8; save the file as UTF-8", c);
	return toml_fail(t, "control character 0x%02x; remove it, or write it as \\u%04X in a string", c, c);
}

int toml_skip_comment(struct toml *t)
{
	size_t n;

	if (!toml_at(t, "#"))
		return 0;
	while (t->p < t->end && !toml_at(t, "\n") && !toml_at(t, "\r\n")) {
		n = plain_character(t);
		if (n == 0)
			return fail_character(t);
		t->p += n;
	}
	return 0;
}

int toml_skip_lines(struct toml *t)
{
	do {
		toml_skip_blanks(t);
		if (toml_skip_comment(t) < 0)
			return -1;
	} while (toml_skip_newline(t));
	return 0;
}

struct ynode *toml_node(struct toml *t, enum ynode_kind kind, const struct toml_place *at)
{
	struct ynode *n;

	if (t->nodes++ == TOML_TREE_NODES) {
		(void)toml_fail_at(t, at, "more than %d values; split the file", TOML_TREE_NODES);
		return NULL;
	}
	n = arena_alloc(t->arena, sizeof(*n));
	if (!n) {
		(void)toml_no_memory(t);
		return NULL;
	}
	n->kind = kind;
	n->line = at->line;
	n->column = at->column;
	return n;
}

void toml_append(struct ynode *to, struct ynode *item)
{
	if (to->value)
		to->value->next = item;
	else
		to->first = item;
	to->value = item;
	to->n++;
}

static void put_utf8(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		(void)buf_char(b, (char)c);
	} else if (c < 0x800) {
		(void)buf_char(b, (char)(0xc0 | (c >> 6)));
		(void)buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		(void)buf_char(b, (char)(0xe0 | (c >> 12)));
		(void)buf_char(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		(void)buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else {
		(void)buf_char(b, (char)(0xf0 | (c >> 18)));
		(void)buf_char(b, (char)(0x80 | ((c >> 12) & 0x3f)));
		(void)buf_char(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		(void)buf_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The digits of \uXXXX and \UXXXXXXXX. */
static int read_code(struct toml *t, unsigned digits)
{
	uint32_t c = 0;
	int d;

	for (; digits > 0; digits--, t->p++) {
		d = t->p < t->end ? hex_digit(*t->p) : -1;
		if (d < 0)
			return toml_fail(t, "an escape needs hexadecimal digits here: \\uXXXX or \\UXXXXXXXX");
		c = c << 4 | (uint32_t)d;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return toml_fail(t, "U+%04X is no character", c);
	put_utf8(&t->text, c);
	return 0;
}

/* A backslash at a line's end: it, the newline and all white space up to the next text mean nothing. */
static bool skip_line_end(struct toml *t)
{
	const char *start = t->p;

	t->p++;
	toml_skip_blanks(t);
	if (!toml_skip_newline(t)) {
		t->p = start;
		return false;
	}
	do
		toml_skip_blanks(t);
	while (toml_skip_newline(t));
	return true;
}

static int read_escape(struct toml *t, bool many_lines)
{
	static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	const char *found;

	if (many_lines && skip_line_end(t))
		return 0;
	t->p++;
	if (t->p == t->end)
		return toml_fail(t, "the string has no end; close its quotes");
	found = *t->p ? strchr(names, *t->p) : NULL;
	if (found) {
		(void)buf_char(&t->text, values[found - names]);
		t->p++;
		return 0;
	}
	if (*t->p != 'u' && *t->p != 'U')
		return toml_fail(t, "unknown escape; write \\\\ for a backslash");
	t->p++;
	return read_code(t, t->p[-1] == 'u' ? 4 : 8);
}

/* Quotes at p; of a string of many lines up to two may be its last characters. True: the string has ended. */
static bool read_quotes(struct toml *t, char quote, bool many_lines)
{
	unsigned n = 0;

	while (t->p < t->end && *t->p == quote && n < (many_lines ? 5 : 1)) {
		t->p++;
		n++;
	}
	if (!many_lines)
		return true;
	for (; n > (n >= 3 ? 3 : 0); n--)
		(void)buf_char(&t->text, quote);
	return n == 3;
}

/* One character that is neither quote nor escape. */
static int read_character(struct toml *t, bool many_lines)
{
	size_t n;

	if (many_lines && toml_skip_newline(t)) {
		(void)buf_char(&t->text, '\n');
		return 0;
	}
	if (*t->p == '\n' || toml_at(t, "\r\n"))
		return toml_fail(t, "the string has no end in this line; close its quotes, or use three of them");
	n = plain_character(t);
	if (n == 0)
		return fail_character(t);
	(void)buf_add(&t->text, t->p, n);
	t->p += n;
	return 0;
}

int toml_string(struct toml *t, bool many_lines, struct sv *ret)
{
	char quote = *t->p, *copy;
	int r = 0;

	t->p += many_lines ? 3 : 1;
	buf_clear(&t->text);
	if (many_lines)
		(void)toml_skip_newline(t);
	while (r == 0) {
		if (t->p == t->end)
			return toml_fail(t, "the string has no end; close its quotes");
		if (*t->p == quote) {
			if (read_quotes(t, quote, many_lines))
				break;
		} else if (quote == '"' && *t->p == '\\') {
			r = read_escape(t, many_lines);
		} else {
			r = read_character(t, many_lines);
		}
	}
	if (r < 0)
		return -1;
	copy = buf_failed(&t->text) ? NULL : arena_str(t->arena, buf_view(&t->text));
	if (!copy)
		return toml_no_memory(t);
	*ret = sv_n(copy, t->text.n);
	return 0;
}

/* What a text of Python or JavaScript imports: carry_asked.h. No parser of either, but nothing that is written as
 * people write it is missed. */
#include <string.h>

#include "base/cleanup.h"
#include "task/carry_asked.h"

enum { BLOCKS_MAX = 64, LOOK_BACK = 4096 };

enum block { BLOCK_DEF, BLOCK_TRY, BLOCK_TYPES };

struct python {
	asked_fn *fn;
	void *arg;
	struct {
		size_t indent;
		enum block is;
	} blocks[BLOCKS_MAX];
	size_t n;
	unsigned open; /* brackets */
	char quote;    /* of a string over several lines; or 0 */
};

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static struct sv behind(struct sv s, size_t n)
{
	return sv_n(s.p + n, s.n - n);
}

static struct sv skip_blanks(struct sv s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = behind(s, 1);
	return s;
}

static bool has(struct sv s, const char *text)
{
	return memmem(s.p, s.n, text, strlen(text)) != NULL;
}

static bool three_quotes(struct sv s)
{
	return s.n >= 3 && s.p[1] == s.p[0] && s.p[2] == s.p[0];
}

/* Behind a string of one line, from its first quote on. */
static size_t short_string(struct sv s)
{
	size_t i = 1;

	while (i < s.n && s.p[i] != s.p[0])
		i += s.p[i] == '\\' && i + 1 < s.n ? 2 : 1;
	return i < s.n ? i + 1 : s.n;
}

/* How much of a line is code: up to a comment, or to where a long string begins. Keeps count of brackets and strings.
 */
static size_t code_of(struct python *p, struct sv line)
{
	size_t i = 0, code = 0;

	while (i < line.n) {
		char c = line.p[i];

		if (p->quote) {
			if (c == p->quote && three_quotes(behind(line, i))) {
				p->quote = 0;
				i += 3;
			} else {
				i += c == '\\' ? 2 : 1;
			}
			continue;
		}
		if (c == '#')
			break;
		if ((c == '"' || c == '\'') && three_quotes(behind(line, i))) {
			p->quote = c;
			i += 3;
			continue;
		}
		if (c == '(' || c == '[' || c == '{')
			p->open++;
		else if ((c == ')' || c == ']' || c == '}') && p->open)
			p->open--;
		i += c == '"' || c == '\'' ? short_string(behind(line, i)) : 1;
		code = i < line.n ? i : line.n;
	}
	return code;
}

/* Is what stands here run, as far as can be told? */
static bool is_run(const struct python *p)
{
	bool guarded = false, inside = false;
	size_t i;

	for (i = p->n; i-- > 0;) {
		if (p->blocks[i].is == BLOCK_TYPES)
			return false;
		guarded |= p->blocks[i].is == BLOCK_TRY && !inside;
		inside |= p->blocks[i].is == BLOCK_DEF;
	}
	return guarded || !inside;
}

/* "a.b.c" -> a.b, "a" -> a */
static void tell(const struct python *p, struct sv path)
{
	const char *dot;
	size_t n;

	for (n = 0; n < path.n && (is_name(path.p[n]) || path.p[n] == '.'); n++)
		;
	path.n = n;
	dot = memchr(path.p, '.', path.n);
	if (path.n == 0 || dot == path.p)
		return;
	for (n = dot ? (size_t)(dot - path.p) + 1 : path.n; n < path.n && path.p[n] != '.'; n++)
		;
	p->fn(p->arg, sv_n(path.p, n));
}

static bool starts_word(struct sv s, const char *word)
{
	size_t n = strlen(word);

	return sv_starts(s, word) && s.n > n && (s.p[n] == ' ' || s.p[n] == '\t');
}

/* `import a.b as c, d`, `from a.b import c` */
static void take_statement(const struct python *p, struct sv s)
{
	const char *comma;

	s = skip_blanks(s);
	if (starts_word(s, "from")) {
		tell(p, skip_blanks(behind(s, 4)));
	} else if (starts_word(s, "import")) {
		for (s = behind(s, 6); s.n; s = comma ? behind(s, (size_t)(comma - s.p) + 1) : sv_n("", 0)) {
			tell(p, skip_blanks(s));
			comma = memchr(s.p, ',', s.n);
		}
	}
}

/* `import_module("a.b")`, `__import__('a')`, and whatever else of the kind is called so */
static void take_calls(const struct python *p, struct sv code)
{
	size_t i, start;

	for (i = 0; i + 1 < code.n; i++) {
		struct sv word;

		if (code.p[i] != '(' || !memchr("\"'", code.p[i + 1], 2))
			continue;
		for (start = i; start && is_name(code.p[start - 1]); start--)
			;
		word = sv_n(code.p + start, i - start);
		if (has(word, "import") || sv_is(word, "find_spec"))
			tell(p, behind(code, i + 2));
	}
}

static void open_block(struct python *p, size_t indent, struct sv code)
{
	enum block is;

	if (starts_word(code, "def") || starts_word(code, "async"))
		is = BLOCK_DEF;
	else if (sv_starts(code, "try:") || (starts_word(code, "with") && has(code, "suppress")))
		is = BLOCK_TRY;
	else if (starts_word(code, "if") && has(code, "TYPE_CHECKING") && !has(code, "not "))
		is = BLOCK_TYPES;
	else
		return;
	if (p->n < BLOCKS_MAX) {
		p->blocks[p->n].indent = indent;
		p->blocks[p->n++].is = is;
	}
}

static void take_python(struct python *p, struct sv line)
{
	bool whole = !p->open && !p->quote;
	struct sv code = sv_n(line.p, code_of(p, line)), s = skip_blanks(code);
	size_t indent = code.n - s.n, i;

	if (s.n == 0)
		return;
	while (whole && p->n && p->blocks[p->n - 1].indent >= indent)
		p->n--;
	if (whole)
		open_block(p, indent, s);
	if (!is_run(p))
		return;
	take_calls(p, code);
	if (whole)
		take_statement(p, s);
	/* `try: import a`, `import a; import b` */
	for (i = 0; whole && i + 1 < s.n; i++)
		if (s.p[i] == ';' || s.p[i] == ':')
			take_statement(p, behind(s, i + 1));
}

void carry_asks_python(struct sv text, asked_fn *fn, void *arg)
{
	struct python p = {.fn = fn, .arg = arg};
	const char *end;
	size_t n;

	for (; text.n; text = behind(text, n < text.n ? n + 1 : n)) {
		end = memchr(text.p, '\n', text.n);
		n = end ? (size_t)(end - text.p) : text.n;
		take_python(&p, sv_n(text.p, n));
	}
}

/* Is a brace that is open before `at` that of a `try`? Those of conditions, of loops and of functions lie between at
 * times. */
static bool is_tried(const char *text, const char *at)
{
	const char *start = at - text > LOOK_BACK ? at - LOOK_BACK : text;
	unsigned closed = 0;

	while (at-- > start) {
		if (*at == '}')
			closed++;
		if (*at != '{' || (closed && closed--))
			continue;
		while (at > start && memchr(" \t\r\n", at[-1], 4))
			at--;
		if (at - start >= 3 && memcmp(at - 3, "try", 3) == 0 && (at - start == 3 || !is_name(at[-4])))
			return true;
	}
	return false;
}

/* "a/lib/b" -> a, "@a/b/c" -> @a/b; relative paths are none */
static void tell_package(struct sv s, char quote, asked_fn *fn, void *arg)
{
	size_t n, slashes = 0;

	for (n = 0; n < s.n && s.p[n] != quote && s.p[n] != '\n'; n++) {
		slashes += s.p[n] == '/';
		if (slashes > (s.p[0] == '@'))
			break;
	}
	if (n && n < s.n && s.p[0] != '.' && s.p[0] != '/')
		fn(arg, sv_n(s.p, n));
}

void carry_asks_node(struct sv text, asked_fn *fn, void *arg)
{
	static const char *const calls[] = {"require(", "require.resolve(", "import("};
	const char *at, *end = text.p + text.n;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(calls); i++)
		for (at = text.p, n = strlen(calls[i]); (at = memmem(at, (size_t)(end - at), calls[i], n)); at += n) {
			struct sv s = skip_blanks(sv_n(at + n, (size_t)(end - at) - n));

			if (s.n > 1 && memchr("\"'`", s.p[0], 3) && (at == text.p || !is_name(at[-1])) &&
			    (calls[i][0] == 'i' || is_tried(text.p, at)))
				tell_package(behind(s, 1), s.p[0], fn, arg);
		}
}

#include "conf/dockerfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "conf/dockerfile_heredoc.h"
#include "conf/dockerfile_words.h"

struct scan {
	struct arena *arena;
	const char *name;
	struct sv rest; /* lines not read yet */
	uint32_t line;	/* of the last one that was read */
	char escape;
	bool directives_over, seen_escape, seen_check;
	struct dockerfile *file;
	size_t cap;
	struct error *err;
};

static const char *const kind_names[] = {
	[DOCKERFILE_UNKNOWN] = "?",
	[DOCKERFILE_ADD] = "ADD",
	[DOCKERFILE_ARG] = "ARG",
	[DOCKERFILE_CMD] = "CMD",
	[DOCKERFILE_COPY] = "COPY",
	[DOCKERFILE_ENTRYPOINT] = "ENTRYPOINT",
	[DOCKERFILE_ENV] = "ENV",
	[DOCKERFILE_EXPOSE] = "EXPOSE",
	[DOCKERFILE_FROM] = "FROM",
	[DOCKERFILE_HEALTHCHECK] = "HEALTHCHECK",
	[DOCKERFILE_LABEL] = "LABEL",
	[DOCKERFILE_MAINTAINER] = "MAINTAINER",
	[DOCKERFILE_ONBUILD] = "ONBUILD",
	[DOCKERFILE_RUN] = "RUN",
	[DOCKERFILE_SHELL] = "SHELL",
	[DOCKERFILE_STOPSIGNAL] = "STOPSIGNAL",
	[DOCKERFILE_USER] = "USER",
	[DOCKERFILE_VOLUME] = "VOLUME",
	[DOCKERFILE_WORKDIR] = "WORKDIR",
};

const char *dockerfile_kind_name(enum dockerfile_kind kind)
{
	return kind_names[kind];
}

static enum dockerfile_kind kind_of(const char *word)
{
	size_t i;

	for (i = 1; i < ARRAY_LEN(kind_names); i++)
		if (strcasecmp(word, kind_names[i]) == 0)
			return (enum dockerfile_kind)i;
	return DOCKERFILE_UNKNOWN;
}

__attribute__((format(printf, 3, 4))) static int fail(struct scan *s, uint32_t line, const char *format, ...)
{
	struct text_shown name;
	char text[300];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(s->err, ERROR_INPUT, "%.200s:%u: %s", text_show(&name, sv_of(s->name)), line, text);
}

static int no_memory(struct scan *s)
{
	return error_sys(s->err, ENOMEM, "reading a Dockerfile");
}

/* Nothing below meets bytes that are not text. */
static int check_bytes(struct scan *s)
{
	struct sv b = s->rest;
	uint32_t line = 1;
	size_t n;

	if (b.n > DOCKERFILE_BYTES)
		return fail(s, 1, "the file is larger than %d bytes", DOCKERFILE_BYTES);
	for (; b.n; b = sv_n(b.p + n, b.n - n)) {
		n = text_utf8(b);
		if (!n)
			return fail(s, line, "a byte that is not UTF-8 (\\x%02x)", (unsigned char)b.p[0]);
		if (n == 1 && ((unsigned char)b.p[0] < '\t' || (b.p[0] > '\r' && b.p[0] < ' ') || b.p[0] == 0x7f))
			return fail(s, line, "a control character (\\x%02x)", (unsigned char)b.p[0]);
		line += b.p[0] == '\n';
	}
	return 0;
}

/* The next line, with its end. False: there is none. */
static bool next_line(struct scan *s, struct sv *ret)
{
	const char *end;

	if (!s->rest.n)
		return false;
	end = memchr(s->rest.p, '\n', s->rest.n);
	*ret = sv_n(s->rest.p, end ? (size_t)(end + 1 - s->rest.p) : s->rest.n);
	s->rest = sv_n(s->rest.p + ret->n, s->rest.n - ret->n);
	s->line++;
	return true;
}

static struct sv without_end(struct sv l)
{
	while (l.n && (l.p[l.n - 1] == '\r' || l.p[l.n - 1] == '\n'))
		l.n--;
	return l;
}

static bool is_comment(struct sv l)
{
	l = text_trim_left(l);
	return l.n && l.p[0] == '#';
}

static bool is_directive_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* "name = value" behind the comment's mark; both without spaces around. */
static bool directive_parts(struct sv l, struct sv *name, struct sv *value)
{
	size_t i = 0;

	l = text_trim_left(l);
	while (i < l.n && (((l.p[i] | 0x20) >= 'a' && (l.p[i] | 0x20) <= 'z') || (i && l.p[i] >= '0' && l.p[i] <= '9')))
		i++;
	*name = sv_n(l.p, i);
	while (i < l.n && is_directive_space(l.p[i]))
		i++;
	if (!name->n || i == l.n || l.p[i++] != '=')
		return false;
	while (i < l.n && is_directive_space(l.p[i]))
		i++;
	*value = sv_n(l.p + i, l.n - i);
	while (value->n && is_directive_space(value->p[value->n - 1]))
		value->n--;
	return value->n > 0;
}

static bool is_word(struct sv s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

static void note_syntax(struct scan *s, struct sv value)
{
	if (s->file->syntax)
		return;
	s->file->syntax = arena_str(s->arena, value);
	s->file->syntax_line = s->line;
}

/* Directives come first, one of each, and end with the first line that is none. */
static int directive(struct scan *s, struct sv l)
{
	struct sv name, value;
	bool *seen;

	if (s->directives_over)
		return 0;
	s->directives_over = true;
	if (!l.n || l.p[0] != '#' || !directive_parts(sv_n(l.p + 1, l.n - 1), &name, &value))
		return 0;
	if (is_word(name, "syntax")) {
		if (s->file->syntax)
			return fail(s, s->line, "# syntax= stands here twice");
		note_syntax(s, value);
	} else if (is_word(name, "escape") || is_word(name, "check")) {
		seen = is_word(name, "check") ? &s->seen_check : &s->seen_escape;
		if (*seen)
			return fail(s, s->line, "# %.*s= stands here twice", (int)name.n, name.p);
		*seen = true;
		if (seen == &s->seen_escape && !sv_is(value, "\\") && !sv_is(value, "`"))
			return fail(s, s->line, "# escape= must be \\ or `");
		if (seen == &s->seen_escape)
			s->escape = value.p[0];
	} else {
		return 0;
	}
	s->directives_over = false;
	return 0;
}

/* Drops the escape that continues the line, with the spaces behind it. */
static bool continues(const struct scan *s, struct sv *l)
{
	size_t n = l->n;

	while (n && (l->p[n - 1] == ' ' || l->p[n - 1] == '\t'))
		n--;
	if (!n || l->p[n - 1] != s->escape || (n > 1 && l->p[n - 2] == s->escape))
		return false;
	l->n = n - 1;
	return true;
}

/* Puts together one instruction's lines. 0: there is none in this line. */
static int gather(struct scan *s, struct sv l, struct buf *out)
{
	bool more;

	if (s->line == 1 && sv_starts(l, "\xef\xbb\xbf"))
		l = sv_n(l.p + 3, l.n - 3);
	l = text_trim_left(without_end(l));
	if (directive(s, l) < 0)
		return -1;
	if (is_comment(l))
		return 0;
	more = continues(s, &l);
	if (!more && !l.n)
		return 0;
	buf_clear(out);
	buf_sv(out, l);
	while (more && next_line(s, &l)) {
		l = without_end(l);
		if (is_comment(l) || !text_trim_left(l).n)
			continue;
		more = continues(s, &l);
		buf_sv(out, l);
	}
	return buf_failed(out) ? no_memory(s) : 1;
}

/* ENV and LABEL. */
static int pairs(struct scan *s, uint32_t line, const char *kind, struct sv rest, struct words *w)
{
	struct words found = {.arena = s->arena};
	struct text_shown shown;
	const char *eq;
	struct sv name;
	size_t i;

	words_quoted(&found, rest, s->escape);
	if (!found.n)
		return 0;
	if (!strchr(found.v[0], '=')) {
		if (!words_cut(&rest, &name))
			return fail(s, line, "%s must have two arguments", kind);
		words_add(w, name);
		words_add(w, rest);
		words_add(w, sv_of(""));
		return 0;
	}
	for (i = 0; i < found.n; i++) {
		eq = strchr(found.v[i], '=');
		if (!eq)
			return fail(s, line, "%s: no = in %.120s; write NAME=VALUE, with quotes where it has spaces",
				    kind, text_show(&shown, sv_of(found.v[i])));
		words_add(w, sv_n(found.v[i], (size_t)(eq - found.v[i])));
		words_add(w, sv_of(eq + 1));
		words_add(w, sv_of("="));
	}
	return 0;
}

static int maybe_json(struct scan *s, struct dockerfile_instruction *i, struct sv rest, struct words *w, bool split)
{
	int r = rest.n ? words_json(w, rest) : 1;

	if (r < 0)
		return fail(s, i->line, "%s: a JSON array must hold strings only, without NUL", kind_names[i->kind]);
	i->json = r == 0;
	if (r > 0 && split)
		words_split(w, rest);
	else if (r > 0 && rest.n)
		words_add(w, rest);
	return 0;
}

static int health(struct scan *s, struct dockerfile_instruction *i, struct sv rest, struct words *w)
{
	size_t n = 0;
	struct words command = {.arena = s->arena};

	while (n < rest.n && !text_space(sv_n(rest.p + n, rest.n - n)))
		n++;
	if (!n)
		return 0;
	words_add(w, sv_n(rest.p, n));
	if (maybe_json(s, i, text_trim_left(sv_n(rest.p + n, rest.n - n)), &command, false) < 0)
		return -1;
	for (n = 0; n < command.n; n++)
		words_add(w, sv_of(command.v[n]));
	return 0;
}

static int instruction(struct scan *s, uint32_t line, struct sv text, bool nested, struct dockerfile_instruction *i);

static int trigger(struct scan *s, struct dockerfile_instruction *i, struct sv rest)
{
	if (!rest.n)
		return 0;
	i->trigger = arena_alloc(s->arena, sizeof(*i->trigger));
	return i->trigger ? instruction(s, i->line, rest, true, i->trigger) : no_memory(s);
}

static int arguments(struct scan *s, struct dockerfile_instruction *i, struct sv rest, struct words *w)
{
	switch (i->kind) {
	case DOCKERFILE_ADD:
	case DOCKERFILE_COPY:
	case DOCKERFILE_VOLUME:
		return maybe_json(s, i, rest, w, true);
	case DOCKERFILE_CMD:
	case DOCKERFILE_ENTRYPOINT:
	case DOCKERFILE_RUN:
	case DOCKERFILE_SHELL:
		return maybe_json(s, i, rest, w, false);
	case DOCKERFILE_EXPOSE:
	case DOCKERFILE_FROM:
		words_split(w, rest);
		return 0;
	case DOCKERFILE_ARG:
		words_quoted(w, rest, s->escape);
		return 0;
	case DOCKERFILE_ENV:
	case DOCKERFILE_LABEL:
		return pairs(s, i->line, kind_names[i->kind], rest, w);
	case DOCKERFILE_HEALTHCHECK:
		return health(s, i, rest, w);
	case DOCKERFILE_ONBUILD:
		return trigger(s, i, rest);
	case DOCKERFILE_UNKNOWN:
		words_add(w, sv_of(""));
		return 0;
	case DOCKERFILE_MAINTAINER:
	case DOCKERFILE_STOPSIGNAL:
	case DOCKERFILE_USER:
	case DOCKERFILE_WORKDIR:
		break;
	}
	if (rest.n)
		words_add(w, rest);
	return 0;
}

static int instruction(struct scan *s, uint32_t line, struct sv text, bool nested, struct dockerfile_instruction *i)
{
	struct words flags = {.arena = s->arena}, args = {.arena = s->arena};
	struct sv rest = text_trim(text), word;

	i->line = i->last_line = line;
	i->text = arena_str(s->arena, text);
	words_cut(&rest, &word);
	i->word = arena_str(s->arena, word);
	if (!i->word || !i->text)
		return no_memory(s);
	i->kind = kind_of(i->word);
	if (nested && i->kind == DOCKERFILE_ONBUILD)
		return fail(s, line, "ONBUILD: another ONBUILD cannot be its trigger");
	if (words_flags(&flags, &rest, s->escape) < 0)
		return fail(s, line, "%s: a flag has a character beyond ASCII", kind_names[i->kind]);
	if (arguments(s, i, text_trim(rest), &args) < 0)
		return -1;
	i->flags = words_take(&flags);
	i->args = words_take(&args);
	return arena_failed(s->arena) ? no_memory(s) : 0;
}

static bool may_have_heredocs(const struct dockerfile_instruction *i)
{
	if (i->kind == DOCKERFILE_ONBUILD && i->trigger)
		i = i->trigger;
	return !i->json && (i->kind == DOCKERFILE_ADD || i->kind == DOCKERFILE_COPY || i->kind == DOCKERFILE_RUN);
}

static int read_heredoc(struct scan *s, uint32_t line, struct dockerfile_heredoc *h)
{
	const char *from = s->rest.p;
	struct sv l, end;

	while (next_line(s, &l)) {
		end = without_end(l);
		while (h->chomp && end.n && end.p[0] == '\t')
			end = sv_n(end.p + 1, end.n - 1);
		if (!sv_is(end, h->name))
			continue;
		h->content = arena_str(s->arena, sv_n(from, (size_t)(l.p - from)));
		return h->content ? 0 : no_memory(s);
	}
	return fail(s, line, "a heredoc has no end");
}

static int heredocs(struct scan *s, struct dockerfile_instruction *i)
{
	size_t k;

	if (!may_have_heredocs(i) || !strstr(i->text, "<<"))
		return 0;
	if (heredoc_find(s->arena, i->text, &i->heredocs, &i->n_heredocs, s->err) < 0)
		return error_prefix(s->err, "%s:%u", s->name, i->line);
	for (k = 0; k < i->n_heredocs; k++)
		if (read_heredoc(s, i->line, &i->heredocs[k]) < 0)
			return -1;
	i->last_line = s->line;
	return 0;
}

static int add(struct scan *s, uint32_t line, struct sv text)
{
	struct dockerfile_instruction *wider;
	struct dockerfile *f = s->file;

	if (f->n == DOCKERFILE_COUNT)
		return fail(s, line, "more than %d instructions", DOCKERFILE_COUNT);
	if (f->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		wider = arena_array(s->arena, s->cap, sizeof(*wider));
		if (!wider)
			return no_memory(s);
		if (f->n)
			memcpy(wider, f->v, f->n * sizeof(*wider));
		f->v = wider;
	}
	if (instruction(s, line, text, false, &f->v[f->n]) < 0)
		return -1;
	f->v[f->n].last_line = s->line;
	return heredocs(s, &f->v[f->n++]);
}

/* BuildKit looks for a frontend behind a "#!" line, and in lines that begin with //, too. */
static void hidden_syntax(struct scan *s, struct sv bytes, const char *mark)
{
	struct scan look = {.rest = bytes};
	struct sv l, name, value;

	while (next_line(&look, &l)) {
		if (look.line == 1 && sv_starts(l, "\xef\xbb\xbf"))
			l = sv_n(l.p + 3, l.n - 3);
		if (look.line == 1 && sv_starts(l, "#!"))
			continue;
		if (!sv_starts(l, mark) ||
		    !directive_parts(sv_n(l.p + strlen(mark), l.n - strlen(mark)), &name, &value))
			break;
		if (is_word(name, "syntax") && !s->file->syntax) {
			s->line = look.line;
			note_syntax(s, value);
		}
		if (!is_word(name, "syntax") && !is_word(name, "escape") && !is_word(name, "check"))
			break;
	}
}

static int parse(struct scan *s, struct sv bytes)
{
	AUTO_BUF text = {0};
	uint32_t line;
	struct sv l;
	int r;

	s->rest = bytes;
	if (check_bytes(s) < 0)
		return -1;
	buf_init(&text, bytes.n + 1);
	while (next_line(s, &l)) {
		line = s->line;
		r = gather(s, l, &text);
		if (r < 0 || (r > 0 && add(s, line, buf_view(&text)) < 0))
			return -1;
	}
	s->file->escape = s->escape;
	if (!s->file->n)
		return fail(s, s->line ? s->line : 1, "the file has no instructions");
	return 0;
}

int dockerfile_parse(struct arena *a, const char *name, struct sv bytes, const struct dockerfile **ret,
		     struct error *err)
{
	struct dockerfile *f = arena_alloc(a, sizeof(*f));
	struct scan s = {.arena = a, .name = name, .escape = '\\', .file = f, .err = err};

	if (!f)
		return no_memory(&s);
	if (parse(&s, bytes) < 0)
		return -1;
	hidden_syntax(&s, bytes, "#");
	hidden_syntax(&s, bytes, "//");
	*ret = f;
	return arena_failed(a) ? no_memory(&s) : 0;
}

int dockerfile_parse_trigger(struct arena *a, const char *name, struct sv text, const struct dockerfile **ret,
			     struct error *err)
{
	struct dockerfile *f = arena_alloc(a, sizeof(*f));
	struct scan s = {.arena = a, .name = name, .escape = '\\', .directives_over = true, .file = f, .err = err};

	if (!f)
		return no_memory(&s);
	if (parse(&s, text) < 0)
		return -1;
	if (f->n != 1)
		return fail(&s, f->v[1].line, "a trigger is one instruction");
	*ret = f;
	return 0;
}

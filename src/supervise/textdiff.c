#include "supervise/textdiff.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "supervise/textdiff_lcs.h"

struct text {
	struct sv *lines; /* each with its newline, where it has one */
	size_t n;
	unsigned char *changed;
};

struct differ {
	FILE *out;
	const char *path;
	const struct textdiff_style *style;
	struct text side[2];
};

static void text_done(struct text *t)
{
	free(t->lines);
	free(t->changed);
}

static int text_split(struct text *t, struct sv s)
{
	size_t n = 0, at, end;

	for (at = 0; at < s.n; at++)
		n += s.p[at] == '\n' || at + 1 == s.n;
	t->lines = calloc(n + 1, sizeof(*t->lines));
	t->changed = calloc(n + 1, 1);
	if (!t->lines || !t->changed)
		return -ENOMEM;
	for (at = 0; at < s.n; at = end) {
		const char *nl = memchr(s.p + at, '\n', s.n - at);

		end = nl ? (size_t)(nl - s.p) + 1 : s.n;
		t->lines[t->n++] = sv_n(s.p + at, end - at);
	}
	return 0;
}

static void put(FILE *out, struct sv s)
{
	if (s.n)
		(void)fwrite(s.p, 1, s.n, out);
}

/* Tabs are the one control character that belongs in a text; text_escape() knows none. */
static int put_escaped(FILE *out, struct sv s)
{
	AUTO_BUF b = {0};
	size_t at, end;

	buf_init(&b, SIZE_MAX / 8);
	for (at = 0; at < s.n; at = end + 1) {
		for (end = at; end < s.n && s.p[end] != '\t'; end++)
			;
		text_escape(&b, sv_n(s.p + at, end - at), SIZE_MAX);
		if (end < s.n)
			(void)buf_char(&b, '\t');
	}
	put(out, buf_view(&b));
	return buf_failed(&b);
}

static bool needs_quotes(struct sv s)
{
	size_t i, n;

	for (i = 0; i < s.n; i += n) {
		n = text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0 || (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f || s.p[i] == '"' || s.p[i] == '\\')
			return true;
	}
	return false;
}

/* As git has it between quotes. In pieces: a name can be long, and there can be many. */
static void put_quoted(FILE *out, struct sv s)
{
	char piece[1024];
	size_t i, n = 0;

	for (i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (n + 4 > sizeof(piece)) {
			put(out, sv_n(piece, n));
			n = 0;
		}
		if (c < 0x20 || c >= 0x7f) {
			piece[n++] = '\\';
			piece[n++] = (char)('0' + (c >> 6));
			piece[n++] = (char)('0' + (c >> 3 & 7));
			piece[n++] = (char)('0' + (c & 7));
			continue;
		}
		if (c == '"' || c == '\\')
			piece[n++] = '\\';
		piece[n++] = (char)c;
	}
	put(out, sv_n(piece, n));
}

/* "a/" or "b/" and the path, between quotes and with octal escapes where git would have them. */
static void put_name(const struct differ *d, const char *prefix)
{
	struct sv s = sv_of(d->path);

	if (d->style->escape) {
		(void)fputs(prefix, d->out);
		(void)put_escaped(d->out, s);
		return;
	}
	if (!needs_quotes(s)) {
		(void)fprintf(d->out, "%s%s", prefix, d->path);
		return;
	}
	(void)fprintf(d->out, "\"%s", prefix);
	put_quoted(d->out, s);
	(void)fputc('"', d->out);
}

/* "--- a/path" or "+++ b/path". A name with a blank is ended by a tab, or readers would take the rest for a date. */
static void put_file_line(const struct differ *d, const char *mark, const char *prefix, const struct textdiff_side *s)
{
	(void)fputs(mark, d->out);
	if (s->mode == 0)
		(void)fputs("/dev/null", d->out);
	else
		put_name(d, prefix);
	if (s->mode != 0 && strchr(d->path, ' '))
		(void)fputc('\t', d->out);
	(void)fputc('\n', d->out);
}

/* git knows links by their type alone. */
static unsigned shown_mode(const struct textdiff_side *s)
{
	return S_ISLNK(s->mode) ? S_IFLNK : s->mode;
}

static void put_header(const struct differ *d, const struct textdiff_side *a, const struct textdiff_side *b)
{
	(void)fputs("diff --git ", d->out);
	put_name(d, "a/");
	(void)fputc(' ', d->out);
	put_name(d, "b/");
	(void)fputc('\n', d->out);
	if (a->mode == 0)
		(void)fprintf(d->out, "new file mode %06o\n", shown_mode(b));
	else if (b->mode == 0)
		(void)fprintf(d->out, "deleted file mode %06o\n", shown_mode(a));
	else if (shown_mode(a) != shown_mode(b))
		(void)fprintf(d->out, "old mode %06o\nnew mode %06o\n", shown_mode(a), shown_mode(b));
}

/* For content that cannot be shown as lines: WHAT a/x and b/x BEHIND. */
static void put_differ(const struct differ *d, const char *what, const struct textdiff_side *a,
		       const struct textdiff_side *b)
{
	(void)fprintf(d->out, "%s ", what);
	if (a->mode)
		put_name(d, "a/");
	else
		(void)fputs("/dev/null", d->out);
	(void)fputs(" and ", d->out);
	if (b->mode)
		put_name(d, "b/");
	else
		(void)fputs("/dev/null", d->out);
}

static int put_line(const struct differ *d, char mark, struct sv line)
{
	bool ends = line.n > 0 && line.p[line.n - 1] == '\n';
	int r = 0;

	line.n -= ends;
	(void)fputc(mark, d->out);
	if (d->style->escape)
		r = put_escaped(d->out, line);
	else
		put(d->out, line);
	(void)fputs(ends ? "\n" : "\n\\ No newline at end of file\n", d->out);
	return r;
}

/* A run of lines in both texts: from[i] to to[i]. */
struct hunk {
	size_t from[2], to[2];
};

/* Moves the ends over the next run of changes on either side. */
static void take_changes(const struct text t[2], struct hunk *h)
{
	int i;

	for (i = 0; i < 2; i++)
		while (h->to[i] < t[i].n && t[i].changed[h->to[i]])
			h->to[i]++;
}

static size_t equal_run(const struct text t[2], const struct hunk *h)
{
	size_t n = 0;

	while (h->to[0] + n < t[0].n && !t[0].changed[h->to[0] + n] && h->to[1] + n < t[1].n &&
	       !t[1].changed[h->to[1] + n])
		n++;
	return n;
}

/* The hunk that starts behind *h, with its context; changes with at most twice the context between them share one.
 * False: no more. */
static bool next_hunk(const struct text t[2], struct hunk *h)
{
	size_t run, back;

	h->from[0] = h->to[0];
	h->from[1] = h->to[1];
	run = equal_run(t, h);
	if (h->to[0] + run == t[0].n && h->to[1] + run == t[1].n)
		return false;
	back = run < TEXTDIFF_CONTEXT ? run : TEXTDIFF_CONTEXT;
	h->from[0] += run - back;
	h->from[1] += run - back;
	h->to[0] += run;
	h->to[1] += run;
	for (;;) {
		take_changes(t, h);
		run = equal_run(t, h);
		if (run > 2 * TEXTDIFF_CONTEXT || (h->to[0] + run == t[0].n && h->to[1] + run == t[1].n))
			break;
		h->to[0] += run;
		h->to[1] += run;
	}
	back = run < TEXTDIFF_CONTEXT ? run : TEXTDIFF_CONTEXT;
	h->to[0] += back;
	h->to[1] += back;
	return true;
}

static void put_range(FILE *out, char mark, size_t from, size_t to)
{
	/* An empty range is named after the line before it. */
	(void)fprintf(out, " %c%zu", mark, to > from ? from + 1 : from);
	if (to - from != 1)
		(void)fprintf(out, ",%zu", to - from);
}

static int put_hunk(const struct differ *d, const struct hunk *h)
{
	const struct text *a = &d->side[0], *b = &d->side[1];
	size_t i = h->from[0], j = h->from[1];
	int r = 0;

	(void)fputs("@@", d->out);
	put_range(d->out, '-', i, h->to[0]);
	put_range(d->out, '+', j, h->to[1]);
	(void)fputs(" @@\n", d->out);
	while (r == 0 && (i < h->to[0] || j < h->to[1])) {
		if (i < h->to[0] && a->changed[i]) {
			r = put_line(d, '-', a->lines[i++]);
		} else if (j < h->to[1] && b->changed[j]) {
			r = put_line(d, '+', b->lines[j++]);
		} else {
			r = put_line(d, ' ', a->lines[i++]);
			j++;
		}
	}
	return r;
}

static uint64_t may_work(const struct textdiff_style *s)
{
	uint64_t most = s->max_work ? s->max_work : TEXTDIFF_WORK;

	return s->left && *s->left < most ? *s->left : most;
}

/* Sorting the lines is work, too: many files of a million lines need no step of the other kind. */
static void count_work(const struct textdiff_style *s, size_t lines, uint64_t steps)
{
	unsigned bits = 0;

	while (lines >> bits)
		bits++;
	steps += (uint64_t)lines * bits;
	if (s->left)
		*s->left -= steps < *s->left ? steps : *s->left;
}

static int put_body(struct differ *d, const struct textdiff_side *a, const struct textdiff_side *b)
{
	struct text *t = d->side;
	struct hunk h = {0};
	uint64_t most = may_work(d->style), left = most;
	int r;

	if (text_split(&t[0], a->text) < 0 || text_split(&t[1], b->text) < 0)
		return -ENOMEM;
	r = textdiff_lcs(&(struct lcs_side){t[0].lines, t[0].n, t[0].changed},
			 &(struct lcs_side){t[1].lines, t[1].n, t[1].changed},
			 &left);
	count_work(d->style, t[0].n + t[1].n, most - left);
	if (r == -E2BIG) {
		put_differ(d, "Files", a, b);
		(void)fprintf(d->out, " are too different: %zu lines before, %zu after\n", t[0].n, t[1].n);
		return 0;
	}
	if (r < 0)
		return r;
	put_file_line(d, "--- ", "a/", a);
	put_file_line(d, "+++ ", "b/", b);
	while (r == 0 && next_hunk(t, &h))
		r = put_hunk(d, &h);
	return r;
}

static bool is_binary(struct sv s)
{
	return s.n && memchr(s.p, '\0', s.n);
}

static int print_one(struct differ *d, const struct textdiff_side *a, const struct textdiff_side *b)
{
	bool hidden = (a->mode && !a->text.p) || (b->mode && !b->text.p);
	int r;

	if (!hidden && sv_eq(a->text, b->text)) {
		if (shown_mode(a) != shown_mode(b))
			put_header(d, a, b);
		return 0;
	}
	put_header(d, a, b);
	if (hidden) {
		put_differ(d, "Files", a, b);
		(void)fprintf(d->out, " are too large to show: %llu bytes before, %llu after\n",
			      (unsigned long long)(a->text.p ? a->text.n : a->size),
			      (unsigned long long)(b->text.p ? b->text.n : b->size));
		return 0;
	}
	if (is_binary(a->text) || is_binary(b->text)) {
		put_differ(d, "Binary files", a, b);
		(void)fputs(" differ\n", d->out);
		return 0;
	}
	r = put_body(d, a, b);
	text_done(&d->side[0]);
	text_done(&d->side[1]);
	d->side[0] = d->side[1] = (struct text){0};
	return r;
}

int textdiff_print(FILE *out, const char *path, const struct textdiff_side *before, const struct textdiff_side *after,
		   const struct textdiff_style *style)
{
	static const struct textdiff_side none = {.text = {"", 0}};
	struct differ d = {.out = out, .path = path, .style = style};
	int r;

	/* A change of type is a file that went and another that came. */
	if (before->mode && after->mode && (before->mode & S_IFMT) != (after->mode & S_IFMT)) {
		r = print_one(&d, before, &none);
		return r < 0 ? r : print_one(&d, &none, after);
	}
	return print_one(&d, before->mode ? before : &none, after->mode ? after : &none);
}

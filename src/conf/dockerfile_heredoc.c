#include "conf/dockerfile_heredoc.h"

#include <errno.h>

#include "base/buf.h"
#include "base/text.h"
#include "conf/expand.h"

enum { HEREDOCS_MAX = 256 };

static size_t quotes(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\'' || *s == '"';
	return n;
}

/* The word behind digits, << and -. NULL: it has another form. */
static const char *behind_mark(const char *w, bool *chomp)
{
	while (*w >= '0' && *w <= '9')
		w++;
	if (w[0] != '<' || w[1] != '<')
		return NULL;
	w += 2;
	*chomp = *w == '-';
	w += *chomp;
	while (*w == ' ' || *w == '\t' || *w == '\n' || *w == '\f' || *w == '\r')
		w++;
	return *w && !strchr(w, '<') ? w : NULL;
}

/* 1: w announces a heredoc. 0: it does not. */
static int announces(struct arena *a, const char *w, struct dockerfile_heredoc *h, struct error *err)
{
	struct expand how = {.arena = a, .escape = '\\', .keep_unset = true};
	const char **words, **raw;
	size_t n, n_raw;

	*h = (struct dockerfile_heredoc){0};
	w = behind_mark(w, &h->chomp);
	if (!w)
		return 0;
	if (expand_words(&how, sv_of(w), &words, &n, err) < 0)
		return -1;
	if (n != 1)
		return 0;
	how.raw_quotes = true;
	if (expand_words(&how, sv_of(w), &raw, &n_raw, err) < 0)
		return -1;
	if (n_raw != 1)
		return error_set(err, ERROR_INPUT, "a heredoc's name cannot be read");
	h->name = words[0];
	h->expand = quotes(words[0]) == quotes(raw[0]);
	return 1;
}

/* ${ nested deeper than we go would hide a heredoc that others see. */
static int too_deep(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += text[0] == '$' && text[1] == '{';
	return n >= EXPAND_NESTING;
}

int heredoc_find(struct arena *a, const char *text, struct dockerfile_heredoc **ret, size_t *ret_n, struct error *err)
{
	struct expand how = {.arena = a, .escape = '\\', .raw_quotes = true, .raw_escapes = true, .keep_unset = true};
	const char **words;
	size_t n, i;
	int r;

	*ret = NULL;
	*ret_n = 0;
	if (expand_words(&how, sv_of(text), &words, &n, err) <
	    0) /* a quote without an end, and the like: there are none */
		return too_deep(text) ? -1 : 0;
	*ret = arena_array(a, n + 1, sizeof(**ret));
	if (!*ret)
		return error_sys(err, ENOMEM, "reading a heredoc");
	for (i = 0; i < n; i++) {
		r = announces(a, words[i], &(*ret)[*ret_n], err);
		if (r < 0)
			return -1;
		if (*ret_n == HEREDOCS_MAX && r)
			return error_set(err, ERROR_INPUT, "more than %d heredocs", HEREDOCS_MAX);
		*ret_n += (size_t)r;
	}
	return 0;
}

const struct dockerfile_heredoc *dockerfile_heredoc_of(struct arena *a, const struct dockerfile_instruction *i,
						       const char *w)
{
	struct dockerfile_heredoc h;
	const struct dockerfile_heredoc *found = NULL;
	struct error err;
	size_t k;

	if (announces(a, w, &h, &err) <= 0)
		return NULL;
	for (k = 0; k < i->n_heredocs; k++)
		if (strcmp(i->heredocs[k].name, h.name) == 0)
			found = &i->heredocs[k];
	return found;
}

const char *dockerfile_content(struct arena *a, const struct dockerfile_heredoc *h)
{
	AUTO_BUF out = {0};
	const char *p;

	if (!h->chomp)
		return h->content;
	buf_init(&out, strlen(h->content) + 1);
	for (p = h->content; *p; p++)
		if (*p != '\t' || (out.n && out.p[out.n - 1] != '\n'))
			buf_char(&out, *p);
	return buf_failed(&out) ? NULL : arena_str(a, buf_view(&out));
}

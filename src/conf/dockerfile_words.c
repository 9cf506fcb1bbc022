#include "conf/dockerfile_words.h"

#include "base/buf.h"
#include "base/text.h"

void words_add(struct words *w, struct sv s)
{
	const char **wider;

	if (w->n + 1 >= w->cap) {
		w->cap = w->cap ? 2 * w->cap : 4;
		wider = arena_array(w->arena, w->cap, sizeof(*wider));
		if (!wider) {
			w->cap = 0;
			return;
		}
		if (w->n)
			memcpy(wider, w->v, w->n * sizeof(*wider));
		w->v = wider;
	}
	w->v[w->n++] = arena_str(w->arena, s);
	w->v[w->n] = NULL;
}

const char **words_take(struct words *w)
{
	return w->v ? w->v : arena_array(w->arena, 1, sizeof(*w->v));
}

static bool is_blank(char c)
{
	return c == '\t' || c == '\v' || c == '\f' || c == '\r' || c == ' ';
}

bool words_cut(struct sv *rest, struct sv *ret)
{
	size_t i = 0;

	while (i < rest->n && !is_blank(rest->p[i]))
		i++;
	*ret = sv_n(rest->p, i);
	if (i == rest->n) {
		*rest = sv_n(rest->p + i, 0);
		return false;
	}
	while (i < rest->n && is_blank(rest->p[i]))
		i++;
	*rest = sv_n(rest->p + i, rest->n - i);
	return true;
}

void words_split(struct words *w, struct sv rest)
{
	struct sv word;
	bool more = rest.n > 0;

	while (more) {
		more = words_cut(&rest, &word);
		words_add(w, word);
	}
}

/* Where the quoted or unquoted word at i ends. What an escape hides ends nothing; one at the very end is dropped, which
 * the caller sees by *cut. */
static size_t word_end(struct sv s, size_t i, char escape, bool *cut)
{
	char quote = 0;

	*cut = false;
	for (; i < s.n; i++) {
		if (!quote && text_space(sv_n(s.p + i, s.n - i)))
			break;
		if (s.p[i] == escape && quote != '\'') {
			*cut = i + 1 == s.n;
			i++;
		} else if (quote ? s.p[i] == quote : s.p[i] == '\'' || s.p[i] == '"') {
			quote = quote ? 0 : s.p[i];
		}
	}
	return i < s.n ? i : s.n;
}

void words_quoted(struct words *w, struct sv rest, char escape)
{
	size_t i = 0, end;
	bool cut;

	while (i < rest.n) {
		end = text_space(sv_n(rest.p + i, rest.n - i));
		if (end) {
			i += end;
			continue;
		}
		end = word_end(rest, i, escape, &cut);
		if (end - i > cut)
			words_add(w, sv_n(rest.p + i, end - i - cut));
		i = end;
	}
}

/* One flag, from its first dash. Ends at a space. -1: a byte beyond ASCII. */
static int take_flag(struct sv s, size_t *at, char escape, struct buf *flag)
{
	char quote = 0;

	for (; *at < s.n; ++*at) {
		char c = s.p[*at];

		if ((unsigned char)c >= 0x80)
			return -1;
		if (!quote && text_space(sv_n(&c, 1)))
			break;
		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
			continue;
		}
		if (c == escape) {
			if (++*at == s.n)
				break;
			c = s.p[*at];
			if ((unsigned char)c >= 0x80)
				return -1;
		}
		buf_char(flag, c);
	}
	return 0;
}

int words_flags(struct words *w, struct sv *rest, char escape)
{
	AUTO_BUF flag = {0};
	struct sv s = *rest;
	size_t at = 0;

	buf_init(&flag, s.n + 1);
	for (;;) {
		while (at < s.n && (unsigned char)s.p[at] < 0x80 && text_space(sv_n(s.p + at, 1)))
			at++;
		if (at + 1 >= s.n || s.p[at] != '-' || s.p[at + 1] != '-')
			break;
		buf_clear(&flag);
		if (take_flag(s, &at, escape, &flag) < 0)
			return -1;
		if (sv_is(buf_view(&flag), "--"))
			break;
		words_add(w, buf_view(&flag));
	}
	*rest = sv_n(s.p + at, s.n - at);
	return 0;
}

#include "task/carry_words.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static size_t place_of(const struct carry_words *w, struct sv word)
{
	uint32_t h = 2166136261U;
	size_t i;

	for (i = 0; i < word.n; i++)
		h = (h ^ (unsigned char)word.p[i]) * 16777619U;
	for (i = h & (w->room - 1); w->v[i] && !sv_is(word, w->v[i]); i = (i + 1) & (w->room - 1))
		;
	return i;
}

/* Twice the room, at most half full: what was there before stays in the arena. */
static int grow(struct carry_words *w, struct arena *a)
{
	struct carry_words more = {.n = w->n, .room = w->room ? 2 * w->room : 1024};
	size_t i;

	more.v = arena_array(a, more.room, sizeof(more.v[0]));
	if (!more.v)
		return -ENOMEM;
	for (i = 0; i < w->room; i++)
		if (w->v[i])
			more.v[place_of(&more, sv_of(w->v[i]))] = w->v[i];
	*w = more;
	return 0;
}

int carry_words_add(struct carry_words *w, struct arena *a, struct sv word)
{
	size_t at;

	if (word.n == 0 || word.n > CARRY_WORD_MAX || memchr(word.p, '\0', word.n))
		return 0;
	if (w->n == CARRY_WORDS_MAX) {
		w->full = true;
		return 0;
	}
	if (2 * w->n >= w->room && grow(w, a) < 0)
		return -ENOMEM;
	at = place_of(w, word);
	if (w->v[at])
		return 0;
	w->v[at] = arena_str(a, word);
	w->n += w->v[at] != NULL;
	return w->v[at] ? 0 : -ENOMEM;
}

bool carry_words_have(const struct carry_words *w, struct sv word)
{
	return w->n && word.n && word.n <= CARRY_WORD_MAX && w->v[place_of(w, word)];
}

struct sv carry_word_plain(struct sv word, char to[CARRY_WORD_MAX + 1])
{
	size_t i;

	for (i = 0; i < word.n && i < CARRY_WORD_MAX; i++)
		to[i] = word.p[i] == '-' || word.p[i] == '.'   ? '_'
			: word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] | 0x20)
							       : word.p[i];
	to[i] = '\0';
	return sv_n(to, i);
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.' || c == '+';
}

static int read_line(struct carry_words *w, struct arena *a, struct sv line)
{
	char plain[CARRY_WORD_MAX + 1];
	size_t i = 0, n;
	int r = 0;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	if (i < line.n && line.p[i] == '#')
		return 0;
	for (; r == 0 && i < line.n; i += n ? n : 1) {
		for (n = 0; i + n < line.n && in_word(line.p[i + n]); n++)
			;
		/* what does not fit is not the word that its beginning is */
		if (n == 0 || n > CARRY_WORD_MAX || (i && line.p[i - 1] == '$') ||
		    (i > 1 && line.p[i - 1] == '{' && line.p[i - 2] == '$') ||
		    (i + n < line.n && line.p[i + n] == '=' && (i + n + 1 == line.n || line.p[i + n + 1] != '=')))
			continue;
		r = carry_words_add(w, a, carry_word_plain(sv_n(line.p + i, n), plain));
	}
	return r;
}

int carry_words_read(struct carry_words *w, struct arena *a, const struct carry_test_files *files)
{
	const struct carry_test_file *f;
	const char *at, *end, *eol;
	int r = 0;

	for (f = files ? files->first : NULL; r == 0 && f; f = f->next)
		for (at = f->text.p, end = at + f->text.n; r == 0 && at < end; at = eol + 1) {
			eol = memchr(at, '\n', (size_t)(end - at));
			eol = eol ? eol : end;
			r = read_line(w, a, sv_n(at, (size_t)(eol - at)));
		}
	return r;
}

struct asked {
	const struct carry_words *words;
	bool found;
};

static bool has_package(void *arg, const char *package)
{
	struct asked *q = arg;

	q->found = carry_words_have(q->words, sv_of(package));
	return !q->found;
}

bool carry_words_package(const struct carry_words *w, struct sv name)
{
	struct asked q = {.words = w};

	carry_tests_packages(name, has_package, &q);
	return q.found;
}

bool carry_words_name(const struct carry_words *w, struct sv name)
{
	char plain[CARRY_WORD_MAX + 1];

	if (name.n > CARRY_WORD_MAX)
		return false;
	return carry_words_have(w, carry_word_plain(name, plain)) || carry_words_package(w, name);
}

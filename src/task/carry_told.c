#include "task/carry_told.h"

#include <errno.h>
#include <strings.h>

#include "base/cleanup.h"

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.' || c == '+' || (unsigned char)c >= 0x80;
}

/* The next word of the text from *at on, which moves behind it; without what ends a sentence. */
static bool next_name(struct sv text, size_t *at, struct sv *ret)
{
	size_t n = 0;

	while (*at < text.n && !in_name(text.p[*at]))
		++*at;
	while (*at + n < text.n && in_name(text.p[*at + n]))
		n++;
	*ret = sv_n(text.p + *at, n);
	*at += n;
	while (ret->n && (ret->p[ret->n - 1] == '.' || ret->p[ret->n - 1] == '-'))
		ret->n--;
	return n > 0;
}

/* Does a word of prose look like a name? */
static bool looks_named(struct sv text, struct sv word)
{
	static const char marks[] = "/`\"'<>";
	size_t from = (size_t)(word.p - text.p), to = from + word.n;

	if (word.n > 1 && (memchr(word.p, '.', word.n - 1) || memchr(word.p, '_', word.n)))
		return true;
	return (from && strchr(marks, text.p[from - 1])) || (to < text.n && text.p[to] && strchr(marks, text.p[to]));
}

static int add_names(struct carry_words *w, struct arena *a, struct sv text, bool prose)
{
	char plain[CARRY_WORD_MAX + 1];
	struct sv word;
	size_t at = 0;
	int r = 0;

	while (r == 0 && next_name(text, &at, &word))
		if (!prose || looks_named(text, word))
			r = carry_words_add(w, a, carry_word_plain(word, plain));
	return r;
}

/* Does the text speak of links that a task may want? */
static bool asks_for_links(const char *text)
{
	static const char *const words[] = {"symlink",   "sym-link", "symbolic link", "symbolic-link",
					    "soft link", "softlink", "ln -s"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

int carry_told_init(struct carry *c)
{
	const struct carry_test_file *f;
	const char *text = c->req->instruction;
	int r = text ? add_names(&c->told, c->arena, sv_of(text), true) : 0;

	c->told_links = text && asks_for_links(text);
	for (f = c->req->tests ? c->req->tests->first : NULL; r == 0 && f; f = f->next) {
		r = add_names(&c->spoken, c->arena, f->text, false);
		if (r == 0 && f->name)
			r = add_names(&c->spoken, c->arena, sv_of(f->name), false);
		if (r == 0 && f->name)
			r = carry_words_add(&c->test_names, c->arena, sv_of(f->name));
	}
	return r;
}

/* A name of several words is there where all of them are. */
static bool have_name(const struct carry_words *w, struct sv name)
{
	char plain[CARRY_WORD_MAX + 1];
	struct sv word;
	size_t at = 0;
	bool any = false;

	while (next_name(name, &at, &word)) {
		if (word.n == 0)
			continue;
		any = true;
		if (!carry_words_have(w, carry_word_plain(word, plain)))
			return false;
	}
	return any;
}

bool carry_told(const struct carry *c, struct sv name)
{
	return have_name(&c->told, name);
}

bool carry_spoken(const struct carry *c, struct sv name)
{
	return c->spoken.full || have_name(&c->spoken, name);
}

bool carry_tests_own(const struct carry *c, struct sv name)
{
	return carry_spoken(c, name) && !carry_told(c, name);
}

bool carry_tests_named(const struct carry *c, struct sv name)
{
	return carry_words_have(&c->test_names, name);
}

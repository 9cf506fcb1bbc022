#include "task/carry_told.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "task/carry_wish.h"

/* Punctuation, arrows and spaces; not what joins letters, nor letters and digits of double width. */
static const struct range {
	uint32_t first, last;
} marks[] = {
	{0x85, 0x85},     {0xa0, 0xa1},     {0xa7, 0xa7},     {0xab, 0xab},     {0xb4, 0xb4},     {0xb6, 0xb6},
	{0xbb, 0xbb},     {0xbf, 0xbf},     {0x37e, 0x37e},   {0x589, 0x58a},   {0x5be, 0x5be},   {0x5c3, 0x5c3},
	{0x5f3, 0x5f4},   {0x60c, 0x60d},   {0x61b, 0x61b},   {0x61f, 0x61f},   {0x66a, 0x66d},   {0x6d4, 0x6d4},
	{0x964, 0x965},   {0xe5a, 0xe5b},   {0x104a, 0x104b}, {0x1361, 0x1368}, {0x1680, 0x1680}, {0x17d4, 0x17d6},
	{0x1802, 0x1803}, {0x2000, 0x200b}, {0x200e, 0x205f}, {0x2060, 0x206f}, {0x2190, 0x21ff}, {0x2500, 0x25ff},
	{0x2768, 0x2775}, {0x27e6, 0x27ff}, {0x2e00, 0x2e5d}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030},
	{0x303d, 0x303d}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xfeff, 0xfeff}, {0xff01, 0xff0f}, {0xff1a, 0xff20},
	{0xff3b, 0xff40}, {0xff5b, 0xff65},
};

/* Of these, what stands around names. */
static const struct range quotations[] = {
	{0xab, 0xab},     {0xb4, 0xb4},     {0xbb, 0xbb},     {0x2018, 0x201f}, {0x2039, 0x203a},
	{0x3008, 0x3011}, {0x3014, 0x301b}, {0x301d, 0x301f}, {0xff02, 0xff02}, {0xff07, 0xff07},
	{0xff0f, 0xff0f}, {0xff40, 0xff40}, {0xff62, 0xff63},
};

static bool is_ascii(char c)
{
	return (unsigned char)c < 0x80;
}

/* The character beyond ASCII at the beginning of the text, of *ret_n bytes. 0: none. */
static uint32_t beyond_ascii(struct sv text, size_t *ret_n)
{
	*ret_n = text.n && !is_ascii(text.p[0]) ? text_utf8(text) : 0;
	return *ret_n ? text_code_point(text.p, *ret_n) : 0;
}

static bool in_ranges(const struct range *v, size_t n, uint32_t c)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (c >= v[i].first && c <= v[i].last)
			return true;
	return false;
}

size_t carry_mark(struct sv text)
{
	size_t n;
	uint32_t c = beyond_ascii(text, &n);

	return n && in_ranges(marks, ARRAY_LEN(marks), c) ? n : 0;
}

static bool in_name(struct sv text, size_t at)
{
	char c = text.p[at];

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.' || c == '+' || (!is_ascii(c) && !carry_mark(sv_n(text.p + at, text.n - at)));
}

/* Without what ends a sentence. */
static struct sv without_end(struct sv word)
{
	while (word.n && (word.p[word.n - 1] == '.' || word.p[word.n - 1] == '-'))
		word.n--;
	return word;
}

/* The next word of the text from *at on, which moves behind it. */
static bool next_name(struct sv text, size_t *at, struct sv *ret)
{
	size_t n = 0;

	/* a mark is passed over as a whole: its later bytes are none */
	while (*at < text.n && !in_name(text, *at)) {
		size_t mark = carry_mark(sv_n(text.p + *at, text.n - *at));

		*at += mark ? mark : 1;
	}
	while (*at + n < text.n && in_name(text, *at + n))
		n++;
	*ret = without_end(sv_n(text.p + *at, n));
	*at += n;
	return n > 0;
}

/* The next part of the word that is ASCII; as next_name(). */
static bool next_ascii(struct sv word, size_t *at, struct sv *ret)
{
	size_t n = 0;

	while (*at < word.n && !is_ascii(word.p[*at]))
		++*at;
	while (*at + n < word.n && is_ascii(word.p[*at + n]))
		n++;
	*ret = without_end(sv_n(word.p + *at, n));
	*at += n;
	return n > 0;
}

/* Is a slash or a quotation mark at the beginning of the text, or at its end? */
static bool begins_quoted(struct sv text)
{
	size_t n;
	uint32_t c = beyond_ascii(text, &n);

	return n ? in_ranges(quotations, ARRAY_LEN(quotations), c) : text.n && memchr("/`\"'<>", text.p[0], 6);
}

static bool ends_quoted(struct sv text)
{
	size_t n = 1;

	while (n < 4 && n < text.n && ((unsigned char)text.p[text.n - n] & 0xc0) == 0x80)
		n++;
	return text.n && begins_quoted(sv_n(text.p + text.n - n, n));
}

/* Does a word of prose look like a name? */
static bool looks_named(struct sv text, struct sv word)
{
	size_t from = (size_t)(word.p - text.p), to = from + word.n;

	if (word.n > 1 && (memchr(word.p, '.', word.n - 1) || memchr(word.p, '_', word.n)))
		return true;
	return ends_quoted(sv_n(text.p, from)) || begins_quoted(sv_n(text.p + to, text.n - to));
}

static int add_word(struct carry_words *w, struct arena *a, struct sv word)
{
	char plain[CARRY_WORD_MAX + 1];

	return carry_words_add(w, a, carry_word_plain(word, plain));
}

/* A word of prose, if it looks like a name: also without what emphasises it, and without what a dash joins to it. */
static int add_told(struct carry_words *w, struct arena *a, struct sv text, struct sv word)
{
	const char *dash = memmem(word.p, word.n, "--", 2);
	struct sv bare = word;
	int r;

	if (!looks_named(text, word))
		return 0;
	while (bare.n > 1 && bare.p[0] == '_' && bare.p[bare.n - 1] == '_')
		bare = sv_n(bare.p + 1, bare.n - 2);
	r = add_word(w, a, word);
	if (r == 0 && bare.n < word.n)
		r = add_word(w, a, without_end(bare));
	return r == 0 && dash ? add_word(w, a, without_end(sv_n(word.p, (size_t)(dash - word.p)))) : r;
}

static int add_names(struct carry_words *w, struct arena *a, struct sv text, bool prose)
{
	struct sv word, part;
	size_t at = 0, in;
	int r = 0;

	while (r == 0 && next_name(text, &at, &word)) {
		r = prose ? add_told(w, a, text, word) : add_word(w, a, word);
		for (in = 0; r == 0 && prose && next_ascii(word, &in, &part);)
			if (part.n < word.n)
				r = add_told(w, a, text, part);
	}
	return r;
}

int carry_told_init(struct carry *c)
{
	const struct carry_test_file *f;
	const char *text = c->req->instruction;
	int r = text ? add_names(&c->told, c->arena, sv_of(text), true) : 0;

	c->told_links = text && carry_wishes_links(sv_of(text));
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

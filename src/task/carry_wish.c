#include "task/carry_wish.h"

#include <strings.h>

#include "base/cleanup.h"

/* How far from a mention the words count that turn it round. */
enum { NEAR_WORDS = 6, CLOSE_WORDS = 2, NEAR_BYTES = 200 };

static const char *const mentions[] = {
	"symlink",     "sym-link", "sym link", "symbolic link", "symbolic-link",      "soft link",
	"soft-link",   "softlink", "ln -s",    "create a link", "make a link",        "link named",
	"link called", "符号链接", "软链接",   "软连接",        "シンボリックリンク",
};

/* Before a mention. */
static const char *const against[] = {
	"not",     "no",      "never",   "without",  "cannot",      "nor",    "neither", "none",      "avoid",
	"instead", "rather",  "forbid",  "reject",   "refuse",      "ignore", "exclude", "excluding", "skip",
	"follow",  "follows", "resolve", "resolves", "dereference", "dont",   "unlike",  "prohibit",  "disallow",
};

/* What turns round one of these stands close before it. */
static const char *const makes[] = {"create", "make", "add", "set", "place", "put", "use", "using", "provide", "have"};

/* Behind one: "symlinks are forbidden", and "symlinks are not allowed", but not "the symlink must not be broken". */
static const char *const refused[] = {"forbidden", "prohibited", "disallowed", "banned", "rejected", "ignored"};
static const char *const allowed[] = {"allowed", "permitted", "used",      "accepted",  "acceptable", "followed",
				      "counted", "count",     "supported", "valid",     "created",    "ok",
				      "okay",    "wanted",    "needed",    "necessary", "required"};

/* In scripts without spaces: anywhere in the clause. */
static const char *const turned[] = {"不", "勿", "禁", "别", "避免", "無", "无", "ない", "ません"};

static const char *const ends[] = {"\n\n", "\n-", "\n*", "\n#", ". ", ".\n", ",",  ";",  ":",  "!",
				   "?",    "(",   ")",   "，",  "。", "；",  "：", "！", "？", "、"};

static bool ends_clause(struct sv text)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++)
		if (sv_starts(text, ends[i]))
			return true;
	return false;
}

static bool listed(const char *const *v, size_t n, struct sv word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (word.n == strlen(v[i]) && strncasecmp(word.p, v[i], word.n) == 0)
			return true;
	return false;
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' || (unsigned char)c >= 0x80;
}

/* "don't", with whatever apostrophe */
static bool is_not(struct sv word)
{
	return sv_is(word, "not") || sv_is(word, "cannot") || sv_ends(word, "n't") || sv_ends(word, "n’t") ||
	       sv_is(word, "NOT") || sv_is(word, "never");
}

static struct sv word_before(struct sv *text)
{
	size_t n = 0;

	while (text->n && !in_word(text->p[text->n - 1]))
		text->n--;
	while (n < text->n && in_word(text->p[text->n - 1 - n]))
		n++;
	text->n -= n;
	return sv_n(text->p + text->n, n);
}

static struct sv word_behind(struct sv *text)
{
	struct sv word;
	size_t n = 0;

	while (text->n && !in_word(text->p[0]))
		*text = sv_n(text->p + 1, text->n - 1);
	while (n < text->n && in_word(text->p[n]))
		n++;
	word = sv_n(text->p, n);
	*text = sv_n(text->p + n, text->n - n);
	return word;
}

/* "do not forget to" is no such thing. */
static bool turned_before(struct sv text)
{
	struct sv word = word_before(&text), next = sv_n("", 0);
	unsigned left = NEAR_WORDS;

	for (; left && word.n; left--) {
		if ((listed(against, ARRAY_LEN(against), word) || is_not(word)) && !sv_is(next, "forget") &&
		    !sv_is(next, "only"))
			return true;
		if (left > CLOSE_WORDS + 1 && listed(makes, ARRAY_LEN(makes), word))
			left = CLOSE_WORDS + 1;
		next = word;
		word = word_before(&text);
	}
	return false;
}

static bool turned_behind(struct sv text)
{
	struct sv word = word_behind(&text);
	bool negated = false;
	unsigned i;

	for (i = 0; i < NEAR_WORDS && word.n; i++) {
		if (listed(refused, ARRAY_LEN(refused), word) || (negated && listed(allowed, ARRAY_LEN(allowed), word)))
			return true;
		negated |= is_not(word);
		word = word_behind(&text);
	}
	return false;
}

/* What of the clause comes before, and behind. */
static struct sv clause_before(struct sv text, size_t at)
{
	size_t from = at;

	while (from && at - from < NEAR_BYTES && !ends_clause(sv_n(text.p + from - 1, text.n - from + 1)))
		from--;
	return sv_n(text.p + from, at - from);
}

static struct sv clause_behind(struct sv text, size_t at)
{
	size_t n = 0;

	while (at + n < text.n && n < NEAR_BYTES && !ends_clause(sv_n(text.p + at + n, text.n - at - n)))
		n++;
	return sv_n(text.p + at, n);
}

static bool is_turned(struct sv before, struct sv behind)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(turned); i++)
		if (memmem(before.p, before.n, turned[i], strlen(turned[i])) ||
		    memmem(behind.p, behind.n, turned[i], strlen(turned[i])))
			return true;
	return turned_before(before) || turned_behind(behind);
}

bool carry_wishes_links(struct sv instruction)
{
	size_t at, i, n;

	for (at = 0; at < instruction.n; at++)
		for (i = 0; i < ARRAY_LEN(mentions); i++) {
			n = strlen(mentions[i]);
			if (n > instruction.n - at || strncasecmp(instruction.p + at, mentions[i], n) != 0)
				continue;
			if (!is_turned(clause_before(instruction, at), clause_behind(instruction, at + n)))
				return true;
		}
	return false;
}

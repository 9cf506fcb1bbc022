#include "vault/placeholder.h"

#include <errno.h>
#include <sys/random.h>

#include "base/cleanup.h"

#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static const char alnum[] = UPPER LOWER DIGITS, letters[] = UPPER LOWER, hexadecimal[] = DIGITS "abcdef",
		  base32[] = UPPER "234567", wide[] = UPPER LOWER DIGITS "-_";

struct shape {
	const char *words; /* any of these, between anything but letters and digits, chooses the shape */
	const char *prefix;
	const char *alphabet;
	unsigned count;
	const char *suffix;
};

static const struct shape shapes[] = {
	{"anthropic claude", "sk-ant-api03-", wide, 93, "AA"},
	{"openrouter", "sk-or-v1-", hexadecimal, 64, ""},
	{"openai codex", "sk-proj-", wide, 156, ""},
	{"gemini generativelanguage google googleapis", "AIza", wide, 35, ""},
	{"github gh", "ghp_", alnum, 36, ""},
	{"gitlab glab", "glpat-", wide, 20, ""},
	{"npm npmjs", "npm_", alnum, 36, ""},
	{"pypi twine", "pypi-AgEIcHlwaS5vcmc", wide, 157, ""},
	{"slack", "xoxb-", alnum, 51, ""},
	{"hf huggingface hugging", "hf_", letters, 34, ""},
	{"groq", "gsk_", alnum, 52, ""},
	{"xai grok", "xai-", alnum, 80, ""},
};

static const struct shape generic = {"", "", alnum, 40, ""};
static const struct shape aws_secret = {"", "", alnum, 40, ""};
static const struct shape aws_key_id = {"", "AKIA", base32, 16, ""};

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static bool in_word(char c)
{
	c = lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Is this word of a name one of the blank-separated words? */
static bool listed(const char *words, struct sv word)
{
	const char *at = words, *end;

	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ' ');
		if ((size_t)(end - at) == word.n && strncasecmp(at, word.p, word.n) == 0)
			return true;
	}
	return false;
}

static const struct shape *shape_named_in(const char *name)
{
	const char *at = name, *end;
	size_t i;

	for (; *at; at = end) {
		for (end = at; in_word(*end); end++)
			;
		for (i = 0; i < ARRAY_LEN(shapes); i++)
			if (end > at && listed(shapes[i].words, sv_n(at, (size_t)(end - at))))
				return &shapes[i];
		end += *end != '\0' && end == at;
	}
	return NULL;
}

static const struct shape *shape_for(const struct credential *c)
{
	const struct shape *found;
	uint32_t i;

	if (c->inject.kind == INJECT_SIGV4)
		return &aws_secret;
	found = c->env ? shape_named_in(c->env) : NULL;
	for (i = 0; !found && i < c->n_hosts; i++)
		found = shape_named_in(c->hosts[i]);
	if (!found)
		found = shape_named_in(c->name);
	return found ? found : &generic;
}

/* Bytes that would make some characters likelier than others are thrown away. */
static int draw(const char *alphabet, unsigned count, char *to)
{
	size_t size = strlen(alphabet);
	unsigned char bytes[256];
	unsigned done = 0, i;

	while (done < count) {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			return errno == EINTR ? -EAGAIN : -EIO;
		for (i = 0; i < sizeof(bytes) && done < count; i++)
			if (bytes[i] < 256 / size * size)
				to[done++] = alphabet[bytes[i] % size];
	}
	to[done] = '\0';
	return 0;
}

static int make(const struct shape *shape, struct placeholder *ret)
{
	struct placeholder p = {0};
	size_t n = strlen(shape->prefix);
	int r;

	memcpy(p.s, shape->prefix, n);
	r = draw(shape->alphabet, shape->count, p.s + n);
	if (r < 0)
		return r;
	memcpy(p.s + n + shape->count, shape->suffix, strlen(shape->suffix) + 1);
	*ret = p;
	return 0;
}

int placeholder_make(const struct credential *c, struct placeholder *ret)
{
	return make(shape_for(c), ret);
}

int placeholder_make_key_id(struct placeholder *ret)
{
	return make(&aws_key_id, ret);
}

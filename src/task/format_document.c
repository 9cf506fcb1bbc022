#include "task/format_document.h"

#include <strings.h>

static const char no_memory[] = "out of memory";

/* The line at the beginning of s, without its end; *rest is what follows. */
static struct sv next_line(struct sv s, struct sv *rest)
{
	const char *nl = s.n ? memchr(s.p, '\n', s.n) : NULL;
	size_t n = nl ? (size_t)(nl - s.p) : s.n;

	*rest = nl ? sv_n(nl + 1, s.n - n - 1) : sv_n(s.p + s.n, 0);
	return n && s.p[n - 1] == '\r' ? sv_n(s.p, n - 1) : sv_n(s.p, n);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct sv trim(struct sv s)
{
	while (s.n && is_blank(s.p[0]))
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

const char *format_document_split(struct sv text, struct format_document *ret)
{
	struct sv rest = text, line;
	uint32_t lines = 1;
	const char *start;

	if (sv_starts(text, "\xef\xbb\xbf"))
		text = rest = sv_n(text.p + 3, text.n - 3);
	if (!sv_is(trim(next_line(rest, &rest)), "---"))
		return "does not begin with front matter; write --- as the first line, and YAML below it";
	while (rest.n) {
		start = rest.p;
		line = next_line(rest, &rest);
		lines++;
		if (sv_is(trim(line), "---")) {
			*ret = (struct format_document){
				.front = sv_n(text.p, (size_t)(start - text.p)), .body = rest, .body_line = lines + 1};
			return NULL;
		}
	}
	return "has front matter without an end; write --- behind it";
}

enum heading { HEADING_NONE, HEADING_PROMPT, HEADING_OTHER };

/* "## prompt" and its like. */
static enum heading heading_of(struct sv line)
{
	static const char *const prefixes[] = {"role:", "scene:"};
	struct sv name;
	size_t i;

	if (line.n < 3 || line.p[0] != '#' || line.p[1] != '#' || !is_blank(line.p[2]))
		return HEADING_NONE;
	name = trim(sv_n(line.p + 2, line.n - 2));
	if (name.n == 6 && strncasecmp(name.p, "prompt", 6) == 0)
		return HEADING_PROMPT;
	if (name.n == 12 && strncasecmp(name.p, "user-persona", 12) == 0)
		return HEADING_OTHER;
	for (i = 0; i < 2; i++)
		if (name.n > strlen(prefixes[i]) && strncasecmp(name.p, prefixes[i], strlen(prefixes[i])) == 0 &&
		    !memchr(name.p, ' ', name.n))
			return HEADING_OTHER;
	return HEADING_NONE;
}

/* A heading that is meant as text has a backslash before it, which goes. */
static const char *unescape(struct arena *a, struct sv text)
{
	char *out = arena_alloc(a, text.n + 1);
	struct sv rest = text, line;
	const char *start;
	size_t n = 0;

	while (out && rest.n) {
		start = rest.p;
		line = next_line(rest, &rest);
		if (line.n && line.p[0] == '\\' && heading_of(sv_n(line.p + 1, line.n - 1)) != HEADING_NONE)
			start++;
		memcpy(out + n, start, (size_t)(rest.p - start));
		n += (size_t)(rest.p - start);
	}
	return out;
}

const char *format_document_instruction(struct arena *a, const struct format_document *d, const char **ret_wrong,
					uint32_t *ret_line)
{
	struct sv rest = d->body, text = d->body, line;
	const char *made;
	bool prompt = false;
	uint32_t at = d->body_line;
	enum heading h;

	*ret_wrong = NULL;
	for (; rest.n; at++) {
		line = next_line(rest, &rest);
		h = heading_of(line);
		*ret_line = at;
		if (h == HEADING_OTHER)
			*ret_wrong = "is a prompt for another role, scene or a simulated user, which Cordon does not "
				     "play; it runs one agent on one prompt";
		else if (h == HEADING_PROMPT && prompt)
			*ret_wrong = "is a second prompt; keep one";
		if (*ret_wrong)
			return NULL;
		if (h == HEADING_PROMPT) {
			prompt = true;
			text = rest;
		}
	}
	made = unescape(a, trim(text));
	if (!made)
		*ret_wrong = no_memory;
	return made;
}

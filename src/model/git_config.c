#include "model/git_config.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { END = -1 };

struct reading {
	struct sv rest;
	struct buf name;       /* section, dot and key */
	size_t section;	       /* how much of it is the section, with its dot */
	struct buf value, old; /* as it is read now, and as it was */
};

/* A line ends in \n or \r\n, the last one also without; at the end of the text it is END. */
static int next_char(struct reading *r)
{
	int c;

	if (r->rest.n > 1 && r->rest.p[0] == '\r' && r->rest.p[1] == '\n')
		r->rest = sv_n(r->rest.p + 1, r->rest.n - 1);
	if (!r->rest.n)
		return END;
	c = (unsigned char)r->rest.p[0];
	r->rest = sv_n(r->rest.p + 1, r->rest.n - 1);
	return c;
}

static bool is_end(int c)
{
	return c == '\n' || c == END;
}

/* Git's own: no form feeds, and no locale. */
static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static void add_small(struct buf *b, int c)
{
	(void)buf_char(b, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

/* Behind [name and a blank: "anything"] */
static bool read_subsection(struct reading *r, int c)
{
	while (is_blank(c)) {
		if (c == '\n')
			return false;
		c = next_char(r);
	}
	if (c != '"')
		return false;
	(void)buf_char(&r->name, '.');
	while ((c = next_char(r)) != '"') {
		if (c == '\\')
			c = next_char(r);
		if (is_end(c))
			return false;
		(void)buf_char(&r->name, (char)c);
	}
	return next_char(r) == ']';
}

static bool read_section(struct reading *r)
{
	int c;

	buf_clear(&r->name);
	while ((c = next_char(r)) != ']') {
		if (is_blank(c)) {
			if (!read_subsection(r, c))
				return false;
			break;
		}
		if (!is_key(c) && c != '.')
			return false;
		add_small(&r->name, c);
	}
	(void)buf_char(&r->name, '.');
	r->section = r->name.n;
	return true;
}

static void add_value(struct reading *r, int c)
{
	(void)buf_char(&r->value, (char)c);
	(void)buf_char(&r->old, (char)c);
}

/* What stands behind a backslash; END: nothing that git knows. */
static int unescape(int c)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	const char *at = c > 0 ? strchr(from, c) : NULL;

	return at ? to[at - from] : END;
}

static bool read_value(struct reading *r)
{
	bool quoted = false, comment = false;
	size_t end = 0, old_end = 0;
	int c;

	while (!is_end(c = next_char(r))) {
		if (comment)
			continue;
		if (!quoted && is_blank(c)) {
			if (r->value.n) {
				(void)buf_char(&r->value, (char)c);
				(void)buf_char(&r->old, ' ');
			}
			continue;
		}
		comment = !quoted && (c == '#' || c == ';');
		if (comment)
			continue;
		if (c == '"') {
			quoted = !quoted;
		} else if (c == '\\') {
			c = next_char(r);
			if (!is_end(c) && unescape(c) == END)
				return false;
			if (!is_end(c))
				add_value(r, unescape(c));
		} else {
			add_value(r, c);
		}
		end = r->value.n;
		old_end = r->old.n;
	}
	r->value.n = end;
	r->old.n = old_end;
	return !quoted;
}

/* Cut at the end, so that it is a string again. */
static int end_string(struct buf *b)
{
	return buf_reserve(b, 1) < 0 || buf_add(b, "", 0) < 0 ? -ENOMEM : 0;
}

static int tell(struct reading *r, git_config_told *told, void *arg)
{
	if (buf_failed(&r->name) || end_string(&r->value) < 0 || end_string(&r->old) < 0)
		return -ENOMEM;
	if (told(arg, r->name.p, r->value.p) < 0)
		return -1;
	return sv_eq(buf_view(&r->value), buf_view(&r->old)) ? 0 : told(arg, r->name.p, r->old.p);
}

/* A key, whose first letter was read, and what it is set to. 0, 1: git refuses it, or as tell(). */
static int read_key(struct reading *r, int c, git_config_told *told, void *arg)
{
	r->name.n = r->section;
	for (; is_key(c); c = next_char(r))
		add_small(&r->name, c);
	while (c == ' ' || c == '\t')
		c = next_char(r);
	buf_clear(&r->value);
	buf_clear(&r->old);
	if (!is_end(c) && (c != '=' || !read_value(r)))
		return 1;
	return tell(r, told, arg);
}

static int read_all(struct reading *r, git_config_told *told, void *arg)
{
	int c, k = 0;

	while (k == 0 && (c = next_char(r)) != END) {
		if (is_blank(c))
			continue;
		if (c == '#' || c == ';')
			while (!is_end(next_char(r)))
				;
		else if (c == '[')
			k = read_section(r) ? 0 : 1;
		else
			k = is_letter(c) ? read_key(r, c, told, arg) : 1;
	}
	return k;
}

int git_config_read(struct sv text, git_config_told *told, void *arg)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct reading r = {.rest = text};
	int k;

	if (sv_starts(text, mark))
		r.rest = sv_n(text.p + sizeof(mark) - 1, text.n - sizeof(mark) + 1);
	/* nothing is longer than the text it came from, but for the dots */
	buf_init(&r.name, text.n + 16);
	buf_init(&r.value, text.n + 16);
	buf_init(&r.old, text.n + 16);
	k = read_all(&r, told, arg);
	buf_done(&r.name);
	buf_done(&r.value);
	buf_done(&r.old);
	return k;
}

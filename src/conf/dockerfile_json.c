/* JSON as far as a Dockerfile has it: is it an array, is it JSON at all, and are all of its items strings? */
#include "conf/dockerfile_words.h"

#include "base/buf.h"
#include "base/coding.h"
#include "base/text.h"

enum { NESTING = 64 };

struct reader {
	struct sv s;
	size_t at;
	unsigned depth;
	bool zero; /* a string had a NUL */
	bool deep;
};

static int here(const struct reader *r)
{
	return r->at < r->s.n ? (unsigned char)r->s.p[r->at] : -1;
}

static void pass_space(struct reader *r)
{
	while (here(r) > 0 && strchr(" \t\r\n", here(r)))
		r->at++;
}

/* Passes over what must stand here. */
static bool pass(struct reader *r, const char *text)
{
	struct sv rest = sv_n(r->s.p + r->at, r->s.n - r->at);

	if (!sv_starts(rest, text))
		return false;
	r->at += strlen(text);
	return true;
}

static bool hex4(struct reader *r, unsigned *ret)
{
	int i, d;

	*ret = 0;
	for (i = 0; i < 4; i++, r->at++) {
		d = here(r) < 0 ? -1 : hex_value((char)here(r));
		if (d < 0)
			return false;
		*ret = *ret << 4 | (unsigned)d;
	}
	return true;
}

static void put_utf8(struct buf *out, unsigned c)
{
	if (c < 0x80) {
		buf_char(out, (char)c);
	} else if (c < 0x800) {
		buf_char(out, (char)(0xc0 | c >> 6));
		buf_char(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_char(out, (char)(0xe0 | c >> 12));
		buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_char(out, (char)(0xf0 | c >> 18));
		buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Behind \u. Half a pair is U+FFFD, as in Go. */
static bool unicode_escape(struct reader *r, struct buf *out)
{
	unsigned c, low;
	size_t mark;

	if (!hex4(r, &c))
		return false;
	if (c >= 0xd800 && c < 0xdc00) {
		mark = r->at;
		if (pass(r, "\\u") && hex4(r, &low) && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
		} else {
			r->at = mark;
			c = 0xfffd;
		}
	} else if (c >= 0xdc00 && c < 0xe000) {
		c = 0xfffd;
	}
	r->zero = r->zero || c == 0;
	put_utf8(out, c);
	return true;
}

static bool escape(struct reader *r, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *f;
	int c = here(r);

	r->at++;
	if (c == 'u')
		return unicode_escape(r, out);
	f = c > 0 ? strchr(from, c) : NULL;
	return f && buf_char(out, to[f - from]) == 0;
}

static bool string(struct reader *r, struct buf *out)
{
	int c;

	if (!pass(r, "\""))
		return false;
	while ((c = here(r)) >= 0x20) {
		r->at++;
		if (c == '"')
			return true;
		if (c == '\\') {
			if (!escape(r, out))
				return false;
		} else {
			buf_char(out, (char)c);
		}
	}
	return false;
}

static bool digits(struct reader *r)
{
	size_t from = r->at;

	while (here(r) >= '0' && here(r) <= '9')
		r->at++;
	return r->at > from;
}

static bool number(struct reader *r)
{
	(void)pass(r, "-");
	if (!pass(r, "0") && !digits(r))
		return false;
	if (pass(r, ".") && !digits(r))
		return false;
	if (pass(r, "e") || pass(r, "E")) {
		(void)(pass(r, "+") || pass(r, "-"));
		return digits(r);
	}
	return true;
}

static bool value(struct reader *r);

/* An array's or object's members, behind its opening bracket. */
static bool members(struct reader *r, bool object)
{
	const char *close = object ? "}" : "]";
	AUTO_BUF key = {0};

	buf_init(&key, r->s.n + 8);
	pass_space(r);
	if (pass(r, close))
		return true;
	do {
		pass_space(r);
		if (object) {
			if (!string(r, &key))
				return false;
			pass_space(r);
			if (!pass(r, ":"))
				return false;
			pass_space(r);
		}
		if (!value(r))
			return false;
		pass_space(r);
	} while (pass(r, ","));
	return pass(r, close);
}

static bool value(struct reader *r)
{
	AUTO_BUF text = {0};
	bool ok;

	buf_init(&text, r->s.n + 8);
	if (here(r) == '"')
		return string(r, &text);
	if (here(r) == '[' || here(r) == '{') {
		if (r->depth >= NESTING) {
			r->deep = true;
			return false;
		}
		r->depth++;
		ok = pass(r, "{") ? members(r, true) : (r->at++, members(r, false));
		r->depth--;
		return ok;
	}
	return pass(r, "true") || pass(r, "false") || pass(r, "null") || number(r);
}

/* Items behind the first bracket. Others than strings are passed over and noted. */
static bool items(struct reader *r, struct words *w, bool *strings)
{
	AUTO_BUF text = {0};

	buf_init(&text, r->s.n + 8);
	pass_space(r);
	if (pass(r, "]"))
		return true;
	do {
		pass_space(r);
		buf_clear(&text);
		if (here(r) != '"') {
			*strings = false;
			if (!value(r))
				return false;
		} else {
			if (!string(r, &text))
				return false;
			words_add(w, buf_view(&text));
		}
		pass_space(r);
	} while (pass(r, ","));
	return pass(r, "]");
}

int words_json(struct words *w, struct sv rest)
{
	struct reader r = {.s = text_trim_left(rest)};
	struct words found = {.arena = w->arena};
	bool strings = true;

	if (!pass(&r, "["))
		return 1;
	if (!items(&r, &found, &strings))
		return r.deep ? -1 : 1;
	pass_space(&r);
	if (r.at != r.s.n)
		return 1;
	if (!strings || r.zero)
		return -1;
	w->v = found.v;
	w->n = found.n;
	w->cap = found.cap;
	return 0;
}

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){.out = out};
}

static void before(struct json *j)
{
	uint32_t bit = UINT32_C(1) << j->depth;

	if (j->after_key)
		j->after_key = false;
	else if (j->filled & bit)
		(void)buf_char(j->out, ',');
	j->filled |= bit;
}

static void down(struct json *j, char c)
{
	before(j);
	(void)buf_char(j->out, c);
	if (j->depth >= 31) {
		j->out->failed = -EOVERFLOW;
		return;
	}
	j->depth++;
	j->filled &= ~(UINT32_C(1) << j->depth);
}

static void up(struct json *j, char c)
{
	if (j->depth)
		j->depth--;
	(void)buf_char(j->out, c);
}

void json_open(struct json *j)
{
	down(j, '{');
}

void json_close(struct json *j)
{
	up(j, '}');
}

void json_list(struct json *j)
{
	down(j, '[');
}

void json_end(struct json *j)
{
	up(j, ']');
}

/* Of n bytes, which are UTF-8 where n > 0. */
static bool is_plain(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;

	if (n > 1)
		return !text_steers(text_code_point(p, n));
	return n == 1 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

static void quoted(struct buf *out, struct sv s)
{
	size_t i, n, from = 0;
	unsigned char c;

	(void)buf_char(out, '"');
	for (i = 0; i < s.n; i += n) {
		c = (unsigned char)s.p[i];
		n = text_utf8(sv_n(s.p + i, s.n - i));
		if (is_plain(s.p + i, n))
			continue;
		(void)buf_add(out, s.p + from, i - from);
		if (n == 0)
			(void)buf_str(out, "\\ufffd");
		else if (n > 1)
			(void)buf_printf(out, "\\u%04x", (unsigned)text_code_point(s.p + i, n));
		else if (c == '"' || c == '\\')
			(void)buf_printf(out, "\\%c", c);
		else if (c == '\n')
			(void)buf_str(out, "\\n");
		else if (c == '\t')
			(void)buf_str(out, "\\t");
		else
			(void)buf_printf(out, "\\u%04x", c);
		n = n ? n : 1;
		from = i + n;
	}
	(void)buf_add(out, s.p + from, s.n - from);
	(void)buf_char(out, '"');
}

void json_tame(struct buf *out, struct sv text)
{
	size_t i, n, from = 0;

	for (i = 0; i < text.n; i += n ? n : 1) {
		n = text_utf8(sv_n(text.p + i, text.n - i));
		if (n < 2 || is_plain(text.p + i, n))
			continue;
		(void)buf_add(out, text.p + from, i - from);
		(void)buf_printf(out, "\\u%04x", (unsigned)text_code_point(text.p + i, n));
		from = i + n;
	}
	(void)buf_add(out, text.p + from, text.n - from);
}

void json_key_sv(struct json *j, struct sv key)
{
	before(j);
	quoted(j->out, key);
	(void)buf_char(j->out, ':');
	j->after_key = true;
}

void json_key(struct json *j, const char *key)
{
	json_key_sv(j, sv_of(key));
}

void json_sv(struct json *j, struct sv s)
{
	before(j);
	quoted(j->out, s);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_sv(j, sv_of(s));
	else
		json_none(j);
}

void json_int(struct json *j, int64_t v)
{
	before(j);
	(void)buf_printf(j->out, "%" PRId64, v);
}

void json_uint(struct json *j, uint64_t v)
{
	before(j);
	(void)buf_printf(j->out, "%" PRIu64, v);
}

void json_bool(struct json *j, bool v)
{
	before(j);
	(void)buf_str(j->out, v ? "true" : "false");
}

void json_none(struct json *j)
{
	before(j);
	(void)buf_str(j->out, "null");
}

void json_raw(struct json *j, struct sv text)
{
	before(j);
	(void)buf_sv(j->out, text);
}

void json_kstr(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_kint(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_int(j, v);
}

void json_kbool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

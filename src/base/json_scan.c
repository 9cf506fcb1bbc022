#include "base/json_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/text.h"

enum want { WANT_VALUE, WANT_VALUE_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_MORE, WANT_NOTHING };

/* `out` never passes `in`: each piece is written after it was consumed, and is no longer than its source. */
struct scanner {
	struct json_scan *s;
	char *p;
	size_t n, in, out;
	const char *why;
	enum want want;
	unsigned depth;
	uint32_t open[SCAN_MAX_DEPTH];
};

static int fail(struct scanner *r, int code, const char *why)
{
	r->why = why;
	return code;
}

static int add_node(struct scanner *r, enum scan_kind kind, size_t at, size_t len)
{
	struct json_scan *s = r->s;
	struct scan_node *v;
	uint32_t cap;

	if (s->n == SCAN_MAX_NODES)
		return fail(r, -EFBIG, "has too many values");
	if (s->n == s->cap) {
		cap = s->cap ? s->cap * 2 : 256;
		v = reallocarray(s->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n] = (struct scan_node){(uint32_t)at, (uint32_t)len, s->n + 1, kind};
	s->n++;
	return 0;
}

static int hex4(struct scanner *r, unsigned *ret)
{
	unsigned v = 0, i;
	int digit;

	if (r->n - r->in < 4)
		return fail(r, -EINVAL, "has a cut escape");
	for (i = 0; i < 4; i++) {
		digit = hex_value(r->p[r->in++]);
		if (digit < 0)
			return fail(r, -EINVAL, "has an escape that is none");
		v = v * 16 + (unsigned)digit;
	}
	*ret = v;
	return 0;
}

static int code_point(struct scanner *r, unsigned *ret)
{
	unsigned high, low;

	if (hex4(r, &high) < 0)
		return -EINVAL;
	if (high >= 0xdc00 && high <= 0xdfff)
		return fail(r, -EINVAL, "has a lone surrogate");
	if (high >= 0xd800 && high <= 0xdbff) {
		if (r->n - r->in < 2 || r->p[r->in] != '\\' || r->p[r->in + 1] != 'u')
			return fail(r, -EINVAL, "has a lone surrogate");
		r->in += 2;
		if (hex4(r, &low) < 0)
			return -EINVAL;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(r, -EINVAL, "has a lone surrogate");
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	*ret = high;
	return 0;
}

static void put(struct scanner *r, unsigned c)
{
	r->p[r->out++] = (char)(unsigned char)c;
}

static void put_control(struct scanner *r, unsigned c)
{
	static const char shorts[] = "\bb\tt\nn\ff\rr";
	const char *s;

	put(r, '\\');
	for (s = shorts; *s; s += 2)
		if ((unsigned)*s == c) {
			put(r, (unsigned)s[1]);
			return;
		}
	put(r, 'u');
	put(r, '0');
	put(r, '0');
	put(r, (unsigned)hex_lower[c >> 4]);
	put(r, (unsigned)hex_lower[c & 15]);
}

static void put_code(struct scanner *r, unsigned c)
{
	if (c < 0x20) {
		put_control(r, c);
	} else if (c < 0x80) {
		if (c == '"' || c == '\\')
			put(r, '\\');
		put(r, c);
	} else if (c < 0x800) {
		put(r, 0xc0 | c >> 6);
		put(r, 0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		put(r, 0xe0 | c >> 12);
		put(r, 0x80 | (c >> 6 & 0x3f));
		put(r, 0x80 | (c & 0x3f));
	} else {
		put(r, 0xf0 | c >> 18);
		put(r, 0x80 | (c >> 12 & 0x3f));
		put(r, 0x80 | (c >> 6 & 0x3f));
		put(r, 0x80 | (c & 0x3f));
	}
}

static int read_escape(struct scanner *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	unsigned c;

	if (r->in == r->n)
		return fail(r, -EINVAL, "ends inside a string");
	if (r->p[r->in] == 'u') {
		r->in++;
		if (code_point(r, &c) < 0)
			return -EINVAL;
		put_code(r, c);
		return 0;
	}
	at = r->p[r->in] ? strchr(from, r->p[r->in]) : NULL;
	if (!at)
		return fail(r, -EINVAL, "has an escape that is none");
	r->in++;
	put_code(r, (unsigned)to[at - from]);
	return 0;
}

/* Eight bytes at once: none is a control character, a quote, a backslash or beyond ASCII. (x - 1 borrows into the top
 * bit of a byte that was 0.) */
static bool eight_plain(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t v, quote, backslash;

	memcpy(&v, p, sizeof(v));
	quote = v ^ ones * '"';
	backslash = v ^ ones * '\\';
	return ((v | (v - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops) == 0;
}

/* Moves the run of plain characters that starts here; most of a body is one such run. */
static int read_plain(struct scanner *r)
{
	size_t from = r->in, k;
	unsigned char c;

	for (; r->in < r->n; r->in += k) {
		while (r->n - r->in >= 8 && eight_plain(r->p + r->in))
			r->in += 8;
		if (r->in == r->n)
			break;
		c = (unsigned char)r->p[r->in];
		if (c == '"' || c == '\\')
			break;
		if (c < 0x20)
			return fail(r, -EINVAL, "has a control character in a string");
		k = c < 0x80 ? 1 : text_utf8(sv_n(r->p + r->in, r->n - r->in));
		if (k == 0)
			return fail(r, -EINVAL, "is not UTF-8");
	}
	if (r->out != from)
		memmove(r->p + r->out, r->p + from, r->in - from);
	r->out += r->in - from;
	return 0;
}

/* Stands behind the opening quote. */
static int read_string(struct scanner *r)
{
	size_t at;
	int e;

	put(r, '"');
	at = r->out;
	for (;;) {
		e = read_plain(r);
		if (e < 0)
			return e;
		if (r->in == r->n)
			return fail(r, -EINVAL, "ends inside a string");
		if (r->p[r->in++] == '"')
			break;
		e = read_escape(r);
		if (e < 0)
			return e;
	}
	e = add_node(r, SCAN_STRING, at, r->out - at);
	put(r, '"');
	return e;
}

static size_t digits(const struct scanner *r, size_t at)
{
	while (at < r->n && r->p[at] >= '0' && r->p[at] <= '9')
		at++;
	return at;
}

/* The end of a number by the grammar, or 0; *ret_real where it has a fraction or an exponent. */
static size_t number_end(const struct scanner *r, bool *ret_real)
{
	size_t at = r->in, from;

	if (r->p[at] == '-')
		at++;
	from = at;
	at = digits(r, at);
	if (at == from || (r->p[from] == '0' && at > from + 1))
		return 0;
	*ret_real = false;
	if (at < r->n && r->p[at] == '.') {
		*ret_real = true;
		from = at + 1;
		at = digits(r, from);
		if (at == from)
			return 0;
	}
	if (at < r->n && (r->p[at] | 0x20) == 'e') {
		*ret_real = true;
		from = at + 1;
		if (from < r->n && (r->p[from] == '+' || r->p[from] == '-'))
			from++;
		at = digits(r, from);
		if (at == from)
			return 0;
	}
	return at;
}

static int read_number(struct scanner *r)
{
	char text[SCAN_MAX_NUMBER + 1];
	bool real = false, fits;
	size_t end = number_end(r, &real), len = end - r->in;

	if (end == 0)
		return fail(r, -EINVAL, "has a number that is none");
	if (len > SCAN_MAX_NUMBER)
		return fail(r, -EINVAL, "has a number that is too long");
	memcpy(text, r->p + r->in, len);
	text[len] = '\0';
	errno = 0;
	fits = real ? (bool)isfinite(strtod(text, NULL)) : strtoll(text, NULL, 10) == 0 || errno == 0;
	if (!fits)
		return fail(r, -EINVAL, "has a number out of range");
	memcpy(r->p + r->out, text, len);
	r->in = end;
	r->out += len;
	return add_node(r, SCAN_NUMBER, r->out - len, len);
}

static int read_word(struct scanner *r)
{
	static const struct {
		const char *word;
		enum scan_kind kind;
	} words[] = {{"null", SCAN_NULL}, {"true", SCAN_BOOL}, {"false", SCAN_BOOL}};
	size_t i, len;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		len = strlen(words[i].word);
		if (!sv_starts(sv_n(r->p + r->in, r->n - r->in), words[i].word))
			continue;
		memcpy(r->p + r->out, words[i].word, len);
		r->in += len;
		r->out += len;
		return add_node(r, words[i].kind, r->out - len, len);
	}
	return fail(r, -EINVAL, "is not JSON");
}

static int open_container(struct scanner *r, char c)
{
	int e;

	if (r->depth == SCAN_MAX_DEPTH)
		return fail(r, -EFBIG, "is nested too deeply");
	r->open[r->depth++] = r->s->n;
	e = add_node(r, c == '{' ? SCAN_OBJECT : SCAN_ARRAY, r->out, 0);
	put(r, (unsigned)c);
	r->want = c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
	return e;
}

static int compare_keys(const void *a, const void *b, void *scan)
{
	struct sv x = json_scan_text(scan, *(const uint32_t *)a), y = json_scan_text(scan, *(const uint32_t *)b);

	if (x.n != y.n)
		return x.n < y.n ? -1 : 1;
	return x.n ? memcmp(x.p, y.p, x.n) : 0;
}

static int check_keys(struct scanner *r, uint32_t object, uint32_t count)
{
	AUTO_FREE uint32_t *keys = NULL;
	uint32_t i, k = 0;

	if (count < 2)
		return 0;
	keys = reallocarray(NULL, count, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = json_scan_first(r->s, object); i; i = json_scan_after(r->s, object, i))
		keys[k++] = i;
	qsort_r(keys, count, sizeof(*keys), compare_keys, r->s);
	for (i = 1; i < count; i++)
		if (compare_keys(&keys[i - 1], &keys[i], r->s) == 0)
			return fail(r, -EINVAL, "has a key twice in one object");
	return 0;
}

static int close_container(struct scanner *r, char c)
{
	struct json_scan *s = r->s;
	uint32_t self = r->open[--r->depth], count = 0, i;

	put(r, (unsigned)c);
	s->v[self].len = (uint32_t)r->out - s->v[self].at;
	s->v[self].next = s->n;
	r->want = r->depth ? WANT_MORE : WANT_NOTHING;
	if (c == ']')
		return 0;
	for (i = json_scan_first(s, self); i; i = json_scan_after(s, self, i))
		count++;
	return check_keys(r, self, count);
}

static int read_value(struct scanner *r, char c)
{
	r->want = r->depth ? WANT_MORE : WANT_NOTHING;
	if (c == '{' || c == '[') {
		r->in++;
		return open_container(r, c);
	}
	if (c == '"') {
		r->in++;
		return read_string(r);
	}
	return c == '-' || (c >= '0' && c <= '9') ? read_number(r) : read_word(r);
}

static void skip_blanks(struct scanner *r)
{
	while (r->in < r->n &&
	       (r->p[r->in] == ' ' || r->p[r->in] == '\n' || r->p[r->in] == '\r' || r->p[r->in] == '\t'))
		r->in++;
}

static int read_key(struct scanner *r)
{
	struct sv key;
	int e;

	if (r->p[r->in++] != '"')
		return fail(r, -EINVAL, "is not JSON");
	e = read_string(r);
	if (e < 0)
		return e;
	key = json_scan_text(r->s, r->s->n - 1);
	if (memmem(key.p, key.n, "\\u0000", 6))
		return fail(r, -EINVAL, "has a NUL in a key");
	skip_blanks(r);
	if (r->in == r->n || r->p[r->in++] != ':')
		return fail(r, -EINVAL, "is not JSON");
	put(r, ':');
	r->want = WANT_VALUE;
	return 0;
}

/* Behind a value: a comma, or the end of the container. */
static int read_more(struct scanner *r, char c)
{
	bool object = json_scan_kind(r->s, r->open[r->depth - 1]) == SCAN_OBJECT;

	r->in++;
	if (c == (object ? '}' : ']'))
		return close_container(r, c);
	if (c != ',')
		return fail(r, -EINVAL, "is not JSON");
	put(r, ',');
	r->want = object ? WANT_KEY : WANT_VALUE;
	return 0;
}

static int step(struct scanner *r)
{
	char c;

	skip_blanks(r);
	if (r->in == r->n)
		return fail(r, -EINVAL, r->s->n ? "is cut short" : "is empty");
	c = r->p[r->in];
	switch (r->want) {
	case WANT_VALUE_OR_END:
	case WANT_KEY_OR_END:
		if (c == (r->want == WANT_KEY_OR_END ? '}' : ']')) {
			r->in++;
			return close_container(r, c);
		}
		return r->want == WANT_KEY_OR_END ? read_key(r) : read_value(r, c);
	case WANT_KEY:
		return read_key(r);
	case WANT_MORE:
		return read_more(r, c);
	case WANT_VALUE:
	case WANT_NOTHING:
		break;
	}
	return read_value(r, c);
}

int json_scan_read(struct json_scan *s, struct buf *text, struct scan_error *ret_why)
{
	struct scanner r = {.s = s, .p = text->p, .n = text->n, .want = WANT_VALUE};
	int e = 0;

	*s = (struct json_scan){.text = text->p};
	if (text->n > SCAN_MAX_BYTES)
		e = fail(&r, -EFBIG, "is too large");
	while (e == 0 && r.want != WANT_NOTHING)
		e = step(&r);
	if (e == 0) {
		skip_blanks(&r);
		if (r.in < r.n)
			e = fail(&r, -EINVAL, "goes on behind its end");
	}
	if (e < 0) {
		*ret_why = (struct scan_error){r.why ? r.why : "could not be read", r.in};
		json_scan_done(s);
		return e;
	}
	text->n = r.out;
	text->p[r.out] = '\0';
	return 0;
}

void json_scan_done(struct json_scan *s)
{
	free(s->v);
	*s = (struct json_scan){0};
}

uint32_t json_scan_first(const struct json_scan *s, uint32_t of)
{
	return s->v[of].kind >= SCAN_ARRAY && s->v[of].next > of + 1 ? of + 1 : 0;
}

uint32_t json_scan_after(const struct json_scan *s, uint32_t of, uint32_t i)
{
	uint32_t value = s->v[of].kind == SCAN_OBJECT ? i + 1 : i;

	return s->v[value].next < s->v[of].next ? s->v[value].next : 0;
}

uint32_t json_scan_get(const struct json_scan *s, uint32_t of, const char *key)
{
	uint32_t i;

	if (s->v[of].kind != SCAN_OBJECT)
		return 0;
	for (i = json_scan_first(s, of); i; i = json_scan_after(s, of, i))
		if (sv_is(json_scan_text(s, i), key))
			return i + 1;
	return 0;
}

void json_scan_decode(const struct json_scan *s, uint32_t string, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	struct sv t = json_scan_text(s, string);
	size_t i, run;
	const char *at;

	for (i = 0; i < t.n; i++) {
		for (run = i; run < t.n && t.p[run] != '\\'; run++)
			;
		(void)buf_add(out, t.p + i, run - i);
		i = run + 1;
		if (i >= t.n)
			return;
		at = strchr(from, t.p[i]);
		if (at) {
			(void)buf_char(out, to[at - from]);
		} else if (t.p[i] == 'u') { /* of the canonical form: \u00NN, small letters */
			(void)buf_char(out, (char)hex_byte(t.p[i + 3], t.p[i + 4]));
			i += 4;
		} else {
			(void)buf_char(out, t.p[i]);
		}
	}
}

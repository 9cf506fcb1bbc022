#include "audit/audit_line.h"

#include "base/text.h"

/*
 * Where we are in a text. Every scan_ function moves on past what it accepts, or returns false. Loose takes any JSON;
 * otherwise only the canonical form will do.
 */
struct cursor {
	const char *p, *end;
	bool loose;
};

static bool scan_value(struct cursor *c, unsigned depth);

static bool take(struct cursor *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static void skip_space(struct cursor *c)
{
	while (c->loose && c->p < c->end && strchr(" \t\r", *c->p) && *c->p)
		c->p++;
}

/* One of []{},: with the white space around it. */
static bool take_mark(struct cursor *c, char want)
{
	skip_space(c);
	if (!take(c, want))
		return false;
	skip_space(c);
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	if (!sv_starts(sv_n(c->p, (size_t)(c->end - c->p)), word))
		return false;
	c->p += strlen(word);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool escape_is_needed(unsigned v)
{
	return (v < 0x20 && v != '\n' && v != '\t') || v == 0x7f || v == 0xfffd || text_steers(v);
}

/*
 * Behind a backslash; base/json writes only the first four and the \u forms that are needed. Older logs have what a
 * terminal would obey as it was: that is right, too, as the hash is of the bytes that stand there.
 */
static bool scan_escape(struct cursor *c)
{
	unsigned v = 0, i;
	int d;

	if (c->p == c->end)
		return false;
	if (*c->p && strchr(c->loose ? "\"\\nt/bfr" : "\"\\nt", *c->p))
		return take(c, *c->p);
	if (!take(c, 'u') || c->end - c->p < 4)
		return false;
	for (i = 0; i < 4; i++, c->p++) {
		d = hex_digit(c->loose ? (char)(*c->p | 0x20) : *c->p);
		if (d < 0)
			return false;
		v = v << 4 | (unsigned)d;
	}
	return c->loose || escape_is_needed(v);
}

static bool scan_string(struct cursor *c)
{
	unsigned char b;
	size_t n;

	if (!take(c, '"'))
		return false;
	while (c->p < c->end) {
		b = (unsigned char)*c->p;
		if (b == '"')
			return take(c, '"');
		if (b == '\\') {
			c->p++;
			if (!scan_escape(c))
				return false;
			continue;
		}
		n = text_utf8(sv_n(c->p, (size_t)(c->end - c->p)));
		if (n == 0 || b < 0x20 || (b == 0x7f && !c->loose))
			return false;
		c->p += n;
	}
	return false;
}

static bool scan_digits(struct cursor *c)
{
	const char *from = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return c->p > from;
}

static bool scan_number(struct cursor *c)
{
	(void)take(c, '-');
	if (!take(c, '0') && !scan_digits(c))
		return false;
	if (take(c, '.') && !scan_digits(c))
		return false;
	if (take(c, 'e') || take(c, 'E')) {
		if (!take(c, '-'))
			(void)take(c, '+');
		return scan_digits(c);
	}
	return true;
}

static bool scan_list(struct cursor *c, unsigned depth)
{
	if (!take_mark(c, '['))
		return false;
	if (take_mark(c, ']'))
		return true;
	do {
		if (!scan_value(c, depth))
			return false;
	} while (take_mark(c, ','));
	return take_mark(c, ']');
}

static bool scan_object(struct cursor *c, unsigned depth)
{
	if (!take_mark(c, '{'))
		return false;
	if (take_mark(c, '}'))
		return true;
	do {
		if (!scan_string(c) || !take_mark(c, ':') || !scan_value(c, depth))
			return false;
	} while (take_mark(c, ','));
	return take_mark(c, '}');
}

static bool scan_value(struct cursor *c, unsigned depth)
{
	if (c->p == c->end || depth == AUDIT_NESTING_MAX)
		return false;
	switch (*c->p) {
	case '{':
		return scan_object(c, depth + 1);
	case '[':
		return scan_list(c, depth + 1);
	case '"':
		return scan_string(c);
	case 't':
		return take_word(c, "true");
	case 'f':
		return take_word(c, "false");
	case 'n':
		return take_word(c, "null");
	default:
		return scan_number(c);
	}
}

bool audit_line_is_canonical(struct sv text)
{
	struct cursor c = {text.p, text.p + text.n, false};

	return scan_value(&c, 1) && c.p == c.end;
}

static bool scan_member(struct cursor *c, struct audit_members *m)
{
	struct audit_member *new = &m->v[m->n];
	const char *from = c->p;
	size_t i;

	if (m->n == AUDIT_MEMBERS_MAX || !scan_string(c))
		return false;
	new->key = sv_n(from + 1, (size_t)(c->p - from) - 2);
	for (i = 0; i < m->n; i++)
		if (sv_eq(m->v[i].key, new->key))
			return false;
	from = c->p + 1;
	if (!take(c, ':') || !scan_value(c, 1))
		return false;
	new->value = sv_n(from, (size_t)(c->p - from));
	m->n++;
	return true;
}

bool audit_line_members(struct sv line, struct audit_members *m)
{
	struct cursor c = {line.p, line.p + line.n, false};

	m->n = 0;
	if (!take(&c, '{'))
		return false;
	do {
		if (!scan_member(&c, m))
			return false;
	} while (take(&c, ','));
	return take(&c, '}') && c.p == c.end;
}

struct sv audit_line_member(const struct audit_members *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (sv_is(m->v[i].key, key))
			return m->v[i].value;
	return sv_n("", 0);
}

bool audit_line_number(struct sv text, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	if (text.n == 0 || text.n > 19)
		return false;
	for (i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(text.p[i] - '0');
	}
	*ret = v;
	return true;
}

/* The 64 digits within the quotes. */
static bool to_digest(struct sv text, struct sv *ret)
{
	size_t i;

	if (text.n != AUDIT_HEX + 2 || text.p[0] != '"')
		return false;
	for (i = 1; i <= AUDIT_HEX; i++)
		if (hex_digit(text.p[i]) < 0)
			return false;
	*ret = sv_n(text.p + 1, AUDIT_HEX);
	return true;
}

/* Valid JSON all the same? Then some program read the line and wrote it again. */
static const char *why_not_canonical(struct sv line)
{
	struct cursor c = {line.p, line.p + line.n, true};

	skip_space(&c);
	if (c.p == c.end || *c.p != '{' || !scan_value(&c, 1))
		return "it is not JSON";
	skip_space(&c);
	if (c.p < c.end)
		return "it is not JSON";
	return "it is not in canonical form, as if another program had written it again";
}

void audit_line_hash(struct sv prev, struct sv head, char out[SHA256_HEX])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, prev.p, prev.n);
	sha256_add(&s, head.p, head.n);
	sha256_add(&s, "}", 1);
	sha256_done(&s, digest);
	sha256_hex(digest, out);
}

const char *audit_line_parse(struct sv line, struct audit_line *ret)
{
	static const size_t tail = sizeof(",\"hash\":\"\"}") - 1 + AUDIT_HEX;
	char hash[SHA256_HEX];
	struct audit_members m;
	uint64_t ms;

	if (memchr(line.p, '\0', line.n))
		return "it holds a NUL byte";
	if (!audit_line_members(line, &m))
		return why_not_canonical(line);
	if (m.n < 2 || !sv_is(m.v[m.n - 2].key, "prev") || !sv_is(m.v[m.n - 1].key, "hash") ||
	    !to_digest(m.v[m.n - 2].value, &ret->prev) || !to_digest(m.v[m.n - 1].value, &ret->hash))
		return "it does not end in prev and hash";
	ret->run = audit_line_member(&m, "run");
	ret->event = audit_line_member(&m, "event");
	if (!ret->run.n || !ret->event.n || !audit_line_number(audit_line_member(&m, "seq"), &ret->seq) ||
	    !audit_line_number(audit_line_member(&m, "time"), &ms))
		return "it lacks a member that every line has (time, event, run, seq)";
	audit_line_hash(ret->prev, sv_n(line.p, line.n - tail), hash);
	if (!sv_is(ret->hash, hash))
		return "its hash does not match its text";
	return NULL;
}

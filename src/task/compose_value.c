#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "task/compose_read.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Whole digits and up to `places` decimals, as a number of 10^-places. How many bytes it takes; 0: it is none, or too
 * large. */
static size_t number(const char *s, unsigned places, uint64_t *ret)
{
	const char *p = s;
	uint64_t v = 0;
	unsigned decimals = 0;

	if (!isdigit((unsigned char)*p))
		return 0;
	for (; isdigit((unsigned char)*p); p++) {
		if (v > UINT64_C(1) << 50)
			return 0;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	if (*p == '.' && isdigit((unsigned char)p[1]))
		p++;
	for (; isdigit((unsigned char)*p); p++, decimals++) {
		if (decimals >= places && *p != '0')
			return 0;
		if (decimals < places)
			v = v * 10 + (uint64_t)(*p - '0');
	}
	for (; decimals < places; decimals++)
		v *= 10;
	if (v > UINT64_C(1) << 56)
		return 0;
	*ret = v;
	return (size_t)(p - s);
}

const char *compose_value_count(const char *s, uint64_t *ret)
{
	uint64_t v;

	if (strlen(s) > 12 || (s[0] == '0' && s[1]) || number(s, 0, &v) == 0 || s[strspn(s, "0123456789")])
		return "not a number; write digits alone";
	*ret = v;
	return NULL;
}

const char *compose_value_cpus(const char *s, uint64_t *ret)
{
	uint64_t v;
	size_t n = number(s, 3, &v);

	if (n == 0 || s[n])
		return "not a number of processors; write 2 or 0.5";
	*ret = v;
	return NULL;
}

const char *compose_value_size(const char *s, uint64_t *ret)
{
	static const struct unit units[] = {{"", 1},          {"b", 1},        {"k", 1 << 10},  {"kb", 1 << 10},
					    {"kib", 1 << 10}, {"m", 1 << 20},  {"mb", 1 << 20}, {"mib", 1 << 20},
					    {"g", 1 << 30},   {"gb", 1 << 30}, {"gib", 1 << 30}};
	uint64_t v;
	size_t n = number(s, 3, &v), i;

	if (n && v < UINT64_C(1) << 30)
		for (i = 0; i < ARRAY_LEN(units); i++)
			if (strcasecmp(s + n, units[i].name) == 0) {
				*ret = v * units[i].factor / 1000;
				return NULL;
			}
	if (n && (strcasecmp(s + n, "") == 0 || strcasecmp(s + n, "b") == 0)) {
		*ret = v / 1000;
		return NULL;
	}
	return "not a size; write 512m or 2g";
}

const char *compose_value_time(const char *s, uint64_t *ret)
{
	/* In microseconds. */
	static const struct unit units[] = {
		{"us", 1}, {"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", UINT64_C(3600000000)}};
	uint64_t total = 0, v;
	size_t n, i;

	if (!*s)
		return "not a time; write 30s or 1m30s";
	while (*s) {
		n = number(s, 3, &v);
		for (i = 0; n && i < ARRAY_LEN(units); i++)
			if (strncmp(s + n, units[i].name, strlen(units[i].name)) == 0 &&
			    !isalpha((unsigned char)s[n + strlen(units[i].name)]))
				break;
		if (n == 0 || i == ARRAY_LEN(units) || v > (UINT64_C(1) << 60) / units[i].factor)
			return "not a time; write 30s or 1m30s";
		total += v * units[i].factor / 1000;
		if (total > UINT64_C(1) << 50)
			return "too long";
		s += n + strlen(units[i].name);
	}
	*ret = (total + 999) / 1000;
	return NULL;
}

struct splitter {
	struct arena *arena;
	const char *p;
	struct buf word;
	bool in_word;
	const char *v[COMPOSE_LIST_MAX + 1];
	uint32_t n;
};

static const char *end_word(struct splitter *s)
{
	if (!s->in_word)
		return NULL;
	if (s->n == COMPOSE_LIST_MAX)
		return "too many words";
	s->v[s->n] = arena_str(s->arena, buf_view(&s->word));
	if (!s->v[s->n++] || buf_failed(&s->word))
		return "out of memory";
	buf_clear(&s->word);
	s->in_word = false;
	return NULL;
}

/* Within double quotes a backslash means itself but before " and \. */
static const char *quoted(struct splitter *s, char quote)
{
	for (s->p++; *s->p && *s->p != quote; s->p++) {
		if (quote == '"' && *s->p == '\\' && (s->p[1] == '"' || s->p[1] == '\\'))
			s->p++;
		(void)buf_char(&s->word, *s->p);
	}
	if (!*s->p)
		return "a quote that does not end; write the command as a list";
	s->in_word = true;
	return NULL;
}

static const char *split_one(struct splitter *s)
{
	switch (*s->p) {
	case ' ':
	case '\t':
	case '\n':
	case '\r':
		return end_word(s);
	case '\'':
	case '"':
		return quoted(s, *s->p);
	case '\\':
		if (!s->p[1])
			return "a backslash at the end; write the command as a list";
		s->p++;
		break;
	default:
		break;
	}
	(void)buf_char(&s->word, *s->p);
	s->in_word = true;
	return NULL;
}

const char *compose_words(struct arena *a, const char *text, struct compose_strings *ret)
{
	struct splitter s = {.arena = a, .p = text};
	const char *wrong = NULL;
	const char **v;

	buf_init(&s.word, COMPOSE_TEXT_MAX);
	for (; *s.p && !wrong; s.p++)
		wrong = split_one(&s);
	if (!wrong)
		wrong = end_word(&s);
	buf_done(&s.word);
	if (wrong)
		return wrong;
	v = arena_array(a, COMPOSE_LIST_MAX + 1, sizeof(*v));
	if (!v)
		return "out of memory";
	memcpy(v, s.v, s.n * sizeof(*v));
	*ret = (struct compose_strings){.v = v, .n = s.n, .set = true};
	return NULL;
}

/* Adds the parts of path to out, or says why it cannot. */
static const char *add_parts(struct buf *out, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return "\"..\" in a path; only files in the folder of this file can be named";
		if (n && !(n == 1 && path[0] == '.')) {
			if (out->n)
				(void)buf_char(out, '/');
			(void)buf_add(out, path, n);
		}
		path += n + (path[n] == '/');
	}
	return NULL;
}

static const char *why_not_inside(const char *path)
{
	if (!path[0])
		return "no path";
	if (path[0] == '~')
		return "a home folder of the host; only files in the folder of this file can be named";
	if (strchr(path, '\\') || (isalpha((unsigned char)path[0]) && path[1] == ':'))
		return "a path of Windows; write it with / and relative to this file";
	if (strstr(path, "://") || strncmp(path, "git@", 4) == 0)
		return "an address; only files in the folder of this file can be named";
	if (path[0] == '/')
		return "a path of the host; only files in the folder of this file can be named";
	return NULL;
}

const char *compose_inside(struct arena *a, const char *path, const char **ret_why)
{
	AUTO_BUF out = {0};
	const char *rest = path_rest(path, COMPOSE_STAND_IN_TASK), *result, *why;

	buf_init(&out, 4096);
	if (rest) {
		path = rest + strspn(rest, "/");
		path = *path ? path : ".";
	}
	why = why_not_inside(path);
	if (!why)
		why = add_parts(&out, path);
	if (!why && (buf_failed(&out) || (out.n && !compose_is_inside(out.p))))
		why = "not a path that can be used here";
	if (why) {
		*ret_why = why;
		return NULL;
	}
	result = arena_str(a, out.n ? buf_view(&out) : sv_of("."));
	*ret_why = "out of memory";
	return result;
}

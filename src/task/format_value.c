#include "task/format_value.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "conf/value_net.h"
#include "model/policy.h"

enum { NUMBER_MAX = 64, TEXT_MAX = 64 << 10, LONG_MAX_BYTES = 4 << 20, LINE_MAX_BYTES = 4095 };

static const char no_memory[] = "cannot be kept: out of memory";

bool task_value_double(struct sv s, double *ret)
{
	char text[NUMBER_MAX], *end;
	double v;
	size_t i;

	if (s.n == 0 || s.n >= sizeof(text))
		return false;
	for (i = 0; i < s.n; i++)
		if (!strchr("0123456789.eE+-", s.p[i]) || s.p[i] == '\0')
			return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	v = strtod(text, &end);
	if (*end || !isfinite(v))
		return false;
	*ret = v;
	return true;
}

/* v * scale, rounded to the nearest; false where it is not within low and high (of v). */
static bool scaled(struct sv s, double low, double high, double scale, uint64_t *ret)
{
	double v;

	if (!task_value_double(s, &v) || v < low || v > high)
		return false;
	*ret = (uint64_t)(v * scale + 0.5);
	return true;
}

const char *task_value_seconds(struct sv s, uint64_t *ret)
{
	return scaled(s, 0.001, 366 * 86400.0, 1000, ret)
		       ? NULL
		       : "is not a time; write seconds, more than 0 and at most a year";
}

const char *task_value_seconds0(struct sv s, uint64_t *ret)
{
	return scaled(s, 0, 366 * 86400.0, 1000, ret) ? NULL : "is not a time; write seconds, at most a year";
}

const char *task_value_cpus(struct sv s, uint64_t *ret)
{
	return scaled(s, 0.001, 1024, 1000, ret) ? NULL
						 : "is not a number of processors; write one above 0, at most 1024";
}

const char *task_value_megabytes(struct sv s, uint64_t *ret)
{
	return scaled(s, 1, 1 << 30, 1 << 20, ret) ? NULL : "is not a size; write megabytes, such as 2048";
}

const char *task_value_size(struct sv s, uint64_t *ret)
{
	static const struct {
		char unit;
		double low, high, scale;
	} units[] = {{'K', 1 << 10, 1e12, 1 << 10}, {'M', 1, 1 << 30, 1 << 20}, {'G', 1.0 / 1024, 1 << 20, 1 << 30}};
	size_t i;

	for (i = 0; s.n && i < sizeof(units) / sizeof(units[0]); i++)
		if ((s.p[s.n - 1] & ~0x20) == units[i].unit &&
		    scaled(sv_n(s.p, s.n - 1), units[i].low, units[i].high, units[i].scale, ret))
			return NULL;
	return "is not a size; write one such as 2G or 512M";
}

const char *task_value_retries(struct sv s, uint64_t *ret)
{
	return scaled(s, 0, 10000, 1, ret) ? NULL : "is not a number of tries; write one of at most 10000";
}

const char *task_value_bool(struct sv s, uint64_t *ret)
{
	static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE", "no",
					    "yes",   "No",   "Yes",   "NO",   "YES",   "off",  "on",
					    "Off",   "On",   "OFF",   "ON",   NULL};
	int i = name_index(words, s);

	if (i < 0)
		return "is neither true nor false";
	*ret = (uint64_t)i % 2;
	return NULL;
}

/* Invalid UTF-8, or a control other than tab and newline. */
static bool has_control(struct sv s, bool lines)
{
	size_t i, n;

	for (i = 0; i < s.n; i += n) {
		unsigned char c = (unsigned char)s.p[i];

		n = c >= 0x20 && c < 0x7f ? 1 : text_utf8(sv_n(s.p + i, s.n - i));
		if (n == 0 || c == 0x7f || (c < 0x20 && !(lines && (c == '\t' || c == '\n'))))
			return true;
		if (c == 0xc2 && n == 2 && (unsigned char)s.p[i + 1] < 0xa0)
			return true;
	}
	return false;
}

static const char *keep_text(struct arena *a, struct sv s, size_t max, const char **ret)
{
	if (has_control(s, true))
		return "holds a control character; remove it";
	if (s.n > max)
		return "is too long; shorten it";
	return value_keep(a, s, ret);
}

const char *task_value_text(struct arena *a, struct sv s, const char **ret)
{
	return keep_text(a, s, TEXT_MAX, ret);
}

const char *task_value_some(struct arena *a, struct sv s, const char **ret)
{
	return s.n ? keep_text(a, s, TEXT_MAX, ret) : "is empty; write a value or remove the key";
}

const char *task_value_long(struct arena *a, struct sv s, const char **ret)
{
	return keep_text(a, s, LONG_MAX_BYTES, ret);
}

const char *task_value_command(struct arena *a, struct sv s, const char **ret)
{
	size_t i;

	for (i = 0; i < s.n && strchr(" \t\n", s.p[i]) && s.p[i]; i++)
		;
	return i < s.n ? keep_text(a, s, TEXT_MAX, ret) : "is empty; write a command";
}

const char *task_value_line(struct arena *a, struct sv s, const char **ret)
{
	if (s.n == 0)
		return "is empty; write a value or remove the key";
	if (s.n > LINE_MAX_BYTES || has_control(s, false))
		return "is not one line of at most 4095 bytes; shorten it";
	return value_keep(a, s, ret);
}

/* Letters, digits and these, the first being a letter, digit or underscore. */
static bool is_name(struct sv s, const char *also, size_t max)
{
	size_t i;

	if (s.n == 0 || s.n > max)
		return false;
	for (i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';

		if (!plain && (i == 0 || c == '\0' || !strchr(also, c)))
			return false;
	}
	return true;
}

const char *task_value_user(struct arena *a, struct sv s, const char **ret)
{
	const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	struct sv name = colon ? sv_n(s.p, (size_t)(colon - s.p)) : s;

	if (!is_name(name, "-.", 64) || (colon && !is_name(sv_n(colon + 1, s.n - name.n - 1), "-.", 64)))
		return "is not a user; write a name or a number";
	return value_keep(a, s, ret);
}

const char *task_value_pattern(struct arena *a, struct sv s, const char **ret)
{
	if (s.n > NAME_MAX)
		return "is a pattern of more than 255 bytes, which is longer than any name";
	if (s.n && memchr(s.p, '/', s.n))
		return "is a pattern of a path; only names can be excluded, in whichever folder they are (\"*.tmp\")";
	return task_value_line(a, s, ret);
}

const char *task_value_service(struct arena *a, struct sv s, const char **ret)
{
	/* one that is not looked at would be taken from the agent's own, which the agent can write what it likes to */
	return sv_is(s, "main")
		       ? value_keep(a, s, ret)
		       : "is a service other than \"main\", the agent's own, and only there commands run and files are "
			 "taken; what another service has to show can be in a volume that \"main\" has read-only";
}

const char *task_value_step(struct arena *a, struct sv s, const char **ret)
{
	return is_name(s, "-.", 64) ? value_keep(a, s, ret)
				    : "is not a step's name; use at most 64 letters, digits, '-', '_' and '.'";
}

const char *task_value_image(struct arena *a, struct sv s, const char **ret)
{
	return is_name(s, "-./:@", 512) ? value_keep(a, s, ret)
					: "is not the name of an image; write one such as ubuntu:24.04";
}

/* Without "." parts, empty parts and a slash at the end; what wrong says where there is a "..". */
static const char *keep_path(struct arena *a, struct sv s, const char *wrong, const char **ret)
{
	char *out;
	size_t i = 0, n = 0, end;

	if (s.n > LINE_MAX_BYTES || has_control(s, false))
		return "is not a path; remove controls, and use at most 4095 bytes";
	out = arena_alloc(a, s.n + 2);
	if (!out)
		return no_memory;
	if (s.n && s.p[0] == '/')
		out[n++] = '/';
	for (; i < s.n; i = end + 1) {
		for (end = i; end < s.n && s.p[end] != '/'; end++)
			;
		if (end == i || (end == i + 1 && s.p[i] == '.'))
			continue;
		if (end == i + 2 && s.p[i] == '.' && s.p[i + 1] == '.')
			return wrong;
		if (n && out[n - 1] != '/')
			out[n++] = '/';
		memcpy(out + n, s.p + i, end - i);
		n += end - i;
	}
	out[n] = '\0';
	*ret = out;
	return NULL;
}

const char *task_value_inside(struct arena *a, struct sv s, const char **ret)
{
	static const char wrong[] = "is not an absolute path without \"..\"; write where it is inside the sandbox";

	return s.n && s.p[0] == '/' ? keep_path(a, s, wrong, ret) : wrong;
}

const char *task_value_source(struct arena *a, struct sv s, const char **ret)
{
	return s.n ? keep_path(a, s, "has \"..\" in it; write the path itself", ret) : "is empty; write a path";
}

const char *task_value_below(struct arena *a, struct sv s, const char **ret)
{
	static const char wrong[] = "leaves the results' folder; write a relative path without \"..\"";
	const char *made = NULL, *bad;

	if (s.n && s.p[0] == '/')
		return wrong;
	bad = keep_path(a, s, wrong, &made);
	if (bad)
		return bad;
	if (!*made || strchr(made, '\\') || strcmp(made, "manifest.json") == 0)
		return "is not a place for results; write another name";
	*ret = made;
	return NULL;
}

const char *task_value_host(struct arena *a, struct sv s, const char **ret)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	if (s.n > 1 && s.p[s.n - 1] == '.')
		s.n--;
	if (s.n && memchr(s.p, '/', s.n) && !memmem(s.p, s.n, "://", 3))
		return value_cidr(a, s, ret);
	return value_host(a, s, ret);
}

const char *task_value_schema(struct arena *a, struct sv s, const char **ret)
{
	size_t i, dots = 0;

	for (i = 0; i < s.n; i++) {
		dots += s.p[i] == '.';
		if (s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9'))
			return "is not a version; write one such as \"1.3\"";
	}
	if (s.n > 16 || dots > 2 || !(sv_is(s, "1") || sv_starts(s, "1.")))
		return "is not a version that this Cordon knows; it knows 1 and 1.x";
	return value_keep(a, s, ret);
}

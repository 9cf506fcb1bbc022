#include "conf/value.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/method.h"

enum { MEMORY_MIN = 1 << 20, PROCESSES_MIN = 2 };

static const char no_memory[] = "cannot be kept: out of memory";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The digits at the start of s. False: none, a leading zero, or past 2^62. */
static bool take_number(struct sv s, uint64_t *ret, struct sv *rest)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < s.n && is_digit(s.p[i]); i++) {
		if (v > (UINT64_C(1) << 62) / 10)
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	if (i == 0 || (s.p[0] == '0' && i > 1))
		return false;
	*ret = v;
	*rest = sv_n(s.p + i, s.n - i);
	return true;
}

static bool number_between(struct sv s, uint64_t min, uint64_t max, uint64_t *ret)
{
	struct sv rest;
	uint64_t v;

	if (!take_number(s, &v, &rest) || rest.n || v < min || v > max)
		return false;
	*ret = v;
	return true;
}

const char *value_count(struct sv s, uint64_t *ret)
{
	return number_between(s, 0, UINT64_C(1) << 53, ret) ? NULL : "is not a count; write a whole number such as 500";
}

const char *value_positive(struct sv s, uint64_t *ret)
{
	return number_between(s, 1, INT32_MAX, ret) ? NULL
						    : "is not a count; write a whole number from 1 to 2147483647";
}

const char *value_uid(struct sv s, uint64_t *ret)
{
	return number_between(s, 0, UINT32_MAX - 1, ret) ? NULL : "is not a user id; write a number such as 1000";
}

const char *value_port(struct sv s, uint64_t *ret)
{
	return number_between(s, 1, 65535, ret) ? NULL : "is not a port; write a number from 1 to 65535";
}

const char *value_bool(struct sv s, uint64_t *ret)
{
	if (!sv_is(s, "true") && !sv_is(s, "false"))
		return "is not a boolean; write true or false";
	*ret = sv_is(s, "true");
	return NULL;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{"", 1},
	{"K", UINT64_C(1) << 10},
	{"KiB", UINT64_C(1) << 10},
	{"M", UINT64_C(1) << 20},
	{"MiB", UINT64_C(1) << 20},
	{"G", UINT64_C(1) << 30},
	{"GiB", UINT64_C(1) << 30},
	{"T", UINT64_C(1) << 40},
	{"TiB", UINT64_C(1) << 40},
};

static const struct unit duration_units[] = {
	{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000},
};

static bool number_with_unit(struct sv s, const struct unit *units, size_t n_units, uint64_t max, uint64_t *ret)
{
	struct sv rest;
	uint64_t v;
	size_t i;

	if (!take_number(s, &v, &rest))
		return false;
	for (i = 0; i < n_units; i++)
		if (sv_is(rest, units[i].name))
			break;
	if (i == n_units || v > max / units[i].factor)
		return false;
	*ret = v * units[i].factor;
	return true;
}

const char *value_size(struct sv s, uint64_t *ret)
{
	if (number_with_unit(s, size_units, ARRAY_LEN(size_units), UINT64_C(1) << 62, ret))
		return NULL;
	return "is not a size; write bytes or a whole number with K, M, G or T (powers of 1024), such as 512M";
}

const char *value_size_positive(struct sv s, uint64_t *ret)
{
	uint64_t v = 0;
	const char *wrong = value_size(s, &v);

	if (wrong)
		return wrong;
	if (v == 0)
		return "is too small; write a size such as 512M, or leave the key out for the default";
	*ret = v;
	return NULL;
}

const char *value_memory(struct sv s, uint64_t *ret)
{
	uint64_t v = 0;
	const char *wrong = value_size(s, &v);

	if (wrong)
		return wrong;
	if (v < MEMORY_MIN)
		return "is too small for anything to start; write at least 1M, or leave the key out for the default";
	*ret = v;
	return NULL;
}

const char *value_processes(struct sv s, uint64_t *ret)
{
	uint64_t v = 0;
	const char *wrong = value_positive(s, &v);

	if (wrong)
		return wrong;
	if (v < PROCESSES_MIN)
		return "is too small for anything to start (the sandbox's own first process counts); write at least 2";
	*ret = v;
	return NULL;
}

const char *value_duration(struct sv s, uint64_t *ret)
{
	if (number_with_unit(s, duration_units, ARRAY_LEN(duration_units), UINT64_C(3650) * 24 * 3600 * 1000, ret))
		return NULL;
	return "is not a duration; write seconds or a whole number with ms, s, m, h or d (at most 3650d), such as 30m";
}

const char *value_cpus(struct sv s, uint64_t *ret)
{
	static const char wrong[] =
		"is not a number of CPUs; write one such as 2 or 0.5 (0: all), with at most three decimals";
	uint64_t whole, part = 0, unit = 1000;
	struct sv rest;
	size_t i;

	if (!take_number(s, &whole, &rest) || whole > 65536)
		return wrong;
	if (rest.n && (rest.p[0] != '.' || rest.n < 2 || rest.n > 4))
		return wrong;
	for (i = 1; i < rest.n; i++) {
		if (!is_digit(rest.p[i]))
			return wrong;
		unit /= 10;
		part += (uint64_t)(rest.p[i] - '0') * unit;
	}
	*ret = whole * 1000 + part;
	return NULL;
}

const char *value_keep(struct arena *a, struct sv s, const char **ret)
{
	char *p = arena_str(a, s);

	if (!p)
		return no_memory;
	*ret = p;
	return NULL;
}

static bool has_control(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

/* Printable ASCII without space. */
static bool is_graph(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= 0x20 || s.p[i] >= 0x7f)
			return false;
	return true;
}

const char *value_text(struct arena *a, struct sv s, const char **ret)
{
	if (s.n == 0)
		return "is empty; write a value or remove the key";
	if (has_control(s))
		return "holds a control character; remove it";
	if (s.n > 4095)
		return "is longer than 4095 bytes; shorten it";
	return value_keep(a, s, ret);
}

const char *value_env_value(struct arena *a, struct sv s, const char **ret)
{
	if (s.n > 32768)
		return "is longer than 32768 bytes; put it into a file";
	return value_keep(a, s, ret);
}

const char *value_env_name(struct arena *a, struct sv s, const char **ret)
{
	size_t i;
	bool ok = s.n > 0 && s.n <= 255 && !is_digit(s.p[0]);

	for (i = 0; ok && i < s.n; i++)
		ok = is_alnum(s.p[i]) || s.p[i] == '_';
	return ok ? value_keep(a, s, ret)
		  : "is not a variable's name; use letters, digits and _, with no digit in front";
}

const char *value_name(struct arena *a, struct sv s, const char **ret)
{
	size_t i;
	bool ok = s.n > 0 && s.n <= 64 && is_alnum(s.p[0]);

	for (i = 0; ok && i < s.n; i++)
		ok = is_alnum(s.p[i]) || s.p[i] == '_' || s.p[i] == '-' || s.p[i] == '.';
	return ok ? value_keep(a, s, ret) : "is not a name; use at most 64 letters, digits, '-', '_' and '.'";
}

const char *value_method(struct arena *a, struct sv s, const char **ret)
{
	if (!method_is_sound(s))
		return "is not a method; write it in upper case, such as GET";
	if (sv_is(s, "CONNECT") || sv_is(s, "TRACE"))
		return "is never let through; remove it";
	return value_keep(a, s, ret);
}

const char *value_model(struct arena *a, struct sv s, const char **ret)
{
	size_t i;

	if (s.n == 0 || s.n > 256 || !is_graph(s))
		return "is not a model's name; use at most 256 printable characters without space";
	for (i = 0; i < s.n; i++)
		if (strchr("[]\\", s.p[i]))
			return "is not a model's name; * and ? are the only wildcards";
	return value_keep(a, s, ret);
}

/* What glob_init() has to say about a pattern made absolute. */
static const char *check_glob(struct sv pattern)
{
	struct glob g;
	int r = glob_init(&g, pattern);

	if (r == -EILSEQ)
		return "has a backslash that stands before no wildcard; write \\\\ for one in a name, "
		       "\\* \\? \\[ for these (in double quotes YAML takes \\\\ for one: use single quotes)";
	if (r < 0)
		return r == -EINVAL  ? "is not a path pattern; no \"..\", \".\", empty part or open \"[\", and \"**\" "
				       "only as a whole part"
		       : r == -E2BIG ? "is too long for a path pattern; at most 60 parts of 255 bytes"
				     : no_memory;
	glob_done(&g);
	return NULL;
}

/* "~" and "~/x" are below home, "x" below the work folder: both are judged as if that were "/". */
static struct sv below_root(struct sv s, char *to, size_t size)
{
	if (sv_is(s, "~") || sv_is(s, "~/") || sv_is(s, "."))
		return sv_of("/");
	if (sv_starts(s, "~/"))
		return sv_n(s.p + 1, s.n - 1);
	if (s.p[0] == '/' || sv_is(s, "**") || sv_starts(s, "**/"))
		return s;
	if (sv_starts(s, "./"))
		s = sv_n(s.p + 2, s.n - 2);
	(void)snprintf(to, size, "/%.*s", (int)s.n, s.p);
	return sv_of(to);
}

/* The text with something plain in place of what a pattern would take for a wildcard. */
static struct sv without_wildcards(struct sv s, char *to)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		to[i] = strchr("*?[\\", s.p[i]) ? '_' : s.p[i];
	return sv_n(to, s.n);
}

static const char *keep_path(struct arena *a, struct sv s, bool literal, const char **ret)
{
	const char *wrong = NULL;
	char absolute[4100], plain[4000];

	if (s.n == 0)
		return "is empty; write a path";
	if (has_control(s))
		return "holds a control character; remove it";
	if (s.n > 4000)
		return "is longer than 4000 bytes; shorten it";
	if (s.p[0] == '~' && s.n > 1 && s.p[1] != '/')
		return "names another user's home, which is not supported; write the path";
	wrong = check_glob(below_root(literal ? without_wildcards(s, plain) : s, absolute, sizeof(absolute)));
	return wrong ? wrong : value_keep(a, s, ret);
}

const char *value_path_glob(struct arena *a, struct sv s, const char **ret)
{
	return keep_path(a, s, false, ret);
}

const char *value_path(struct arena *a, struct sv s, const char **ret)
{
	if (sv_starts(s, "**"))
		return "is not a path; write it without wildcards";
	return keep_path(a, s, true, ret);
}

#include "conf/dockerfile.h"

#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"

enum flag_kind { FLAG_TEXT, FLAG_BOOL, FLAG_MANY };

struct flag {
	enum dockerfile_kind of;
	enum flag_kind kind;
	const char *name;
};

static const struct flag flags[] = {
	{DOCKERFILE_ADD, FLAG_TEXT, "checksum"},
	{DOCKERFILE_ADD, FLAG_TEXT, "chmod"},
	{DOCKERFILE_ADD, FLAG_TEXT, "chown"},
	{DOCKERFILE_ADD, FLAG_MANY, "exclude"},
	{DOCKERFILE_ADD, FLAG_BOOL, "keep-git-dir"},
	{DOCKERFILE_ADD, FLAG_BOOL, "link"},
	{DOCKERFILE_ADD, FLAG_BOOL, "unpack"},
	{DOCKERFILE_COPY, FLAG_TEXT, "chmod"},
	{DOCKERFILE_COPY, FLAG_TEXT, "chown"},
	{DOCKERFILE_COPY, FLAG_MANY, "exclude"},
	{DOCKERFILE_COPY, FLAG_TEXT, "from"},
	{DOCKERFILE_COPY, FLAG_BOOL, "link"},
	{DOCKERFILE_COPY, FLAG_BOOL, "parents"},
	{DOCKERFILE_FROM, FLAG_TEXT, "platform"},
	{DOCKERFILE_HEALTHCHECK, FLAG_TEXT, "interval"},
	{DOCKERFILE_HEALTHCHECK, FLAG_TEXT, "retries"},
	{DOCKERFILE_HEALTHCHECK, FLAG_TEXT, "start-interval"},
	{DOCKERFILE_HEALTHCHECK, FLAG_TEXT, "start-period"},
	{DOCKERFILE_HEALTHCHECK, FLAG_TEXT, "timeout"},
	{DOCKERFILE_RUN, FLAG_TEXT, "device"},
	{DOCKERFILE_RUN, FLAG_MANY, "mount"},
	{DOCKERFILE_RUN, FLAG_TEXT, "network"},
	{DOCKERFILE_RUN, FLAG_TEXT, "security"},
};

/* How many arguments; most 0: any number. */
struct arity {
	size_t least, most;
};

static const struct arity arities[] = {
	[DOCKERFILE_UNKNOWN] = {0, 0},
	[DOCKERFILE_ADD] = {2, 0},
	[DOCKERFILE_ARG] = {1, 0},
	[DOCKERFILE_CMD] = {0, 0},
	[DOCKERFILE_COPY] = {2, 0},
	[DOCKERFILE_ENTRYPOINT] = {0, 0},
	[DOCKERFILE_ENV] = {3, 0},
	[DOCKERFILE_EXPOSE] = {1, 0},
	[DOCKERFILE_FROM] = {1, 3},
	[DOCKERFILE_HEALTHCHECK] = {1, 0},
	[DOCKERFILE_LABEL] = {3, 0},
	[DOCKERFILE_MAINTAINER] = {1, 1},
	[DOCKERFILE_ONBUILD] = {0, 0},
	[DOCKERFILE_RUN] = {1, 0},
	[DOCKERFILE_SHELL] = {1, 0},
	[DOCKERFILE_STOPSIGNAL] = {1, 1},
	[DOCKERFILE_USER] = {1, 1},
	[DOCKERFILE_VOLUME] = {1, 0},
	[DOCKERFILE_WORKDIR] = {1, 1},
};

static int fail(const char *name, const struct dockerfile_instruction *i, const char *what, const char *word,
		struct error *err)
{
	struct text_shown file, w;

	return error_set(err, ERROR_INPUT, "%.160s:%u: %s: %s%.120s", text_show(&file, sv_of(name)), i->line,
			 dockerfile_kind_name(i->kind), what, text_show(&w, sv_of(word)));
}

static size_t count(const char *const *v)
{
	size_t n = 0;

	while (v[n])
		n++;
	return n;
}

/* Where the flag's value begins, or NULL: it is another flag. The value of a flag without one is "". */
static const char *flag_value(const char *flag, const char *name, bool *has)
{
	size_t n = strlen(name);

	if (strncmp(flag, "--", 2) != 0 || strncmp(flag + 2, name, n) != 0 || (flag[2 + n] && flag[2 + n] != '='))
		return NULL;
	*has = flag[2 + n] == '=';
	return flag + 2 + n + *has;
}

const char *dockerfile_flag(const struct dockerfile_instruction *i, const char *flag, size_t *at)
{
	size_t k = at ? *at : 0;
	const char *value;
	bool has;

	for (; i->flags[k]; k++) {
		value = flag_value(i->flags[k], flag, &has);
		if (value) {
			if (at)
				*at = k + 1;
			return value;
		}
	}
	return NULL;
}

static int check_flag(const char *name, const struct dockerfile_instruction *i, size_t at, struct error *err)
{
	const char *flag = i->flags[at], *value = NULL;
	size_t k, next = at + 1;
	bool has = false;

	for (k = 0; k < ARRAY_LEN(flags); k++)
		if (flags[k].of == i->kind && (value = flag_value(flag, flags[k].name, &has)))
			break;
	if (!value)
		return fail(name, i, "unknown flag ", flag, err);
	if (flags[k].kind != FLAG_MANY && dockerfile_flag(i, flags[k].name, &next))
		return fail(name, i, "a flag stands here twice: ", flag, err);
	if (flags[k].kind != FLAG_BOOL && !has)
		return fail(name, i, "a flag needs a value: ", flag, err);
	if (flags[k].kind == FLAG_BOOL && has && strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
		return fail(name, i, "a flag must be true or false: ", flag, err);
	return 0;
}

static bool is_stage_name(const char *s)
{
	if (!((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z'))
		return false;
	for (; *s; s++)
		if (!(((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z') || (*s >= '0' && *s <= '9') || strchr("-_.", *s)))
			return false;
	return true;
}

static int check_from(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	size_t n = count(i->args);

	if (n != 1 && !(n == 3 && strcasecmp(i->args[1], "as") == 0))
		return fail(name, i, "write FROM IMAGE, or FROM IMAGE AS NAME", "", err);
	if (n == 3 && !is_stage_name(i->args[2]))
		return fail(name, i, "a stage's name is letters, digits, - _ and . behind a letter: ", i->args[2], err);
	return 0;
}

static int check_health(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	if (strcasecmp(i->args[0], "NONE") == 0)
		return i->args[1] ? fail(name, i, "NONE takes no arguments", "", err) : 0;
	if (strcasecmp(i->args[0], "CMD") != 0)
		return fail(name, i, "unknown type (try CMD): ", i->args[0], err);
	return i->args[1] ? 0 : fail(name, i, "there is no command behind CMD", "", err);
}

static int check_trigger(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	if (!i->trigger)
		return fail(name, i, "there is no instruction behind it", "", err);
	if (i->trigger->kind == DOCKERFILE_FROM || i->trigger->kind == DOCKERFILE_MAINTAINER)
		return fail(name, i, "not allowed as a trigger: ", i->trigger->word, err);
	return dockerfile_check(name, i->trigger, err);
}

/* Names of ENV, LABEL and ARG. */
static int check_names(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	size_t k;

	for (k = 0; i->args[k]; k += i->kind == DOCKERFILE_ARG ? 1 : 3)
		if (!*i->args[k] || *i->args[k] == '=')
			return fail(name, i, "a name is empty", "", err);
	return 0;
}

static int check_kind(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	switch (i->kind) {
	case DOCKERFILE_FROM:
		return check_from(name, i, err);
	case DOCKERFILE_HEALTHCHECK:
		return check_health(name, i, err);
	case DOCKERFILE_ONBUILD:
		return check_trigger(name, i, err);
	case DOCKERFILE_ENV:
	case DOCKERFILE_LABEL:
	case DOCKERFILE_ARG:
		return check_names(name, i, err);
	case DOCKERFILE_SHELL:
		return i->json ? 0 : fail(name, i, "must be a JSON array, such as [\"/bin/bash\", \"-c\"]", "", err);
	case DOCKERFILE_UNKNOWN:
	case DOCKERFILE_ADD:
	case DOCKERFILE_CMD:
	case DOCKERFILE_COPY:
	case DOCKERFILE_ENTRYPOINT:
	case DOCKERFILE_EXPOSE:
	case DOCKERFILE_MAINTAINER:
	case DOCKERFILE_RUN:
	case DOCKERFILE_STOPSIGNAL:
	case DOCKERFILE_USER:
	case DOCKERFILE_VOLUME:
	case DOCKERFILE_WORKDIR:
		break;
	}
	return 0;
}

int dockerfile_check(const char *name, const struct dockerfile_instruction *i, struct error *err)
{
	size_t k, n = count(i->args);

	if (i->kind == DOCKERFILE_UNKNOWN)
		return fail(name, i, "unknown instruction ", i->word, err);
	for (k = 0; i->flags[k]; k++)
		if (check_flag(name, i, k, err) < 0)
			return -1;
	if (n < arities[i->kind].least)
		return fail(name, i,
			    arities[i->kind].least == 2 ? "needs a source and a destination" : "has no argument", "",
			    err);
	if (arities[i->kind].most && n > arities[i->kind].most)
		return fail(name, i, "has too many arguments", "", err);
	return check_kind(name, i, err);
}

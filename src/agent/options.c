#include "agent/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

struct option {
	const char *name;
	size_t offset;
	uint64_t least, most; /* of a number; 0: it is a text */
};

#define AT(member) offsetof(struct agent_options, member)

static const struct option table[] = {
	{"--model", AT(model), 0, 0},
	{"--instruction", AT(instruction), 0, 0},
	{"--trajectory", AT(trajectory), 0, 0},
	{"--max-turns", AT(max_turns), 1, 100000},
	{"--max-output", AT(max_output), 256, 1 << 20},
	{"--command-timeout", AT(command_timeout), 1, 7 * 24 * 3600},
};

static const struct option *find(struct sv name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(table); i++)
		if (sv_is(name, table[i].name))
			return &table[i];
	return NULL;
}

static int set(struct agent_options *to, const struct option *o, const char *value, struct error *err)
{
	char *at = (char *)to + o->offset;
	struct text_shown shown;
	uint64_t n;

	if (!o->most) {
		if (!value[0])
			return error_set(err, ERROR_USAGE, "%s is empty", o->name);
		memcpy(at, &value, sizeof(value));
		return 0;
	}
	errno = 0;
	n = strtoull(value, NULL, 10);
	if (!value[0] || value[strspn(value, "0123456789")] || errno || n < o->least || n > o->most)
		return error_set(err, ERROR_USAGE, "%s %s: write a number from %llu to %llu", o->name,
				 text_show(&shown, sv_of(value)), (unsigned long long)o->least,
				 (unsigned long long)o->most);
	memcpy(at, &n, sizeof(n));
	return 0;
}

bool agent_options_asks(char **argv, const char *name, const char *usage)
{
	const char *word = argv[0] && argv[1] ? argv[1] : "";
	bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0, version = strcmp(word, "--version") == 0;

	if (help)
		(void)fputs(usage, stdout);
	if (version)
		(void)printf("%s %s\n", name, CORDON_VERSION);
	return help || version;
}

int agent_options_parse(char **argv, struct agent_options *ret, struct error *err)
{
	struct agent_options to = {.max_turns = 100, .max_output = 16 * 1024, .command_timeout = 1800};
	const struct option *o;
	const char *value;
	struct text_shown shown;
	size_t n;

	for (argv++; *argv; argv++) {
		if (strcmp(*argv, "--") == 0) {
			to.command = argv[1] ? argv + 1 : NULL;
			break;
		}
		n = strcspn(*argv, "=");
		o = find(sv_n(*argv, n));
		if (!o)
			return error_set(err, ERROR_USAGE, "%s is unknown", text_show(&shown, sv_of(*argv)));
		value = (*argv)[n] ? *argv + n + 1 : *++argv;
		if (!value)
			return error_set(err, ERROR_USAGE, "%s needs a value", o->name);
		if (set(&to, o, value, err) < 0)
			return -1;
	}
	if (!to.instruction)
		return error_set(err, ERROR_USAGE, "--instruction FILE is missing");
	*ret = to;
	return 0;
}

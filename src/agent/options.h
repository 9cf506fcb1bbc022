/*
 * options: the command lines of cordon-agent and cordon-acp.
 */
#ifndef CORDON_AGENT_OPTIONS_H
#define CORDON_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Exit statuses, beside 0: the agent ended by itself. */
enum agent_exit {
	AGENT_ENDED = 0,
	AGENT_LIMIT = 2,   /* turns, budget or context were used up */
	AGENT_REFUSED = 3, /* the model cannot be reached, or refuses; the agent broke the protocol, or ended early */
	AGENT_FAILED = 125,
	AGENT_NOT_EXEC = 126, /* cordon-acp: the agent's command */
	AGENT_NOT_FOUND = 127,
};

struct agent_options {
	const char *model;
	const char *instruction; /* a file; required */
	const char *trajectory;  /* a file; NULL: none */
	uint64_t max_turns, max_output, command_timeout;
	char **command; /* behind "--"; NULL: none */
};

/* --help or --version, as the first word: prints it to standard output. */
bool agent_options_asks(char **argv, const char *name, const char *usage);

/* Numbers that are not given are their defaults. Strings are argv's. */
int agent_options_parse(char **argv, struct agent_options *ret, struct error *err);

#endif

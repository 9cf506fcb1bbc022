/*
 * The table of verbs. A row stands here only when its code exists; its options are in the verb's own file.
 * Order: the most used first, since a lookup walks it and help prints it as it is.
 */
#include "cli/cli.h"
#include "cli/cli_help.h"

const struct verb verbs[] = {
	{
		.name = "help",
		.args = "[COMMAND...]",
		.complete = "verb",
		.summary = "Show help for a command.",
		.max_args = 2,
		.run = verb_help,
	},
	{0},
};

/*
 * The table of verbs. A row stands here only when its code exists; its options are in the verb's own file.
 * Order: the most used first, since a lookup walks it and help prints it as it is.
 */
#include "cli/cli.h"
#include "cli/cli_help.h"
#include "cli/verb_audit.h"
#include "cli/verb_completion.h"
#include "cli/verb_doctor.h"

const struct verb verbs[] = {
	{
		.name = "audit verify",
		.args = "FILE",
		.complete = "file",
		.summary = "Check that a run's audit log is whole and unchanged.",
		.details = "Finds the first line that was changed, dropped, added, duplicated or reordered. Exits 0 when the log is good, 1 when a line is bad or "
			   "no exit event ends the log, 125 when it cannot be read.",
		.options = verb_audit_verify_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_audit_verify,
	},
	{
		.name = "audit show",
		.args = "FILE",
		.complete = "file",
		.summary = "Print a run's audit log, one event a line.",
		.details = "Shows the lines that are good, and exits 1 where a bad one follows.",
		.options = verb_audit_show_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_audit_show,
	},
	{
		.name = "doctor",
		.summary = "Show what this machine can do for sandboxes, and how to get the rest.",
		.details = "Tries every kernel feature, limit and tool that matters, changes nothing, and says what each means. Exits 0 when `cordon run` can work "
			   "here, 1 when something that it needs is missing.",
		.options = verb_doctor_options,
		.run = verb_doctor,
	},
	{
		.name = "help",
		.args = "[COMMAND...]",
		.complete = "verb",
		.summary = "Show help for a command.",
		.max_args = 2,
		.run = verb_help,
	},
	{
		.name = "completion",
		.args = "bash|zsh|fish",
		.complete = "bash|zsh|fish",
		.summary = "Print a completion script for a shell.",
		.details = "For bash, put this into ~/.bashrc:\n\n"
			   "    source <(cordon completion bash)\n\n"
			   "For zsh, into ~/.zshrc, below compinit:\n\n"
			   "    source <(cordon completion zsh)\n\n"
			   "For fish:\n\n"
			   "    cordon completion fish > ~/.config/fish/completions/cordon.fish",
		.min_args = 1,
		.max_args = 1,
		.run = verb_completion,
	},
	{
		.name = "man",
		.args = "[COMMAND...]",
		.complete = "verb",
		.summary = "Print a man page in roff.",
		.options = verb_man_options,
		.max_args = 2,
		.run = verb_man,
		.hidden = true,
	},
	{0},
};

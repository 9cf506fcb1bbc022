/*
 * cli: one table of verbs and options drives parsing, --help, the man pages and shell completion.
 *
 * A verb is a row of the table in verbs.c, with its function in verb_NAME.c. Nested verbs are rows with a space in the
 * name ("policy check"). The function gets the parsed call and returns an exit status (0..255), or -1 with err set;
 * main() then prints "cordon: " and the text to stderr and exits 125 (126 for ERROR_NOT_EXEC, 127 for ERROR_NOT_FOUND).
 * A verb prints its result to call->out (stdout), never a message; notes for the person go through call_note(), which
 * writes "cordon: ..." to stderr.
 *
 * Grammar: options stand before, between or behind positional arguments, as --name VALUE, --name=VALUE, -n VALUE or
 * -nVALUE; "--" ends them. An option without OPTION_MANY may be given once, and a value is never empty. For a verb with
 * `dashdash`, CMD starts behind "--" or with the first word after max_args positional arguments, whichever comes first,
 * and its words are never looked at. --help and -h belong to every verb.
 *
 * Limits: none of its own beyond the kernel's argv. A call borrows argv; call_done() frees what parsing allocated.
 */
#ifndef CORDON_CLI_H
#define CORDON_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum option_flags {
	OPTION_MANY = 1,    /* may be repeated; values keep their order */
	OPTION_HIDDEN = 2,  /* not in help */
};

struct option {
	const char *name;  /* without the dashes */
	char letter;	   /* short form, or 0 */
	const char *value; /* what the value is called in help ("FILE"), or NULL for a flag */
	const char *complete; /* how a shell completes it: "file", "dir", "profile", "runtime", "category", "run",
				 "running", "result", "a|b|c" (these words), or NULL */
	const char *help;  /* one line */
	unsigned flags;
};

struct call;

struct verb {
	const char *name;     /* "run", "policy check" */
	const char *args;     /* "-- CMD [ARG...]" */
	const char *complete; /* how positional arguments complete: as option.complete, "command", "verb", or NULL */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for the man page and --help, may be NULL */
	const struct option *options; /* ended by a row without a name; NULL: none */
	int min_args, max_args;	      /* positional arguments; -1: no maximum */
	bool dashdash;		      /* everything behind "--" (or behind the first positional, for run) is CMD's */
	int (*run)(struct call *call, struct error *err);
	bool needs_command; /* with dashdash: a missing CMD is an error of the command line */
	bool hidden;	    /* works, but is in no help, man page or completion */
};

struct call {
	const struct verb *verb;
	char **args; /* positional arguments, NULL-terminated */
	int n_args;
	char **command; /* what stood behind "--", NULL-terminated; NULL where nothing did */
	int n_command;
	char **argv; /* main()'s own */
	FILE *out;
	bool color; /* stdout is a terminal and NO_COLOR is not set */
	const struct option_value *values;
	size_t n_values;
	bool help;     /* --help was given; nothing else was checked */
	void *storage; /* call_done() frees it */
};

struct option_value {
	const struct option *option;
	const char *value; /* "" for flags */
};

bool call_has(const struct call *call, const char *option);
/* The last value given, or NULL. */
const char *call_value(const struct call *call, const char *option);
/* The next value of a repeated option; *at starts as 0. NULL at the end. option NULL: any option, in the order of the
 * command line. */
const struct option_value *call_next(const struct call *call, const char *option, size_t *at);

/* The place of a value among the choices (NULL-terminated), or -1 with all of them in err. */
int call_choice(const char *option, const char *value, const char *const *choices, struct error *err);

/* One line on stderr behind "cordon: ". */
void call_note(const struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parses argv (argv[0] is skipped) by the rows of table. Errors are ERROR_USAGE. */
int call_parse(const struct verb *table, int argc, char **argv, struct call *ret, struct error *err);
void call_done(struct call *call);

/*
 * All of the program below main(): parse, run the verb, flush its output. Returns an exit status, or -1 with err set;
 * output that cannot be written is such an error, whatever the verb said.
 */
int cli_main(const struct verb *table, int argc, char **argv, struct error *err);
int cli_exit_status(const struct error *err); /* 125, 126 or 127 */

/* The row whose name is the given words, or NULL; *ret_used is the number of words in its name. */
const struct verb *verb_find(const struct verb *table, int n, char *const *words, int *ret_used);
/* Says that no row has these words for a name, with the nearest that has. Returns -1. */
int verb_unknown(const struct verb *table, int n, char *const *words, struct error *err);
/* True where some row is named "WORD something". */
bool verb_is_group(const struct verb *table, const char *word);

extern const struct verb verbs[]; /* ended by a row without a name */

/* All is cleaned up; who started us, a shell's loop for one, should see what ended us. */
_Noreturn void cli_die_of(int sig);

#endif

/*
 * cli_help: --help and --version, written from the table.
 *
 * Text goes to `out`; a write that fails is left in the stream for the caller to find (ferror). Lines are wrapped at 80
 * columns, whatever the terminal has. In verb.details an empty line parts paragraphs, and a line that starts with a
 * space is printed as it is.
 */
#ifndef CORDON_CLI_HELP_H
#define CORDON_CLI_HELP_H

#include "cli/cli.h"

/* Said of every option with OPTION_MANY, behind its own text. */
#define HELP_MANY "May be repeated."

/* The option that every verb has. */
extern const struct option help_option;

/* "cordon --help", "cordon --version", "cordon policy --help": answers that are no verb's. True where one was given. */
bool help_wanted(const struct verb *table, int n, char *const *words, FILE *out);

/* "usage: cordon policy show [OPTION...] [FILE]" */
void help_usage(const struct verb *v, char *out, size_t size);

/* Help for one verb. Returns 0, the exit status. */
int help_verb(const struct verb *table, const struct verb *verb, FILE *out);

/* "--policy=FILE" or "--json", with the short form in front. */
void help_option_name(const struct option *o, char *out, size_t size);

/* Prints text in lines of at most 80 columns, each behind `indent` spaces; the first line continues at column `at`. */
void help_wrap(FILE *out, const char *text, int indent, int at);

/* The verb `help`. */
int verb_help(struct call *call, struct error *err);

#endif

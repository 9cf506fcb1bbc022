/*
 * cli_man: man pages in roff (man(7) macros), written from the table. One page for the program, one for each verb.
 *
 * Text goes to `out`; a write that fails is left in the stream. verb.details is laid out as cli_help.h says.
 */
#ifndef CORDON_CLI_MAN_H
#define CORDON_CLI_MAN_H

#include "cli/cli.h"

void man_overview(const struct verb *table, FILE *out);
void man_verb(const struct verb *table, const struct verb *verb, FILE *out);

/* The words after "cordon" of each page, one page a line; the overview is an empty line. */
void man_list(const struct verb *table, FILE *out);

#endif

/*
 * cli_complete: shell completion scripts, written from the table.
 *
 * What an option or an argument completes to is its `complete`: a kind ("file", "dir", "command", "run" (any run),
 * "running" (those that are on), "result" (of a task), "verb"; "profile", "runtime" and "category" have fixed words),
 * or the words themselves with "|" between them. The scripts know everything but ids and the operator's own profiles,
 * which they look up when a key is pressed. Words and help texts come from our own tables, never from input.
 */
#ifndef CORDON_CLI_COMPLETE_H
#define CORDON_CLI_COMPLETE_H

#include "cli/cli.h"

enum { COMPLETE_WORDS_MAX = 400 };

/* What `complete` stands for in words parted by spaces; "" where it has none. Returns out. */
const char *complete_words(const char *complete, char out[COMPLETE_WORDS_MAX]);

/* shell: "bash", "zsh" or "fish". */
int complete_write(const struct verb *table, const char *shell, FILE *out, struct error *err);

/* One for each shell; complete_write() chooses. */
void complete_bash(const struct verb *table, FILE *out);
void complete_zsh(const struct verb *table, FILE *out);
void complete_fish(const struct verb *table, FILE *out);

/* Prints s for single quotes, '\'' for a quote; characters in `special` get a backslash. */
void complete_quote(FILE *out, const char *s, const char *special);

/* Walks the first words of the table that have further ones ("policy"): the next after *at (starts as NULL), or NULL.
 * len gets its length. */
const struct verb *complete_next_group(const struct verb *table, const struct verb *at, int *len);

#endif

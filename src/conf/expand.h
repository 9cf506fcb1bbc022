/*
 * expand: quotes, escapes and variables in a word of a Dockerfile, as BuildKit does it.
 *
 * $name, ${name}, and ${name} with - + ? (each also behind a colon), # ## % %% (patterns of * and ?), / and //. Names
 * of digits and the shell's own ($@, $$ ...) are never set. Single quotes keep everything, double quotes all but
 * variables and escaped quotes, dollars and escapes.
 *
 * Pure; results live in the arena. What is made is bounded by *budget, which is counted down over all calls that share
 * it; nesting by EXPAND_NESTING. Errors are ERROR_INPUT with text that can be shown, without file and line.
 */
#ifndef CORDON_CONF_EXPAND_H
#define CORDON_CONF_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { EXPAND_NESTING = 32, EXPAND_BUDGET = 16 << 20 };

struct expand {
	struct arena *arena;
	char escape;
	bool raw_quotes;  /* quotes stay */
	bool raw_escapes; /* escapes stay */
	bool no_quotes;	  /* quotes are nothing special */
	bool keep_unset;  /* a variable that is not set stays as written */
	const char *(*get)(void *arg, struct sv name); /* NULL: not set. No function: nothing is */
	void *arg;
	size_t *budget;
};

int expand_word(const struct expand *how, struct sv word, const char **ret, struct error *err);

/* Split at spaces that are neither quoted nor escaped, after the expansion. NULL-terminated. */
int expand_words(const struct expand *how, struct sv word, const char ***ret, size_t *ret_n, struct error *err);

/* value without the shortest (or longest) part at its beginning (or end) that pattern matches; value itself where none
 * does. -1: the pattern has an escape that nothing knows. */
int expand_trim(struct sv pattern, struct sv value, bool at_end, bool longest, struct sv *ret);

/* The first match of pattern in value at or behind `from`, the longest at its place. 1, 0: none, -1: as above. */
int expand_find(struct sv pattern, struct sv value, size_t from, size_t *ret_start, size_t *ret_end);

#endif

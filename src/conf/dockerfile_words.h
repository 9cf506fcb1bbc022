/*
 * dockerfile_words: how the rest of an instruction's line becomes arguments, as BuildKit cuts it.
 *
 * Everything lives in the list's arena, where a failed allocation is noted. Pure.
 */
#ifndef CORDON_CONF_DOCKERFILE_WORDS_H
#define CORDON_CONF_DOCKERFILE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Strings that grow; v ends with NULL as soon as one was added. */
struct words {
	struct arena *arena;
	const char **v;
	size_t n, cap;
};

void words_add(struct words *w, struct sv s);

/* v, or an empty list; NULL: no memory. */
const char **words_take(struct words *w);

/* The part of *rest up to tabs, spaces and their like (ASCII, not line ends); *rest is what follows them. False: there
 * was nothing to cut at, and the whole is the answer. */
bool words_cut(struct sv *rest, struct sv *ret);

/* Cut at all of them: "a  b" is two words. Nothing for an empty line. */
void words_split(struct words *w, struct sv rest);

/* Cut at spaces outside quotes; quotes and escapes stay. */
void words_quoted(struct words *w, struct sv rest, char escape);

/* The flags in front of the line, quotes and escapes resolved; *rest is what follows. -1: a byte beyond ASCII in one.
 */
int words_flags(struct words *w, struct sv *rest, char escape);

/* A JSON array of strings. 0; 1: not an array, or not JSON: the shell form; -1: JSON with something else than strings
 * in it, or a string with a NUL. */
int words_json(struct words *w, struct sv rest);

#endif

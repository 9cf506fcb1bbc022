/*
 * carry_words: a set of words in an arena, however many, and the words that a task's own files speak of.
 */
#ifndef CORDON_TASK_CARRY_WORDS_H
#define CORDON_TASK_CARRY_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/sv.h"
#include "task/carry_tests.h"

enum { CARRY_WORD_MAX = 63, CARRY_WORDS_MAX = 1 << 20 };

struct carry_words {
	const char **v; /* a hash table, open addressing */
	size_t n, room;
	bool full; /* CARRY_WORDS_MAX: not all are known */
};

/* Empty at first: {0}. Words of more than CARRY_WORD_MAX bytes are none. 0 or -ENOMEM. */
int carry_words_add(struct carry_words *w, struct arena *a, struct sv word);
bool carry_words_have(const struct carry_words *w, struct sv word);

/* Lower case, and '_' for '-' and '.': as names of packages are compared. What is longer is cut. */
struct sv carry_word_plain(struct sv word, char to[CARRY_WORD_MAX + 1]);

/* Adds the words of all files, plain: not those of comments, nor those that are variables ($NAME) or given a value
 * (NAME=). files may be NULL. 0 or -ENOMEM. */
int carry_words_read(struct carry_words *w, struct arena *a, const struct carry_test_files *files);

/* Do they name the command or module, or a package that is known to have it? Only the latter. */
bool carry_words_name(const struct carry_words *w, struct sv name);
bool carry_words_package(const struct carry_words *w, struct sv name);

#endif

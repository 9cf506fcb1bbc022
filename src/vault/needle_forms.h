/*
 * needle_forms: the byte strings that stand for a needle in a text, apart from escapes (those the scan undoes).
 */
#ifndef CORDON_VAULT_NEEDLE_FORMS_H
#define CORDON_VAULT_NEEDLE_FORMS_H

#include <stdbool.h>

#include "base/sv.h"

/* Memory for all forms of a needle of n bytes, and the longest of those that are one word: what is spaced (spaced) is
 * not escaped besides. */
size_t needle_forms_bytes(size_t n, bool spaced);
size_t needle_forms_word(size_t n);

/* spaced: UTF-16 and rows of hexadecimal numbers as well. Calls put for each form, the needle itself first; a form may
 * come twice. Stops at and returns the first negative answer of put; -ENOMEM. */
int needle_forms(struct sv needle, bool spaced, int (*put)(void *arg, struct sv form), void *arg);

#endif

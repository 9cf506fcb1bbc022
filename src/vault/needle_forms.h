/*
 * needle_forms: the byte strings that stand for a needle in a text, apart from escapes (those the scan undoes).
 */
#ifndef CORDON_VAULT_NEEDLE_FORMS_H
#define CORDON_VAULT_NEEDLE_FORMS_H

#include "base/sv.h"

/* Calls put for each form, the needle itself first; a form may come twice. Stops at and returns the first negative answer of put; -ENOMEM. */
int needle_forms(struct sv needle, int (*put)(void *arg, struct sv form), void *arg);

#endif

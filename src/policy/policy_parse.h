/*
 * policy_parse: the bytes of one file to a struct policy, as far as that file goes (schema version 1).
 *
 * Nothing outside the bytes is looked at: `extends` is only noted, paths stay as written (checked, not resolved), what
 * is not given stays unset. Runs in a confined process as well as here.
 *
 * Everything is made in p->arena, and p->arena only; p is otherwise empty. Phases are struct policy of the same arena:
 * never policy_free() them. inference.providers is not NULL where the key was given, be it as {}.
 *
 * Fails with ERROR_INPUT and "file:line:column: key.path: what is wrong; what to do". p is then useless.
 */
#ifndef CORDON_POLICY_PARSE_H
#define CORDON_POLICY_PARSE_H

#include "base/error.h"
#include "model/policy.h"

/* name: of the file, for messages; file: its index for struct origin. */
int policy_parse(struct policy *p, const char *name, uint32_t file, struct sv bytes, struct error *err);

/* Calls visit with each key that a policy can have, dotted ("process.env.set"); keys of rules, providers, routes and
 * tests are not gone into. */
void policy_parse_keys(void (*visit)(void *arg, const char *key), void *arg);

/* What `check:` may name and say; NULL-terminated. Verdicts are ordered from lax to strict. */
extern const char *const check_category_names[];
extern const char *const check_verdict_names[];

#endif

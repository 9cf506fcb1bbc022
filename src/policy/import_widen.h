/*
 * import_widen: patterns of denials, from a language in which `*` crosses "/" and may stand within a label, as patterns
 * of ours that match at least as much.
 *
 * Empty where there is no memory, or nothing that matches as much can be said.
 */
#ifndef CORDON_POLICY_IMPORT_WIDEN_H
#define CORDON_POLICY_IMPORT_WIDEN_H

#include "base/arena.h"
#include "base/sv.h"

struct sv import_widen_path(struct arena *arena, struct sv pattern);
/* "*.x" of "api-*.x". */
struct sv import_widen_host(struct arena *arena, struct sv host);

#endif

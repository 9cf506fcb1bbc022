/*
 * rpc_parts: shared by the judges of GraphQL and JSON-RPC.
 */
#ifndef CORDON_GATE_INFERENCE_RPC_PARTS_H
#define CORDON_GATE_INFERENCE_RPC_PARTS_H

#include "gate/inference/json_scan.h"
#include "model/policy.h"

/* Is on the list, with * and ?. A list that is not given holds everything. */
bool rpc_listed(const struct pol_list *l, struct sv name);

/* The first member of the object whose name differs from one of `names` (NULL-terminated) only in case, as a key's index; or 0. */
uint32_t rpc_misspelled(const struct json_scan *s, uint32_t object, const char *const *names);

#endif

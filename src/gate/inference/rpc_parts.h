/*
 * rpc_parts: shared by the judges of GraphQL and JSON-RPC.
 */
#ifndef CORDON_GATE_INFERENCE_RPC_PARTS_H
#define CORDON_GATE_INFERENCE_RPC_PARTS_H

#include <stdbool.h>

#include "model/policy.h"

/* Is on the list, with * and ?. A list that is not given holds everything. */
bool rpc_listed(const struct pol_list *l, struct sv name);

#endif

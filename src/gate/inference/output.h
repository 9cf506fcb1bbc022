/*
 * output: how many tokens the reply to a request may have, as its body asks for them.
 *
 * For reservations (budget.h): so much may be used by a request that is on its way. Where the body sets no limit, or none that is a number above zero, it is
 * OUTPUT_USUAL for each reply that is asked for (`n`, `best_of`, `candidateCount`). Only members that the endpoint's provider reads count; where there are several the
 * largest does. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_OUTPUT_H
#define CORDON_GATE_INFERENCE_OUTPUT_H

#include "gate/inference/endpoint.h"
#include "base/json_scan.h"

enum { OUTPUT_USUAL = 4096 };

/* At most USAGE_MAX; 0 for endpoints whose replies have no tokens. */
uint64_t output_max(const struct json_scan *s, enum endpoint_op op);

#endif

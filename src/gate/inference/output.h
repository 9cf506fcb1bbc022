/*
 * output: how many tokens the reply to a request may have, as its body asks for them.
 *
 * For reservations (budget.h): so much may be used by a request that is on its way. Where the body sets no limit, or
 * none above zero, it is OUTPUT_USUAL. That much for each reply that is asked for (`n`, `best_of`, `candidateCount` and
 * what other servers call it), and for each prompt of a list of prompts. Where several names say it the largest counts.
 * A number in text is refused: some servers read it. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_OUTPUT_H
#define CORDON_GATE_INFERENCE_OUTPUT_H

#include "gate/inference/endpoint.h"
#include "base/json_scan.h"

enum { OUTPUT_USUAL = 4096 };

/* At most USAGE_MAX; 0 for endpoints whose replies have no tokens. 0, or -1 and the ruling. */
int output_max(const struct json_scan *s, enum endpoint_op op, uint64_t *ret, struct ruling *no);

#endif

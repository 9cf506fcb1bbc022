/*
 * output: how many tokens the reply to a request may have, as its body asks for them.
 *
 * For reservations (budget.h): so much may be used by a request that is on its way, and so much is charged for a reply
 * that was cut. Where several names say it the largest counts. It is OUTPUT_USUAL at least, unless the body sets a
 * limit above zero by the name that all servers of the dialect read (max_tokens of chats and messages,
 * max_output_tokens of responses, generationConfig.maxOutputTokens): another name (max_completion_tokens, n_predict) is
 * nothing to a server that does not know it. That much for each reply that is asked for (`n`, `best_of`,
 * `candidateCount` and what other servers call it), and for each prompt of a list of prompts. A number in text is
 * refused: some servers read it. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_OUTPUT_H
#define CORDON_GATE_INFERENCE_OUTPUT_H

#include "gate/inference/endpoint.h"
#include "base/json_scan.h"

enum { OUTPUT_USUAL = 4096 };

/* At most USAGE_MAX; 0 for endpoints whose replies have no tokens. 0, or -1 and the ruling. */
int output_max(const struct json_scan *s, enum endpoint_op op, uint64_t *ret, struct ruling *no);

#endif

/*
 * inference: requests to models, on the port of one provider.
 *
 * Judged by gate/inference/judge.h: endpoint, model, routes, tools of the provider. A body is collected, judged as a whole and sent in its canonical form. What the client
 * sends as a credential (authorization, x-api-key, x-goog-api-key, api-key, ?key=) is left out: egress puts the operator's there. The link gets the request as the
 * provider that was chosen shall see it; egress judges it again. A placeholder in the body is overwritten (placeholders.h); in a form that cannot be, and in the head, it is refused.
 *
 * Tokens are counted from what answers say of themselves, while they pass, for the budgets and for the report. A list of models passes as the provider gives it, also
 * where it names more than the policy allows: a name opens nothing, each use of it is judged, and a list that was edited would be the one answer not to be believed.
 */
#ifndef CORDON_RELAY_INFERENCE_H
#define CORDON_RELAY_INFERENCE_H

#include "gate/relay/exchange.h"

/* As http_exchange_judge_network(). */
int inference_judge(struct http_exchange *x);
bool inference_allowed_still(const struct http_exchange *x);

/* Nothing happens where the exchange is none of ours. */
void inference_answer(struct http_exchange *x, const struct http_response *r);
void inference_data(struct http_exchange *x, struct sv bytes);
void inference_cancelled(struct http_exchange *x); /* the client is gone: an answer that it did not wait for counts as all that was reserved */
void inference_over(struct http_exchange *x);

/* In the error form of the provider. */
void inference_as_provider(const struct http_exchange *x, struct denial *d);

#endif

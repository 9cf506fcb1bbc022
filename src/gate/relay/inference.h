/*
 * inference: requests to models, on the port of one provider.
 *
 * Judged by gate/inference/judge.h: endpoint, model, routes, tools of the provider. A body is collected, judged as a
 * whole and sent in its canonical form. What the client sends as a credential (authorization, x-api-key,
 * x-goog-api-key, api-key, ?key=) is left out: egress puts the operator's there. The link gets the request as the
 * provider that was chosen shall see it; egress judges it again. A placeholder in the body is overwritten
 * (placeholders.h); in a form that cannot be, and in the head, it is refused.
 *
 * Budgets are egress's to keep, which knows what was sent and what came: one that is used up comes back over the link
 * as a failure. A list of models passes as the provider gives it, also where it names more than the policy allows: a
 * name opens nothing, each use of it is judged, and a list that was edited would be the one answer not to be believed.
 *
 * HEAD / is how clients ask whether anybody is there. It is answered here, with nothing, and is neither a denial nor a
 * use.
 */
#ifndef CORDON_RELAY_INFERENCE_H
#define CORDON_RELAY_INFERENCE_H

#include "gate/relay/exchange.h"

/* As http_exchange_judge_network(). */
int inference_judge(struct http_exchange *x);
bool inference_allowed_still(const struct http_exchange *x);

/*
 * The answer to a stream for which the usage was asked for here, not by the client: the event that has it is left out
 * (usage_strip.h). Egress, which counts, sees it. begin: of its head, which may change. give: the next bytes to the
 * client; with `end` what was held. Each: 0 or -ENOMEM.
 */
int inference_answer_begin(struct http_exchange *x, struct http_response *r);
int inference_answer_give(struct http_exchange *x, struct sv bytes, bool end);
void inference_answer_done(struct http_exchange *x);

/* In the error form of the provider. */
void inference_as_provider(const struct http_exchange *x, struct denial *d);

#endif

/*
 * tell: what became of requests, for the log (events.h): subject, rule and reason in words.
 */
#ifndef CORDON_RELAY_TELL_H
#define CORDON_RELAY_TELL_H

#include "gate/relay/exchange.h"

/* A refusal by policy: also counted as a judged request. rule may be empty. */
void tell_denied(struct http_exchange *x, const char *rule, const char *detail);

/* What is allowed is told once for its kind. True: this one was told before, and is counted now; else tell_allowed() follows with the same kind. */
bool tell_again(struct http_exchange *x, struct sv kind);
void tell_allowed(struct http_exchange *x, struct sv kind, const char *rule);

/* What was done to a request that passes; told for the first of its kind, then counted. */
void tell_note(struct http_exchange *x, const char *kind, const char *detail);

#endif

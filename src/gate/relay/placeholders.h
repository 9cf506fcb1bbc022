/*
 * placeholders: what stands for credentials inside the sandbox, found in a request where it must not be. See
 * exchange.h.
 */
#ifndef CORDON_RELAY_PLACEHOLDERS_H
#define CORDON_RELAY_PLACEHOLDERS_H

#include "gate/relay/exchange.h"

/*
 * Looks through target and fields of *head. Where may_drop, egress puts a credential into this request: fields and
 * parameters of the query that have a placeholder of one that rules add for this host are left out of *head, whose
 * fields are the caller's own array; a target that becomes shorter lives in relay_http.text. 0, or -1: refused.
 */
int placeholders_check_head(struct http_exchange *x, struct http_request *head, bool may_drop);

bool placeholders_in_fields(struct http_exchange *x, const struct http_fields *fields);

/*
 * Takes them out of the collected body, which is JSON. An agent that has printed its environment sends it with every
 * request from then on: the model gets the rest. 1: the body has changed, and is to be judged anew; 0: it has not; -1:
 * refused for want of memory.
 */
int placeholders_mask_body(struct http_exchange *x);

/* Refuses the request where the collected body has one. 0 or -1. */
int placeholders_check_body(struct http_exchange *x);

/* Refuses the request, for having one in `where`. Returns -1. */
int placeholders_refuse(struct http_exchange *x, const char *where);

#endif

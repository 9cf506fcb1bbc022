/*
 * headers: which fields of a request to a model reach its provider.
 *
 * Routers, gateways and servers of models each have fields of their own that have another model or server answer, and
 * new ones come all the time. So where a provider's models are listed only fields pass that clients of models are known
 * to send: HTTP's own, those of the official libraries and of common agents, and names for requests and sessions. Where
 * every model may answer, all pass but those that are known to choose a server, and those that change what a reply
 * reports, be it to a part of it or to an error in its place, or which method or path is meant.
 *
 * What does not pass is left out: a client that works without it keeps working. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_HEADERS_H
#define CORDON_GATE_INFERENCE_HEADERS_H

#include <stdbool.h>

#include "base/sv.h"
#include "model/policy.h"

/* name: lower case. p: the provider that answers; NULL: one whose models are listed. */
bool headers_drop(const struct provider *p, struct sv name);

#endif

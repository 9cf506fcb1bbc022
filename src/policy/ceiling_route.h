/*
 * ceiling_route: the routes of a request below those of the ceiling. Part of policy_ceiling.h, whose contract holds
 * here.
 *
 * A route says which provider serves a model, and that no other does: it refuses the model where its provider is not
 * there. So all of the request's stay, the ceiling's hold for what the request does not route, and a model that both
 * route goes where both say, or nowhere.
 */
#ifndef CORDON_POLICY_CEILING_ROUTE_H
#define CORDON_POLICY_CEILING_ROUTE_H

#include "base/error.h"
#include "model/policy.h"

/* Pairs of routes, at most. */
enum { CEILING_MAX_ROUTES = 4096 };

int ceiling_routes(struct policy *request, const struct policy *ceiling, struct error *err);

#endif

/*
 * ceiling_provider: a provider of a request whose ceiling says nothing of models. Part of policy_ceiling.h, whose
 * contract holds here.
 *
 * The door for models asks no rule of the network, so that a url must pass all of them before it gets one: host, port,
 * every method and path that the door may use. A ceiling that says where a run may go has not thought of servers that a
 * request calls providers: those of the known providers are what it can have meant, others only where it opens them.
 * What a name leads to is not known yet; the provider's reach says what it may be.
 */
#ifndef CORDON_POLICY_CEILING_PROVIDER_H
#define CORDON_POLICY_CEILING_PROVIDER_H

#include "base/error.h"
#include "model/policy.h"

/* Refuses p, or sets its reach. */
int ceiling_provider(const struct policy *request, const struct policy *ceiling, struct provider *p, struct error *err);

#endif

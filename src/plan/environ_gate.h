/*
 * environ_gate: the variables by which programs inside find the gateway and trust it. For environ.c, and who tells of
 * them.
 */
#ifndef CORDON_PLAN_ENVIRON_GATE_H
#define CORDON_PLAN_ENVIRON_GATE_H

#include "plan/environ.h"

enum { ENVIRON_GATE_MAX = 96 };

/* Where programs find the certificates that the sandbox trusts (plan_gate.c puts them there). */
#define GATE_BUNDLE "/etc/cordon/ca.pem"
#define GATE_JAVA "/etc/cordon/trust.p12"
/* What apt reads in an image with one id (plan_image.c). */
#define ENVIRON_APT_CONFIG "/etc/cordon/apt.conf"

/* Writes at most ENVIRON_GATE_MAX; values are static or in the arena. How many, or -1: no memory. None where the policy
 * opens nothing. */
int environ_gate(struct arena *arena, const struct environ_request *req, struct environ_placeholder *out);

/* The variable that holds a provider's base URL, unless an earlier provider has it already. */
const char *environ_gate_variable(const struct provider *p);

#endif

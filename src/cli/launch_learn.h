/*
 * launch_learn: `run --learn FILE`: remembers what a run was denied, and writes the smallest policy that would have
 * allowed it, for a person to edit.
 *
 * Hosts become rules with the one port that was tried; requests that a rule refused become rules with the method and
 * path that were asked for, and with the credential that the policy's own rules send to that host. A model that a
 * provider of the policy does not take is added to its list. What a person allowed at the terminal (network.ask) is
 * there too, and marked as such. What no rule can allow (a name under deny, a protected file), and what is for a person
 * to add to a rule that looks into bodies, is listed in comments. Bounded: the first LEARN_MAX different things are
 * kept.
 */
#ifndef CORDON_CLI_LAUNCH_LEARN_H
#define CORDON_CLI_LAUNCH_LEARN_H

#include "base/error.h"
#include "base/place.h"
#include "cli/cli.h"
#include "model/event.h"
#include "model/policy.h"

enum { LEARN_MAX = 1000 };

struct learn;

struct learn *learn_new(void); /* NULL: no memory */
void learn_free(struct learn *l); /* NULL is fine */

/* One denial, or an answer of network.ask; others are passed over. */
void learn_denied(void *learn, const struct event *e);

/* Writes the policy; extends: what the run was started with, as given on the command line. policy: the same, effective:
 * its rules say which credential goes to a host. */
int learn_write(const struct learn *l, const struct call *call, const struct policy *policy, const struct place *place,
		struct error *err);

#endif

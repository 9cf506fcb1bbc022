/*
 * compose_plan: services as sandboxes of one group. Pure.
 *
 * A group has one network namespace with a loopback and no way out but the door. Each service has an address of its own
 * on it, 127.77.0.N, and its names (the service's, its aliases, its host name) stand in every member's /etc/hosts. This
 * holds on all runtimes, Docker's too: a network of Docker's, `internal` or not, leads to the host's own addresses, and
 * its names to the host's resolvers. Servers that listen on all addresses listen on everybody's, so two services that
 * are known to serve the same port are refused here; ports that nobody wrote down cannot be known, and the second
 * server then fails to listen, as it would on one machine.
 *
 * The order is that of `depends_on`; services without a need for each other keep the file's order. A circle is refused.
 * The agent's service may need others, and others it.
 *
 * A service with `network_mode: none` has an empty network of its own, which those are in that name it with
 * `network_mode: service:`. Where all networks of all others are `internal`, the group is closed: nobody of it has a
 * way out, whatever the task says.
 *
 * Refused, because a group cannot do it: services on named networks that keep them apart (one that names none is with
 * all); a platform that is not this machine's; to wait until the agent's own service is healthy or has ended, for it
 * starts when all others have; and to wait for the health of a service that the file has no check for, since an image's
 * own is not known here.
 */
#ifndef CORDON_TASK_COMPOSE_PLAN_H
#define CORDON_TASK_COMPOSE_PLAN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/compose.h"

/* A health check with the values that hold where the file says none. */
struct compose_check {
	char *const *argv; /* NULL: there is none, and a service that runs is healthy */
	uint64_t interval, timeout, start_period, start_interval; /* ms */
	uint32_t retries;
};

struct compose_wait {
	uint32_t step; /* an earlier one */
	enum compose_condition condition;
};

struct compose_step {
	const struct compose_service *service;
	char address[16];
	uint32_t net; /* those with the same number share a network; 0 is the group's, others are empty */
	const char *hosts; /* /etc/hosts of all in that network */
	const struct compose_wait *waits; /* before it starts */
	uint32_t n_waits;
	struct compose_check check;
};

struct compose_plan {
	struct compose_step *steps; /* in the order of starting; they end in the opposite order */
	uint32_t n;
	uint32_t main;	   /* the agent's */
	bool closed; /* the group has no way out */
	struct compose_pairs names; /* of the group: name, address; each name once */
};

/* Do all networks of the service, or of the one whose network it is in, lead to nothing outside? */
bool compose_is_internal(const struct compose *c, const struct compose_service *s);

/* The positions of the services in the order of starting, into order where it is not NULL (COMPOSE_SERVICES_MAX). A
 * circle is ERROR_INPUT, which names its services. */
int compose_order(const struct compose *c, uint32_t *order, struct error *err);

/* machine: "amd64", "arm64", as images name it. What refers to the model stays valid as long as it. */
int compose_plan(const struct compose *c, const char *file, const char *machine, struct arena *a,
		 struct compose_plan *ret, struct error *err);

#endif

/*
 * services: what a task's compose file has beside the agent's own sandbox: sandboxes of one group, with one network
 * that has no way out but the door.
 *
 * They start in the order that they need each other in, each in a sandbox of its own with its own image and limits. The
 * group's network is held by a sandbox in which nothing of the task's runs; services, agent and verifier join it, and a
 * service that ends ends nobody else. The network that the task asks for its agent is everybody's, unless the compose
 * file closes the group. Those with `network_mode: none` are in no group but that of who names them. They live until
 * the verifier is done, and what they print is kept.
 */
#ifndef CORDON_TASK_SERVICES_H
#define CORDON_TASK_SERVICES_H

#include "task/compose_plan.h"
#include "task/flow.h"

struct service {
	const struct compose_step *step;
	const char **hosts; /* lines of /etc/hosts */
	struct image image;
	bool has_image;
	struct image_work work;
	struct task_running run;
	bool running;
	int stdin_end; /* of one that is to wait for input which never comes; -1 */
	int status;	    /* where it has ended */
	struct error error; /* ... because of Cordon */
};

/* Who holds a network: services_net.c. */
struct service_net {
	struct image_work work;
	struct task_running run;
	bool held, running, joined; /* joined: somebody has been in it */
};

struct services {
	const struct compose *compose;
	struct compose_plan plan;
	struct service *v; /* as the plan's steps; the agent's own is never started */
	struct service_net *nets; /* by their numbers in the plan */
	uint32_t n_nets;
	const char *const *hidden; /* of the folder that binds are relative to (compose_bind.h) */
	bool *live; /* by the mounts of the agent's own service: volumes that the verifier sees as they are; NULL as
		       long as the agent goes on (volumes.h) */
};

/* Reads and checks the compose file, where the task has one, into f->services; nothing is started. */
int services_read(struct flow *f);
/* Makes their images, starts them all, and waits until they are as the agent's own needs them. */
int services_start(struct flow *f);
/* Ends them all. */
void services_stop(struct flow *f);

/* The run whose network the agent's sandboxes, or the verifier's, join; NULL: they have their own. */
const char *services_leader(struct flow *f);
/* A sandbox was lost behind the agent's start: where the group went with it, it is not joined any more. */
void services_lost(struct flow *f);
/* Does the compose file leave them without a network, whatever the task says? Not a verifier that is a machine of its
 * own. */
bool services_offline(const struct flow *f);

/*
 * A group has one network, its agent's, and those who join it have no other. So a role that wants another is refused,
 * but for a verifier without one: the group is closed for good before it runs, models included. -1: refused, or it may
 * still be open.
 */
int services_allow(struct flow *f, const struct task_network *wanted, bool offline);

/* What the agent's own service says: its variables; mounts and names of the others; its limits, where they are lower
 * than those of the task; its health check, NULL: none. */
int services_env(struct flow *f, struct flow_env *env);
int services_main(struct flow *f, struct image_root *root);
void services_limit(const struct flow *f, struct bounds *b, struct task_environment *room);
const struct compose_check *services_check(const struct flow *f);

/* The image of the agent's own service, with user and work folder as its compose file has them. */
int services_image(struct flow *f, struct image *ret);

#endif

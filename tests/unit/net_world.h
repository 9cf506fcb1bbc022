/* net_world: rules made of a policy's text, and questions to them. */
#ifndef CORDON_TEST_NET_WORLD_H
#define CORDON_TEST_NET_WORLD_H

#include "check.h"
#include "policy/net_rules.h"
#include "policy_memory.h"

struct world {
	struct policy *p;
	struct ruleset *rules;
};

static struct world make(const char *text)
{
	struct error err;
	struct world w = {memory_policy(text, NULL, &err), NULL};

	if (!w.p) {
		printf("# %s\n", err.text);
		CHECK(false);
		w.p = policy_new();
	}
	w.rules = net_rules_new(w.p);
	if (!w.rules)
		abort();
	return w;
}

static void unmake(struct world *w)
{
	net_rules_free(w->rules);
	policy_free(w->p);
}

static struct net_request get(const char *host, uint16_t port, const char *method, const char *target)
{
	return (struct net_request){
		.host = sv_of(host), .port = port, .method = sv_of(method), .target = sv_of(target)};
}

#endif

#include "gate/relay/generation.h"

#include <errno.h>

#include "base/cleanup.h"
#include "policy/net_recent.h"
#include "policy/policy_codec.h"

int relay_generation_read(int fd, uint64_t number, const struct generation *before, struct generation **ret,
			  struct error *err)
{
	struct generation *g;
	int r;

	g = calloc(1, sizeof(*g));
	if (!g)
		return error_sys(err, ENOMEM, "policy");
	g->users = 1;
	g->number = number;
	r = policy_decode_fd(fd, &g->policy);
	if (r == 0)
		g->rules = before ? net_rules_after(before->rules, g->policy) : net_rules_new(g->policy);
	if (g->rules)
		g->recent = net_recent_new(g->rules);
	if (!g->recent) {
		relay_generation_unref(g);
		return error_sys(err, r < 0 ? r : ENOMEM, "policy");
	}
	*ret = g;
	return 0;
}

struct generation *relay_generation_ref(struct generation *g)
{
	g->users++;
	return g;
}

void relay_generation_unref(struct generation *g)
{
	if (!g || --g->users > 0)
		return;
	net_recent_free(g->recent);
	net_rules_free(g->rules);
	if (g->policy)
		policy_free(g->policy);
	free(g);
}

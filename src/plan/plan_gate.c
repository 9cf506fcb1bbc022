#include "plan/plan_gate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "model/gate.h"
#include "model/reach.h"
#include "plan/environ_gate.h"

#define WHY "the gateway"

static void add_listener(struct plan *p, uint32_t kind, uint32_t provider, uint16_t port, bool v6)
{
	p->listeners[p->n_listeners++] =
		(struct plan_listener){.kind = kind, .provider = provider, .port = port, .v6 = v6};
}

static int add_listeners(struct draft *d)
{
	const struct policy *policy = d->policy;
	struct plan *p = d->plan;
	uint32_t i;

	if (policy->inference.n_providers > GATE_MAX_LISTENERS - 8)
		return error_set(d->err, ERROR_INPUT, "inference.providers: at most %d can be served",
				 GATE_MAX_LISTENERS - 8);
	p->listeners = arena_array(p->arena, GATE_MAX_LISTENERS, sizeof(*p->listeners));
	if (!p->listeners)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (policy->net.mode.v != NET_NONE) {
		add_listener(p, GATE_LISTEN_PROXY, 0, GATE_PROXY_PORT, false);
		add_listener(p, GATE_LISTEN_TRANSPARENT, 0, GATE_REDIRECT_PORT, false);
		add_listener(p, GATE_LISTEN_TRANSPARENT, 0, GATE_REDIRECT_PORT, true);
		reach_of(policy, &p->reach);
	}
	if (policy->net.mode.v != NET_NONE && policy->net.dns.v == DNS_POLICY) {
		add_listener(p, GATE_LISTEN_DNS_UDP, 0, GATE_DNS_PORT, false);
		add_listener(p, GATE_LISTEN_DNS_TCP, 0, GATE_DNS_PORT, false);
	}
	for (i = 0; i < policy->inference.n_providers; i++)
		add_listener(p, GATE_LISTEN_INFERENCE, i, (uint16_t)(GATE_INFERENCE_PORT + i), false);
	return 0;
}

static bool says_more(const struct net_rules *rules)
{
	const struct net_rule *r;

	for (r = rules->v; r < rules->v + rules->n; r++)
		if (r->methods.n || r->paths.n || r->credential.s || r->rate.set || r->graphql.types.n ||
		    r->graphql.operations.n || r->mcp.tools.n || r->mcp.methods.n)
			return true;
	return false;
}

/*
 * An image's bundle is covered where PID 1 finds it, and only for rules that look inside TLS: what is covered cannot be
 * replaced by the image's own tools (update-ca-certificates), and without such rules nobody is shown a certificate of
 * ours.
 */
static int cover_in_image(struct draft *d, const char *made, const char *path)
{
	const struct plan_op op = {.kind = PLAN_SHOW, .target = path, .source = made, .why = WHY};

	return says_more(&d->policy->net.allow) || says_more(&d->policy->net.deny) ? draft_add(d, &op) : 0;
}

/* Programs that read the system's own bundle find ours in its place. */
static int cover(struct draft *d, const char *made, const char *path)
{
	AUTO_FREE char *real = real_path(path, NULL);
	struct plan_op op = {.kind = PLAN_SHOW, .source = made, .why = WHY};
	struct stat st;

	if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	op.target = arena_str(d->plan->arena, sv_of(real));
	return draft_add(d, &op);
}

static int add_trust(struct draft *d, const char *made, struct sv content, const char *const *places)
{
	struct plan_op op = {
		.kind = PLAN_FILE, .target = made, .source = content.p, .size = content.n, .mode = 0444, .why = WHY};

	if (content.n == 0)
		return 0;
	if (draft_add(d, &op) < 0)
		return -1;
	for (; *places; places++)
		if ((d->plan->image ? cover_in_image : cover)(d, made, *places) < 0)
			return -1;
	return 0;
}

int plan_gate_add(struct draft *d)
{
	/* Debian and its kin; Fedora and its kin; SUSE; Alpine. Two names of one file are covered once: the second
	 * cover would hide the first. */
	static const char *const bundles[] = {"/etc/ssl/certs/ca-certificates.crt",
					      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
					      "/etc/ssl/ca-bundle.pem", NULL};
	static const char *const stores[] = {"/etc/ssl/certs/java/cacerts", "/etc/pki/ca-trust/extracted/java/cacerts",
					     NULL};

	if (!d->gate)
		return 0;
	if (!d->gate->shared && add_listeners(d) < 0)
		return -1;
	if (d->plan->n_listeners && !d->plan->loopback)
		return error_set(d->err, ERROR_DENIED,
				 "%s: network.loopback: false leaves no way to the gateway, which network.mode and "
				 "inference need; leave it out",
				 draft_where(d, d->policy->net.loopback.at));
	if (d->policy->net.mode.v == NET_NONE)
		return 0; /* models are reached by plain HTTP on loopback */
	if (add_trust(d, GATE_BUNDLE, d->gate->bundle, bundles) < 0)
		return -1;
	return add_trust(d, GATE_JAVA, d->gate->java, stores);
}

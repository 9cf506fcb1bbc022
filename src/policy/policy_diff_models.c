#include <string.h>

#include "policy/policy_cover.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_show.h"

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void models(struct diff *d, const struct provider *a, const struct provider *b)
{
	uint32_t i;

	if (!a->models.set && a->models.n == 0)
		return;
	if (!b->models.set && b->models.n == 0)
		diff_item(d, "inference.providers", d->b, b->at, "uses any model of %s", b->name);
	for (i = 0; i < b->models.n; i++)
		if (!cover_by_list(&cover_model, &a->models, b->models.v[i].s))
			diff_item(d, "inference.providers", d->b, b->models.v[i].at, "uses model %s of %s",
				  b->models.v[i].s, b->name);
}

static void provider(struct diff *d, const struct provider *a, const struct provider *b)
{
	if (a->kind.v != b->kind.v || !same_text(a->url.s, b->url.s))
		diff_item(d, "inference.providers", d->b, b->url.s ? b->url.at : b->at, "%s is another server: %s",
			  b->name, b->url.s ? b->url.s : provider_kind_names[b->kind.v]);
	if (b->credential.s && !same_text(a->credential.s, b->credential.s))
		diff_item(d, "inference.providers", d->b, b->credential.at, "uses credential %s at %s", b->credential.s,
			  b->name);
	models(d, a, b);
	diff_limit(d, "inference.max_requests", UNIT_COUNT, &a->max_requests, &b->max_requests);
	diff_limit(d, "inference.max_output_tokens", UNIT_COUNT, &a->max_output_tokens, &b->max_output_tokens);
	if (b->reach < a->reach)
		diff_item(d, "inference.providers", d->b, b->at, "%s may lead to more addresses", b->name);
	if (b->server_tools.v > a->server_tools.v)
		diff_item(d, "inference.server_tools", d->b, b->server_tools.at, "%s may run tools for it", b->name);
}

static const struct provider *provider_get(const struct policy *p, const char *name)
{
	uint32_t i;

	for (i = 0; i < p->inference.n_providers; i++)
		if (strcmp(p->inference.providers[i].name, name) == 0)
			return &p->inference.providers[i];
	return NULL;
}

/* The place behind the next that is the same, or 0. */
static uint32_t behind_same(const struct pol_inference *inf, uint32_t from, const struct route *r)
{
	uint32_t i;

	for (i = from; i < inf->n_routes; i++)
		if (same_text(inf->routes[i].model, r->model) && same_text(inf->routes[i].provider, r->provider))
			return i + 1;
	return 0;
}

/*
 * The first that fits counts: so both must have the same ones in the same order, but for what only refuses, since its
 * provider is not there. Where one is gone others may serve the model, be it one that it refused.
 */
static void routes(struct diff *d)
{
	const struct pol_inference *a = &d->a->inference, *b = &d->b->inference;
	uint32_t i, from = 0, behind;

	for (i = 0; i < b->n_routes; i++) {
		behind = behind_same(a, from, &b->routes[i]);
		from = behind ? behind : from;
		if (!behind && provider_get(d->b, b->routes[i].provider))
			diff_item(d, "inference.routes", d->b, b->routes[i].at, "sends %s to %s", b->routes[i].model,
				  b->routes[i].provider);
	}
	for (i = from = 0; i < a->n_routes && b->n_providers; i++) {
		behind = behind_same(b, from, &a->routes[i]);
		from = behind ? behind : from;
		if (!behind)
			diff_item(d, "inference.routes", d->a, a->routes[i].at, "%s %s to %s alone",
				  diff_word(d, "no longer sends", "now sends"), a->routes[i].model,
				  a->routes[i].provider);
	}
}

void diff_inference(struct diff *d)
{
	const struct pol_inference *b = &d->b->inference;
	const struct provider *other;
	uint32_t i;

	for (i = 0; i < b->n_providers; i++) {
		other = provider_get(d->a, b->providers[i].name);
		if (other)
			provider(d, other, &b->providers[i]);
		else
			diff_item(d, "inference.providers", d->b, b->providers[i].at, "uses models of %s",
				  b->providers[i].name);
	}
	routes(d);
}

#include "policy/policy_provider.h"

#include "base/text.h"
#include "policy/policy_where.h"

/* In the order of enum provider_kind. */
static const struct {
	const char *url;
	const char *base_url_env;
} kinds[] = {
	[PROVIDER_ANTHROPIC] = {"https://api.anthropic.com", "ANTHROPIC_BASE_URL"},
	[PROVIDER_OPENAI] = {"https://api.openai.com", "OPENAI_BASE_URL"},
	[PROVIDER_GEMINI] = {"https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL"},
};

static int complete(const struct policy *p, struct provider *v, struct error *err)
{
	int named = name_index(provider_kind_names, sv_of(v->name));

	if (!v->kind.set) {
		if (named < 0)
			return policy_fail(p, v->at, "inference.providers", err,
					   "%s has no kind; write kind: anthropic, openai or gemini", v->name);
		v->kind = (struct pol_num){.v = (uint64_t)named, .set = true};
	}
	/* The public address of a kind is meant where the provider is called by its name, or has a credential to show
	 * there. A local server has neither. */
	if (!v->url.s) {
		if (named >= 0 ? (uint64_t)named != v->kind.v : !v->credential.s)
			return policy_fail(p, v->at, "inference.providers", err,
					   "%s has no url; write the server's address", v->name);
		v->url.s = kinds[v->kind.v].url;
	}
	if (!v->base_url_env.s && named >= 0)
		v->base_url_env.s = kinds[named].base_url_env;
	if (!v->server_tools.set)
		v->server_tools = (struct pol_num){.v = SERVER_TOOLS_DENY, .set = true};
	return 0;
}

bool policy_provider_is_known(const struct provider *v)
{
	return strcmp(v->url.s, kinds[v->kind.v].url) == 0;
}

int policy_providers_complete(struct policy *p, struct error *err)
{
	uint32_t i;

	for (i = 0; i < p->inference.n_providers; i++)
		if (complete(p, &p->inference.providers[i], err) < 0)
			return -1;
	return 0;
}

static int check_variables(const struct policy *p, struct error *err)
{
	const struct provider *v = p->inference.providers;
	uint32_t i, k;

	for (i = 1; i < p->inference.n_providers; i++)
		for (k = 0; k < i; k++)
			if (v[i].base_url_env.s && v[k].base_url_env.s &&
			    strcmp(v[i].base_url_env.s, v[k].base_url_env.s) == 0)
				return policy_fail(p, v[i].at, "inference.providers", err,
						   "%s and %s both set %s; give one of them another base_url_env",
						   v[k].name, v[i].name, v[i].base_url_env.s);
	return 0;
}

int policy_providers_check(const struct policy *p, struct error *err)
{
	const struct pol_inference *inf = &p->inference;
	const char *names[65] = {0}, *near;
	uint32_t i, k;

	if (inf->n_providers > 64)
		return policy_fail(p, inf->providers[64].at, "inference.providers", err,
				   "more than 64 providers; remove some");
	for (k = 0; k < inf->n_providers; k++)
		names[k] = inf->providers[k].name;
	for (i = 0; i < inf->n_routes; i++) {
		if (name_index(names, sv_of(inf->routes[i].provider)) >= 0)
			continue;
		/* One that another file may add is no mistake: until then the models of the route are refused. */
		near = text_nearest(sv_of(inf->routes[i].provider), names);
		if (near)
			return policy_fail(p, inf->routes[i].at, "inference.routes", err,
					   "there is no provider \"%s\"; did you mean %s", inf->routes[i].provider,
					   near);
	}
	return check_variables(p, err);
}

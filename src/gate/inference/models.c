#include "gate/inference/models.h"

#include <stdio.h>

#include "base/glob.h"
#include "base/text.h"

static bool takes_model(const struct provider *p, struct sv model)
{
	uint32_t i;

	if (!p->models.set && p->models.n == 0)
		return true;
	for (i = 0; i < p->models.n; i++)
		if (glob_component(sv_of(p->models.v[i].s), model))
			return true;
	return false;
}

/* The provider that serves the model: that of the first route, else the one that was asked. */
static int choose_provider(const struct pol_inference *inf, struct sv model, const struct provider **io,
			   struct ruling *no)
{
	struct text_shown a, b;
	uint32_t i, k;

	for (i = 0; i < inf->n_routes; i++) {
		if (!glob_component(sv_of(inf->routes[i].model), model))
			continue;
		for (k = 0; k < inf->n_providers; k++)
			if (strcmp(inf->providers[k].name, inf->routes[i].provider) == 0)
				break;
		if (k == inf->n_providers)
			return ruling_set(no, RULING_DENIED, "use a model that is not routed there",
					  "model %s is routed to provider %s, which is not there", text_show(&a, model),
					  text_show(&b, sv_of(inf->routes[i].provider)));
		if (inf->providers[k].kind.v != (*io)->kind.v)
			return ruling_set(no, RULING_DENIED, "use that provider's base URL and its API",
					  "model %s is routed to provider %s, which speaks another API",
					  text_show(&a, model), text_show(&b, sv_of(inf->providers[k].name)));
		*io = &inf->providers[k];
		return 0;
	}
	return 0;
}

/* Letters, digits and what stands between them: some servers split other names into several models ("a,b"). */
static bool is_plain(struct sv model)
{
	size_t i;

	for (i = 0; i < model.n; i++) {
		char c = model.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr("._-/:@+=&~", c))))
			return false;
	}
	return true;
}

static bool is_listed(const struct provider *p, struct sv model)
{
	uint32_t i;

	for (i = 0; i < p->models.n; i++)
		if (sv_is(model, p->models.v[i].s))
			return true;
	return false;
}

int models_choose(const struct pol_inference *inf, struct sv model, const struct provider **io, struct ruling *no)
{
	struct text_shown a, b;

	if (choose_provider(inf, model, io, no) < 0)
		return -1;
	if (!is_plain(model) && !is_listed(*io, model))
		return ruling_set(no, RULING_DENIED,
				  "name one model; a name with other characters must stand in the provider's models as "
				  "it is, without a pattern",
				  "%s has characters that may make several models of it", text_show(&b, model));
	if (takes_model(*io, model))
		return 0;
	(void)ruling_set(no, RULING_DENIED, "use a model that the policy allows", "provider %s does not take model %s",
			 text_show(&a, sv_of((*io)->name)), text_show(&b, model));
	if (is_plain(model) && model.n < sizeof(no->model) && strlen((*io)->name) < sizeof(no->provider)) {
		(void)snprintf(no->provider, sizeof(no->provider), "%s", (*io)->name);
		(void)snprintf(no->model, sizeof(no->model), "%.*s", (int)model.n, model.p);
	}
	return -1;
}

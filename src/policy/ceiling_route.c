#include "policy/ceiling_route.h"

#include <string.h>

#include "base/text.h"
#include "policy/policy_cover.h"
#include "policy/policy_where.h"

struct routes {
	struct policy *request;
	const struct policy *ceiling;
	struct error *err;
	const char *nowhere; /* the name of no provider */
	struct route *v;     /* has room for all */
	uint32_t n;
};

static bool has_provider(const struct pol_inference *inf, const char *name)
{
	uint32_t i;

	for (i = 0; i < inf->n_providers && strcmp(inf->providers[i].name, name) != 0; i++)
		;
	return i < inf->n_providers;
}

static const char *name_nowhere(struct policy *request)
{
	const char *name = "nowhere";

	while (name && has_provider(&request->inference, name))
		name = arena_printf(request->arena, "%s-", name);
	return name;
}

/* One before it decides. */
static bool is_settled(const struct routes *t, const char *model)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (cover_model.covers(t->v[i].model, model))
			return true;
	return false;
}

static void add(struct routes *t, const char *model, const char *provider, struct origin at)
{
	if (!is_settled(t, model))
		t->v[t->n++] = (struct route){model, provider, at};
}

/* The models that both are for. */
static int add_pair(struct routes *t, const struct route *mine, const struct route *theirs)
{
	bool same = strcmp(mine->provider, theirs->provider) == 0;
	const char *model = cover_model.covers(theirs->model, mine->model) ? mine->model : theirs->model;
	struct text_shown a, b;

	if (cover_model.apart(mine->model, theirs->model) || is_settled(t, mine->model) || is_settled(t, theirs->model))
		return 0;
	if (!cover_model.covers(mine->model, model) || !cover_model.covers(theirs->model, model))
		return policy_fail(t->request, mine->at, "inference.routes", t->err,
				   "\"%.80s\" and the ceiling's \"%.80s\" (%.120s) overlap, but no one pattern says "
				   "where; narrow it",
				   text_show(&a, sv_of(mine->model)), text_show(&b, sv_of(theirs->model)),
				   policy_where(t->ceiling, theirs->at));
	add(t, model, same ? mine->provider : t->nowhere, theirs->at);
	return 0;
}

/* Of each model the first that fits counts, on both sides: so the pairs come in the order of both. */
static int add_pairs(struct routes *t)
{
	const struct pol_inference *mine = &t->request->inference, *theirs = &t->ceiling->inference;
	uint32_t i, k;

	for (i = 0; i < mine->n_routes; i++)
		for (k = 0; k < theirs->n_routes; k++)
			if (add_pair(t, &mine->routes[i], &theirs->routes[k]) < 0)
				return -1;
	return 0;
}

static void add_all(struct routes *t, const struct pol_inference *inf)
{
	uint32_t i;

	for (i = 0; i < inf->n_routes; i++)
		add(t, inf->routes[i].model, inf->routes[i].provider, inf->routes[i].at);
}

int ceiling_routes(struct policy *request, const struct policy *ceiling, struct error *err)
{
	struct pol_inference *mine = &request->inference;
	const struct pol_inference *theirs = &ceiling->inference;
	struct routes t = {.request = request, .ceiling = ceiling, .err = err, .nowhere = name_nowhere(request)};
	uint64_t pairs = (uint64_t)mine->n_routes * theirs->n_routes;

	if (theirs->n_routes == 0)
		return 0;
	if (pairs > CEILING_MAX_ROUTES || theirs->n_routes > CEILING_MAX_ROUTES)
		return policy_fail(
			ceiling, theirs->routes[0].at, "inference.routes", err,
			"with those of the request these are more than %d pairs of routes; use fewer and wider ones",
			CEILING_MAX_ROUTES);
	t.v = arena_array(request->arena, (size_t)pairs + mine->n_routes + theirs->n_routes, sizeof(*t.v));
	if (!t.v || !t.nowhere)
		return policy_no_memory(err);
	if (add_pairs(&t) < 0)
		return -1;
	add_all(&t, mine);
	add_all(&t, theirs);
	mine->routes = t.v;
	mine->n_routes = t.n;
	return 0;
}

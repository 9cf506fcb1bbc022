#include "policy/policy_ceiling.h"

#include "base/text.h"
#include "policy/ceiling_door.h"
#include "policy/ceiling_fs.h"
#include "policy/ceiling_net.h"
#include "policy/ceiling_provider.h"
#include "policy/ceiling_route.h"
#include "policy/policy_cover.h"
#include "policy/policy_fields.h"
#include "policy/policy_merge.h"
#include "policy/policy_parse.h"
#include "policy/policy_where.h"
#include "policy/runtime_choice.h"

struct tighten {
	struct policy *request;
	const struct policy *ceiling;
	const struct policy_request *req;
	struct error *err;
};

static void take_min(struct pol_num *mine, const struct pol_num *theirs)
{
	if (theirs->set && (!mine->set || theirs->v < mine->v))
		*mine = *theirs;
}

static void take_min_or_all(struct pol_num *mine, const struct pol_num *theirs)
{
	if (theirs->set && theirs->v != 0 && (!mine->set || mine->v == 0 || theirs->v < mine->v))
		*mine = *theirs;
}

static void take_workdir(struct pol_num *mine, const struct pol_num *theirs)
{
	static const int freedom[] = {
		[WORKDIR_NONE] = 0, [WORKDIR_READ_ONLY] = 1, [WORKDIR_COPY] = 2, [WORKDIR_READ_WRITE] = 3};

	if (theirs->set && (!mine->set || freedom[theirs->v] < freedom[mine->v]))
		*mine = *theirs;
}

static int tighten_num(const struct policy_field *f, struct pol_num *mine, const struct pol_num *theirs)
{
	if (f->ceiling == CEILING_MIN)
		take_min(mine, theirs);
	else if (f->ceiling == CEILING_MIN_OR_ALL)
		take_min_or_all(mine, theirs);
	else if (f->ceiling == CEILING_WORKDIR)
		take_workdir(mine, theirs);
	else if (f->ceiling == CEILING_WINS && theirs->set)
		*mine = *theirs;
	return 0;
}

/* What both lists hold; the request's where the ceiling has no such list. */
static int take_common(struct tighten *t, struct pol_list *mine, const struct pol_list *theirs)
{
	struct pol_list both = {.set = true};
	uint32_t i, k;

	if (!theirs->set)
		return 0;
	both.v = arena_array(t->request->arena, mine->n, sizeof(*both.v));
	if (!both.v)
		return policy_no_memory(t->err);
	for (i = 0; i < mine->n; i++)
		for (k = 0; k < theirs->n; k++)
			if (strcmp(mine->v[i].s, theirs->v[k].s) == 0) {
				both.v[both.n++] = mine->v[i];
				break;
			}
	*mine = both;
	return 0;
}

static int fail_overlap(struct tighten *t, const char *key, const struct pol_str *mine, const struct pol_str *theirs)
{
	struct text_shown a, b;

	return policy_fail(
		t->request, mine->at, key, t->err,
		"\"%.80s\" and the ceiling's \"%.80s\" (%.120s) overlap, but no one pattern says where; narrow it",
		text_show(&a, sv_of(mine->s)), text_show(&b, sv_of(theirs->s)), policy_where(t->ceiling, theirs->at));
}

static int take_patterns(struct tighten *t, const char *key, const struct cover_kind *kind, struct pol_list *mine,
			 const struct pol_list *theirs)
{
	const struct pol_str *a, *b;
	int r;

	if (!theirs->set || !mine->set) {
		*mine = theirs->set ? *theirs : *mine;
		return 0;
	}
	r = cover_intersect(kind, t->request->arena, mine, theirs, mine, &a, &b);
	if (r < 0)
		return policy_no_memory(t->err);
	return r == 0 ? 0 : fail_overlap(t, key, a, b);
}

static int tighten_list(struct tighten *t, const struct policy_field *f, struct pol_list *mine,
			const struct pol_list *theirs)
{
	if (f->ceiling == CEILING_UNION)
		return merge_list(t->request->arena, mine, theirs) < 0 ? policy_no_memory(t->err) : 0;
	if (f->ceiling == CEILING_COMMON)
		return take_common(t, mine, theirs);
	if (f->ceiling == CEILING_PATTERNS)
		return take_patterns(t, f->name, &cover_path, mine, theirs);
	return 0;
}

/* Leaves in *theirs only the pairs that are stricter than the request's. */
static int keep_stricter(struct tighten *t, const struct pol_pairs *mine, struct pol_pairs *theirs)
{
	struct pol_pair *v = arena_array(t->request->arena, theirs->n, sizeof(*v));
	uint32_t i, k, n = 0;

	if (!v)
		return policy_no_memory(t->err);
	for (i = 0; i < theirs->n; i++) {
		for (k = 0; k < mine->n && strcmp(mine->v[k].key, theirs->v[i].key) != 0; k++)
			;
		if (k == mine->n || name_index(check_verdict_names, sv_of(mine->v[k].value)) <
					    name_index(check_verdict_names, sv_of(theirs->v[i].value)))
			v[n++] = theirs->v[i];
	}
	theirs->v = v;
	theirs->n = n;
	return 0;
}

static int tighten_pairs(struct tighten *t, const struct policy_field *f, struct pol_pairs *mine,
			 struct pol_pairs theirs)
{
	if (f->ceiling == CEILING_FREE || !theirs.set)
		return 0;
	if (f->ceiling == CEILING_STRICTEST && keep_stricter(t, mine, &theirs) < 0)
		return -1;
	return merge_pairs(t->request->arena, mine, &theirs) < 0 ? policy_no_memory(t->err) : 0;
}

static int tighten_field(struct tighten *t, const struct policy_field *f)
{
	void *mine = policy_field_of(t->request, f);
	const void *theirs = policy_field_in(t->ceiling, f);

	switch (f->kind) {
	case FIELD_NUM:
		return tighten_num(f, mine, theirs);
	case FIELD_LIST:
		return tighten_list(t, f, mine, theirs);
	case FIELD_PAIRS:
		return tighten_pairs(t, f, mine, *(const struct pol_pairs *)theirs);
	case FIELD_RULES:
		if (f->ceiling != CEILING_UNION)
			return 0;
		return merge_rules(t->request->arena, mine, theirs) < 0 ? policy_no_memory(t->err) : 0;
	}
	return 0;
}

static int fail_runtime(struct tighten *t, const char *theirs, const char *category, struct origin at)
{
	const struct pol_num *mine = &t->request->process.runtime;
	const char *where = policy_where(t->ceiling, at);

	if (t->req->runtime)
		return error_set(t->err, ERROR_DENIED,
				 "--runtime: %s is not the ceiling's %s%s%s (%.200s); leave it out", t->req->runtime,
				 theirs, category ? " for " : "", category ? category : "", where);
	return policy_fail(t->request, mine->at, "process.runtime", t->err,
			   "%s is not the ceiling's %s%s%s (%.200s); write auto", runtime_names[mine->v], theirs,
			   category ? " for " : "", category ? category : "", where);
}

/*
 * A runtime by name would pass over what the ceiling says about categories. Which category it will be, a file does not
 * know; a command line does, and where it has none, the ceiling's categories say nothing about this run.
 */
static bool is_meant(const struct tighten *t, const char *category)
{
	if (t->req->category)
		return strcmp(t->req->category, category) == 0;
	return !t->req->runtime;
}

static int tighten_runtime(struct tighten *t)
{
	struct pol_num *mine = &t->request->process.runtime;
	const struct pol_num *theirs = &t->ceiling->process.runtime;
	const struct pol_pairs *categories = &t->ceiling->process.categories;
	bool named = mine->set && mine->v != RUNTIME_AUTO;
	const struct pol_pair *pair;
	uint32_t i;

	if (theirs->set && theirs->v != RUNTIME_AUTO) {
		if (named && mine->v != theirs->v)
			return fail_runtime(t, runtime_names[theirs->v], NULL, theirs->at);
		*mine = *theirs;
		return 0;
	}
	for (i = 0; named && i < categories->n; i++) {
		pair = &categories->v[i];
		if (is_meant(t, pair->key) && runtime_of_category(categories, pair->key) != mine->v)
			return fail_runtime(t, runtime_names[runtime_of_category(categories, pair->key)], pair->key,
					    pair->at);
	}
	return 0;
}

/* What both lists hold. An operator who names runtimes, and nothing that may take their place, has said that nothing
 * may. */
static int tighten_fallback(struct tighten *t)
{
	const struct pol_process *theirs = &t->ceiling->process;
	static const struct pol_list none = {.set = true};
	bool names = (theirs->runtime.set && theirs->runtime.v != RUNTIME_AUTO) || theirs->categories.n;

	return take_common(t, &t->request->process.fallback,
			   theirs->fallback.set || !names ? &theirs->fallback : &none);
}

static int tighten_provider(struct tighten *t, struct provider *mine, const struct provider *theirs)
{
	bool same_kind = mine->kind.v == theirs->kind.v;

	if (!same_kind || strcmp(mine->url.s, theirs->url.s) != 0)
		return policy_fail(
			t->request, mine->at, "inference.providers", t->err,
			"%.64s has another %s than in the ceiling (%.200s); use the ceiling's, or another name",
			mine->name, same_kind ? "url" : "kind", policy_where(t->ceiling, theirs->at));
	if (mine->credential.s && (!theirs->credential.s || strcmp(mine->credential.s, theirs->credential.s) != 0))
		mine->credential = (struct pol_str){0};
	take_min(&mine->max_requests, &theirs->max_requests);
	take_min(&mine->max_output_tokens, &theirs->max_output_tokens);
	take_min(&mine->server_tools, &theirs->server_tools);
	return take_patterns(t, "inference.providers.models", &cover_model, &mine->models, &theirs->models);
}

static const struct provider *find_provider(const struct pol_inference *inf, const char *name)
{
	uint32_t i;

	for (i = 0; i < inf->n_providers; i++)
		if (strcmp(inf->providers[i].name, name) == 0)
			return &inf->providers[i];
	return NULL;
}

/* Providers that both name; one that is left without any model goes, because an empty list must not read as "any". */
static int tighten_inference(struct tighten *t)
{
	struct pol_inference *mine = &t->request->inference;
	const struct provider *theirs;
	struct provider *kept;
	uint32_t i, n = 0;

	for (i = 0; !t->ceiling->inference.providers && i < mine->n_providers; i++)
		if (ceiling_provider(t->request, t->ceiling, &mine->providers[i], t->err) < 0)
			return -1;
	if (!t->ceiling->inference.providers)
		return 0;
	kept = arena_array(t->request->arena, mine->n_providers, sizeof(*kept));
	if (!kept)
		return policy_no_memory(t->err);
	for (i = 0; i < mine->n_providers; i++) {
		struct provider p = mine->providers[i];

		theirs = find_provider(&t->ceiling->inference, p.name);
		if (!theirs)
			continue;
		if (tighten_provider(t, &p, theirs) < 0)
			return -1;
		if (!p.models.set || p.models.n)
			kept[n++] = p;
	}
	mine->providers = kept;
	mine->n_providers = n;
	return 0;
}

int policy_bound(struct policy *request, const struct policy *bound, const struct policy_request *req,
		 struct error *err)
{
	struct tighten t = {request, bound, req, err};
	const struct policy_field *f;

	if (ceiling_net(request, bound, err) < 0)
		return -1;
	for (f = policy_fields; f->name; f++)
		if (f->ceiling != CEILING_ELSEWHERE && tighten_field(&t, f) < 0)
			return -1;
	return 0;
}

int policy_ceiling(struct policy *request, const struct policy *ceiling, const struct policy_request *req,
		   struct error *err)
{
	struct tighten t = {request, ceiling, req, err};
	const struct pol_inference asked = request->inference;
	const struct policy_field *f;

	if (ceiling_net(request, ceiling, err) < 0 || tighten_runtime(&t) < 0 || tighten_fallback(&t) < 0 ||
	    tighten_inference(&t) < 0 || ceiling_routes(request, ceiling, err) < 0)
		return -1;
	for (f = policy_fields; f->name; f++)
		if (f->ceiling != CEILING_ELSEWHERE && tighten_field(&t, f) < 0)
			return -1;
	if (ceiling_doors(request, &asked, ceiling, err) < 0)
		return -1;
	/* copied as it is: the lists that the request names itself were cut above */
	take_min(&request->fs.tmp_bound, &ceiling->fs.tmp_size);
	request->process.env_bound = ceiling->process.env_pass;
	return ceiling_fs(request, ceiling, req->workdir, err);
}

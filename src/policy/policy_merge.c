#include "policy/policy_merge.h"

#include <stdlib.h>

#include "policy/policy_fields.h"

static int compare_str(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_list(const struct pol_list *a, const struct pol_list *b)
{
	uint32_t i;
	int r;

	if (a->n != b->n || a->set != b->set)
		return a->n != b->n ? (a->n < b->n ? -1 : 1) : (int)a->set - (int)b->set;
	for (i = 0; i < a->n; i++) {
		r = strcmp(a->v[i].s, b->v[i].s);
		if (r)
			return r;
	}
	return 0;
}

static int compare_num(const struct pol_num *a, const struct pol_num *b)
{
	if (a->set != b->set)
		return (int)a->set - (int)b->set;
	return a->set ? (a->v > b->v) - (a->v < b->v) : 0;
}

static int compare_rule(const struct net_rule *a, const struct net_rule *b)
{
	int r = compare_str(a->host, b->host);

	r = r ? r : compare_str(a->cidr, b->cidr);
	r = r ? r : (a->n_ports > b->n_ports) - (a->n_ports < b->n_ports);
	r = r || a->n_ports == 0 ? r : memcmp(a->ports, b->ports, a->n_ports * sizeof(*a->ports));
	r = r ? r : compare_list(&a->methods, &b->methods);
	r = r ? r : compare_list(&a->paths, &b->paths);
	r = r ? r : compare_num(&a->rate, &b->rate);
	r = r ? r : compare_list(&a->graphql.types, &b->graphql.types);
	r = r ? r : compare_list(&a->graphql.operations, &b->graphql.operations);
	r = r ? r : compare_list(&a->mcp.tools, &b->mcp.tools);
	r = r ? r : compare_list(&a->mcp.methods, &b->mcp.methods);
	return r ? r : compare_str(a->credential.s, b->credential.s);
}

bool merge_same_rule(const struct net_rule *a, const struct net_rule *b)
{
	return compare_rule(a, b) == 0;
}

/* An item on its way through sorting: equal ones end up side by side, the earlier first. */
struct item {
	const void *p;
	uint32_t at;
	bool again;
};

static int compare_str_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = strcmp(((const struct pol_str *)x->p)->s, ((const struct pol_str *)y->p)->s);

	return r ? r : (x->at > y->at) - (x->at < y->at);
}

static int compare_rule_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = compare_rule(x->p, y->p);

	return r ? r : (x->at > y->at) - (x->at < y->at);
}

static int compare_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static bool same_item(int (*compare)(const void *, const void *), const struct item *a, const struct item *b)
{
	struct item x = *a, y = *b;

	x.at = y.at = 0;
	return compare(&x, &y) == 0;
}

/* Moves the first of each group of equals to the front of v, in their order. Sorted, because a list may hold a hundred
 * thousand. */
static int drop_duplicates(char *v, uint32_t *n, size_t size, int (*compare)(const void *, const void *))
{
	struct item *items = calloc(*n ? *n : 1, sizeof(*items));
	uint32_t i, kept = 0;

	if (!items)
		return -1;
	for (i = 0; i < *n; i++)
		items[i] = (struct item){.p = v + i * size, .at = i};
	qsort(items, *n, sizeof(*items), compare);
	for (i = 1; i < *n; i++)
		items[i].again = same_item(compare, &items[i - 1], &items[i]);
	qsort(items, *n, sizeof(*items), compare_place);
	for (i = 0; i < *n; i++) {
		if (items[i].again)
			continue;
		if (kept != i)
			memcpy(v + kept * size, v + i * size, size);
		kept++;
	}
	*n = kept;
	free(items);
	return 0;
}

/* Both arrays, one behind the other; NULL: no memory. */
static void *join(struct arena *a, const void *x, uint32_t nx, const void *y, uint32_t ny, size_t size)
{
	char *v = arena_array(a, (size_t)nx + ny, size);

	if (!v)
		return NULL;
	if (nx)
		memcpy(v, x, nx * size);
	if (ny)
		memcpy(v + nx * size, y, ny * size);
	return v;
}

int merge_list(struct arena *a, struct pol_list *base, const struct pol_list *over)
{
	struct pol_str *v;
	uint32_t n = base->n + over->n;

	if (base->n == 0 || over->n == 0) {
		bool set = base->set || over->set;

		*base = over->n ? *over : *base;
		base->set = set;
		return 0;
	}
	v = join(a, base->v, base->n, over->v, over->n, sizeof(*v));
	if (!v || drop_duplicates((char *)v, &n, sizeof(*v), compare_str_item) < 0)
		return -1;
	*base = (struct pol_list){.v = v, .n = n, .set = true};
	return 0;
}

int merge_rules(struct arena *a, struct net_rules *base, const struct net_rules *over)
{
	struct net_rule *v;
	uint32_t n = base->n + over->n;

	if (base->n == 0 || over->n == 0) {
		bool set = base->set || over->set;

		*base = over->n ? *over : *base;
		base->set = set;
		return 0;
	}
	v = join(a, base->v, base->n, over->v, over->n, sizeof(*v));
	if (!v || drop_duplicates((char *)v, &n, sizeof(*v), compare_rule_item) < 0)
		return -1;
	*base = (struct net_rules){.v = v, .n = n, .set = true};
	return 0;
}

int merge_unique_rules(struct net_rules *rules)
{
	return drop_duplicates((char *)rules->v, &rules->n, sizeof(*rules->v), compare_rule_item);
}

static int compare_pair_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = strcmp(((const struct pol_pair *)x->p)->key, ((const struct pol_pair *)y->p)->key);

	return r ? r : (x->at > y->at) - (x->at < y->at);
}

/* The overriding pairs go first, so that theirs are the ones kept. */
int merge_pairs(struct arena *a, struct pol_pairs *base, const struct pol_pairs *over)
{
	struct pol_pair *v;
	uint32_t n = base->n + over->n;

	if (!over->set)
		return 0;
	v = join(a, over->v, over->n, base->v, base->n, sizeof(*v));
	if (!v || drop_duplicates((char *)v, &n, sizeof(*v), compare_pair_item) < 0)
		return -1;
	*base = (struct pol_pairs){.v = v, .n = n, .set = true};
	return 0;
}

static void merge_num(struct pol_num *base, const struct pol_num *over)
{
	if (over->set)
		*base = *over;
}

static void merge_str(struct pol_str *base, const struct pol_str *over)
{
	if (over->s)
		*base = *over;
}

static int merge_fields(struct policy *base, const struct policy *over)
{
	const struct policy_field *f;
	int r = 0;

	for (f = policy_fields; f->name && r == 0; f++) {
		void *to = policy_field_of(base, f);
		const void *from = policy_field_in(over, f);

		switch (f->kind) {
		case FIELD_NUM:
			merge_num(to, from);
			break;
		case FIELD_LIST:
			r = merge_list(base->arena, to, from);
			break;
		case FIELD_PAIRS:
			r = merge_pairs(base->arena, to, from);
			break;
		case FIELD_RULES:
			r = merge_rules(base->arena, to, from);
			break;
		}
	}
	return r;
}

static int merge_provider(struct arena *a, struct provider *base, const struct provider *over)
{
	merge_num(&base->kind, &over->kind);
	merge_str(&base->url, &over->url);
	merge_str(&base->credential, &over->credential);
	merge_str(&base->base_url_env, &over->base_url_env);
	merge_num(&base->max_requests, &over->max_requests);
	merge_num(&base->max_output_tokens, &over->max_output_tokens);
	merge_num(&base->server_tools, &over->server_tools);
	base->at = over->at;
	return merge_list(a, &base->models, &over->models);
}

static struct provider *find_provider(struct provider *v, uint32_t n, const char *name)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	return NULL;
}

static int merge_providers(struct arena *a, struct pol_inference *base, const struct pol_inference *over)
{
	uint32_t i, n = base->n_providers;
	struct provider *v, *same;

	if (!over->providers)
		return 0;
	v = join(a, base->providers, n, over->providers, over->n_providers, sizeof(*v));
	if (!v)
		return -1;
	for (i = 0; i < over->n_providers; i++) {
		same = find_provider(v, base->n_providers, over->providers[i].name);
		if (!same)
			v[n++] = over->providers[i];
		else if (merge_provider(a, same, &over->providers[i]) < 0)
			return -1;
	}
	base->providers = v;
	base->n_providers = n;
	return 0;
}

/* Routes are tried in order: those of the layer on top come first. */
static int merge_routes(struct arena *a, struct pol_inference *base, const struct pol_inference *over)
{
	struct route *v;
	uint32_t i, j, n = over->n_routes;

	if (over->n_routes == 0)
		return 0;
	v = join(a, over->routes, over->n_routes, base->routes, base->n_routes, sizeof(*v));
	if (!v)
		return -1;
	for (i = 0; i < base->n_routes; i++) {
		for (j = 0; j < over->n_routes; j++)
			if (strcmp(base->routes[i].model, over->routes[j].model) == 0)
				break;
		if (j == over->n_routes)
			v[n++] = base->routes[i];
	}
	base->routes = v;
	base->n_routes = n;
	return 0;
}

static int merge_tests(struct policy *base, const struct policy *over)
{
	struct pol_test *v;

	if (over->n_tests == 0)
		return 0;
	v = join(base->arena, base->tests, base->n_tests, over->tests, over->n_tests, sizeof(*v));
	if (!v)
		return -1;
	base->tests = v;
	base->n_tests += over->n_tests;
	return 0;
}

static int merge_phase(struct policy *base, const struct phase *over)
{
	struct phase *to = NULL;
	uint32_t i;

	for (i = 0; i < base->n_phases; i++)
		if (strcmp(base->phases[i].name, over->name) == 0)
			to = &base->phases[i];
	if (!to) {
		to = &base->phases[base->n_phases++];
		*to = *over;
		to->policy = arena_alloc(base->arena, sizeof(*to->policy));
		if (!to->policy)
			return -1;
		to->policy->arena = base->arena;
		to->policy->files = base->files;
		to->policy->n_files = base->n_files;
	}
	return policy_merge(to->policy, over->policy);
}

static int merge_phases(struct policy *base, const struct policy *over)
{
	struct phase *v;
	uint32_t i;

	if (over->n_phases == 0)
		return 0;
	v = arena_array(base->arena, (size_t)base->n_phases + over->n_phases, sizeof(*v));
	if (!v)
		return -1;
	if (base->n_phases)
		memcpy(v, base->phases, base->n_phases * sizeof(*v));
	base->phases = v;
	for (i = 0; i < over->n_phases; i++)
		if (merge_phase(base, &over->phases[i]) < 0)
			return -1;
	return 0;
}

int policy_merge(struct policy *base, const struct policy *over)
{
	if (merge_fields(base, over) < 0 || merge_providers(base->arena, &base->inference, &over->inference) < 0 ||
	    merge_routes(base->arena, &base->inference, &over->inference) < 0 || merge_tests(base, over) < 0)
		return -1;
	return merge_phases(base, over);
}

#include "gate/inference/budget.h"

#include <stdlib.h>

#include "base/text.h"

struct counts {
	char *name;
	uint64_t requests;
	struct usage_tokens tokens;
};

/* models[BUDGET_MODELS] is "(other)". */
struct account {
	struct counts all;
	uint64_t reserved; /* of output, by requests that are not over */
	uint32_t n_models;
	struct counts models[BUDGET_MODELS + 1];
};

struct budget {
	struct account *v[BUDGET_PROVIDERS];
	uint32_t n;
};

struct budget *budget_new(void)
{
	return calloc(1, sizeof(struct budget));
}

void budget_free(struct budget *b)
{
	uint32_t i, k;

	if (!b)
		return;
	for (i = 0; i < b->n; i++) {
		for (k = 0; k < b->v[i]->n_models; k++)
			free(b->v[i]->models[k].name);
		free(b->v[i]->all.name);
		free(b->v[i]);
	}
	free(b);
}

static struct account *find_account(struct budget *b, const char *provider, uint32_t *ret)
{
	struct account *a;

	for (*ret = 0; *ret < b->n; (*ret)++)
		if (strcmp(b->v[*ret]->all.name, provider) == 0)
			return b->v[*ret];
	if (b->n == BUDGET_PROVIDERS)
		return NULL;
	a = calloc(1, sizeof(*a));
	if (a)
		a->all.name = strdup(provider);
	if (!a || !a->all.name) {
		free(a);
		return NULL;
	}
	b->v[b->n++] = a;
	return a;
}

static uint32_t find_model(struct account *a, const char *model)
{
	uint32_t i;

	for (i = 0; i < a->n_models; i++)
		if (strcmp(a->models[i].name, model) == 0)
			return i;
	if (i == BUDGET_MODELS)
		return i;
	a->models[i].name = strdup(model);
	if (!a->models[i].name)
		return BUDGET_MODELS;
	return a->n_models++;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int check_tokens(const struct provider *p, const struct account *a, const char *shown, struct ruling *no)
{
	uint64_t max = p->max_output_tokens.v, used = sum(a->all.tokens.output, a->all.tokens.cut);

	if (!p->max_output_tokens.set || sum(used, a->reserved) < max || (a->reserved == 0 && used < max))
		return 0;
	if (used >= max)
		return ruling_set(no, RULING_BUDGET, "finish with what is there",
				  "provider %s has written all of the %llu tokens that it may", shown,
				  (unsigned long long)max);
	return ruling_set(
		no, RULING_BUDGET, "wait for the answers that are on their way, or ask for fewer tokens",
		"the requests that run may use all that is left of the %llu tokens that provider %s may write",
		(unsigned long long)max, shown);
}

int budget_admit(struct budget *b, const struct provider *p, const char *model, uint64_t reserve,
		 struct budget_ticket *ret, struct ruling *no)
{
	struct text_shown shown;
	struct account *a;
	uint32_t i, k;

	(void)text_show(&shown, sv_of(p->name));
	a = find_account(b, p->name, &i);
	if (!a)
		return ruling_set(no, RULING_MEMORY, "try again later", "the use of provider %s cannot be counted",
				  shown.s);
	if (p->max_requests.set && a->all.requests >= p->max_requests.v)
		return ruling_set(no, RULING_BUDGET, "finish with what is there",
				  "provider %s has answered all of the %llu requests that it may", shown.s,
				  (unsigned long long)p->max_requests.v);
	if (check_tokens(p, a, shown.s, no) < 0)
		return -1;
	k = find_model(a, model);
	a->all.requests++;
	a->models[k].requests++;
	if (reserve > UINT64_MAX - a->reserved)
		reserve = UINT64_MAX - a->reserved;
	a->reserved += reserve;
	*ret = (struct budget_ticket){.provider = i, .model = k, .reserved = reserve};
	return 0;
}

/* Adds to both sums what `now` is above `before`. By how much. */
static uint64_t grow(uint64_t *before, uint64_t now, uint64_t *all, uint64_t *model)
{
	uint64_t by = now > *before ? now - *before : 0;

	*before += by;
	*all = sum(*all, by);
	*model = sum(*model, by);
	return by;
}

void budget_count(struct budget *b, struct budget_ticket *t, const struct usage_tokens *now)
{
	struct account *a = b->v[t->provider];
	struct usage_tokens *all = &a->all.tokens, *model = &a->models[t->model].tokens;
	uint64_t more;

	(void)grow(&t->counted.input, now->input, &all->input, &model->input);
	(void)grow(&t->counted.cache_read, now->cache_read, &all->cache_read, &model->cache_read);
	(void)grow(&t->counted.cache_write, now->cache_write, &all->cache_write, &model->cache_write);
	more = grow(&t->counted.output, now->output, &all->output, &model->output);
	more = sum(more, grow(&t->counted.cut, now->cut, &all->cut, &model->cut));
	more = more < t->reserved ? more : t->reserved;
	t->reserved -= more;
	a->reserved -= more;
}

void budget_over(struct budget *b, struct budget_ticket *t)
{
	b->v[t->provider]->reserved -= t->reserved;
	t->reserved = 0;
}

static void report_row(const char *provider, const char *model, const struct counts *c,
		       void (*row)(void *, const struct budget_row *), void *ctx)
{
	struct budget_row r = {provider, model, c->requests, c->tokens};

	row(ctx, &r);
}

void budget_report(const struct budget *b, void (*row)(void *ctx, const struct budget_row *r), void *ctx)
{
	uint32_t i, k;

	for (i = 0; i < b->n; i++) {
		const struct account *a = b->v[i];

		report_row(a->all.name, NULL, &a->all, row, ctx);
		for (k = 0; k < a->n_models; k++)
			report_row(a->all.name, a->models[k].name, &a->models[k], row, ctx);
		if (a->models[BUDGET_MODELS].requests)
			report_row(a->all.name, "(other)", &a->models[BUDGET_MODELS], row, ctx);
	}
}

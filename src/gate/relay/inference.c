#include "gate/relay/inference.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/inference/budget.h"
#include "gate/inference/judge.h"
#include "gate/relay/events.h"
#include "gate/relay/placeholders.h"
#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "http/fields.h"
#include "http/target.h"
#include "policy/policy_query.h"

/* What a request that was admitted uses. */
struct inference_use {
	struct budget_ticket ticket;
	struct usage usage;
	enum provider_kind kind;
	bool answered;
	bool counts;	/* an answer with usage has begun */
	bool cancelled; /* there is no answer because nobody waits for it */
	char *provider;
	char model[ENDPOINT_MAX_MODEL + 1];
};

/* NULL: the policy in force has it no more. */
static const struct provider *asked_provider(const struct http_exchange *x)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	const struct relay_http *http = x->relay->http;
	uint32_t i;

	if (x->origin->provider >= http->n_providers)
		return NULL;
	for (i = 0; i < inf->n_providers; i++)
		if (strcmp(inf->providers[i].name, http->providers[x->origin->provider]) == 0)
			return &inf->providers[i];
	return NULL;
}

void inference_as_provider(const struct http_exchange *x, struct denial *d)
{
	const struct provider *p = asked_provider(x);

	d->as_provider = p != NULL;
	d->kind = p ? (enum provider_kind)p->kind.v : PROVIDER_OPENAI;
}

static int refuse(struct http_exchange *x, const struct ruling *no)
{
	const struct provider *p = asked_provider(x);
	struct denial d;

	tell_denied(x, "", no->detail);
	denial_from_ruling(&d, no, true, p ? (enum provider_kind)p->kind.v : PROVIDER_OPENAI);
	return http_exchange_refuse(x, &d);
}

static bool is_credential(struct sv name)
{
	static const char *const names[] = {"authorization", "x-api-key", "x-goog-api-key", "api-key"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (http_name_is(name, names[i]))
			return true;
	return false;
}

/* Credentials, fields that change what is reported, and codings that would hide usage from us. */
static void keep_fields(const struct http_fields *from, struct http_field *to, struct http_fields *ret)
{
	uint32_t i, n = 0;

	for (i = 0; i < from->n; i++)
		if (!is_credential(from->v[i].name) && !endpoint_drops_header(from->v[i].name) && !sv_is(from->v[i].name, "accept-encoding"))
			to[n++] = from->v[i];
	*ret = (struct http_fields){to, n};
}

static int no_memory(struct http_exchange *x)
{
	struct ruling no;

	(void)ruling_set(&no, RULING_MEMORY, "try again later", "out of memory");
	return refuse(x, &no);
}

/* Lists of models cost nothing and are not counted. */
static int admit(struct http_exchange *x, const struct judged *j)
{
	struct inference_use *use;
	struct ruling no;

	if (!j->endpoint->body)
		return 0;
	use = calloc(1, sizeof(*use));
	if (!use)
		return no_memory(x);
	use->kind = (enum provider_kind)j->provider->kind.v;
	memcpy(use->model, j->model, sizeof(use->model));
	use->provider = strdup(j->provider->name);
	if (!use->provider) {
		free(use);
		return no_memory(x);
	}
	if (budget_admit(x->relay->http->budget, j->provider, j->model, j->output_max, &use->ticket, &no) < 0) {
		free(use->provider);
		free(use);
		return refuse(x, &no);
	}
	x->use = use;
	relay_events_model(x->relay->events, sv_of(use->provider), sv_of(use->model), 1, 0, 0);
	return 0;
}

static void allowed(struct http_exchange *x, const struct judged *j)
{
	char rule[256];
	AUTO_BUF kind = {0};

	buf_init(&kind, 1024);
	(void)buf_printf(&kind, "%llu %s %s %s", (unsigned long long)x->relay->now->number, j->provider->name, j->endpoint->path, j->model);
	if (tell_again(x, buf_view(&kind)))
		return;
	(void)snprintf(rule, sizeof(rule), "inference.providers %.100s%s%.100s", j->provider->name, j->model[0] ? " model " : "", j->model);
	tell_allowed(x, buf_view(&kind), rule);
}

static int send_to(struct http_exchange *x, const struct judged *j, struct http_request *head)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	struct sv url = sv_of(j->provider->url.s);
	char path[HTTP_MAX_TARGET];
	struct http_target t;
	struct ruling no;

	if (url.n > sizeof(path) || http_target(sv_of("GET"), url, path, &t) || t.form != HTTP_FORM_ABSOLUTE) {
		(void)ruling_set(&no, RULING_DENIED, "ask the operator", "the provider's url cannot be used");
		return refuse(x, &no);
	}
	if (admit(x, j) < 0)
		return -1;
	head->tls = t.tls;
	head->host = http_authority_host(&t.authority);
	head->port = t.authority.port;
	if (http_exchange_send(x, head, (uint32_t)(j->provider - inf->providers)) < 0)
		return -1;
	allowed(x, j);
	return 0;
}

/*
 * Judges the body in its canonical form, where escapes hide nothing. What is taken out of it then may have been part of what was judged, so that it is judged again:
 * what is judged is what is sent.
 */
static int judge_collected(struct http_exchange *x, struct judged *j)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	const struct judged head = *j;
	struct ruling no;
	int masked;

	if (judge_body(inf, x->request, &x->body, j, &no) < 0)
		return refuse(x, &no);
	masked = placeholders_mask_body(x);
	if (masked < 0)
		return -1;
	*j = masked ? head : *j;
	if (masked && judge_body(inf, x->request, &x->body, j, &no) < 0)
		return refuse(x, &no);
	return placeholders_check_body(x);
}

int inference_judge(struct http_exchange *x)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	const struct provider *provider = asked_provider(x);
	struct http_field fields[HTTP_MAX_FIELDS];
	struct http_request head = *x->request;
	struct judged j;
	struct ruling no;

	if (!provider) {
		(void)ruling_set(&no, RULING_DENIED, "ask the operator", "the policy has no such provider any more");
		return refuse(x, &no);
	}
	if (judge_head(inf, provider, x->request, &j, &no) < 0)
		return refuse(x, &no);
	if (j.endpoint->body && !x->collected)
		return http_exchange_collect(x, SCAN_MAX_BYTES);
	if (x->collected && judge_collected(x, &j) < 0)
		return -1;
	keep_fields(&x->request->fields, fields, &head.fields);
	head.target = sv_of(j.target);
	if (placeholders_check_head(x, &head, false) < 0)
		return -1;
	return send_to(x, &j, &head);
}

bool inference_allowed_still(const struct http_exchange *x)
{
	const struct provider *provider = asked_provider(x);
	struct reason why;
	struct judged j;
	struct ruling no;

	if (!provider || judge_head(&x->relay->now->policy->inference, provider, x->request, &j, &no) < 0)
		return false;
	if (!x->use || !x->use->model[0])
		return true;
	policy_query_model(x->relay->now->policy, x->use->model, &why);
	return why.answer == ANSWER_ALLOW;
}

static bool is_event_stream(const struct http_fields *f)
{
	const struct sv *type = http_field(f, "content-type");
	struct sv name;
	const char *semicolon;

	if (!type)
		return false;
	semicolon = type->n ? memchr(type->p, ';', type->n) : NULL;
	name = http_trim(sv_n(type->p, semicolon ? (size_t)(semicolon - type->p) : type->n));
	return http_eq_nocase(name, "text/event-stream");
}

void inference_answer(struct http_exchange *x, const struct http_response *r)
{
	if (!x->use)
		return;
	x->use->answered = true;
	if (r->status >= 300)
		return;
	x->use->counts = true;
	usage_init(&x->use->usage, x->use->kind, is_event_stream(&r->fields));
}

void inference_data(struct http_exchange *x, struct sv bytes)
{
	if (x->use && x->use->counts)
		usage_feed(&x->use->usage, bytes);
}

void inference_cancelled(struct http_exchange *x)
{
	if (x->use && !x->use->answered)
		x->use->cancelled = x->all_sent;
}

void inference_over(struct http_exchange *x)
{
	struct inference_use *use = x->use;
	struct usage_tokens tokens;

	if (!use)
		return;
	if (use->counts || use->cancelled) {
		usage_end(&use->usage, use->ticket.reserved, x->ended, &tokens);
		budget_count(x->relay->http->budget, &use->ticket, &tokens);
		relay_events_model(x->relay->events, sv_of(use->provider), sv_of(use->model), 0, tokens.input + tokens.cache_read + tokens.cache_write, tokens.output);
	}
	budget_over(x->relay->http->budget, &use->ticket);
	free(use->provider);
	free(use);
	x->use = NULL;
}

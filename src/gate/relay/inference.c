#include "gate/relay/inference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/field_name.h"
#include "gate/inference/headers.h"
#include "gate/inference/judge.h"
#include "gate/inference/usage_strip.h"
#include "gate/relay/events.h"
#include "gate/relay/placeholders.h"
#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "http/fields.h"
#include "http/target.h"
#include "policy/policy_query.h"

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
	char rule[512] = "";
	struct denial d;

	/* what is malformed, or too much for us, is no rule's doing */
	if (no->model[0])
		(void)snprintf(rule, sizeof(rule), "inference.providers %s model %s", no->provider, no->model);
	else if (no->status == RULING_DENIED || no->status == RULING_BUDGET)
		(void)snprintf(rule, sizeof(rule), "inference.providers%s%.100s", p ? " " : "", p ? p->name : "");
	tell_denied(x, rule, no->detail);
	denial_from_ruling(&d, no, true, p ? (enum provider_kind)p->kind.v : PROVIDER_OPENAI);
	return http_exchange_refuse(x, &d);
}

static bool is_credential(struct sv name)
{
	static const char *const names[] = {"authorization", "x-api-key", "x-goog-api-key", "api-key"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (field_name_is(name, names[i]))
			return true;
	return false;
}

/* But for credentials, and what does not pass to a provider. */
static void keep_fields(const struct provider *p, const struct http_fields *from, struct http_field *to,
			struct http_fields *ret)
{
	uint32_t i, n = 0;

	for (i = 0; i < from->n; i++)
		if (!is_credential(from->v[i].name) && !headers_drop(p, from->v[i].name))
			to[n++] = from->v[i];
	*ret = (struct http_fields){to, n};
}

static int no_memory(struct http_exchange *x)
{
	struct ruling no;

	(void)ruling_set(&no, RULING_MEMORY, "try again later", "out of memory");
	return refuse(x, &no);
}

static void put_kind(const struct http_exchange *x, const struct judged *j, struct buf *out)
{
	buf_init(out, 1024);
	(void)buf_printf(out, "%llu %s %s %s", (unsigned long long)x->relay->now->number, j->provider->name,
			 j->endpoint->path, j->model);
}

static bool log_is_full(const struct http_exchange *x, const struct judged *j)
{
	AUTO_BUF kind = {0};

	if (!relay_events_full(x->relay->events))
		return false;
	put_kind(x, j, &kind);
	return !tell_has_room(x, buf_view(&kind));
}

static void allowed(struct http_exchange *x, const struct judged *j)
{
	char rule[256];
	AUTO_BUF kind = {0};

	put_kind(x, j, &kind);
	/* the first of a kind is named before anything can hide it; of others only those count that are within the
	 * budget, which egress knows */
	if (!buf_failed(&kind) && relay_events_begin(x->relay->events, DOMAIN_INFERENCE, buf_view(&kind))) {
		x->kind = buf_take(&kind);
		return;
	}
	(void)snprintf(rule, sizeof(rule), "inference.providers %.100s%s%.100s", j->provider->name,
		       j->model[0] ? " model " : "", j->model);
	tell_allowed(x, buf_view(&kind), rule);
}

static int send_to(struct http_exchange *x, const struct judged *j, struct http_request *head)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	struct sv url = sv_of(j->provider->url.s);
	char path[HTTP_MAX_TARGET];
	struct http_target t;
	struct ruling no;

	if (url.n + http_target_growth(url) > sizeof(path) || http_target(sv_of("GET"), url, path, &t) ||
	    t.form != HTTP_FORM_ABSOLUTE) {
		(void)ruling_set(&no, RULING_DENIED, "ask the operator", "the provider's url cannot be used");
		return refuse(x, &no);
	}
	if (log_is_full(x, j))
		return http_exchange_refuse_full(x, tell_no_room);
	free(x->model);
	x->model = strdup(j->model);
	if (!x->model)
		return no_memory(x);
	head->tls = t.tls;
	head->host = http_authority_host(&t.authority);
	head->port = t.authority.port;
	if (http_exchange_send(x, head, (uint32_t)(j->provider - inf->providers)) < 0)
		return -1;
	allowed(x, j);
	return 0;
}

/*
 * Judges the body in its canonical form, where escapes hide nothing. What is taken out of it then may have been part of
 * what was judged, so that it is judged again: what is judged is what is sent.
 */
static int judge_collected(struct http_exchange *x, struct judged *j)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	const struct judged head = *j;
	struct ruling no;
	int masked;

	if (judge_body(inf, x->request, &x->body, j, &no) < 0)
		return refuse(x, &no);
	x->usage_added = j->usage_added; /* what was edited is found to be asked for the second time */
	masked = placeholders_mask_body(x);
	if (masked < 0)
		return -1;
	*j = masked ? head : *j;
	if (masked && judge_body(inf, x->request, &x->body, j, &no) < 0)
		return refuse(x, &no);
	return placeholders_check_body(x);
}

static bool is_greeting(const struct http_request *r)
{
	return sv_is(r->method, "HEAD") && sv_is(r->target, "/") && !r->body && !r->websocket;
}

/* Nothing of it goes anywhere, so there is nothing to judge; but it is to be complete first. */
static int greet(struct http_exchange *x)
{
	static const struct http_response here = {.status = 200, .reason = {"OK", 2}};

	if (!x->collected)
		return http_exchange_collect(x, 0);
	relay_events_request(x->relay->events, false);
	return http_exchange_answer(x, &here);
}

int inference_judge(struct http_exchange *x)
{
	const struct pol_inference *inf = &x->relay->now->policy->inference;
	const struct provider *provider = asked_provider(x);
	struct http_field fields[HTTP_MAX_FIELDS] __attribute__((uninitialized));
	struct http_request head = *x->request;
	struct judged j;
	struct ruling no;

	if (!provider) {
		(void)ruling_set(&no, RULING_DENIED, "ask the operator", "the policy has no such provider any more");
		return refuse(x, &no);
	}
	if (is_greeting(x->request))
		return greet(x);
	if (judge_head(inf, provider, x->request, &j, &no) < 0)
		return refuse(x, &no);
	if (j.endpoint->body && !x->collected)
		return http_exchange_collect(x, SCAN_MAX_BYTES);
	if (x->collected && judge_collected(x, &j) < 0)
		return -1;
	keep_fields(j.provider, &x->request->fields, fields, &head.fields);
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
	if (!x->model || !x->model[0])
		return true;
	policy_query_model(x->relay->now->policy, x->model, &why);
	return why.answer == ANSWER_ALLOW;
}

static bool is_plain_stream(const struct http_response *r)
{
	const struct sv *type = http_field(&r->fields, "content-type");

	return r->status >= 200 && r->body && type && type->n >= 17 &&
	       http_eq_nocase(sv_n(type->p, 17), "text/event-stream") && !http_field(&r->fields, "content-encoding");
}

int inference_answer_begin(struct http_exchange *x, struct http_response *r)
{
	if (!x->usage_added || x->strip || !is_plain_stream(r))
		return 0;
	x->strip = malloc(sizeof(*x->strip));
	if (!x->strip)
		return -ENOMEM;
	usage_strip_init(x->strip);
	r->length = HTTP_LENGTH_UNKNOWN;
	return 0;
}

int inference_answer_give(struct http_exchange *x, struct sv bytes, bool end)
{
	size_t before = x->strip->held.n, gone;
	AUTO_BUF out = {0};
	int r;

	buf_init(&out, bytes.n + USAGE_STRIP_MAX + 64);
	r = usage_strip_feed(x->strip, bytes, &out);
	if (r == 0 && end)
		r = usage_strip_end(x->strip, &out);
	if (r < 0)
		return -ENOMEM;
	/* the client will not say that it has taken these */
	gone = before + bytes.n - out.n - x->strip->held.n;
	if (gone && !end)
		http_exchange_consumed(x, gone);
	if (out.n)
		x->client->data(x, buf_view(&out));
	return 0;
}

void inference_answer_done(struct http_exchange *x)
{
	if (x->strip)
		usage_strip_done(x->strip);
	free(x->strip);
	x->strip = NULL;
}

#include "gate/relay/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/inference/rpc_rules.h"
#include "gate/relay/ask.h"
#include "gate/relay/events.h"
#include "gate/relay/inference.h"
#include "gate/relay/placeholders.h"
#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "policy/net_form.h"
#include "policy/net_recent.h"

static void look_at(const struct http_fields *f, struct net_asks *asks)
{
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		asks->override = asks->override || net_field_overrides(f->v[i].name);
		asks->rewrite = asks->rewrite || net_field_rewrites(f->v[i].name);
		asks->rehost = asks->rehost || net_field_rehosts(f->v[i].name, f->v[i].value);
	}
}

/* Trailers count too: there are servers that take them for fields of the head. */
static struct net_request question(const struct http_exchange *x)
{
	const struct http_request *r = x->request;
	struct net_request q = {.host = r->host, .port = r->port, .method = r->method, .target = r->target};

	look_at(&r->fields, &q.asks);
	if (x->trailers)
		look_at(x->trailers, &q.asks);
	return q;
}

static int refuse_form(struct http_exchange *x, uint16_t status, const char *hint, const char *detail)
{
	struct denial d;

	if (status < 500)
		tell_denied(x, "", detail);
	denial_set(&d, status, denial_code(status), hint, "%s", detail);
	return http_exchange_refuse(x, &d);
}

/* "network.allow pypi.org (policy.yaml:7)" */
static void name_rule(const struct ruleset *rules, const struct net_verdict *v, const struct reason *why, char out[512])
{
	struct net_where where;

	if (why->rule[0])
		(void)snprintf(out, 512, "%s (%s)", why->rule, net_rules_where(rules, v, &where));
	else
		out[0] = '\0';
}

static int deny(struct http_exchange *x, const struct net_request *q, const struct net_verdict *v)
{
	const struct ruleset *rules = x->relay->now->rules;
	struct reason why;
	char rule[512];
	struct denial d;
	bool asked;

	net_rules_reason(rules, q, NULL, v, &why);
	name_rule(rules, v, &why, rule);
	tell_denied(x, rule, why.text);
	asked = v->ask && relay_ask(x->relay, q->host, q->port);
	denial_set(&d, 403, "policy_denied", asked ? "a person is being asked; try again in a minute" : why.hint, "%s",
		   why.text);
	d.domain = "network";
	return http_exchange_refuse(x, &d);
}

static int deny_body(struct http_exchange *x, const struct net_request *q, const struct net_verdict *v,
		     const struct ruling *no)
{
	const struct ruleset *rules = x->relay->now->rules;
	struct reason why;
	char rule[512];
	struct denial d;

	net_rules_reason(rules, q, NULL, v, &why);
	name_rule(rules, v, &why, rule);
	tell_denied(x, rule, no->detail);
	denial_from_ruling(&d, no, false, PROVIDER_OPENAI);
	return http_exchange_refuse(x, &d);
}

/* A kind: method, host, port, rule, policy; numbers as they are, since nobody reads them. */
static struct sv kind_of(const struct http_exchange *x, const struct net_request *q, const struct net_verdict *v)
{
	struct buf *kind = &x->relay->http->text;

	buf_clear(kind);
	(void)buf_sv(kind, q->method);
	(void)buf_char(kind, ' ');
	(void)buf_sv(kind, q->host);
	(void)buf_add(kind, &q->port, sizeof(q->port));
	(void)buf_add(kind, &v->next, sizeof(v->next));
	(void)buf_add(kind, &x->relay->now->number, sizeof(x->relay->now->number));
	return buf_view(kind);
}

static void allowed(struct http_exchange *x, const struct net_request *q, const struct net_verdict *v)
{
	const struct ruleset *rules = x->relay->now->rules;
	struct sv kind = kind_of(x, q, v);
	struct reason why;
	char rule[512];

	if (tell_again(x, kind))
		return;
	net_rules_reason(rules, q, NULL, v, &why);
	name_rule(rules, v, &why, rule);
	tell_allowed(x, kind, rule);
}

/* The rules that go along with head and body. 0: v is the verdict, and the body is the one to send; -1: refused. */
static int find_body_rules(struct http_exchange *x, struct net_request *q, struct net_verdict *v)
{
	const struct net_request first_question = *q;
	const struct net_verdict first = *v;
	struct ruling no;

	if (rpc_rules_end(x->relay->now->rules, q, x->request, &x->body, v, &no) == 0)
		return 0;
	return no.status == RULING_MEMORY ? refuse_form(x, 503, NULL, no.detail)
					  : deny_body(x, &first_question, &first, &no);
}

/* The body was collected, or there is none. */
static int judge_whole(struct http_exchange *x, struct net_request *q, struct net_verdict *v)
{
	return find_body_rules(x, q, v) < 0 ? -1 : placeholders_check_body(x);
}

int http_exchange_judge_form(struct http_exchange *x, struct sv bytes)
{
	struct net_request q = question(x);
	struct net_verdict v;

	if (!net_form_feed(x->form, bytes))
		return 0;
	if (x->form->illegible)
		return refuse_form(x, 403, "send it in UTF-8, and JSON without comments and odd quotes",
				   net_form_illegible);
	q.asks.override = true;
	net_rules_request(x->relay->now->rules, &q, &v);
	if (!v.allow)
		return deny(x, &q, &v);
	/* another rule might let it pass, but what is on its way goes by this one */
	return refuse_form(x, 403, "send the method itself", "the body asks for another method than the rule allows");
}

static struct net_form *new_form(const struct http_fields *fields)
{
	struct net_form *form = malloc(sizeof(*form));
	struct net_form_head head = {0};
	uint32_t i;

	for (i = 0; form && i < fields->n; i++)
		net_form_head_field(&head, fields->v[i].name, fields->v[i].value);
	if (form)
		net_form_init(form, &head);
	return form;
}

/* A body that must not ask for another method is looked into on its way, one that was collected at once. Egress unpacks
 * it, too. */
static int watch_form(struct http_exchange *x, const struct net_request *q, const struct net_verdict *v)
{
	if (!net_form_matters(x->relay->now->rules, q, v))
		return 0;
	x->form = new_form(&x->request->fields);
	if (!x->form)
		return http_exchange_refuse_full(x, "out of memory");
	return x->collected ? http_exchange_judge_form(x, buf_view(&x->body)) : 0;
}

int http_exchange_judge_network(struct http_exchange *x)
{
	struct http_field fields[HTTP_MAX_FIELDS]
		__attribute__((uninitialized)); /* few of them are used: clearing all would cost more than judging */
	struct http_request head = *x->request;
	struct net_request q = question(x);
	struct net_verdict v;

	if (sv_is(head.method, "CONNECT"))
		return refuse_form(x, 405, "open a connection for it",
				   "CONNECT must be the first request of a connection to the proxy");
	if (x->origin->proxy && head.tls)
		return refuse_form(x, 400, "use CONNECT", "the proxy does not make https:// out of a plain request");
	net_recent_request(x->relay->now->recent, &q, &v);
	if (!v.allow)
		return deny(x, &q, &v);
	if (rpc_rules_begin(x->relay->now->rules, &q, &head, &v) && !x->collected)
		return http_exchange_collect(x, RPC_BODY_MAX);
	if (judge_whole(x, &q, &v) < 0)
		return -1;
	if (head.body && watch_form(x, &q, &v) < 0)
		return -1;
	if (relay_events_full(x->relay->events) && !tell_has_room(x, kind_of(x, &q, &v)))
		return http_exchange_refuse_full(x, tell_no_room);
	if (x->relay->placeholders) {
		if (head.fields.n)
			memcpy(fields, head.fields.v, head.fields.n * sizeof(fields[0]));
		head.fields.v = fields;
		if (placeholders_check_head(x, &head, v.found.keyed != NULL) < 0)
			return -1;
	}
	/* before `allowed` uses the text that a shortened target lives in */
	if (http_exchange_send(x, &head, 0) < 0)
		return -1;
	allowed(x, &q, &v);
	return 0;
}

int http_exchange_judge_trailers(struct http_exchange *x)
{
	struct net_request q = question(x);
	struct net_verdict v;

	net_rules_request(x->relay->now->rules, &q, &v);
	return v.allow ? 0 : deny(x, &q, &v);
}

/* A body that is under way, and was not looked into so far. False: it asks, or a part of it that the policy now wants
 * to see is gone. */
static bool watch_form_still(struct http_exchange *x, const struct net_request *q, const struct net_verdict *v)
{
	if (x->form || x->all_given || !x->request->body || !net_form_matters(x->relay->now->rules, q, v))
		return true;
	if (x->bytes_out > x->head_out)
		return false;
	x->form = new_form(&x->request->fields);
	return x->form && !net_form_feed(x->form, buf_view(&x->body)); /* what came still waits here */
}

bool http_exchange_allowed_still(struct http_exchange *x)
{
	struct net_request q;
	struct net_verdict v;

	if (x->origin->inference)
		return inference_allowed_still(x);
	q = question(x);
	net_rules_request(x->relay->now->rules, &q, &v);
	/* a rule that has a say in the body must have seen it as a whole; egress, which has it too, judges one that was
	 * collected */
	if (!v.allow || (v.body && !x->collected && (x->request->body || x->request->websocket)))
		return false;
	return watch_form_still(x, &q, &v);
}

#include <errno.h>

#include "gate/egress/exchange_parts.h"
#include "gate/egress/form_watch.h"
#include "gate/inference/models.h"
#include "gate/inference/rpc_rules.h"
#include "http/fields.h"
#include "http/target.h"
#include "policy/net_provider.h"

static bool deny(struct exchange *x, enum gate_failure why, struct sv rule, const char *text)
{
	exchange_fail(x, why, rule, text);
	return false;
}

/* Is it in the form that readers make, so that what is judged is what the server will understand? */
static bool is_canonical(const struct http_request *r, char *room)
{
	struct http_authority a;
	struct http_path path;

	if (!http_is_token(r->method) || sv_is(r->method, "CONNECT") || sv_is(r->method, "TRACE") || r->port == 0)
		return false;
	if (r->body && !http_method_has_body(r->method))
		return false;
	/* an IPv6 address stands without brackets: it is read by the rules, not by this */
	if (!memchr(r->host.p, ':', r->host.n) &&
	    (http_authority(r->host, &a) || !sv_eq(http_authority_host(&a), r->host)))
		return false;
	if (sv_is(r->target, "*"))
		return sv_is(r->method, "OPTIONS");
	return r->target.n && r->target.n <= HTTP_MAX_TARGET && http_target_growth(r->target) == 0 &&
	       !http_path(r->target, room, &path) && sv_eq(path.text, r->target);
}

static void look_at(const struct http_fields *f, struct net_asks *asks)
{
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		asks->override = asks->override || net_field_overrides(f->v[i].name);
		asks->rewrite = asks->rewrite || net_field_rewrites(f->v[i].name);
		asks->rehost = asks->rehost || net_field_rehosts(f->v[i].name, f->v[i].value);
	}
}

bool exchange_check(struct exchange *x, const struct link_request *r)
{
	struct egress *e = x->egress;
	const struct pol_inference *inference = &e->now->policy->inference;
	char *room = arena_alloc(x->arena, r->head.target.n + 1);

	look_at(&x->request.fields, &x->asks);
	if (!room || !is_canonical(&x->request, room))
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), "the request is not in its canonical form");
	if (!quota_is_open(&e->quota))
		return deny(x, GATE_FAILURE_QUOTA, sv_of("network.max_bytes_out"), "network.max_bytes_out is used up");
	if (!x->inference)
		return true;
	/* a relay that has not seen the newest policy may mean another provider by this number: then host and path do
	 * not fit, and it is refused */
	if (r->provider >= inference->n_providers || x->request.websocket)
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), "the policy has no such provider");
	x->provider = arena_str(x->arena, sv_of(inference->providers[r->provider].name));
	return x->provider ? true : deny(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL);
}

/* Trailers count too, once they are there: some servers take them for fields of the head. */
static struct net_request question(const struct exchange *x)
{
	const struct http_request *r = &x->request;
	struct net_request q = {
		.host = r->host, .port = r->port, .method = r->method, .target = r->target, .asks = x->asks};

	look_at(&x->call.trailers, &q.asks);
	q.asks.override = q.asks.override || x->form_asks;
	return q;
}

/* Of a name that may not lead where it does. */
static enum gate_failure failure_of_address(enum net_why why)
{
	return why == WHY_DENIED ? GATE_FAILURE_RANGE : GATE_FAILURE_ADDRESS;
}

static bool deny_by_rule(struct exchange *x, enum gate_failure why, const struct net_request *q,
			 const struct address *a, const struct net_verdict *v)
{
	const struct ruleset *rules = x->egress->now->rules;
	struct net_where where;
	struct reason reason;
	AUTO_BUF rule = {0};

	buf_init(&rule, 1024);
	net_rules_reason(rules, q, a, v, &reason);
	(void)buf_str(&rule, reason.rule);
	if (reason.rule[0] && net_rules_where(rules, v, &where)[0])
		(void)buf_printf(&rule, " (%s)", where.s);
	return deny(x, why, buf_view(&rule), reason.text);
}

static void set_length(struct exchange *x)
{
	if (!x->request.body)
		return;
	x->request.length = (int64_t)x->call.body.n;
}

/* Has nothing of it gone out? Then it goes as the policy of now has it, whatever it was judged by. */
static bool is_unsent(const struct exchange *x)
{
	return !x->call.up && x->sent == 0 && !x->answered;
}

/* name NULL: none. */
static bool set_credential(struct exchange *x, const char *name)
{
	if (!is_unsent(x) && x->credential && (!name || strcmp(name, x->credential) != 0))
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0),
			    "the policy no longer adds the credential that this request was sent with");
	if (!is_unsent(x))
		return true;
	x->credential = name ? arena_str(x->arena, sv_of(name)) : NULL;
	return name && !x->credential ? deny(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL) : true;
}

/* A body that must not ask for another method is looked into as it comes. */
static bool watch_form(struct exchange *x, const struct net_request *q, const struct net_verdict *v, bool waits)
{
	const struct ruleset *rules = x->egress->now->rules;

	if (!x->request.body)
		return true;
	/* where the body has a say, which rule it is will be known after it */
	x->form_matters = waits || net_form_matters(rules, q, v);
	if (!x->form_matters && !net_rules_ranges_mind_methods(rules))
		return true;
	form_watch_free(x->form);
	x->form = form_watch_new(&x->request.fields);
	return x->form ? true : deny(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL);
}

/* By the address that it is sent to, or all that it may be sent to by a proxy. */
static bool judge_sent_to(struct exchange *x)
{
	const struct dial_places *to = x->call.up && !x->inference ? &x->call.up->places : NULL;
	struct net_request q = question(x);
	struct net_verdict v;
	unsigned i;

	for (i = 0; to && i < to->n; i++) {
		net_rules_address(x->egress->now->rules, &to->v[i].address, &q, to->v[i].fixed, &v);
		if (!v.allow)
			return deny_by_rule(x, failure_of_address(v.why), &q, &to->v[i].address, &v);
	}
	return true;
}

bool exchange_judge_form(struct exchange *x, struct sv bytes)
{
	enum form_watch_result result = form_watch_feed(x->form, bytes, x->egress->scratch, EGRESS_SCRATCH);
	struct net_request q;
	struct net_verdict v;

	if (result == FORM_FINE)
		return true;
	if (result == FORM_ILLEGIBLE && x->form_matters)
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), net_form_illegible);
	x->form_asks = true; /* as far as can be told: where it has no connection yet, it gets none that minds */
	if (!x->form_matters)
		return judge_sent_to(x);
	q = question(x);
	net_rules_request(x->egress->now->rules, &q, &v);
	if (!v.allow)
		return deny_by_rule(x, GATE_FAILURE_POLICY, &q, NULL, &v);
	return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), "the body asks for another method than the rule allows");
}

static const char wants_body[] = "the policy now wants to see the body of this request, which has gone out";

/*
 * By a policy that came when the body was under way: what was not looked into so far is, where it is still here. Where
 * it is not, nobody can say what the rest of it makes of it; a body that has gone out to its end is what the policy
 * before allowed.
 */
static bool watch_form_again(struct exchange *x, const struct net_request *q, const struct net_verdict *v, bool waits)
{
	const struct call *c = &x->call;
	const struct buf *all = x->sent == 0 ? &c->body : &x->kept;

	waits = waits && x->sent == 0; /* else must_see_body() says whether it may go on */
	if (x->form) {
		x->form_matters = waits || net_form_matters(x->egress->now->rules, q, v);
		return true;
	}
	if (x->discard || (x->ended && x->sent && c->body_at == c->body.n))
		return true;
	if (!watch_form(x, q, v, waits))
		return false;
	if (!x->form || x->sent == 0 || all->n)
		return !x->form || exchange_judge_form(x, buf_view(all));
	x->form_asks = true; /* for all that is known */
	return x->form_matters ? deny(x, GATE_FAILURE_POLICY, sv_n("", 0), wants_body) : true;
}

static enum gate_failure failure_of(const struct ruling *no)
{
	if (no->status == RULING_BUDGET)
		return GATE_FAILURE_QUOTA;
	return no->status == RULING_MEMORY ? GATE_FAILURE_INTERNAL : GATE_FAILURE_POLICY;
}

static bool deny_by_rate(struct exchange *x)
{
	return deny(x, GATE_FAILURE_QUOTA, sv_of("network.allow rate"),
		    "more requests than the rule's rate allows; try again later");
}

/* One request from the budget of each rule that it goes by: from all, or from none. */
static bool take_rates(struct exchange *x, const struct net_verdict *v)
{
	struct generation *g = x->egress->now;
	const uint64_t now = (uint64_t)loop_now(x->egress->loop) * 1000000;
	struct net_budget *first = v->rate ? &g->budgets[v->budget] : NULL, *second = NULL, before = {0};

	if (v->found.keyed && v->found.keyed->rate.set)
		second = &g->budgets[net_rules_budget(g->rules, net_rules_number(g->rules, v->found.keyed))];
	if (first) {
		before = *first;
		if (!net_rate_take(first, v->rate, now))
			return false;
	}
	if (!second || second == first || net_rate_take(second, v->found.keyed->rate.v, now))
		return true;
	if (first)
		*first = before;
	return false;
}

static bool judge_network(struct exchange *x, bool whole, bool count)
{
	const struct ruleset *rules = x->egress->now->rules;
	struct net_request q = question(x);
	struct net_verdict v;
	struct ruling no;
	bool waits, unsent = is_unsent(x);

	net_recent_request(x->egress->now->recent, &q, &v);
	if (!v.allow)
		return deny_by_rule(x, GATE_FAILURE_POLICY, &q, NULL, &v);
	waits = rpc_rules_begin(rules, &q, &x->request, &v);
	if (!(count ? whole || watch_form(x, &q, &v, waits) : watch_form_again(x, &q, &v, waits)))
		return false;
	x->collect = x->collect || waits;
	/* where the body has a say the rules are known only after it */
	if (x->collect && !whole)
		return true;
	if (rpc_rules_end(rules, &q, &x->request, unsent ? &x->call.body : &x->kept, &v, &no) < 0)
		return deny(x, failure_of(&no), sv_n("", 0), no.detail);
	if (waits && unsent)
		set_length(x);
	if (count && !take_rates(x, &v))
		return deny_by_rate(x);
	return set_credential(x, v.found.keyed ? v.found.keyed->credential.s : NULL);
}

const struct provider *exchange_provider(const struct exchange *x)
{
	const struct pol_inference *p = &x->egress->now->policy->inference;
	uint32_t i;

	for (i = 0; i < p->n_providers; i++)
		if (strcmp(p->providers[i].name, x->provider) == 0)
			return &p->providers[i];
	return NULL;
}

/* The request as the client made it, relative to the base URL: the url's path taken off, but for a version at its end,
 * which clients send themselves. */
static int judge_relative(const struct exchange *x, const struct provider *p, size_t cut, struct http_request *relative,
			  struct judged *ret, struct ruling *no)
{
	*relative = x->request;
	relative->target = sv_n(x->request.target.p + cut, x->request.target.n - cut);
	if (judge_head(&x->egress->now->policy->inference, p, relative, ret, no) < 0)
		return -1;
	if (sv_eq(sv_of(ret->target), x->request.target))
		return 0;
	return ruling_set(no, RULING_DENIED, "", "the path is not below the provider's url");
}

/* Host, port and path are the provider's; the head passes. */
static int judge_endpoint(const struct exchange *x, const struct provider *p, struct http_request *relative,
			  struct judged *ret, struct ruling *no)
{
	struct sv target = x->request.target, url = sv_of(p->url.s ? p->url.s : "");
	struct http_target t;
	char room[ENDPOINT_MAX_TARGET];
	size_t n, cut;

	if (url.n == 0 || url.n + http_target_growth(url) > sizeof(room) || http_target(sv_of("GET"), url, room, &t) ||
	    t.form != HTTP_FORM_ABSOLUTE || t.tls != x->request.tls || t.authority.port != x->request.port ||
	    !sv_eq(http_authority_host(&t.authority), x->request.host))
		return ruling_set(no, RULING_DENIED, "", "the request does not go to the provider that it names");
	n = t.path.text.n;
	while (n && t.path.text.p[n - 1] == '/')
		n--;
	if (target.n <= n || memcmp(target.p, t.path.text.p, n) != 0 || target.p[n] != '/')
		return ruling_set(no, RULING_DENIED, "", "the path is not below the provider's url");
	if (judge_relative(x, p, n, relative, ret, no) == 0)
		return 0;
	for (cut = n; cut && target.p[cut - 1] != '/'; cut--)
		;
	return cut ? judge_relative(x, p, cut - 1, relative, ret, no) : -1;
}

/* One that is on its way, or answered: by what is known of its body. */
static bool judge_sent_model(struct exchange *x, const struct provider *p)
{
	const struct provider *serves = p;
	struct ruling no;

	if (x->model && x->model[0] &&
	    (models_choose(&x->egress->now->policy->inference, sv_of(x->model), &serves, &no) < 0 || serves != p))
		return deny(x, GATE_FAILURE_POLICY, sv_of("inference.providers"),
			    "the policy no longer has the model that this request asks");
	return set_credential(x, p->credential.s);
}

static bool judge_model(struct exchange *x, bool whole, bool count)
{
	struct egress *e = x->egress;
	const struct provider *p = exchange_provider(x);
	struct http_request relative;
	struct ruling no = {0};
	struct judged judged;
	bool admit;
	int r;

	if (!p)
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), "the policy has no such provider");
	r = judge_endpoint(x, p, &relative, &judged, &no);
	if (r == 0 && judged.endpoint->body && !x->request.body)
		r = ruling_set(&no, RULING_MALFORMED, "", "the request has no body");
	x->collect = r == 0 && judged.endpoint->body;
	if (r == 0 && !judged.endpoint->body && x->request.body)
		r = ruling_set(&no, RULING_MALFORMED, "", "the request has a body where none is due");
	if (r == 0 && x->collect && whole) {
		r = judge_body(&e->now->policy->inference, &relative, &x->call.body, &judged, &no);
		if (r == 0 && judged.provider != p)
			r = ruling_set(&no, RULING_DENIED, "", "the model is routed to another provider");
	}
	admit = count && (whole || !x->collect) && !x->admitted;
	if (r == 0 && admit)
		r = budget_admit(e->budget, p, judged.model[0] ? judged.model : "(list of models)", judged.output_max,
				 &x->ticket, &no);
	if (r < 0)
		return deny(x, failure_of(&no), sv_of("inference.providers"), no.detail);
	if (x->collect && !whole)
		return is_unsent(x) ? true : judge_sent_model(x, p);
	set_length(x);
	if (count)
		x->counting = x->collect;
	x->model = arena_str(x->arena, sv_of(judged.model));
	x->admitted = x->admitted || admit;
	return set_credential(x, p->credential.s);
}

/* A signature may cover the body: then it is to be collected too. */
static bool wants_hash(const struct exchange *x)
{
	const struct grant *g = x->credential ? grants_find(&x->egress->grants, x->credential) : NULL;

	return g && g->inject.kind == INJECT_SIGV4 && x->request.body &&
	       !(x->request.tls && strcmp(g->inject.service, "s3") == 0);
}

/* What a policy that comes later would have to see, once it was sent. */
static void keep(struct exchange *x)
{
	if (!x->whole || x->inference)
		return;
	buf_done(&x->kept);
	buf_init(&x->kept, EXCHANGE_KEPT);
	if (buf_sv(&x->kept, buf_view(&x->call.body)) < 0)
		buf_done(&x->kept);
}

/* It was judged when its head came, and waited only to be signed; but a policy that came since then may have a say in
 * its body. */
static bool judge_signed(struct exchange *x)
{
	const char *signer = x->credential; /* NULL: a policy took it away */
	struct net_request q = question(x);
	struct net_verdict v;

	if (!judge_network(x, true, false))
		return false;
	net_rules_request(x->egress->now->rules, &q, &v);
	if (!rpc_rules_begin(x->egress->now->rules, &q, &x->request, &v) &&
	    (!x->credential || !signer || strcmp(x->credential, signer) != 0))
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0),
			    "the policy no longer names the credential that this request was to be signed with");
	x->whole = true;
	set_length(x);
	keep(x);
	return exchange_reserve(x);
}

bool exchange_judge(struct exchange *x, bool whole)
{
	if (x->hash && !x->inference)
		return judge_signed(x);
	if (!(x->inference ? judge_model(x, whole, true) : judge_network(x, whole, true)))
		return false;
	x->whole = whole;
	x->hash = wants_hash(x);
	x->collect = x->collect || x->hash;
	keep(x);
	return exchange_reserve(x); /* what was judged may have been rewritten */
}

/* Does no trailer stand for the credential? */
static bool judge_trailers(struct exchange *x)
{
	const struct grant *g = x->credential ? grants_find(&x->egress->grants, x->credential) : NULL;
	uint32_t i;

	for (i = 0; g && i < x->call.trailers.n; i++)
		if (inject_replaces(g, x->call.trailers.v[i].name))
			return deny(x, GATE_FAILURE_POLICY, sv_n("", 0),
				    "a trailer has the name of the field that the credential is sent in");
	return true;
}

static enum gate_failure judge_address(const struct exchange *x, const struct address *a, bool fixed)
{
	struct net_request q = question(x);
	struct net_verdict v;

	if (x->inference) {
		const struct provider *p = exchange_provider(x);
		enum net_why why = p ? net_provider_address(x->egress->now->policy, p, a, &q, fixed) : WHY_FLOOR;

		return net_why_allows(why) ? GATE_FAILURE_NONE : failure_of_address(why);
	}
	net_recent_address(x->egress->now->recent, a, &q, fixed, &v);
	return v.allow ? GATE_FAILURE_NONE : failure_of_address(v.why);
}

/* The same for a model. */
static bool provider_allowed(struct exchange *x)
{
	const struct dial_places *to = x->call.up && x->inference ? &x->call.up->places : NULL;
	unsigned i;

	for (i = 0; to && i < to->n; i++)
		if (judge_address(x, &to->v[i].address, to->v[i].fixed) != GATE_FAILURE_NONE)
			return deny(x, GATE_FAILURE_ADDRESS, sv_of("inference.providers"),
				    "the policy now keeps the provider from this address");
	return true;
}

/* Of one that was sent, at least in part, and whose body nobody has any more: does the policy need it to know that it
 * may go on? */
static bool must_see_body(const struct exchange *x)
{
	struct net_request q = question(x);
	struct net_verdict v;

	if (x->inference)
		return !x->whole;
	net_rules_request(x->egress->now->rules, &q, &v);
	return v.body || x->credential; /* else only to know whether it would get one */
}

bool exchange_still_allowed(struct exchange *x)
{
	bool collect = x->collect, unsent = is_unsent(x), whole = x->whole && (unsent || x->kept.n);

	x->collect = false;
	if (!(x->inference ? judge_model(x, whole, false) : judge_network(x, whole, false)) || !judge_trailers(x))
		return false;
	if (x->collect && !collect && !whole && must_see_body(x))
		return deny(x, GATE_FAILURE_POLICY, sv_n("", 0), wants_body);
	x->collect = collect;
	if (whole && unsent && !exchange_reserve(x))
		return false;
	return provider_allowed(x) && judge_sent_to(x);
}

/* What was taken from the budgets of ranges, to be put back where one of them is used up. */
struct paid {
	uint32_t budget[DIAL_PLACES];
	struct net_budget before[DIAL_PLACES];
	unsigned n;
};

/* Once from each, however many addresses lie in its range. False: there is none left. */
static bool pay(struct exchange *x, const struct net_verdict *v, struct paid *io)
{
	struct net_budget *budget = &x->egress->now->budgets[v->budget];
	unsigned i;

	for (i = 0; i < io->n; i++)
		if (io->budget[i] == v->budget)
			return true;
	io->budget[io->n] = v->budget;
	io->before[io->n++] = *budget;
	return net_rate_take(budget, v->rate, (uint64_t)loop_now(x->egress->loop) * 1000000);
}

static void pay_back(struct exchange *x, const struct paid *paid)
{
	unsigned i;

	for (i = 0; i < paid->n; i++)
		x->egress->now->budgets[paid->budget[i]] = paid->before[i];
}

bool exchange_pay_address(struct exchange *x, const struct upstream *u)
{
	const struct dial_places *to = &u->places;
	struct net_request q = question(x);
	struct net_verdict v;
	struct paid paid;
	unsigned i;

	if (x->inference || x->paid)
		return true;
	paid.n = 0;
	for (i = 0; i < to->n; i++) {
		net_recent_address(x->egress->now->recent, &to->v[i].address, &q, to->v[i].fixed, &v);
		if (v.allow && (!v.rate || pay(x, &v, &paid)))
			continue;
		pay_back(x, &paid);
		return v.allow ? deny_by_rate(x)
			       : deny_by_rule(x, failure_of_address(v.why), &q, &to->v[i].address, &v);
	}
	x->paid = to->n > 0;
	return true;
}

enum gate_failure exchange_check_address(const struct exchange *x, const struct address *a, bool fixed)
{
	enum gate_failure no = judge_address(x, a, fixed);

	if (no != GATE_FAILURE_NONE)
		return no;
	/* nobody on the way is to read a credential, so nobody is dialled */
	return x->credential && !x->request.tls && !address_is_loopback(a) ? GATE_FAILURE_CREDENTIAL
									   : GATE_FAILURE_NONE;
}

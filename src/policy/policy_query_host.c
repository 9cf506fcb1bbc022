#include <stdio.h>

#include "http/message.h"
#include "http/target.h"
#include "policy/net_rules.h"

/* The host of a door, or an address of one that it carries in itself. */
static bool is_door(const struct policy *p, const struct net_host *h)
{
	struct net_host carried;
	uint32_t i;

	for (i = 0; net_host_carried(h, i, &carried); i++)
		if (is_door(p, &carried))
			return true;
	for (i = 0; i < p->net.doors.n; i++)
		if (sv_is(sv_n(h->text, h->n), p->net.doors.v[i].s))
			return true;
	return false;
}

static bool is_provider(const struct policy *p, const struct net_host *h)
{
	struct net_host provider, carried;
	uint32_t i;

	for (i = 0; net_host_carried(h, i, &carried); i++)
		if (is_provider(p, &carried))
			return true;
	for (i = 0; i < p->inference.n_providers; i++) {
		net_provider_host(&p->inference.providers[i], &provider);
		if (provider.n && sv_eq(sv_n(provider.text, provider.n), sv_n(h->text, h->n)))
			return true;
	}
	return is_door(p, h);
}

static bool denies(const struct net_rule *r, const struct net_question *q)
{
	bool is_for = net_rule_is_for(r, &q->host);
	struct net_host carried;
	unsigned i;

	for (i = 0; !is_for && net_host_carried(&q->host, i, &carried); i++)
		is_for = net_rule_is_for(r, &carried);
	return is_for && net_rule_denies(r, q);
}

/* Looks at every rule; the gateway's index (net_rules.h) finds the same ones. */
static struct net_found find(const struct policy *p, const struct net_question *q)
{
	struct net_found found = {.provider = is_provider(p, &q->host)};
	const struct net_rule *r;
	enum net_fit fit;
	uint32_t i;

	for (i = 0; i < p->net.deny.n && !found.denies; i++) {
		r = &p->net.deny.v[i];
		if (denies(r, q))
			found.denies = r;
	}
	for (i = 0; i < p->net.allow.n && !(found.fit == FIT_ALL && found.keyed); i++) {
		r = &p->net.allow.v[i];
		fit = net_rule_is_for(r, &q->host) ? net_rule_fits(r, q) : FIT_NONE;
		if (fit == FIT_ALL && r->credential.s && !found.keyed && !found.denies)
			found.keyed = r;
		if (fit > found.fit) {
			found.fit = fit;
			found.fits = r;
		}
	}
	return found;
}

bool policy_query_serves(const struct policy *p, const char *host)
{
	struct net_host h;

	net_host_read(sv_of(host), &h);
	return is_provider(p, &h);
}

bool policy_query_may_approve(const struct policy *p, const char *host)
{
	struct net_host h;

	net_host_read(sv_of(host), &h);
	return p->net.ask.v && p->net.mode.v == NET_ALLOWLIST && !is_door(p, &h);
}

/*
 * The path as the gateway would send it, in room where it differs. Returns NULL, or why no request with it passes: then
 * ret is the path as it stands. "*" (of OPTIONS) is none, and stays.
 */
static const char *read_path(const char *url_path, char room[HTTP_MAX_TARGET], struct sv *ret)
{
	struct sv given = url_path ? sv_of(url_path) : sv_n(NULL, 0);
	struct http_path path;
	const char *wrong;

	*ret = given;
	if (!url_path || sv_is(given, "*"))
		return NULL;
	if (given.n + http_target_growth(given) > HTTP_MAX_TARGET)
		return "path is too long";
	wrong = http_path(given, room, &path);
	if (!wrong)
		*ret = path.text;
	return wrong;
}

static void say_wrong(const char *wrong, struct reason *ret)
{
	reason_set(ret, ANSWER_DENY, "built in", "paths", (struct origin){0});
	reason_text(ret, "The gateway refuses every request with such a path: %s.", wrong);
	reason_hint(ret, "%s", "");
}

void policy_query_host(const struct policy *p, const char *host, uint16_t port, const char *method,
		       const char *url_path, struct reason *ret)
{
	struct net_found found = {0};
	char room[HTTP_MAX_TARGET];
	struct net_question q;
	enum net_why why;
	struct sv path;
	const char *wrong = read_path(url_path, room, &path);

	net_question_host(&q, sv_of(host), port);
	net_question_request(&q, method ? sv_of(method) : sv_n(NULL, 0), path, (struct net_asks){0});
	if (!net_judge_early(p, &q, &why)) {
		found = find(p, &q);
		why = net_judge(p, &q, &found);
	}
	net_judge_reason(p, &q, why, &found, ret);
	if (wrong && net_why_allows(why))
		say_wrong(wrong, ret);
}

void policy_query_unseen(const struct policy *p, const char *host, uint16_t port, struct reason *ret)
{
	struct ruleset *rules = port == 80 ? NULL : net_rules_new(p);
	struct net_request request = {.host = sv_of(host), .port = port ? port : 443};
	char said[sizeof(ret->text)];
	struct net_verdict v;

	if (!rules)
		return;
	net_rules_name(rules, request.host, request.port, &v);
	if (v.allow && v.way != NET_INSPECT) {
		net_rules_reason(rules, &request, NULL, &v, ret);
		(void)snprintf(said, sizeof(said), "%s", ret->text);
		reason_text(ret,
			    "%s Its connections on port %u are not looked into: neither methods nor paths count there.",
			    said, request.port);
	}
	net_rules_free(rules);
}

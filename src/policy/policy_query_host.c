#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "policy/net_match.h"
#include "policy/policy_query.h"

/* A question about one host, with its parts as shown to a person. */
struct host_question {
	struct sv host;
	uint16_t port;
	const char *method;
	const char *path;
	enum host_class class;
	struct text_shown shown;
};

/* How far a rule went along with the question, so that the nearest miss can be named. */
enum fit { FIT_NONE, FIT_HOST, FIT_PORT, FIT_METHOD, FIT_ALL };

static bool rule_is_for(const struct net_rule *r, struct sv host)
{
	return r->cidr ? net_cidr_has(r->cidr, host) : net_host_matches(r->host, host);
}

static const char *rule_name(const struct net_rule *r)
{
	return r->cidr ? r->cidr : r->host;
}

static bool path_in(const struct pol_list *paths, const char *path)
{
	uint32_t i;

	for (i = 0; i < paths->n; i++)
		if (net_path_matches(paths->v[i].s, sv_of(path)))
			return true;
	return paths->n == 0 && !paths->set;
}

static enum fit fit_of(const struct net_rule *r, const struct host_question *q)
{
	if (!rule_is_for(r, q->host) || (q->class == HOST_PRIVATE && !r->cidr))
		return FIT_NONE;
	if (!net_port_allowed(r, q->port))
		return FIT_HOST;
	if (q->method && !net_method_in(&r->methods, q->method))
		return FIT_PORT;
	if (q->path && !path_in(&r->paths, q->path))
		return FIT_METHOD;
	return FIT_ALL;
}

/* With method or path left open, a rule that refuses only some of them does not refuse all. */
static bool denies(const struct net_rule *r, const struct host_question *q)
{
	if (!rule_is_for(r, q->host) || !net_port_denied(r, q->port))
		return false;
	if (r->methods.n && (!q->method || !net_method_in(&r->methods, q->method)))
		return false;
	return r->paths.n == 0 || (q->path && path_in(&r->paths, q->path));
}

static void join(char *out, size_t size, const struct pol_list *l)
{
	struct text_shown shown;
	size_t n = 0;
	uint32_t i;
	int r;

	out[0] = '\0';
	for (i = 0; i < l->n && n < size; i++) {
		r = snprintf(out + n, size - n, "%s%s", i ? ", " : "", text_show(&shown, sv_of(l->v[i].s)));
		n += r > 0 ? (size_t)r : 0;
	}
}

static void join_ports(char *out, size_t size, const struct net_rule *r)
{
	size_t n = 0;
	uint32_t i;
	int k;

	(void)snprintf(out, size, "443, 80");
	for (i = 0; i < r->n_ports && n < size; i++) {
		k = snprintf(out + n, size - n, "%s%u", i ? ", " : "", r->ports[i]);
		n += k > 0 ? (size_t)k : 0;
	}
}

static void allow_by(const struct net_rule *r, const struct host_question *q, struct reason *ret)
{
	char methods[96] = "", paths[128] = "", ports[64] = "";

	reason_set(ret, ANSWER_ALLOW, "network.allow", rule_name(r), r->at);
	join(methods, sizeof(methods), &r->methods);
	join(paths, sizeof(paths), &r->paths);
	join_ports(ports, sizeof(ports), r);
	if (q->method && q->path)
		reason_text(ret, "This request to %s is allowed.", q->shown.s);
	else
		reason_text(ret, "%s may be reached%s%s%s%s%s%s.", q->shown.s, q->port ? "" : " on port ",
			    q->port ? "" : ports, methods[0] && !q->method ? ", with " : "", q->method ? "" : methods,
			    paths[0] && !q->path ? ", below " : "", q->path ? "" : paths);
	reason_hint(ret, "take the rule out of network.allow, or add the host to network.deny");
}

static void nearly(const struct net_rule *r, enum fit fit, const struct host_question *q, struct reason *ret)
{
	char list[160] = "";
	struct text_shown asked;

	reason_set(ret, ANSWER_DENY, "network.allow", rule_name(r), r->at);
	if (fit == FIT_HOST) {
		join_ports(list, sizeof(list), r);
		if (q->port)
			reason_text(ret, "%s is allowed on port %s only, not on %u.", q->shown.s, list, q->port);
		else
			reason_text(ret, "%s is allowed on port %s only.", q->shown.s, list);
		reason_hint(ret, "add the port to this rule's ports");
	} else if (fit == FIT_PORT) {
		join(list, sizeof(list), &r->methods);
		reason_text(ret, "%s is allowed with %s only, not with %s.", q->shown.s, list,
			    text_show(&asked, sv_of(q->method)));
		reason_hint(ret, "add the method to this rule's methods");
	} else {
		join(list, sizeof(list), &r->paths);
		reason_text(ret, "%s is allowed for the paths %s only, not for %s.", q->shown.s, list,
			    text_show(&asked, sv_of(q->path)));
		reason_hint(ret, "add the path to this rule's paths");
	}
}

static void deny_private(const struct host_question *q, struct reason *ret)
{
	reason_set(ret, ANSWER_DENY, "built in", "private addresses", (struct origin){0});
	reason_text(ret, "%s is a private, local or metadata address; only a cidr rule opens one.", q->shown.s);
	reason_hint(ret, "add {cidr: NETWORK, ports: [PORT]} to network.allow, with network.mode allowlist");
}

static void ask_allow(const struct policy *p, const struct host_question *q, struct reason *ret)
{
	const struct net_rule *nearest = NULL;
	enum fit best = FIT_NONE, fit;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++) {
		fit = fit_of(&p->net.allow.v[i], q);
		if (fit == FIT_ALL) {
			allow_by(&p->net.allow.v[i], q, ret);
			return;
		}
		if (fit > best) {
			best = fit;
			nearest = &p->net.allow.v[i];
		}
	}
	if (q->class == HOST_PRIVATE && !nearest) {
		deny_private(q, ret);
	} else if (p->net.mode.v == NET_PUBLIC && q->class != HOST_PRIVATE) {
		reason_set(ret, ANSWER_ALLOW, "network.mode", "public", p->net.mode.at);
		reason_text(ret, "%s may be reached: every public host may.", q->shown.s);
		reason_hint(ret, "add it to network.deny, or set network.mode to allowlist");
	} else if (nearest) {
		nearly(nearest, best, q, ret);
	} else {
		reason_set(ret, ANSWER_DENY, "network.mode", "allowlist", p->net.mode.at);
		reason_text(ret, "%s is not on the allowlist.", q->shown.s);
		reason_hint(ret, "add {host: %s} to network.allow", q->shown.s);
	}
}

void policy_query_host(const struct policy *p, const char *host, uint16_t port, const char *method,
		       const char *url_path, struct reason *ret)
{
	struct host_question q = {sv_of(host), port, method, url_path, net_host_class(sv_of(host)), {{0}}};
	const struct net_rule *r;
	uint32_t i;

	(void)text_show(&q.shown, q.host);
	if (p->net.mode.v == NET_NONE) {
		reason_set(ret, ANSWER_DENY, "network.mode", "none", p->net.mode.at);
		reason_text(ret, "There is no network, so no way to %s.", q.shown.s);
		reason_hint(ret, "set network.mode to allowlist and add {host: %s} to network.allow", q.shown.s);
		return;
	}
	for (i = 0; i < p->net.deny.n; i++) {
		r = &p->net.deny.v[i];
		if (!denies(r, &q))
			continue;
		reason_set(ret, ANSWER_DENY, "network.deny", rule_name(r), r->at);
		reason_text(ret, "%s is denied; deny wins over every other rule.", q.shown.s);
		reason_hint(ret, "take it out of network.deny");
		return;
	}
	ask_allow(p, &q, ret);
}

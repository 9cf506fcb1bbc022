#include <stdio.h>

#include "base/method.h"
#include "base/text.h"
#include "policy/net_judge.h"

static const char *rule_name(const struct net_rule *r)
{
	return r->cidr ? r->cidr : r->host;
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

/* Of the rule that gives it, which may be another than the one that decides. */
static void say_credential(const struct net_rule *r, char *out, size_t size)
{
	struct text_shown shown;

	if (r)
		(void)snprintf(out, size, ", with credential %.40s%s", text_show(&shown, sv_of(r->credential.s)),
			       net_rule_has_body(r) ? " where its body is one that the rule of the credential allows"
						    : "");
}

static void say_allowed(const struct net_found *found, const struct net_question *q, const char *host,
			struct reason *ret)
{
	char methods[96] = "", paths[128] = "", ports[64] = "", credential[128] = "";
	const struct net_rule *r = found->fits;

	reason_set(ret, ANSWER_ALLOW, "network.allow", rule_name(r), r->at);
	join(methods, sizeof(methods), &r->methods);
	join(paths, sizeof(paths), &r->paths);
	join_ports(ports, sizeof(ports), r);
	say_credential(found->keyed, credential, sizeof(credential));
	if (q->method.p && q->path.p)
		reason_text(ret, "This request to %s is allowed%s.", host, credential);
	else
		reason_text(ret, "%s may be reached%s%s%s%s%s%s.", host, q->port ? "" : " on port ",
			    q->port ? "" : ports, methods[0] && !q->method.p ? ", with " : "",
			    q->method.p ? "" : methods, paths[0] && !q->path.p ? ", below " : "",
			    q->path.p ? "" : paths);
	reason_hint(ret, "take the rule out of network.allow, or add the host to network.deny");
}

static void say_port(const struct net_rule *r, const struct net_question *q, const char *host, struct reason *ret)
{
	char list[160] = "";

	join_ports(list, sizeof(list), r);
	if (q->port)
		reason_text(ret, "%s is allowed on port %s only, not on %u.", host, list, q->port);
	else
		reason_text(ret, "%s is allowed on port %s only.", host, list);
	reason_hint(ret, "add the port to this rule's ports");
}

/* A rule of a range that a name leads into. */
static void say_blind(const struct net_rule *r, const struct net_question *q, const char *host, struct reason *ret)
{
	if (!q->method.p) {
		reason_text(
			ret,
			"%s is in %s, whose rule says more than its ports, and nobody would look into this connection.",
			host, rule_name(r));
		reason_hint(ret, "give the name a rule with methods or paths, so that it is looked into");
		return;
	}
	reason_text(
		ret,
		"%s is in %s, whose rule has graphql or mcp: it is for requests to the address itself, not to a name.",
		host, rule_name(r));
	reason_hint(ret, "write graphql or mcp into the rule of the name, and open the range by a rule without");
}

static void say_method(const struct net_rule *r, const struct net_question *q, const char *host, struct reason *ret)
{
	char list[160] = "";
	struct text_shown asked;

	if (net_rule_is_blind(r, q)) {
		say_blind(r, q, host, ret);
		return;
	}
	join(list, sizeof(list), &r->methods);
	if (q->overrides && (!q->method.p || net_method_in(&r->methods, q->method))) {
		reason_text(ret,
			    "%s is allowed with %s only, so a request must not ask to be taken for another method.",
			    host,
			    list[0]                                             ? list
			    : r->graphql.types.set || r->graphql.operations.set ? "some operations"
										: "some calls");
		reason_hint(ret, "send the method itself, without an override field or a _method parameter");
		return;
	}
	reason_text(ret, "%s is allowed with %s only, not with %s.", host, list[0] ? list : "the usual methods",
		    text_show(&asked, q->method));
	reason_hint(ret, "add the method to this rule's methods");
}

/* As it stands it is of the list; decoded it would not be. */
static bool is_other_decoded(const struct net_rule *r, struct sv path)
{
	uint32_t i;

	for (i = 0; i < r->paths.n; i++)
		if (net_path_matches(r->paths.v[i].s, path))
			return true;
	return false;
}

static void say_path(const struct net_rule *r, const struct net_question *q, const char *host, struct reason *ret)
{
	char list[160] = "";
	struct text_shown asked;

	if (q->rehosts) {
		reason_text(ret,
			    "the rule for %s says what may be asked of it, or adds a credential, so a request must not "
			    "name another host in a field.",
			    host);
		reason_hint(ret, "leave out fields such as X-Forwarded-Host, X-Host and Forwarded with host=");
		return;
	}
	join(list, sizeof(list), &r->paths);
	(void)text_show(&asked, q->path);
	if (q->rewrites) {
		reason_text(ret,
			    "%s is allowed for the paths %s only, so a request must not name another path in a field.",
			    host, list);
		reason_hint(ret, "leave out fields such as X-Original-URL, X-Forwarded-Prefix, x-amz-copy-source and "
				 "Destination");
		return;
	}
	if (q->odd_path) {
		reason_text(ret, "%s is allowed for the paths %s only, and %s can be read in more than one way.", host,
			    list, asked.s);
		reason_hint(ret, "send the path without dot or empty parts, semicolons, encoded slashes or needless "
				 "percent-encoding");
		return;
	}
	if (is_other_decoded(r, q->path)) {
		reason_text(
			ret,
			"%s is allowed for the paths %s only, and to a server that decodes it first %s is another one.",
			host, list, asked.s);
		reason_hint(ret, "add the path as it stands here to this rule's paths");
		return;
	}
	reason_text(ret, "%s is allowed for the paths %s only, not for %s.", host, list, asked.s);
	reason_hint(ret, "add the path to this rule's paths");
}

static void say_nearly(const struct net_found *found, const struct net_question *q, const char *host,
		       struct reason *ret)
{
	reason_set(ret, ANSWER_DENY, "network.allow", rule_name(found->fits), found->fits->at);
	if (found->fit == FIT_HOST)
		say_port(found->fits, q, host, ret);
	else if (found->fit == FIT_PORT)
		say_method(found->fits, q, host, ret);
	else
		say_path(found->fits, q, host, ret);
}

#define RANGE "{cidr: NETWORK, ports: [PORT]}"
#define ASCII "write the name in ASCII letters, digits, dots and dashes"

/* A rule that would open it. That of a host opens no private address, and without ports 443 and 80. */
static void write_rule(char *out, size_t size, const char *host, const struct net_question *q)
{
	if (q->host.class == HOST_PRIVATE)
		(void)snprintf(out, size, RANGE);
	else if (q->port == 0 || q->port == 443 || q->port == 80)
		(void)snprintf(out, size, "{host: %s}", host);
	else
		(void)snprintf(out, size, "{host: %s, ports: [%u]}", host, q->port);
}

static void say_mode(const struct policy *p, enum net_why why, const char *host, const struct net_question *q,
		     struct reason *ret)
{
	char rule[300];

	write_rule(rule, sizeof(rule), host, q);
	reason_set(ret, why == WHY_PUBLIC ? ANSWER_ALLOW : ANSWER_DENY, "network.mode", net_mode_names[p->net.mode.v],
		   p->net.mode.at);
	if (why == WHY_NO_NET) {
		reason_text(ret, "There is no network, so no way to %s.", host);
		if (q->host.class == HOST_BAD)
			reason_hint(ret, ASCII);
		else
			reason_hint(ret, "set network.mode to allowlist and add %s to network.allow", rule);
	} else if (why == WHY_PUBLIC) {
		reason_text(ret, "%s may be reached: every public host may.", host);
		reason_hint(ret, "add it to network.deny, or set network.mode to allowlist");
	} else if (why == WHY_PROVIDER) {
		reason_text(ret, "%s serves models; it is reached by its base URL, not through the network.", host);
		reason_hint(ret, "use the base URL of the environment, or add %s to network.allow", rule);
	} else {
		reason_text(ret, "%s is not on the allowlist.", host);
		reason_hint(ret, "add %s to network.allow", rule);
	}
}

static void say_built_in(const struct net_question *q, enum net_why why, const char *host, struct reason *ret)
{
	const char *kind = q->host.is_address ? address_floor_text(address_floor(&q->host.address)) : NULL;
	struct text_shown asked;
	bool named;

	if (why == WHY_FLOOR) {
		reason_set(ret, ANSWER_DENY, "built in", "private addresses", (struct origin){0});
		reason_text(ret, "%s is %s; only a cidr rule opens one.", host,
			    kind ? kind : "a private, local or metadata address");
		reason_hint(ret, "add " RANGE " to network.allow, with network.mode allowlist");
	} else if (why == WHY_METHOD) {
		named = !method_is_known(q->method);
		reason_set(ret, ANSWER_DENY, "built in", "methods", (struct origin){0});
		reason_text(ret, "%s is %s.", text_show(&asked, q->method),
			    named ? "no usual method: it passes only where a rule names it" : "never let through");
		reason_hint(ret, "%s",
			    named ? "add a rule for this host with the method in its methods to network.allow" : "");
	} else {
		reason_set(ret, ANSWER_DENY, "built in", "host names", (struct origin){0});
		reason_text(ret, "%s is not the name of a host.", host);
		reason_hint(ret, ASCII);
	}
}

void net_judge_reason(const struct policy *p, const struct net_question *q, enum net_why why,
		      const struct net_found *found, struct reason *ret)
{
	struct text_shown shown;
	const char *host = text_show(&shown, q->shown);

	switch (why) {
	case WHY_RULE:
		say_allowed(found, q, host, ret);
		break;
	case WHY_DENIED:
		reason_set(ret, ANSWER_DENY, "network.deny", rule_name(found->denies), found->denies->at);
		reason_text(ret, "%s is denied; deny wins over every other rule.", host);
		reason_hint(ret, "take it out of network.deny");
		break;
	case WHY_NEARLY:
		say_nearly(found, q, host, ret);
		break;
	case WHY_BAD_HOST:
	case WHY_METHOD:
	case WHY_FLOOR:
		say_built_in(q, why, host, ret);
		break;
	case WHY_NO_NET:
	case WHY_PUBLIC:
	case WHY_PROVIDER:
	case WHY_UNLISTED:
		say_mode(p, why, host, q, ret);
		break;
	}
}

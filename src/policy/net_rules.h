/*
 * net_rules: the network domain of one policy, compiled for questions at the rate of requests.
 *
 * A ruleset is one generation: built once, never changed, thrown away whole when a policy is reloaded. It borrows the
 * policy, which must outlive it. A decision takes no heap and well below two microseconds among ten thousand rules; the
 * words for it are made only on request (net_rules_reason()). Both sides of the gateway ask the same questions of the
 * same policy; `cordon why` (policy_query.h) shares the judgement (net_judge.h) and differs only in finding the rules.
 *
 * The way of a connection: net_rules_dns() when a name is looked up; net_rules_name() when a connection to it is wanted
 * (CONNECT, SOCKS, transparent); net_rules_request() for each request that is seen; net_rules_address() for each
 * address before it is dialled.
 */
#ifndef CORDON_POLICY_NET_RULES_H
#define CORDON_POLICY_NET_RULES_H

#include "policy/net_judge.h"

struct ruleset;

struct ruleset *net_rules_new(const struct policy *p); /* NULL: no memory */
/*
 * The same for a policy that takes the place of another: hosts that got a credential by that one, or by those before
 * it, stay looked into (net_past.h).
 */
struct ruleset *net_rules_after(const struct ruleset *before, const struct policy *p);
void net_rules_free(struct ruleset *rules);            /* NULL is fine */

/* How an allowed connection is carried. */
enum net_way {
	NET_TUNNEL,  /* as it is; what the client says must be TLS with the allowed name (443), or HTTP (80) */
	NET_RAW,     /* as it is, whatever is spoken: another port, and no rule that looks inside */
	NET_INSPECT, /* request by request: a rule says more than host and port, or the host gets a credential on
			another port, be it as a provider, or got one in this run */
};

struct net_verdict {
	bool allow;
	enum net_why why;
	struct net_found found;
	enum net_way way; /* of net_rules_name(), where allowed */
	bool body;        /* of net_rules_request(): found.fits has graphql or mcp, and the body must be held to it */
	bool ask;         /* denied, but network.ask holds: the person may be asked */
	/* Of net_rules_request(), and of net_rules_address() for a name that needs the rule of a range, where allowed:
	 */
	uint64_t rate;   /* of found.fits, requests per hour, 0: no limit */
	uint32_t budget; /* which of net_rules_budgets() it is taken from */
	uint32_t next;   /* to ask again where the body did not fit: the rules from here on */
};

/* May the name be looked up? True for names that a rule is for, on whatever port. */
bool net_rules_dns(const struct ruleset *rules, struct sv name);

void net_rules_name(const struct ruleset *rules, struct sv host, uint16_t port, struct net_verdict *ret);

/*
 * target: canonical path and query. asks: what its fields ask for besides. from: 0, or `next` of the verdict before,
 * whose rule the body did not fit.
 */
struct net_request {
	struct sv host;
	uint16_t port;
	struct sv method;
	struct sv target;
	struct net_asks asks;
	uint32_t from;
};

/*
 * The first rule that fits decides. The credential is found.keyed's, where that rule goes along with the body, too
 * (gate/inference/rpc_rules.h); being another rule than the one that decides, it must be held to in all that it says,
 * its rate included.
 */
void net_rules_request(const struct ruleset *rules, const struct net_request *request, struct net_verdict *ret);

/* The next after found.keyed of a verdict, whose rule the body did not fit; NULL: there is none. */
const struct net_rule *net_rules_keyed(const struct ruleset *rules, const struct net_request *request,
				       const struct net_rule *after);

/*
 * May this address be dialled for a host that was allowed? A denial of the address holds for names that lead to it; one
 * that says more than address and port holds for a tunnel too (method.p is NULL), since nobody sees what goes through
 * it. An address under the floor needs a cidr rule, unless it is the operator's own answer for the name (fixed); and
 * all that the rule says holds for the name as well: methods, paths and rate, and where that cannot be seen to
 * (net_rule_is_blind()) the rule opens nothing.
 */
void net_rules_address(const struct ruleset *rules, const struct address *a, const struct net_request *request,
		       bool fixed, struct net_verdict *ret);

/*
 * The same for a model provider, whose host the policy names: local and private addresses are fine, because that is
 * where people run models; those that nobody serves a model from are not.
 */
bool net_rules_provider_address(const struct address *a);

/* May an address be refused for a method that a body asks for, whatever the rules of the name say about it? */
bool net_rules_ranges_mind_methods(const struct ruleset *rules);

/* Does any rule for the host, whatever else it says, or the door to a provider there add this credential? */
bool net_rules_adds(const struct ruleset *rules, struct sv host, struct sv credential);

/* How many budgets the rates of this generation need. */
uint32_t net_rules_budgets(const struct ruleset *rules);
/* Which of them is that of a rule of network.allow that has a rate. */
uint32_t net_rules_budget(const struct ruleset *rules, uint32_t rule);
uint32_t net_rules_number(const struct ruleset *rules, const struct net_rule *r); /* of a rule of network.allow */
const struct policy *net_rules_policy(const struct ruleset *rules);

/* A verdict in words. a: of net_rules_address(), else NULL. */
void net_rules_reason(const struct ruleset *rules, const struct net_request *request, const struct address *a,
		      const struct net_verdict *v, struct reason *ret);

/* "policy.yaml:12", where what decided is written, escaped, for the log. Returns out->s. */
struct net_where {
	char s[256];
};
const char *net_rules_where(const struct ruleset *rules, const struct net_verdict *v, struct net_where *out);

#endif

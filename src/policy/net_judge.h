/*
 * net_judge: what rules of the network say about one question.
 *
 * Those who ask differ in how they find the rules for a host: policy_query looks at all of them, net_rules has an
 * index. What a rule means, which one decides, and the words for it are here, once. Pure; the question borrows what it
 * is given.
 *
 * Deny wins. Of the rules that allow, the first that fits decides. Where a rule names methods, or has graphql or mcp, a
 * request that asks a server to take it for another method fits no rule that allows, and every rule that denies; where
 * it names paths, the same holds for paths that a server may read otherwise. Where a rule that allows names methods,
 * paths, a credential, graphql or mcp, it is for its own host alone: a request that asks a server to take it for one to
 * another host does not fit. A method that is not known (base/method.h) fits only a rule that names it. In mode public
 * the rest of the internet is open too, but for the hosts of model providers: those have a door of their own.
 */
#ifndef CORDON_POLICY_NET_JUDGE_H
#define CORDON_POLICY_NET_JUDGE_H

#include "policy/net_match.h"
#include "policy/policy_query.h"

struct net_question {
	struct net_host host;
	struct sv shown;  /* the host as it was asked for */
	uint16_t port;    /* 0: 443 or 80 */
	struct sv method; /* p NULL: is there any that passes */
	struct sv path;   /* without the query; p NULL: the same */
	bool overrides;   /* asks for another method by a field or a parameter */
	bool odd_path;    /* a server may read another one: out of the path itself, or out of a field */
	bool rewrites;    /* out of a field */
	bool rehosts;     /* a server may take it for one to another host, out of a field */
	bool led; /* the host is an address that a name leads to: then a method that is left open is one that nobody
		     sees */
};

void net_question_host(struct net_question *q, struct sv host, uint16_t port);
void net_question_address(struct net_question *q, const struct address *a,
			  uint16_t port); /* q does not move after it */
/* What the fields of a request ask for besides: net_field_overrides(), net_field_rewrites(), net_field_rehosts(). */
struct net_asks {
	bool override, rewrite, rehost;
};

/* Either may have p NULL. target: path and query. */
void net_question_request(struct net_question *q, struct sv method, struct sv target, struct net_asks asks);

/* How far a rule goes along with a question, so that the nearest miss can be named. */
enum net_fit { FIT_NONE, FIT_HOST, FIT_PORT, FIT_METHOD, FIT_ALL };

bool net_rule_is_for(const struct net_rule *r, const struct net_host *h);

/* For rules that are for the host. */
enum net_fit net_rule_fits(const struct net_rule *r, const struct net_question *q);
bool net_rule_denies(const struct net_rule *r, const struct net_question *q);

/*
 * Of a range, and says something that cannot be held to for a name that leads there (led): graphql and mcp, since a
 * body is judged before it is known where it goes; in a tunnel anything but the ports. So it opens nothing to that
 * name.
 */
bool net_rule_is_blind(const struct net_rule *r, const struct net_question *q);

/* Says more than who and where, so that the gateway must look inside of TLS. */
bool net_rule_looks_inside(const struct net_rule *r);
/* Looks into bodies: graphql or mcp. */
bool net_rule_has_body(const struct net_rule *r);
/* Has methods, or graphql or mcp, which judge by the method, too. */
bool net_rule_minds_methods(const struct net_rule *r);
/* Says what of its host may be asked, or sends it a secret: so for another host behind the same server it says nothing.
 */
bool net_rule_minds_host(const struct net_rule *r);

/* The host of a provider's URL; one that is no URL gives HOST_BAD. */
void net_provider_host(const struct provider *p, struct net_host *ret);
/* Its port, given or not. Returns its path: "/v1", or "". */
const char *net_provider_port(const struct provider *p, uint16_t *port);

enum net_why {
	WHY_RULE,     /* a rule allows it */
	WHY_PUBLIC,   /* mode public allows it */
	WHY_NO_NET,   /* mode none */
	WHY_BAD_HOST, /* no host name */
	WHY_METHOD, /* CONNECT and TRACE, which no request may have; with mode public, one that only a rule lets through
		     */
	WHY_DENIED, /* a rule denies it */
	WHY_FLOOR,  /* an address that only a cidr rule opens */
	WHY_PROVIDER, /* the host of a provider */
	WHY_NEARLY,   /* a rule is for the host, but not for this */
	WHY_UNLISTED,
};

/* What was found in the rules. */
struct net_found {
	const struct net_rule *denies; /* the first that does, or NULL */
	const struct net_rule *fits;   /* the first of those that go along furthest, or NULL */
	enum net_fit fit;              /* how far that is */
	const struct net_rule
		*keyed; /* the first that goes along with all of the question and names a credential; NULL: none */
	bool provider;                 /* it is the host of one */
};

/* True where the rules need not be looked at. */
bool net_judge_early(const struct policy *p, const struct net_question *q, enum net_why *ret);
enum net_why net_judge(const struct policy *p, const struct net_question *q, const struct net_found *found);

static inline bool net_why_allows(enum net_why why)
{
	return why == WHY_RULE || why == WHY_PUBLIC;
}

/* The same in words, for a person and for the workload. */
void net_judge_reason(const struct policy *p, const struct net_question *q, enum net_why why,
		      const struct net_found *found, struct reason *ret);

#endif

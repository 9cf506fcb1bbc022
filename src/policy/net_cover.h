/*
 * net_cover: comparing rules of the network with rules of the network, by what the judge makes of them (net_judge.h).
 *
 * What a rule does not name has a meaning of its own: no ports are 443 and 80, in a denial all; no methods are the
 * usual ones (base/method.h), in a denial all; no paths are any, but under mcp, where only a rule with paths lets GET
 * and DELETE through. Rates are left to the caller: which of them is used depends on the order of the rules.
 *
 * Every answer is a proof or "no", but for net_rule_meets(), where "no" is the proof. Pure.
 */
#ifndef CORDON_POLICY_NET_COVER_H
#define CORDON_POLICY_NET_COVER_H

#include "model/policy.h"

/* Outer is for every host that inner is for. */
bool net_rule_reaches(const struct net_rule *outer, const struct net_rule *inner);

/* Outer, which allows, lets everything through that inner does. */
bool net_rule_covers(const struct net_rule *outer, const struct net_rule *inner);

/* There may be a request that fits both, which allow. */
bool net_rule_meets(const struct net_rule *a, const struct net_rule *b);

/* Outer denies everything that inner is about: another denial, or a rule that allows, with ports. */
bool net_denial_covers(const struct net_rule *outer, const struct net_rule *inner);

/* The rule, which allows, lets the method through. */
bool net_rule_has_method(const struct net_rule *r, struct sv method);

/* Under it MCP is held to POST: it names no paths. */
bool net_rule_only_posts(const struct net_rule *r);

#endif

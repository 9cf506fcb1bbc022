/*
 * policy_merge: one layer over another. Lists add up without exact duplicates, single values override, env.set and the
 * like go key by key, providers by name, phases by name.
 *
 * Both are layers of one compilation: same arena, same file table. `over` is only read; `base` takes its lists over or
 * copies them.
 */
#ifndef CORDON_POLICY_MERGE_H
#define CORDON_POLICY_MERGE_H

#include "model/policy.h"

/* 0 or -1 (no memory). */
int policy_merge(struct policy *base, const struct policy *over);

/* Pieces that the ceiling needs too; all 0 or -1 (no memory). */
int merge_list(struct arena *a, struct pol_list *base, const struct pol_list *over);
int merge_rules(struct arena *a, struct net_rules *base, const struct net_rules *over);
int merge_pairs(struct arena *a, struct pol_pairs *base, const struct pol_pairs *over);

/* Drops exact duplicates in place; v must not be shared. */
int merge_unique_rules(struct net_rules *rules);

/* Same content, wherever it came from. */
bool merge_same_rule(const struct net_rule *a, const struct net_rule *b);

#endif

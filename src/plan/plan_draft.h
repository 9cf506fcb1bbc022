/*
 * plan_draft: a plan while it is being made. For the files of plan/ only.
 */
#ifndef CORDON_PLAN_DRAFT_H
#define CORDON_PLAN_DRAFT_H

#include "base/error.h"
#include "model/plan.h"
#include "model/policy.h"
#include "plan/guard_names.h"
#include "plan/plan_build.h"
#include "plan/scan_links.h"

struct plan_entry;

struct draft {
	struct plan *plan;
	const struct policy *policy;
	const struct plan_gate *gate;
	const char *cache_dir;
	const char *const *git_configs;
	const char *workdir, *here; /* as struct plan_request has them */
	const char *const *own;	    /* so, too */
	struct scan_own own_folders; /* the same, by what they are */
	struct scan_links linked; /* files with other names that no search comes to: plan_linked.h */
	struct plan_entry *entries; /* those that are reached through links: plan_links.h */
	struct error *err;
	size_t ops_room, guards_room;
	struct guard_names names; /* of the first n_named guards */
	size_t n_named;
	size_t n_given, n_given_wild; /* guards that the policy and the run have; what links add comes behind them:
					 plan_follow.h */
	size_t n_shown; /* so many steps show; those behind them cover. Set when all that shows is there */
	struct plan_op
		*binds; /* folders of the host that are shown there as well, by bind mounts of its own: plan_binds.h */
	size_t n_binds;
	const char *const *ways; /* as struct plan_request has them */
	size_t ways_guard; /* that stands for them: the first of the run's own policy */
	size_t exec_guards; /* where those of process.deny_exec begin */
};

/* Appends a copy of op. Strings must live in the plan's arena or be static. */
int draft_add(struct draft *d, const struct plan_op *op);

/* Room for one guard more, zeroed; the caller counts it in when it is filled. NULL: no memory. */
struct plan_guard *draft_guard(struct draft *d);

/* Appends a pattern for this path alone. 0 or -errno. */
int draft_literal(struct buf *out, const char *path);

/* "file:line", or the file alone, in the plan's arena. */
const char *draft_where(struct draft *d, struct origin at);

/* "key entry (file:line)", in the plan's arena. */
const char *draft_rule(struct draft *d, const char *key, const struct pol_str *s);

/* glob_init() failed for a rule's pattern, which was checked when the policy was loaded: -1. */
int draft_no_pattern(struct draft *d, int code, const char *rule);

/* Sorts what was added so far so that no op hides one before it: folders come before what is in them. */
void draft_sort(struct draft *d);

/* What is listed by a name behind a link that the sandbox has as the host does (/lib/firmware) is shown under its own
 * name: the link leads there inside, too, and need not give way, which all programs are found by. */
void draft_show_behind_links(struct draft *d);

/* Links of the sandbox's own at whose place, or below it, something is shown go: a folder stands there then. */
void draft_links_give_way(struct draft *d);

/* Moves what covers behind everything that shows: deny wins. First protections, in their order, then masks, what lies
 * in a folder before the folder: nothing can be laid over what is hidden already. Masks that others make needless go.
 */
void draft_covers_last(struct draft *d);

/* Calls found for each path of the host that an anchored pattern finds, without following links in wildcard steps. A
 * "**" looks into no file system that is the kernel's own (/proc, /sys). */
int draft_expand(const struct glob *g, int (*found)(void *arg, const char *path), void *arg);

/* The same; calls link for each symbolic link that the pattern goes through, and for those where its "**" could go on
 * (stray), with what is left of it behind them. */
int draft_expand_links(const struct glob *g, int (*found)(void *arg, const char *path),
		       int (*link)(void *arg, const char *path, struct sv rest, bool stray), void *arg);

/* Judges what is shown at target by the guards, as scan_tree() does for what is below it: the one that hides it; NULL:
 * none. */
const struct plan_guard *draft_judge(const struct draft *d, const char *target, const char *source);

#endif

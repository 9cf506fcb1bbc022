/*
 * plan_follow: denied and protected names that are symbolic links, and what has several names inside.
 *
 * A link cannot be covered, and what it leads to has another name, which no pattern means. So that name is meant as
 * well: each step of the way that lies in what is shown gets a guard of its own, with the link's rule, whether it is
 * there or not. A link where a pattern needs a folder (.git, for "**" + "/.git/config") makes the rest of the pattern
 * hold where it leads. What is shown of the base system is left alone: everybody may read it, and nobody write.
 *
 * What a way goes through must go on leading there: where it has a link, or a folder that it leaves by "..", there or
 * not, only a folder may be made; and what the way would lead to behind such a folder is meant as well
 * (plan_links_instead()).
 *
 * A folder that the policy shows under two names, itself or as a part of another, has its guards under both: who makes
 * a name inside is judged by the name that he used.
 *
 * The link itself may be removed by a workload, as other names; it cannot be made again.
 */
#ifndef CORDON_PLAN_FOLLOW_H
#define CORDON_PLAN_FOLLOW_H

#include "plan/plan_draft.h"

/* A link that a search found, by its name on the host and inside. The guard is one of the plan's, by its place: the
 * array moves when it grows. */
struct follow_link {
	const char *host, *inside; /* in the plan's arena */
	size_t guard;
	bool on_way;
};

/* Adds guards for where it leads. 1: some are new; 0: all were there; -1. */
int plan_follow_link(struct draft *d, const struct follow_link *link);

/* It is a link that leads, by some step, to what is shown. Adds nothing. */
bool plan_follow_leads(const struct draft *d, const char *host);

/* The guard's pattern goes through links to this real folder, and says rest behind it, which neither it nor what links
 * have added says of that name: something is shown there, or below (not where a "**" strayed to the last of them).
 * Never asks the disk. */
bool plan_follow_minds(struct draft *d, size_t guard, const char *real, struct sv rest, bool stray);

/* Adds what it says there. link: the last of them, on the host. Returns as above. */
int plan_follow_through(struct draft *d, const char *link, const char *real, struct sv rest, size_t guard, bool stray);

/* A guard like the one with this pattern for a path of the host, there or not, and for where it leads. Returns as
 * above. */
int plan_follow_named(struct draft *d, const char *host, const char *like, const char *why);

/* For what d->ways go through. 0 or -1. */
int plan_follow_ways(struct draft *d);

/* Guards for the other names of what patterns mean: those whose own folders are links ("/home/me/link/secret", Cordon's
 * own folders too), and those of folders that are shown by several names. 0 or -1. */
int plan_follow_names(struct draft *d);

#endif

/*
 * plan_links: the symbolic links that a path of the policy is reached through.
 *
 * Who makes a link decides what the policy means by its name: a repository carries links, and a run leaves them behind.
 * So each link on the way is judged, those that links lead through as well. One is not trusted where it lies
 *  - in the work folder, whatever its mode;
 *  - in a folder that the sandbox may write to, but for names that this policy keeps from it there;
 *  - in a repository (a folder with .git above it), wherever that is;
 *  - in a folder that others may write to: not our own or root's, or open to everybody; or the link itself is
 * another's, who got it there by a group or an access list. Reading through such a link is harmless where it stays in
 * the work folder, writable folder or repository in which it lies: whose maker could have put it there.
 *
 * And where the operator's ceiling lists folders, a link must not lead to what the list does not name: entries are held
 * against the ceiling by name.
 *
 * A way is found once, and what was found is what is shown: whoever opens it later follows no link.
 */
#ifndef CORDON_PLAN_LINKS_H
#define CORDON_PLAN_LINKS_H

#include <sys/stat.h>

#include "plan/plan_draft.h"

/* A link on the way. */
struct plan_link {
	const char *folder; /* that it lies in, by its real name */
	const char *path;   /* folder and name */
	const char *rest;   /* what the path goes on with behind it; NULL: it is no link, but a name that a ".." comes
			       behind */
	struct stat st;     /* of the folder */
	uid_t owner;	    /* of the link */
	struct plan_link *next;
};

struct plan_way {
	const char *real; /* without links */
	struct plan_link *links;
};

/* 0, or -errno: nothing stands there. Everything is in the arena. */
int plan_links_find(struct arena *a, const char *path, struct plan_way *ret);

/*
 * Where a path leads that may not be there, wholly or in part, from a folder by its real name: names that are missing
 * are taken as they stand, and the last one is not followed. ret->links has, besides the links, every name that a ".."
 * comes behind: with a link in its place it would lead elsewhere. 0; -ELOOP, -ENOENT: nowhere, but the links are told;
 * -ENAMETOOLONG, -ENOMEM.
 */
int plan_links_trace(struct arena *a, const char *folder, const char *text, struct plan_way *ret);

/*
 * What a path that leads from a folder, by way of links, would lead to if a folder stood in the place of one of them: a
 * link can be removed, and a folder be made there. Calls found with each such name, and goes on while that returns 0 or
 * more. 0; what found returned; -ELOOP: there are more than can be followed; -ENAMETOOLONG, -ENOMEM.
 */
int plan_links_instead(struct arena *a, const char *folder, const char *text, int (*found)(void *arg, const char *path),
		       void *arg);

/* Remembers the way of an entry that is shown, for plan_links_judge(). */
int plan_links_note(struct draft *d, const struct plan_op *op, const struct plan_way *way);

/* When all that is shown is known, and all guards: refuses the first entry that is reached through a link which is not
 * trusted. */
int plan_links_judge(struct draft *d);

/* The same for reading one path that no entry names. */
bool plan_links_trusts(const struct draft *d, const struct plan_way *way);

#endif

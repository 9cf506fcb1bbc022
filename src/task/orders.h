/*
 * orders: which of the files that a sandbox left must not stand in the folder of results, because something on the host
 * would take orders from them.
 *
 * Whoever looks at results enters their folders, with a prompt, an editor or an agent that reads what lies there. So
 * they have nothing by the names that are never brought back from a sandbox either (policy/policy_mandatory.h), nothing
 * called .git, be it a file or a folder, and nothing that makes a repository out of a folder by what is in it, whatever
 * that is called (model/repository.h): neither a whole one, nor the missing part of one that comes in pieces.
 *
 * Names are compared without regard to case, nor to dots and spaces at their end: results may lie on a file system that
 * takes no notice of these, or be moved to one. Names that cannot be seen as they are are refused, too.
 *
 * The place at hand is kept here, as the results have it: orders_enter() and orders_leave(). What is refused is
 * remembered, the first ORDERS_NAMED by name. Everything is of the arena.
 */
#ifndef CORDON_TASK_ORDERS_H
#define CORDON_TASK_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/glob.h"

enum { ORDERS_NAMED = 50 };

struct orders {
	struct arena *arena;
	struct order {
		struct glob glob;
		const char *reason;
	} *v;
	size_t n;
	struct buf at; /* the place at hand; "" is the folder of results */
	struct buf as; /* the same as names are compared */
	unsigned depth;
	struct orders_refused {
		const char *path, *reason; /* path: in the results, to be shown as it is */
	} refused[ORDERS_NAMED];
	size_t n_refused; /* all of them */
};

/* 0 or -1: no memory. orders_done() in either case. */
int orders_init(struct orders *o, struct arena *arena);
void orders_done(struct orders *o);

/* A folder in the place at hand is it from now on. How deep that was before; orders_leave() goes back there. */
unsigned orders_enter(struct orders *o, const char *name);
void orders_leave(struct orders *o, unsigned depth);

/* Must this name not be made in the folder `to` of the results, which is the place at hand? */
bool orders_refuse(struct orders *o, int to, const char *name);

/* Is the folder `from`, whose content is to come to the place at hand, a repository as it is? Then nothing of it must.
 */
bool orders_refuse_folder(struct orders *o, int from);

#endif

/*
 * launch_live: what the runs of this user that are alive must know of each other.
 *
 * A run with a gateway follows the files of its policy while it goes on. They are protected in its own sandbox; but
 * another, which has no network at all, may be given the same folder, and would open its neighbour's by writing there.
 * So each run says below runs/.live/ID what it may write, what it protects and what it follows, in a file that it holds
 * locked. Whoever starts protects what those that live follow, and follows nothing that one of them may write (`cordon
 * policy push` still works).
 *
 * What Cordon writes about a run while it goes on and at its end (--json-events, --report, --learn) is protected in the
 * same way, in its own sandbox and in those that start meanwhile. It is no way to gain rights, so that nobody is
 * refused for the sake of it: one that could write there before keeps that.
 *
 * Two that start at once: both say it before they look, so that one at least sees the other. Where it is too late to
 * protect a file, the run does not start.
 */
#ifndef CORDON_CLI_LAUNCH_LIVE_H
#define CORDON_CLI_LAUNCH_LIVE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/launch_stage.h"
#include "model/plan.h"
#include "model/policy.h"

enum { LIVE_FILES = 512 }; /* two names for each of POLICY_MAX_FILES, or of CREDENTIALS_MAX, and those of others */

/*
 * Appends the names that a file can be reached by: what it is, where its name leads to, and what it would be called if
 * folders stood in the place of links on the way (plan/plan_links.h). *n is at most LIVE_FILES; ret has room for one
 * more. 0; -1: there are more.
 */
int live_names(struct arena *arena, const char *file, const char **ret, size_t *n);

/* What a run may write: below its work folder (or NULL), and what its policy lists. */
struct live_reach {
	const struct policy *policy;
	const char *workdir;
};

/*
 * What is none of this run's to write. protect: the files of its policy, and those that other runs follow. outputs: of
 * the files that Cordon writes about this run (written, or NULL), and about those that are alive, the names that this
 * run could write. root NULL: only its own.
 */
int live_look(struct arena *arena, const struct live_reach *reach, const char *root, const char *const *written,
	      const char *protect[LIVE_FILES + 1], const char *outputs[LIVE_FILES + 1], struct error *err);

struct live {
	int folder, fd; /* -1: not said yet */
	const char *id;
	const char *avoid[LIVE_FILES]; /* of the policy's files, those that others may write */
	size_t n_avoid;
};

struct live_request {
	struct arena *arena;
	const char *root, *id; /* borrowed until live_end() */
	const struct plan *plan;
	const struct policy *policy;
	const char *const *protected; /* as the plan was made with */
	bool follows;
	const char *const *written; /* as live_look() has it */
	const struct stage *stage; /* folders whose copies come back when it ends */
};

enum { LIVE_WAIT_MS = 60000, LIVE_SAY_MS = 1000 };

/*
 * Waits for sandboxes that are ending, and bring back what they did to a folder that this run may write: it would start
 * on half of that, and its own changes would stand against the rest. Says so where it takes longer than LIVE_SAY_MS;
 * -1: where it takes longer than LIVE_WAIT_MS.
 */
int live_wait(const char *root, const struct live_reach *reach, const struct call *call, struct error *err);

/* Before anything runs inside. */
int live_begin(struct live *l, const struct live_request *q, struct error *err);
void live_end(struct live *l);

#endif

#include "cli/verb_rm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/changes_tell.h"
#include "supervise/changes_apply.h"
#include "supervise/state.h"

enum { BUSY_TRIES = 50, BUSY_WAIT_MS = 20 };

const struct option verb_rm_options[] = {
	{"finished", 'f', NULL, NULL, "All runs that have ended, but those with changes that were not applied.", 0},
	{"force", 0, NULL, NULL,
	 "Also a run whose interrupted apply cannot be undone: what that had put aside stays in the work folder, as "
	 ".cordon-apply-*, and is put back by hand.",
	 0},
	{0},
};

struct removal {
	const struct call *call;
	const char *root;
	size_t removed;
	size_t kept; /* for their changes */
	size_t failed;
	struct error first; /* of those that failed */
};

/* The supervisor locks the log before it writes the first line: an empty one may belong to a run that starts right now.
 */
static bool has_started(const struct state *s)
{
	struct stat st;

	return fstat(s->lock, &st) == 0 && st.st_size > 0;
}

/* Alone with it: nobody lists, compares or applies it meanwhile. Those who do are quick, or are let finish. */
static int lock_alone(const struct state *s)
{
	static const struct timespec wait = {.tv_nsec = BUSY_WAIT_MS * 1000000L};
	int i;

	for (i = 0; i < BUSY_TRIES; i++) {
		if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
		(void)nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

/* What an apply that was interrupted has aside is the host's: it goes back first. Where nobody can say what it is, or
 * where it belongs, it stays where it is, and who removes the run has to say so. */
static int end_apply(const struct state *s, const struct call *call, bool force, struct error *err)
{
	static const char stays[] =
		"what the apply had put aside, if anything, stays in the work folder, as " CHANGES_STAGING "*";
	enum changes_recovered way;
	struct error why = {0};

	if (changes_recover_any(s->dir, &way, &why) == 0) {
		changes_recovered_tell(call, way);
		return 0;
	}
	if (why.code == EAGAIN)
		return error_set(err, why.kind, "%s: %s", s->id, why.text);
	if (!force)
		return error_set(err, why.kind, "%s: %.200s; `cordon rm --force %s` removes the run all the same: %s",
				 s->id, why.text, s->id, stays);
	call_note(call, "%s: %.200s; %s", s->id, why.text, stays);
	return 0;
}

static int remove_locked(struct state *s, const struct call *call, bool force, struct error *err)
{
	if (!has_started(s))
		return error_set(err, ERROR_USAGE, "%s: the run is just being started", s->id);
	if (lock_alone(s) < 0)
		return error_set(err, ERROR_USAGE,
				 "%s: another command works with this run; try again when it has ended", s->id);
	if (end_apply(s, call, force, err) < 0)
		return -1;
	state_remove(s);
	if (faccessat(AT_FDCWD, s->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_SYSTEM, "%s: not all of %s could be removed", s->id, s->path);
	return 0;
}

static int remove_named(const struct call *call, const char *root, const char *id, struct error *err)
{
	struct state s;
	bool running;
	int r;

	if (state_open(root, id, &s, &running, err) < 0)
		return -1;
	if (running)
		r = error_set(err, ERROR_USAGE, "%s: the run is going on; `cordon stop %s` ends it", id, id);
	else
		r = remove_locked(&s, call, call_has(call, "force"), err);
	state_done(&s);
	return r;
}

static int remove_finished(void *arg, const char *id)
{
	struct removal *all = arg;
	struct error why = {0};
	struct state s;
	bool running;

	if (state_open(all->root, id, &s, &running, &why) < 0)
		return 0;
	/* one that is just being started has not finished */
	if (!running && state_holds_work(&s))
		all->kept++;
	else if (!running && has_started(&s) && remove_locked(&s, all->call, false, &why) == 0)
		all->removed++;
	else if (!running && has_started(&s) && all->failed++)
		call_note(all->call, "%s", why.text);
	else if (!running && has_started(&s))
		all->first = why;
	state_done(&s);
	return 0;
}

static int remove_all_finished(struct call *call, const char *root, struct error *err)
{
	struct removal all = {.call = call, .root = root};

	if (state_each(root, remove_finished, &all, err) < 0)
		return -1;
	call_note(call, "%zu run%s removed", all.removed, all.removed == 1 ? "" : "s");
	if (all.kept)
		call_note(call,
			  "%zu kept, with changes that were not applied: `cordon ps --all` lists them, `cordon rm ID` "
			  "removes one for good",
			  all.kept);
	if (!all.failed)
		return 0;
	*err = all.first;
	return -1;
}

int verb_rm(struct call *call, struct error *err)
{
	AUTO_FREE char *root = NULL;
	struct error first = {0};
	int i, r = 0;

	if (call_has(call, "finished") && call->n_args > 0)
		return error_set(err, ERROR_USAGE,
				 "rm: -f is --finished, all runs that have ended: give --finished alone, or `cordon rm "
				 "ID` without it");
	if (call_has(call, "finished") ? call_has(call, "force") : call->n_args == 0)
		return error_set(err, ERROR_USAGE,
				 "rm: name the runs, or give --finished alone; `cordon ps --all` lists them");
	if (state_root(&root, err) < 0)
		return -1;
	if (call_has(call, "finished"))
		return remove_all_finished(call, root, err);
	/* one that cannot be removed does not keep the others */
	for (i = 0; i < call->n_args; i++) {
		if (remove_named(call, root, call->args[i], err) == 0)
			continue;
		if (r < 0)
			call_note(call, "%s", first.text);
		first = *err;
		r = -1;
	}
	*err = first;
	return r;
}

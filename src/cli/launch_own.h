/*
 * launch_own: a run from its request to its end, for launch.c, which starts it, and launch_changes.c, which keeps what
 * it changed. Nobody else includes it.
 */
#ifndef CORDON_CLI_LAUNCH_OWN_H
#define CORDON_CLI_LAUNCH_OWN_H

#include <stdbool.h>
#include <time.h>

#include "cli/launch.h"
#include "cli/launch_box.h"
#include "cli/launch_copy.h"
#include "cli/launch_events.h"
#include "cli/launch_files.h"
#include "cli/launch_learn.h"
#include "cli/launch_live.h"
#include "cli/launch_plan.h"
#include "cli/launch_reload.h"
#include "sandbox/native/native.h"
#include "supervise/copied.h"
#include "supervise/group.h"
#include "supervise/state.h"
#include "supervise/stdio.h"
#include "supervise/supervise.h"

struct run {
	const struct launch_request *req;
	struct arena *arena;
	struct plan *plan;
	char *root; /* of all runs */
	struct state state;
	struct audit *audit;
	struct cgroup *cgroup;
	struct gate *gate; /* NULL: the policy opens nothing */
	struct launch_reload reload;
	struct learn *learn;
	struct launch_facts facts;
	struct native_request native;
	struct supervise_result result;
	struct timespec began; /* nothing ran before */
	struct native sandbox;
	struct launch_box box; /* in its place, where a container runtime makes the sandbox */
	int skeleton;          /* keeps it from being removed; negative: there was none */
	struct launch_outputs outputs;
	struct stdio_collect collect;
	int feed; /* of standard input: it begins when no other start is tried any more. Negative: there is none */
	struct group group; /* whose network it shares, where it does */
	struct live live;
	struct launch_plan inputs;
	struct copied there;     /* in the work folder, where what the run does to it is kept in an overlay */
	struct launch_copy copy; /* in the overlay's place, where there is none */
	bool lost;               /* as struct launch_outcome has it */
	bool saved;              /* the policy, for `diff` and `apply` */
	bool swept;              /* what dead runs left of containers */
	bool on_disk;            /* the copy of the work folder is kept below the state folder */
	bool must_copy; /* ... because the folder itself cannot be shown at all, or not changed in an overlay */
	struct error *err;
};

/* The step that shows the work folder as a copy; NULL: there is none. */
struct plan_op *launch_find_overlay(struct run *r);
/* For an overlay on disk. */
int launch_make_layers(struct run *r);
/* The policy, where `diff` and `apply` could ask for it; once. */
int launch_save_policy(struct run *r);
/* What was there when the run started, for what it leaves. */
void launch_note_names(struct run *r);
/* Changes that were kept in memory, or in a container, go to the state folder; nobody is left inside by now. */
int launch_keep_changes(struct run *r);

#endif

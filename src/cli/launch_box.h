/*
 * launch_box: the sandbox of a run where a container runtime makes it: staged folders, the box, the door, the runtime.
 * For launch.c, which does the same for the native backend.
 */
#ifndef CORDON_CLI_LAUNCH_BOX_H
#define CORDON_CLI_LAUNCH_BOX_H

#include <limits.h>

#include "cli/launch_stage.h"
#include "sandbox/common/box.h"
#include "sandbox/common/cover_watch.h"
#include "supervise/gate.h"
#include "supervise/group.h"
#include "supervise/state.h"
#include "supervise/stdio.h"
#include "supervise/supervise.h"

enum { LAUNCH_BOX_MS = 30000 }; /* for a runtime to start a container */

struct launch_box {
	const struct box_backend *backend; /* NULL: this run is native, and nothing here is used */
	struct box *box;
	struct box_stdio stdio;
	struct stdio_collect collect;
	int terminal;     /* our end of what carries the command's, where stdio.stream is used */
	bool not_started; /* the runtime failed to start it */
	bool hold;        /* no command is started by itself */
	struct stage stage;
	struct cover_watch *covers; /* keeps what is denied covered; NULL: nothing of the host could uncover it */
	struct buf places;          /* when it has ended: box_places() */
};

struct launch_box_request {
	struct plan *plan;
	const struct policy *policy;
	const struct state *state; /* of the run: made already */
	const char *runs;          /* the folder of all runs */
	const char *cache;         /* Cordon's, for what searches remember; NULL: none */
	const struct cgroup *cgroup;
	bool memory_cgroup, cpu_cgroup;
	struct gate *gate;         /* gets the door; NULL: none */
	const char *join;          /* the run whose network it has; NULL: its own */
	bool first;                /* ... whose leader runs nothing: as struct box_join has it */
	const struct group *group; /* ... which is that one's */
	int *feed;                 /* standard input, where it is a file: as stdio_feed_later() has it */
};

/* cordon-init's path on the host. */
int launch_box_init(char path[PATH_MAX], struct error *err);
/* The folder of all boxes; runs: that of all runs. free() it. */
int launch_box_folder(const char *runs, bool make, char **ret, struct error *err);

/* What a group may use together bounds its leader where the members live in the leader's kernel. 0: not said. */
void launch_box_bound(const struct launch_box *l, uint64_t memory, uint64_t cpus, struct plan_limits *limits);

/* The container is being started when it returns. Of a file that is standard input nothing was read: whoever tries anew
 * loses none of it. */
int launch_box_start(struct launch_box *l, const struct launch_box_request *req, struct error *err);

/* Waits for its PID 1; what supervise() needs to know about it. */
int launch_box_connect(struct launch_box *l, struct supervise_request *s, struct error *err);

/* Nothing inside is left afterwards. */
void launch_box_end(struct launch_box *l);

/* Removes what killed runs left. */
void launch_box_sweep(const char *runs);

#endif

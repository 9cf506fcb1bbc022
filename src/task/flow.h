/*
 * flow: a task's run while it goes on. For the files of run.h only.
 *
 * The parts return 0, or -1 with err and result->status set. Everything lives in the result's arena, or is let go of by
 * flow_done().
 */
#ifndef CORDON_TASK_FLOW_H
#define CORDON_TASK_FLOW_H

#include "image/modes.h"
#include "image/store.h"
#include "task/bounds.h"
#include "task/run.h"
#include "task/scratch.h"

enum { FLOW_LAYERS = IMAGE_MAX_LAYERS + 8, FLOW_ENV = 4096, FLOW_GRANTS = 64 };

struct fetch_limits;

/* Runs of the tests: with what the agent left, the same once more where a sandbox was lost, and without it. What one
 * prints and leaves is its own, so that none is judged by another's, and is kept. */
enum flow_verified { VERIFIED_FIRST, VERIFIED_AGAIN, VERIFIED_WITHOUT, VERIFIED_MAX };

struct flow {
	const struct task_run_request *req;
	struct task_result *result;
	struct arena *arena;
	struct error *err;
	struct attend attend;
	int out;	    /* the folder of results */
	const char *out_path;
	struct scratch scratch; /* ours, private: holds the stage */
	int stage;
	struct modes modes; /* that its files had */
	struct task *task;
	const struct task_step *step; /* that goes on; NULL: the task has none */
	struct image_store *store;
	struct image image;
	bool has_image;
	struct image judge; /* of a verifier that is a machine of its own */
	bool has_judge;
	struct image_work agent; /* its upper folder: what setup and agent changed */
	struct image_work carried, verifiers[VERIFIED_MAX];
	enum flow_verified verified; /* the last run of the tests, or the one that is judged */
	bool verified_well;          /* its command ended with 0 */
	struct services *services; /* services.h; NULL: the task has no compose file */
	struct flow_steps {
		double sum; /* of their rewards */
		uint32_t n; /* that were judged */
	} steps;
	struct fetch_limits *room; /* for all that is copied of the agent's files now, together */
	bool lost; /* a sandbox was, behind the agent's start (struct task_ended) */
	bool spoiled; /* what failed failed for what the agent left of its files: it costs the score, and nothing else
		       */
	enum task_phase phase; /* that goes on */
	uint64_t since;	       /* us: when it began */
};

/* Ends with this status; err is set already. Returns -1. */
int flow_fail(struct flow *f, enum task_status status);
/* The same, and says why: out of memory. */
int flow_no_memory(struct flow *f);

/* Behind a failure: was it what stands in the agent's files, or is missing there, that kept a sandbox from starting or
 * a file from its place? Only who knows that it was there before can say that it was the agent. */
bool flow_in_the_way(const struct flow *f);
/* The same in a step behind the first, which an agent has changed the files of. Returns -1. */
int flow_spoiled(struct flow *f);

void flow_begin(struct flow *f, enum task_phase p);
void flow_end(struct flow *f, enum task_phase p, int exit);

/* A list of "NAME=VALUE", a later one replacing an earlier of the same name. */
struct flow_env {
	const char *v[FLOW_ENV + 1];
	size_t n;
};
int flow_env_add(struct flow *f, struct flow_env *e, const char *name, const char *value);
int flow_env_pairs(struct flow *f, struct flow_env *e,
		   const char *const *pairs); /* NULL-terminated "NAME=VALUE"; NULL: none */
/* The variables of image and task, which every sandbox has. */
int flow_environment(struct flow *f, const struct image *image, struct flow_env *ret);
/* A table of the task on top of it (env.h). */
int flow_env_table(struct flow *f, struct flow_env *e, const struct pol_pairs *table);
/* The verifier's: what the operator granted goes to grants. */
struct flow_grants {
	struct task_grant v[FLOW_GRANTS];
	size_t n;
};
int flow_env_verifier(struct flow *f, struct flow_env *e, const struct pol_pairs *table, struct flow_grants *grants);

/* One command in a sandbox of its own. */
struct flow_command {
	const char *name;  /* in names of files: "agent" */
	const char *phase; /* the operator's */
	char *const *argv;
	const char *user, *cwd; /* NULL: the image's, or the task's */
	struct flow_env *env;
	const struct image *image; /* NULL: the task's */
	const struct task_environment
		*own; /* of that image's machine: what it says of memory, processors and storage; NULL: the task's */
	struct image_work *work;
	const char *layers[FLOW_LAYERS]; /* on top of the image's, topmost first; NULL-terminated */
	const struct task_network *network; /* as struct bounds has it */
	bool offline;
	uint64_t timeout_ms;
	const struct task_grant *grants;
	size_t n_grants;
	const struct image_mount *mounts;
	size_t n_mounts;
	const char *const *profiles, *policy, *const *pass; /* as struct task_sandbox has them */
	int in; /* -1: nothing */
};

/* Fails where the operator's policy lets no sandbox of that phase be. */
int flow_allowed(struct flow *f, const char *phase);

/* Did nobody want the run to end? -1: somebody does, by a signal; status and error are set. */
int flow_go_on(struct flow *f);
/* Waits, at most a minute or so; then the same. */
int flow_pause(struct flow *f, uint64_t ms);

/* 0, and how it ended; -1: it could not be run, or we were interrupted (status is set). Adds to the result's denials
 * and use. */
int flow_run(struct flow *f, const struct flow_command *c, struct task_ended *ret);
/* The folder of what a sandbox changed, whatever it made of owner and mode of its root. An fd, or -errno. */
int flow_changes(const struct flow *f, const struct image_work *of);
/* What a sandbox of the task may store. */
uint64_t flow_storage(const struct flow *f);
/* Parts of it: what is written before a sandbox starts (its bounds and the place of its events), and the file for its
 * output: an fd, or -errno. */
int flow_write(struct flow *f, struct task_sandbox *s, const struct bounds *b);
int flow_output(struct flow *f, const char *name);

/* The same where the root is known: s has all but bounds, events and out. */
int flow_sandbox(struct flow *f, struct task_sandbox *s, const struct bounds *b, struct task_ended *ret);

/* From here on this step goes on; what it does not say is the task's. */
int flow_enter_step(struct flow *f, const struct task_step *step);

/* The step that goes on, or the task itself where it has none. */
const struct task_files *flow_files(const struct flow *f);
const struct task_agent *flow_agent_of(const struct flow *f);
const struct task_verifier *flow_verifier_of(const struct flow *f);
/* Of a verifier that is a machine of its own; NULL: what the task has for its agent. And where its tests start, in that
 * image. */
const struct task_environment *flow_own_environment(const struct flow *f);
const char *flow_judge_workdir(const struct flow *f, const struct image *judge);
const char *flow_instruction(struct flow *f);

/* A folder of the stage as a layer, under several names, and a script, be it in that folder or not. */
struct flow_shown {
	const char *folder;	/* NULL: there is only the script */
	const char *targets[3]; /* NULL-terminated; the script runs in the first */
	const char *script;
};
int flow_show(struct flow *f, struct image_work *to, const struct flow_shown *what, const char ***ret_argv);
int flow_add_text(struct flow *f, struct image_work *to, const char *target, const char *text);

struct compose_build;
/* An image from a Dockerfile of the stage; status is set only where the time is over. how: its stage and its arguments;
 * NULL: the last stage, and none. */
int flow_build(struct flow *f, const char *context, const char *dockerfile, const struct compose_build *how,
	       struct image *ret);

/* What the task has for its agent besides the instruction: servers of the Model Context Protocol, as a file; skills. */
int flow_mcp(struct flow *f, struct image_work *to, struct flow_env *env);

/* Files of a step that are put into the work folder before it. */
int flow_step_files(struct flow *f);
/* What the task wants kept of the agent's files, into the folder of results; and, for a verifier that sees nothing else
 * of them, into a folder at the same paths, from where they are carried (carry.h). */
void flow_room(const struct flow *f, struct fetch_limits *ret); /* for f->room: no more than the task may store */
int flow_keep_artifacts(struct flow *f);
int flow_show_artifacts(struct flow *f, struct image_work *to);
/* Commands that the task wants run when the agent has ended. */
int flow_collect_commands(struct flow *f);

/* Parts, each a phase or several. */
int flow_prepare(struct flow *f); /* stage, build */
int flow_setup(struct flow *f);
int flow_agent(struct flow *f);
int flow_freeze(struct flow *f);
int flow_verify(struct flow *f);
/* Lets go of what all runs of the tests left. */
void flow_verify_done(struct flow *f);
int flow_collect(struct flow *f); /* whatever the status is */

#endif

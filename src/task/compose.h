/*
 * compose: a task's Compose file, read by Cordon and by nobody else.
 *
 * The file is hostile input. It is read against tables of keys: those that Cordon honours become the model
 * (model/compose.h), those that reach the host are refused with a reason, unknown ones are refused with the nearest
 * known one (a warning in lenient mode, and dropped). All problems are collected, each with line, column and key. A key
 * that is understood and cannot be honoured is refused, here or where it is known what a run can do (compose_plan.h,
 * compose_fit.h, which has warnings of its own), with these exceptions, each said in a warning: ports       what a
 * service serves is noted; nothing is published on the host, whose ports nobody in a task needs. An address other than
 * loopback is refused labels, name   nothing inside can see them, and other programs on the host may obey labels: they
 * are not passed on. Nor are container names, but they resolve, as aliases pull_policy images come from Cordon's store
 * or the operator's engine deploy.resources.reservations  limits are enforced, reservations are not `version` and keys
 * that begin with x- mean nothing and are passed over.
 *
 * The YAML is strict (conf/yaml.h): anchors, aliases, merge keys, tags (so !reset and !override), second documents and
 * duplicate keys are errors. `extends` and `include` are refused inside the task too: one file is what is read.
 *
 * Paths (binds, build contexts) are relative to the file's folder and may not leave it. Links are looked at where the
 * stage is (compose_paths.h), since this is a pure function of bytes.
 *
 * Variables: the runner's own, then those the task declares. Any other ${X} is a refusal that names it, unless the text
 * has a default for it; a variable of the host is never seen. `NAME` without a value under `environment` would be the
 * host's, so it is the same.
 */
#ifndef CORDON_TASK_COMPOSE_H
#define CORDON_TASK_COMPOSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/compose.h"
#include "model/task.h"

enum { COMPOSE_VARIABLES_MAX = 1024 };

/* What the runner's variables stand for. "" : the variable does not exist. */
struct compose_runner {
	const char *project;   /* COMPOSE_PROJECT_NAME and what is made of it */
	const char *image;     /* MAIN_IMAGE_NAME, T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME */
	const char *prebuilt;  /* PREBUILT_IMAGE_NAME: the task's docker_image */
	uint64_t cpus, memory; /* CPUS in thousandths, MEMORY in bytes */
};

struct compose_input {
	const char *file; /* for messages: "environment/docker-compose.yaml" */
	struct sv text;
	struct compose_runner runner;
	const struct compose_pair *variables; /* that the task declares */
	uint32_t n_variables;
	bool harbor; /* the agent's service is `main`, which is there whether or not the file has it. Else
			Terminal-Bench's: `client`, or the one with its container's name, or the only one */
	bool lenient;
};

/* Problems are added; where one of them is a refusal, the answer is -1 and err has the first. *ret is in the arena a.
 */
int compose_parse(const struct compose_input *in, struct arena *a, struct task_problems *problems,
		  const struct compose **ret, struct error *err);

/* The same in a confined child (conf/parse_role.h), whose answer is looked at again. */
int compose_load(const struct compose_input *in, struct arena *a, struct task_problems *problems,
		 const struct compose **ret, struct error *err);

/* "NAME=VALUE" of each, for a build; NULL-terminated, in the arena a. NULL: no memory. */
const char **compose_arguments(struct arena *a, const struct compose_pairs *args);

#endif

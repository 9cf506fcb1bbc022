/*
 * result: what `cordon task run` says at its end. Plain data, and its JSON form.
 *
 * A reward is there only where the status is `scored`: whatever went wrong, nothing else may look like a score.
 */
#ifndef CORDON_TASK_RESULT_H
#define CORDON_TASK_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum task_status {
	TASK_SCORED,
	TASK_VERIFIER_ERROR,
	TASK_AGENT_ERROR,
	TASK_TIMEOUT,
	TASK_REFUSED,
	TASK_INFRASTRUCTURE_ERROR
};

extern const char *const task_status_names[];

enum task_phase {
	PHASE_STAGE,
	PHASE_BUILD,
	PHASE_SETUP,
	PHASE_AGENT,
	PHASE_FREEZE,
	PHASE_VERIFY,
	PHASE_COLLECT,
	TASK_PHASES
};

extern const char *const task_phase_names[];

struct task_phase_result {
	bool ran;
	double seconds;
	int exit;
	const char *runtime; /* of its sandbox; NULL: it has none */
};

struct task_reward {
	const char *key;
	double value;
};

/* Something that a person should look at: what was dropped on the way to the verifier, what a check found. */
struct task_finding {
	const char *rule;
	const char *path;
	const char *message;
};

enum { TASK_FINDINGS_MAX = 10000 };

struct task_result {
	struct arena *arena; /* of what it points to */
	const char *task;
	const char *agent; /* its name, or the command as it was given; NULL: it was not started for anybody */
	const char *model; /* that was named for it; NULL: none */
	int64_t started;   /* seconds since 1970 */
	enum task_status status;
	const char *reason; /* why it is not scored; NULL: it is */
	int signal;	    /* that asked us to end, or 0; not written */
	double reward;	    /* TASK_SCORED only */
	struct task_reward *rewards;
	size_t n_rewards;
	bool agent_timed_out; /* the agent, in any of its steps, was ended because its time was over; what it left is
				 judged all the same */
	const char *runtime,
		*isolation; /* the agent's; where none got so far, of the first sandbox. NULL: none was started */
	struct task_phase_result phases[TASK_PHASES];
	const char *usage; /* JSON object; NULL: none */
	uint64_t denials;
	struct task_finding *findings;
	size_t n_findings;
	size_t more_findings; /* than are listed */
	const char *digest_task, *digest_image, *digest_tests; /* SHA-256 in hex, or NULL */
};

/* 0 for scored, 1 for refused, 125 otherwise. */
int task_exit_status(const struct task_result *r);

/* As short as it can be written and read back as the same number. */
void task_result_number(struct json *j, double v);

void task_result_json(const struct task_result *r, struct buf *out);

/* The other way: what task_result_json() wrote, by this version or another. text is made canonical (json_scan.h). 0,
 * -EINVAL, -EFBIG or -ENOMEM. */
int task_result_parse(struct buf *text, struct task_result *ret);

/* -1: no memory. What is beyond TASK_FINDINGS_MAX is counted only. Strings are copied. */
int task_result_find(struct task_result *r, const char *rule, const char *path, const char *message);

#endif

#include "task/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

const char *const task_status_names[] = {"scored",  "verifier_error",       "agent_error", "timeout",
					 "refused", "infrastructure_error", NULL};
const char *const task_phase_names[] = {"stage", "build", "setup", "agent", "freeze", "verify", "collect", NULL};

int task_exit_status(const struct task_result *r)
{
	return r->status == TASK_SCORED ? 0 : r->status == TASK_REFUSED ? 1 : 125;
}

void task_result_number(struct json *j, double v)
{
	char text[40];
	int digits;

	if (!isfinite(v)) {
		json_none(j);
		return;
	}
	for (digits = 1; digits < 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	if (digits == 17)
		(void)snprintf(text, sizeof(text), "%.17g", v);
	json_raw(j, sv_of(text));
}

static void put_rewards(struct json *j, const struct task_result *r)
{
	size_t i;

	json_key(j, "reward");
	if (r->status == TASK_SCORED)
		task_result_number(j, r->reward);
	else
		json_none(j);
	json_key(j, "rewards");
	json_open(j);
	for (i = 0; r->status == TASK_SCORED && i < r->n_rewards; i++) {
		json_key(j, r->rewards[i].key);
		task_result_number(j, r->rewards[i].value);
	}
	json_close(j);
}

static void put_phases(struct json *j, const struct task_result *r)
{
	size_t i;

	json_key(j, "phases");
	json_list(j);
	for (i = 0; i < TASK_PHASES; i++) {
		char seconds[32];

		if (!r->phases[i].ran)
			continue;
		(void)snprintf(seconds, sizeof(seconds), "%.4f", r->phases[i].seconds);
		json_open(j);
		json_kstr(j, "name", task_phase_names[i]);
		json_key(j, "seconds");
		json_raw(j, sv_of(seconds));
		json_kint(j, "exit", r->phases[i].exit);
		if (r->phases[i].runtime)
			json_kstr(j, "runtime", r->phases[i].runtime);
		json_close(j);
	}
	json_end(j);
}

static void put_findings(struct json *j, const struct task_result *r)
{
	size_t i;

	json_key(j, "findings");
	json_list(j);
	for (i = 0; i < r->n_findings; i++) {
		json_open(j);
		json_kstr(j, "rule", r->findings[i].rule);
		json_kstr(j, "path", r->findings[i].path);
		json_kstr(j, "message", r->findings[i].message);
		json_close(j);
	}
	json_end(j);
	if (r->more_findings)
		json_kint(j, "findings_left_out", (int64_t)r->more_findings);
}

static void put_digest(struct json *j, const char *key, const char *digest)
{
	char text[80];

	if (!digest)
		return;
	(void)snprintf(text, sizeof(text), "sha256:%s", digest);
	json_kstr(j, key, text);
}

/* Who did this, with what, and when: a result is compared with others long after. */
static void put_origin(struct json *j, const struct task_result *r)
{
	time_t t = (time_t)r->started;
	char text[32];
	struct tm tm;

	json_kstr(j, "agent", r->agent);
	json_kstr(j, "model", r->model);
	if (!gmtime_r(&t, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		text[0] = '\0';
	json_kstr(j, "started", text);
	json_kstr(j, "cordon", CORDON_VERSION);
}

void task_result_json(const struct task_result *r, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "task", r->task);
	json_kstr(&j, "status", task_status_names[r->status]);
	if (r->reason)
		json_kstr(&j, "reason", r->reason);
	put_rewards(&j, r);
	json_kbool(&j, "agent_timed_out", r->agent_timed_out);
	put_origin(&j, r);
	json_kstr(&j, "runtime", r->runtime);
	json_kstr(&j, "isolation", r->isolation);
	put_phases(&j, r);
	json_key(&j, "usage");
	json_raw(&j, sv_of(r->usage ? r->usage : "{}"));
	json_kint(&j, "denials", (int64_t)r->denials);
	put_findings(&j, r);
	json_key(&j, "digests");
	json_open(&j);
	put_digest(&j, "task", r->digest_task);
	put_digest(&j, "image", r->digest_image);
	put_digest(&j, "tests", r->digest_tests);
	json_close(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
}

int task_result_find(struct task_result *r, const char *rule, const char *path, const char *message)
{
	struct task_finding *f = r->findings;

	if (r->n_findings == TASK_FINDINGS_MAX) {
		r->more_findings++;
		return 0;
	}
	/* doubles where it is full: a power of two */
	if ((r->n_findings & (r->n_findings - 1)) == 0) {
		f = arena_array(r->arena, r->n_findings ? 2 * r->n_findings : 1, sizeof(*f));
		if (!f)
			return -1;
		if (r->n_findings)
			memcpy(f, r->findings, r->n_findings * sizeof(*f));
		r->findings = f;
	}
	f = &r->findings[r->n_findings];
	*f = (struct task_finding){arena_str(r->arena, sv_of(rule)), arena_str(r->arena, sv_of(path)),
				   arena_str(r->arena, sv_of(message))};
	if (!f->rule || !f->path || !f->message)
		return -1;
	r->n_findings++;
	return 0;
}

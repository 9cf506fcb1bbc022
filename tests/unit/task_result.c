/* task/result: nothing but a score looks like one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "task/result.h"

static json_t *printed(const struct task_result *r)
{
	struct buf out;
	json_t *v;

	buf_init(&out, 16 << 20);
	task_result_json(r, &out);
	v = buf_failed(&out) ? NULL : json_loadb(out.p, out.n, JSON_REJECT_DUPLICATES, NULL);
	buf_done(&out);
	return v;
}

static void a_reward_is_there_only_where_it_is_scored(void)
{
	static const enum task_status others[] = {TASK_VERIFIER_ERROR, TASK_AGENT_ERROR, TASK_TIMEOUT, TASK_REFUSED, TASK_INFRASTRUCTURE_ERROR};
	struct task_reward keys[] = {{"a", 1}, {"b", 0.5}};
	struct task_result r = {.task = "t", .status = TASK_SCORED, .reward = 0.75, .rewards = keys, .n_rewards = 2};
	json_t *v = printed(&r);
	size_t i;

	CHECK(json_real_value(json_object_get(v, "reward")) == 0.75);
	CHECK(json_object_size(json_object_get(v, "rewards")) == 2);
	json_decref(v);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		r.status = others[i];
		v = printed(&r);
		CHECK(json_is_null(json_object_get(v, "reward")));
		CHECK(json_object_size(json_object_get(v, "rewards")) == 0);
		CHECK(strcmp(json_string_value(json_object_get(v, "status")), task_status_names[others[i]]) == 0);
		json_decref(v);
	}
}

static void every_key_of_the_contract_is_there(void)
{
	static const char *const keys[] = {"version", "task", "status", "reward", "rewards", "agent", "model", "started", "cordon", "runtime", "isolation", "phases", "usage", "denials", "findings", "digests"};
	struct task_result r = {.task = "t", .status = TASK_REFUSED, .reason = "because"};
	json_t *v = printed(&r);
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		CHECK(json_object_get(v, keys[i]) != NULL);
	json_decref(v);
}

static void numbers_come_back_as_they_were(void)
{
	static const double values[] = {0, 1, 0.1, 1.0 / 3, 1e-300, 123456789.123, -1, 5e-324};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct task_result r = {.task = "t", .status = TASK_SCORED, .reward = values[i]};
		json_t *v = printed(&r);

		CHECK(json_number_value(json_object_get(v, "reward")) == values[i]);
		json_decref(v);
	}
}

static void findings_are_bounded_and_counted(void)
{
	struct task_result r = {.arena = arena_new(), .task = "t", .status = TASK_REFUSED};
	json_t *v;
	int i;

	for (i = 0; i < TASK_FINDINGS_MAX + 5; i++)
		CHECK(task_result_find(&r, "rule", "/p\n\x1b", "m") == 0);
	CHECK(r.n_findings == TASK_FINDINGS_MAX && r.more_findings == 5);
	v = printed(&r);
	CHECK(json_array_size(json_object_get(v, "findings")) == TASK_FINDINGS_MAX);
	json_decref(v);
	arena_free(r.arena);
}

static void exit_statuses_are_the_contracts(void)
{
	CHECK(task_exit_status(TASK_SCORED) == 0);
	CHECK(task_exit_status(TASK_REFUSED) == 1);
	CHECK(task_exit_status(TASK_VERIFIER_ERROR) == 125);
	CHECK(task_exit_status(TASK_TIMEOUT) == 125);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_reward_is_there_only_where_it_is_scored), CASE(every_key_of_the_contract_is_there), CASE(numbers_come_back_as_they_were),
		CASE(findings_are_bounded_and_counted),		 CASE(exit_statuses_are_the_contracts),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

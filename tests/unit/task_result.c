/* task/result: nothing but a score looks like one. */
#include <errno.h>
#include <limits.h>
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
	static const enum task_status others[] = {TASK_VERIFIER_ERROR, TASK_AGENT_ERROR, TASK_TIMEOUT, TASK_REFUSED,
						  TASK_INFRASTRUCTURE_ERROR};
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
	static const char *const keys[] = {"version", "task",  "status",  "reward",   "rewards", "agent_timed_out",
					   "agent",   "model", "started", "cordon",   "runtime", "isolation",
					   "phases",  "usage", "denials", "findings", "digests"};
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

static int exit_of(enum task_status status, int signal)
{
	struct task_result r = {.status = status, .signal = signal};

	return task_exit_status(&r);
}

static void exit_statuses_are_the_contracts(void)
{
	CHECK(exit_of(TASK_SCORED, 0) == 0);
	CHECK(exit_of(TASK_REFUSED, 0) == 1);
	CHECK(exit_of(TASK_VERIFIER_ERROR, 0) == 125);
	CHECK(exit_of(TASK_TIMEOUT, 0) == 125);
	CHECK(exit_of(TASK_INFRASTRUCTURE_ERROR, 2) == 125);
}

static int parse(const char *text, struct task_result *ret)
{
	struct buf b;
	int r;

	buf_init(&b, 1 << 20);
	CHECK(buf_str(&b, text) == 0);
	r = task_result_parse(&b, ret);
	buf_done(&b);
	return r;
}

static void what_was_written_is_read_back(void)
{
	struct task_reward keys[] = {{"a\"\n", 1}, {"b", 1.0 / 3}};
	struct task_result r = {.arena = arena_new(),
				.task = "t\x1b[2J",
				.agent = "sh -c x",
				.model = "m",
				.started = 1794773635,
				.status = TASK_SCORED,
				.reward = 0.1,
				.rewards = keys,
				.n_rewards = 2,
				.runtime = "native",
				.isolation = "i",
				.usage = "{\"requests\":3}",
				.denials = 7,
				.digest_task = "aa",
				.digest_image = "bb"},
			   again = {.arena = arena_new()};
	struct buf first, second;

	r.phases[PHASE_AGENT] = (struct task_phase_result){true, 1.25, 124, "gvisor"};
	CHECK(task_result_find(&r, "rule", "/p\n", "m\xc3\xa4") == 0);
	buf_init(&first, 1 << 20);
	buf_init(&second, 1 << 20);
	task_result_json(&r, &first);
	CHECK(buf_failed(&first) == 0 && buf_str(&second, first.p) == 0);
	CHECK(task_result_parse(&second, &again) == 0);
	buf_clear(&second);
	task_result_json(&again, &second);
	CHECK_STR(second.p, first.p);
	buf_done(&first);
	buf_done(&second);
	arena_free(r.arena);
	arena_free(again.arena);
}

static void numbers_that_somebody_edited_are_bounded(void)
{
	static const char edited[] = "{\"version\":1,\"task\":\"t\",\"status\":\"refused\",\"reward\":null,\"rewards\":"
				     "{\"a\":2},\"denials\":-1,\"findings\":[],\"findings_left_out\":1e300,"
				     "\"phases\":[{\"name\":\"agent\",\"seconds\":-1e308,\"exit\":1e300},{\"name\":"
				     "\"verify\",\"seconds\":1e300,\"exit\":-1e300}]}";
	struct task_result r = {.arena = arena_new()};

	CHECK(parse(edited, &r) == 0);
	CHECK(r.denials == 0 && r.more_findings == 1000000000 && r.n_rewards == 1 && r.rewards[0].value > 1.5);
	CHECK(r.phases[PHASE_AGENT].seconds >= 0 && r.phases[PHASE_AGENT].exit == INT_MAX);
	CHECK(r.phases[PHASE_VERIFY].seconds < 1.0e10 && r.phases[PHASE_VERIFY].exit == INT_MIN);
	CHECK(parse("{\"version\":1,\"task\":\"t\",\"status\":\"scored\",\"reward\":1e999}", &r) == -EINVAL);
	arena_free(r.arena);
}

static void what_is_no_result_is_not_taken_for_one(void)
{
	static const char *const wrong[] = {
		"", "{", "[]", "null", "{}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"scored\",\"reward\":null}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"timeout\",\"reward\":1}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"splendid\",\"reward\":null}",
		"{\"version\":2,\"task\":\"t\",\"status\":\"timeout\",\"reward\":null}",
		"{\"version\":1,\"task\":7,\"status\":\"timeout\",\"reward\":null}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"scored\",\"reward\":1,\"reward\":0}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"scored\",\"reward\":NaN}",
		"{\"version\":1,\"task\":\"t\",\"status\":\"scored\",\"reward\":true}",
	};
	static const char odd[] = "{\"version\":1,\"task\":\"t\",\"status\":\"refused\",\"reward\":null,\"rewards\":[1]"
				  ",\"phases\":{\"a\":1},\"findings\":[7,{\"rule\":1}],\"digests\":3,\"usage\":[],"
				  "\"started\":\"yesterday\",\"denials\":\"x\"}";
	struct task_result r = {.arena = arena_new(), .denials = 77};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(parse(wrong[i], &r) == -EINVAL);
	CHECK(r.denials == 77);
	CHECK(parse(odd, &r) == 0 && r.status == TASK_REFUSED && r.n_rewards == 0 && r.n_findings == 2 && !r.usage &&
	      !r.started && !r.denials);
	arena_free(r.arena);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_reward_is_there_only_where_it_is_scored),
		CASE(every_key_of_the_contract_is_there),
		CASE(numbers_come_back_as_they_were),
		CASE(findings_are_bounded_and_counted),
		CASE(what_was_written_is_read_back),
		CASE(numbers_that_somebody_edited_are_bounded),
		CASE(what_is_no_result_is_not_taken_for_one),
		CASE(exit_statuses_are_the_contracts),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}

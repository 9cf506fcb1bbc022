/* Reading a result that was written before; result.c writes it. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_scan.h"
#include "task/result.h"

enum { COUNT_MAX = 1000000000, SECONDS_MAX = 1000000000 };

struct source {
	const struct json_scan *scan;
	struct task_result *to;
	bool failed; /* no memory */
};

/* NULL where it is not there, or null. */
static const char *text_of(struct source *s, uint32_t object, const char *key)
{
	uint32_t i = json_scan_get(s->scan, object, key);
	AUTO_BUF out = {0};
	const char *text;

	if (!i || json_scan_kind(s->scan, i) != SCAN_STRING)
		return NULL;
	buf_init(&out, SCAN_MAX_BYTES);
	json_scan_decode(s->scan, i, &out);
	text = buf_failed(&out) ? NULL : arena_str(s->to->arena, buf_view(&out));
	s->failed |= !text;
	return text;
}

static bool number_of(const struct source *s, uint32_t i, double *ret)
{
	char text[SCAN_MAX_NUMBER + 1];

	if (!i || json_scan_kind(s->scan, i) != SCAN_NUMBER)
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)s->scan->v[i].len, json_scan_text(s->scan, i).p);
	*ret = strtod(text, NULL);
	return isfinite(*ret); /* more than a double holds is no number */
}

static double number_at(const struct source *s, uint32_t object, const char *key)
{
	double v = 0;

	(void)number_of(s, json_scan_get(s->scan, object, key), &v);
	return v;
}

/* Somebody may have edited it: what cannot be is what comes closest to it. */
static double within(double v, double least, double most)
{
	return v < least ? least : v > most ? most : v;
}

static uint64_t count_at(const struct source *s, uint32_t object, const char *key)
{
	return (uint64_t)within(number_at(s, object, key), 0, COUNT_MAX);
}

static bool is_true(const struct source *s, const char *key)
{
	uint32_t i = json_scan_get(s->scan, 0, key);

	return i && json_scan_kind(s->scan, i) == SCAN_BOOL && sv_is(json_scan_text(s->scan, i), "true");
}

/* Its place in the list, which ends with NULL; -1. */
static int place_of(const char *const *names, const char *text)
{
	int i;

	for (i = 0; text && names[i]; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	return -1;
}

static void read_rewards(struct source *s)
{
	uint32_t of = json_scan_get(s->scan, 0, "rewards"), i;
	struct task_reward *v;
	size_t n = 0;
	AUTO_BUF key = {0};

	if (!of || json_scan_kind(s->scan, of) != SCAN_OBJECT)
		return;
	for (i = json_scan_first(s->scan, of); i; i = json_scan_after(s->scan, of, i))
		n++;
	v = n ? arena_array(s->to->arena, n, sizeof(*v)) : NULL;
	s->failed |= n && !v;
	buf_init(&key, SCAN_MAX_BYTES);
	for (i = json_scan_first(s->scan, of); v && i; i = json_scan_after(s->scan, of, i)) {
		struct task_reward *r = &v[s->to->n_rewards];

		buf_clear(&key);
		json_scan_decode(s->scan, i, &key);
		r->key = arena_str(s->to->arena, buf_view(&key));
		s->failed |= !r->key;
		if (r->key && number_of(s, i + 1, &r->value))
			s->to->n_rewards++;
	}
	s->to->rewards = v;
}

static void read_phases(struct source *s)
{
	uint32_t of = json_scan_get(s->scan, 0, "phases"), i;

	if (!of || json_scan_kind(s->scan, of) != SCAN_ARRAY)
		return;
	for (i = json_scan_first(s->scan, of); i; i = json_scan_after(s->scan, of, i)) {
		int phase = place_of(task_phase_names, text_of(s, i, "name"));

		if (phase >= 0)
			s->to->phases[phase] = (struct task_phase_result){
				.ran = true,
				.seconds = within(number_at(s, i, "seconds"), 0, SECONDS_MAX),
				.exit = (int)within(number_at(s, i, "exit"), INT_MIN, INT_MAX),
				.runtime = text_of(s, i, "runtime")};
	}
}

static void read_findings(struct source *s)
{
	uint32_t of = json_scan_get(s->scan, 0, "findings"), i;

	if (!of || json_scan_kind(s->scan, of) != SCAN_ARRAY)
		return;
	for (i = json_scan_first(s->scan, of); i; i = json_scan_after(s->scan, of, i)) {
		const char *rule = text_of(s, i, "rule"), *path = text_of(s, i, "path"),
			   *message = text_of(s, i, "message");

		s->failed |= task_result_find(s->to, rule ? rule : "", path ? path : "", message ? message : "") < 0;
	}
	s->to->more_findings += count_at(s, 0, "findings_left_out");
}

static const char *digest_of(struct source *s, const char *key)
{
	uint32_t of = json_scan_get(s->scan, 0, "digests");
	const char *text = of ? text_of(s, of, key) : NULL;

	return text && strncmp(text, "sha256:", 7) == 0 ? text + 7 : NULL;
}

static int64_t read_time(const char *text)
{
	struct tm tm = {0};
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? (int64_t)timegm(&tm) : 0;
}

static void read_all(struct source *s)
{
	struct task_result *r = s->to;
	uint32_t usage = json_scan_get(s->scan, 0, "usage");

	r->reason = text_of(s, 0, "reason");
	r->agent_timed_out = is_true(s, "agent_timed_out");
	r->agent = text_of(s, 0, "agent");
	r->model = text_of(s, 0, "model");
	r->runtime = text_of(s, 0, "runtime");
	r->isolation = text_of(s, 0, "isolation");
	r->started = read_time(text_of(s, 0, "started"));
	r->denials = count_at(s, 0, "denials");
	r->digest_task = digest_of(s, "task");
	r->digest_image = digest_of(s, "image");
	r->digest_tests = digest_of(s, "tests");
	if (usage && json_scan_kind(s->scan, usage) == SCAN_OBJECT) {
		r->usage = arena_str(r->arena, json_scan_text(s->scan, usage));
		s->failed |= !r->usage;
	}
	read_rewards(s);
	read_phases(s);
	read_findings(s);
}

int task_result_parse(struct buf *text, struct task_result *ret)
{
	struct task_result r = {.arena = ret->arena};
	struct scan_error why;
	AUTO_SCAN scan = {0};
	struct source s = {.scan = &scan, .to = &r};
	int n = json_scan_read(&scan, text, &why), status;
	bool scored;

	if (n < 0)
		return n;
	r.task = text_of(&s, 0, "task");
	status = place_of(task_status_names, text_of(&s, 0, "status"));
	scored = number_of(&s, json_scan_get(&scan, 0, "reward"), &r.reward);
	/* a reward is there exactly where it is scored, or this is no result of ours */
	if (!r.task || status < 0 || scored != (status == TASK_SCORED) || number_at(&s, 0, "version") != 1)
		return s.failed ? -ENOMEM : -EINVAL;
	r.status = (enum task_status)status;
	read_all(&s);
	if (s.failed)
		return -ENOMEM;
	*ret = r;
	return 0;
}

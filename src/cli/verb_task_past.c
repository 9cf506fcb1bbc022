#include "cli/verb_task_past.h"

#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/runs_info.h"
#include "conf/value.h"
#include "task/past.h"

enum { TEXT_MAX = 64 << 20, FINDINGS_SHOWN = 50, WORDS_SHOWN = 2000 };

const struct option verb_task_ls_options[] = {
	{"quiet", 'q', NULL, NULL, "Only the ids.", 0},
	CLI_OPTION_JSON,
	{0},
};
const struct option verb_task_show_options[] = {
	{"json", 0, NULL, NULL, "Print the result as the JSON document that the run wrote.", 0},
	{0},
};
const struct option verb_task_rm_options[] = {
	{"finished", 'f', NULL, NULL, "All that are not running.", 0},
	{"older-than", 0, "TIME", NULL, "Those among them that were started longer ago, such as 12h or 30d.", 0},
	{0},
};

static int find_root(char root[PATH_MAX], struct error *err)
{
	struct cli_folders folders;

	return cli_folders(&folders, err) < 0 ? -1 : past_root(folders.state, root, err);
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One result, or what there is of it. */
struct looked {
	struct past past;
	struct task_result result;
	bool has_result;
	struct buf text; /* of result.json */
	struct error why;
	const char *task, *agent; /* also of one that goes on */
};

static int look(const char *root, const char *id, struct looked *ret, struct error *err)
{
	*ret = (struct looked){.result = {.arena = arena_new()}};
	if (!ret->result.arena)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (past_open(root, id, &ret->past, err) < 0) {
		arena_free(ret->result.arena);
		return -1;
	}
	buf_init(&ret->text, TEXT_MAX);
	ret->has_result = past_read(&ret->past, &ret->result, &ret->text, &ret->why) == 0;
	if (!ret->has_result)
		past_said(&ret->past, ret->result.arena, &ret->task, &ret->agent);
	if (ret->has_result) {
		ret->task = ret->result.task;
		ret->agent = ret->result.agent;
	}
	return 0;
}

static void look_done(struct looked *l)
{
	buf_done(&l->text);
	arena_free(l->result.arena);
	past_done(&l->past);
}

static const char *status_of(const struct looked *l)
{
	if (l->has_result)
		return task_status_names[l->result.status];
	return l->past.running ? "running" : l->why.kind == ERROR_MISSING ? "killed" : "unreadable";
}

struct listing {
	const struct call *call;
	const char *root;
	struct buf out;
	struct json json;
	int64_t now;
};

static void put_json(struct json *j, const struct looked *l)
{
	json_open(j);
	json_kstr(j, "id", l->past.id);
	json_kstr(j, "status", status_of(l));
	json_kint(j, "started", l->past.started_ms);
	json_kstr(j, "task", l->task);
	json_kstr(j, "agent", l->agent);
	json_kstr(j, "model", l->has_result ? l->result.model : NULL);
	json_kstr(j, "runtime", l->has_result ? l->result.runtime : NULL);
	json_key(j, "reward");
	if (l->has_result && l->result.status == TASK_SCORED)
		task_result_number(j, l->result.reward);
	else
		json_none(j);
	json_kstr(j, "folder", l->past.path);
	json_close(j);
}

/* A column: what tasks and people wrote, cut to its width. */
static void put_column(struct buf *out, const char *text, size_t width)
{
	AUTO_BUF shown = {0};

	buf_init(&shown, 4096);
	text_escape(&shown, sv_of(text ? text : "-"), width);
	(void)buf_printf(out, "%-*.*s ", (int)width, (int)shown.n, shown.n ? shown.p : "");
}

static void put_line(struct buf *out, const struct looked *l, int64_t now)
{
	char age[32], reward[32] = "-";

	if (l->has_result && l->result.status == TASK_SCORED)
		(void)snprintf(reward, sizeof(reward), "%.4g", l->result.reward);
	(void)buf_printf(out, "%-14s %-6s %-20s %-7s ", l->past.id, run_age(age, now - l->past.started_ms),
			 status_of(l), reward);
	put_column(out, l->agent, 14);
	put_column(out, l->task, 24);
	text_escape(out, sv_of(l->past.path), PATH_MAX);
	(void)buf_char(out, '\n');
}

static int list_one(void *arg, const char *id)
{
	struct listing *all = arg;
	struct error ignored = {0};
	struct looked l;

	if (call_has(all->call, "quiet") && !call_has(all->call, "json")) {
		(void)buf_printf(&all->out, "%s\n", id);
		return 0;
	}
	if (look(all->root, id, &l, &ignored) < 0)
		return 0; /* it was just removed */
	if (call_has(all->call, "json"))
		put_json(&all->json, &l);
	else
		put_line(&all->out, &l, all->now);
	look_done(&l);
	return 0;
}

int verb_task_ls(struct call *call, struct error *err)
{
	char root[PATH_MAX];
	struct listing all = {.call = call, .root = root, .now = now_ms()};
	bool json = call_has(call, "json");
	int r;

	if (find_root(root, err) < 0)
		return -1;
	buf_init(&all.out, TEXT_MAX);
	json_init(&all.json, &all.out);
	if (json)
		json_list(&all.json);
	else if (!call_has(call, "quiet"))
		(void)buf_str(&all.out, "ID             AGE    STATUS               REWARD  AGENT          TASK        "
					"             FOLDER\n");
	r = past_each(root, list_one, &all, err);
	if (json) {
		json_end(&all.json);
		(void)buf_char(&all.out, '\n');
	}
	if (r == 0)
		r = cli_print(call, &all.out, err);
	buf_done(&all.out);
	return r;
}

static void put_field(struct buf *out, const char *label, const char *text)
{
	if (!text)
		return;
	(void)buf_printf(out, "%-12s ", label);
	text_escape(out, sv_of(text), WORDS_SHOWN);
	(void)buf_char(out, '\n');
}

static void put_started(struct buf *out, int64_t ms)
{
	time_t t = (time_t)(ms / 1000);
	char text[32];
	struct tm tm;

	if (localtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		put_field(out, "started", text);
}

static void put_rewards(struct buf *out, const struct task_result *r)
{
	size_t i;

	if (r->status != TASK_SCORED)
		return;
	(void)buf_printf(out, "%-12s %g\n", "reward", r->reward);
	for (i = 0; i < r->n_rewards && r->n_rewards > 1; i++) {
		(void)buf_str(out, "  ");
		text_escape(out, sv_of(r->rewards[i].key), 200);
		(void)buf_printf(out, " %g\n", r->rewards[i].value);
	}
}

static void put_phases(struct buf *out, const struct task_result *r)
{
	size_t i;

	for (i = 0; i < TASK_PHASES; i++) {
		const struct task_phase_result *p = &r->phases[i];

		if (!p->ran)
			continue;
		(void)buf_printf(out, "%-12s %.2f s", task_phase_names[i], p->seconds);
		(void)(p->exit ? buf_printf(out, ", exit %d\n", p->exit) : buf_char(out, '\n'));
	}
}

static void put_findings(struct buf *out, const struct task_result *r)
{
	size_t i, shown = r->n_findings < FINDINGS_SHOWN ? r->n_findings : FINDINGS_SHOWN;

	for (i = 0; i < shown; i++) {
		(void)buf_printf(out, "%-12s ", "finding");
		text_escape(out, sv_of(r->findings[i].path), 400);
		(void)buf_str(out, ": ");
		text_escape(out, sv_of(r->findings[i].message), WORDS_SHOWN);
		(void)buf_char(out, '\n');
	}
	if (shown < r->n_findings + r->more_findings)
		(void)buf_printf(out, "and %zu more findings; result.json has them\n",
				 r->n_findings + r->more_findings - shown);
}

static void show(struct buf *out, const struct looked *l)
{
	const struct task_result *r = &l->result;

	put_field(out, "result", l->past.id);
	if (l->has_result)
		put_field(out, "task", r->task);
	put_field(out, "status", status_of(l));
	if (l->has_result) {
		put_rewards(out, r);
		put_field(out, "reason", r->reason);
		put_field(out, "agent", r->agent);
		if (r->agent_timed_out)
			put_field(out, "agent's end", "its time was over");
		put_field(out, "model", r->model);
	}
	put_started(out, l->past.started_ms);
	if (l->has_result) {
		put_field(out, "runtime", r->runtime);
		put_field(out, "isolation", r->isolation);
		put_phases(out, r);
		if (r->denials)
			(void)buf_printf(out, "%-12s %llu; audit/ says what\n", "denied",
					 (unsigned long long)r->denials);
		put_findings(out, r);
	}
	put_field(out, "folder", l->past.path);
}

int verb_task_show(struct call *call, struct error *err)
{
	char root[PATH_MAX];
	AUTO_BUF out = {0};
	struct looked l;
	int r;

	if (find_root(root, err) < 0 || look(root, call->args[0], &l, err) < 0)
		return -1;
	buf_init(&out, TEXT_MAX);
	if (!call_has(call, "json")) {
		show(&out, &l);
		r = cli_print(call, &out, err);
	} else if (l.has_result) {
		(void)buf_char(&l.text, '\n');
		r = cli_print(call, &l.text, err);
	} else {
		*err = l.why;
		r = -1;
	}
	look_done(&l);
	return r;
}

static int remove_named(const char *root, const char *id, struct error *err)
{
	struct past p;
	int r;

	if (past_open(root, id, &p, err) < 0)
		return -1;
	r = past_remove(&p, err);
	past_done(&p);
	return r;
}

struct removal {
	const struct call *call;
	const char *root;
	int64_t before; /* started earlier than that */
	size_t removed, failed;
	struct error first; /* of those that failed */
};

static int remove_old(void *arg, const char *id)
{
	struct removal *all = arg;
	struct error why = {0};
	struct past p;

	if (past_open(all->root, id, &p, &why) < 0)
		return 0;
	if (!p.running && p.started_ms < all->before) {
		if (past_remove(&p, &why) == 0)
			all->removed++;
		else if (all->failed++)
			call_note(all->call, "%s", why.text);
		else
			all->first = why;
	}
	past_done(&p);
	return 0;
}

static int remove_all(struct call *call, const char *root, struct error *err)
{
	const char *older = call_value(call, "older-than"), *wrong;
	struct removal all = {.call = call, .root = root, .before = INT64_MAX};
	struct text_shown shown;
	uint64_t ms;

	if (older) {
		wrong = value_duration(sv_of(older), &ms);
		if (wrong)
			return error_set(err, ERROR_USAGE, "--older-than %s %s", text_show(&shown, sv_of(older)),
					 wrong);
		all.before = now_ms() - (int64_t)ms;
	}
	if (past_each(root, remove_old, &all, err) < 0)
		return -1;
	call_note(call, "%zu result%s removed", all.removed, all.removed == 1 ? "" : "s");
	if (!all.failed)
		return 0;
	*err = all.first;
	return -1;
}

int verb_task_rm(struct call *call, struct error *err)
{
	bool several = call_has(call, "finished") || call_has(call, "older-than");
	char root[PATH_MAX];
	struct error first = {0};
	int i, r = 0;

	if (several ? call->n_args > 0 : call->n_args == 0)
		return error_set(err, ERROR_USAGE,
				 "task rm: name the results, or give --finished or --older-than alone; `cordon task "
				 "ls` lists them");
	if (find_root(root, err) < 0)
		return -1;
	if (several)
		return remove_all(call, root, err);
	/* one that cannot be removed does not keep the others */
	for (i = 0; i < call->n_args; i++) {
		if (remove_named(root, call->args[i], err) == 0)
			continue;
		if (r < 0)
			call_note(call, "%s", first.text);
		first = *err;
		r = -1;
	}
	*err = first;
	return r;
}

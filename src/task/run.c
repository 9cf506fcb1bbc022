#include "task/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/ids.h"
#include "sys/tree.h"
#include "task/flow.h"
#include "task/past.h"
#include "task/services.h"

/* The folder of results: ours, and nothing of an earlier run in it. */
static int open_out(struct flow *f)
{
	const char *path = f->req->out;
	struct text_shown shown;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_sys(f->err, errno, "--out %s", text_show(&shown, sv_of(path)));
	f->out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->out < 0)
		return error_sys(f->err, errno, "--out %s", text_show(&shown, sv_of(path)));
	if (past_hold(f->out, path, f->err) < 0)
		return -1;
	/* what an earlier run printed must not be taken for this one's, nor a link of somebody's be followed */
	if (!sys_is_empty(f->out))
		return error_set(f->err, ERROR_USAGE,
				 "--out %s is not empty: it may hold the results of another run; name a new folder",
				 text_show(&shown, sv_of(path)));
	f->out_path = path;
	return 0;
}

static int judge(struct flow *f)
{
	if (flow_go_on(f) < 0 || flow_step_files(f) < 0 || flow_agent(f) < 0 || flow_go_on(f) < 0 ||
	    flow_freeze(f) < 0 || flow_go_on(f) < 0)
		return -1;
	return flow_verify(f);
}

/* Is the step's reward enough to go on? */
static bool goes_on(const struct flow *f, double reward)
{
	const struct pol_pairs *least = &f->step->min_reward;
	uint32_t i;

	for (i = 0; i < least->n; i++)
		if (strcmp(least->v[i].key, "reward") == 0 && reward < strtod(least->v[i].value, NULL))
			return false;
	return true;
}

/* The agent left nothing that the step could start in: as if it had failed it, which is a score. */
static void leave_steps(struct flow *f)
{
	const char *why = arena_printf(
		f->arena, "the step could not begin in what the agent left, and is worth nothing: %s", f->err->text);
	struct text_shown name;

	f->result->status = TASK_SCORED;
	if (why)
		(void)task_result_find(f->result, "step-spoiled", text_show(&name, sv_of(f->step->name.s)), why);
}

/* Steps share the agent's files; each is judged as the task itself would be. */
static int run_steps(struct flow *f)
{
	uint32_t i;

	for (i = 0; i < f->task->n_steps; i++) {
		/* of the step before */
		image_work_done(f->store, &f->carried);
		flow_verify_done(f);
		if (flow_enter_step(f, &f->task->steps[i]) < 0)
			return -1;
		if (judge(f) < 0) {
			if (!f->spoiled)
				return -1;
			leave_steps(f);
			break;
		}
		if (!goes_on(f, f->result->rewards[f->result->n_rewards - 1].value))
			break;
	}
	/* those that were not reached are worth nothing */
	if (!(f->task->steps_reward.set && f->task->steps_reward.v == TASK_STEPS_FINAL))
		f->result->reward = f->steps.sum / f->task->n_steps;
	else if (f->steps.n < f->task->n_steps)
		f->result->reward = 0;
	return 0;
}

static int run_phases(struct flow *f)
{
	if (flow_prepare(f) < 0 || flow_setup(f) < 0)
		return -1;
	return f->task->n_steps ? run_steps(f) : judge(f);
}

static void let_go(struct flow *f)
{
	struct error ignored = {0};

	if (f->store) {
		image_work_done(f->store, &f->agent);
		image_work_done(f->store, &f->carried);
		flow_verify_done(f);
	}
	if (f->has_image) {
		/* of services, whose files belong to the image's ids */
		(void)image_ids_remove(&f->image.ids, f->scratch.fd, "volumes", &ignored);
		image_done(&f->image);
	}
	if (f->has_judge)
		image_done(&f->judge);
	image_store_close(f->store);
	task_free(f->task);
	modes_done(&f->modes);
	if (f->stage >= 0)
		(void)close(f->stage);
	scratch_done(&f->scratch);
	if (f->attend.signals >= 0)
		(void)close(f->attend.signals);
	if (f->out >= 0)
		(void)close(f->out);
}

/* By its name, or by the command's words. */
static const char *name_agent(const struct task_run_request *req, struct arena *to)
{
	AUTO_BUF words = {0};
	size_t i;

	if (req->agent)
		return req->agent->name;
	buf_init(&words, 1 << 20);
	for (i = 0; req->command[i]; i++)
		(void)buf_printf(&words, "%s%s", i ? " " : "", req->command[i]);
	return buf_failed(&words) ? req->command[0] : arena_str(to, sv_n(words.p, words.n));
}

static const char *say_signal(int sig)
{
	return sig == SIGINT ? "stopped by SIGINT" : sig == SIGTERM ? "stopped by SIGTERM" : "stopped by SIGHUP";
}

int task_run(const struct task_run_request *req, struct task_result *ret, struct error *err)
{
	struct flow f = {.req = req,
			 .result = ret,
			 .arena = ret->arena,
			 .err = err,
			 .attend = {.launcher = req->launcher, .progress = req->progress, .signals = -1},
			 .out = -1,
			 .scratch = SCRATCH_NONE,
			 .stage = -1,
			 .agent = {.lock = -1},
			 .carried = {.lock = -1},
			 .verifiers = {{.lock = -1}, {.lock = -1}, {.lock = -1}}};
	int r;

	ret->status = TASK_INFRASTRUCTURE_ERROR;
	ret->task = req->dir;
	ret->agent = name_agent(req, ret->arena);
	ret->model = req->model ? req->model : req->agent ? req->agent->model : NULL;
	ret->started = (int64_t)time(NULL);
	if (attend_signals(&f.attend, err) < 0 || open_out(&f) < 0) {
		let_go(&f);
		return -1;
	}
	past_say(f.out, req->dir, ret->agent ? ret->agent : "-");
	r = scratch_make(req->scratch, &f.scratch, err) < 0 ? -1 : run_phases(&f);
	if (r < 0)
		ret->reason = ret->signal ? say_signal(ret->signal) : arena_str(ret->arena, sv_of(err->text));
	services_stop(&f);
	r = flow_collect(&f);
	past_unsay(f.out);
	/* a score that was made stays one */
	if (!ret->signal)
		ret->signal = attend_signal(&f.attend);
	let_go(&f);
	return r;
}

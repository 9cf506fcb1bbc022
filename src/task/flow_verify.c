/* Freeze and verify: the agent is gone, its work is judged by those who never met it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/carry.h"
#include "task/flow.h"
#include "task/layer.h"
#include "task/reward.h"
#include "task/services.h"
#include "task/volumes.h"

/* Where a verifier leaves what it found. */
#define ARTIFACTS "/logs/artifacts"
enum { TOLD_MAX = 32 << 20 };
/* The names of sandboxes, and of the files of what they print. */
static const char *const verified_names[VERIFIED_MAX] = {"verify", "verify-again", "verify-without"};
static const char *const log_folders[] = {"/logs/verifier", "/logs/agent", ARTIFACTS, NULL};

static const char *workdir(const struct flow *f)
{
	return f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;
}

/* A verifier that is a machine of its own: of the agent's files it gets the artifacts. */
static bool is_separate(const struct flow *f)
{
	return flow_verifier_of(f)->separate.set && flow_verifier_of(f)->separate.v;
}

static int find_judge(struct flow *f)
{
	const struct task_environment *e = flow_own_environment(f);
	const struct task_files *files = flow_files(f);
	int r;

	if (f->has_judge)
		image_done(&f->judge);
	f->has_judge = false;
	if (e && e->docker_image.s)
		r = image_find(f->store, e->docker_image.s, &f->judge, f->err);
	else if (files->test_dockerfile)
		r = flow_build(f, files->tests, files->test_dockerfile, NULL, &f->judge);
	else
		r = image_find(f->store, f->image.digest, &f->judge, f->err);
	if (r < 0)
		return f->result->status == TASK_TIMEOUT
			       ? -1
			       : flow_fail(f, f->err->kind == ERROR_INPUT || f->err->kind == ERROR_DENIED
						      ? TASK_REFUSED
						      : TASK_INFRASTRUCTURE_ERROR);
	f->has_judge = true;
	return 0;
}

/* Does a folder of the agent's upper one hold these names and no others? */
static bool holds_only(const struct flow *f, const char *path, const char *const *names)
{
	AUTO_FD upper = flow_changes(f, &f->agent);
	int fd = upper < 0 ? -1 : sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const char *const *n;
	struct dirent *e;
	bool only = d != NULL;

	while (only && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		for (n = names; *n && strcmp(*n, e->d_name) != 0; n++)
			;
		only = *n != NULL;
	}
	if (d)
		(void)closedir(d);
	else if (fd >= 0)
		(void)close(fd);
	return only;
}

/* Nobody need look at what the runner put there itself, nor at where it told the agent to write. */
static bool is_ours(const struct flow *f, const char *path)
{
	static const char *const shown[] = {&AGENT_PLACE[sizeof("/run")], NULL};
	static const char *const logs[] = {"agent", "artifacts", NULL};

	return (strcmp(path, "/run") == 0 && holds_only(f, "run", shown)) ||
	       (strcmp(path, "/logs") == 0 && holds_only(f, "logs", logs));
}

static void note_dropped(void *arg, const char *rule, const char *path, const char *message)
{
	struct flow *f = arg;

	if (is_ours(f, path) || volumes_target(f, path))
		return;
	(void)task_result_find(f->result, rule, path, message);
}

/* The task's own texts in a folder of the stage; a script need not be in it. */
static int read_texts(struct flow *f, const char *folder, const char *script, struct carry_test_files *ret)
{
	AUTO_FD in = folder ? sys_open_beneath(f->stage, folder, O_RDONLY | O_DIRECTORY, 0) : -1;
	int r = script && !strchr(script, '/') ? carry_tests_read_file(ret, f->arena, f->stage, script) : 0;

	if (r == 0 && in >= 0)
		r = carry_tests_read(ret, f->arena, in);
	if (r == 0)
		return 0;
	(void)error_sys(f->err, r, "the task's tests and solution");
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

/* Who judges: a machine of its own, or the agent's image anew. */
static const struct image *judge_of(const struct flow *f)
{
	return is_separate(f) ? &f->judge : &f->image;
}

static int verifier_env(struct flow *f, struct flow_env *env, struct flow_grants *grants)
{
	const struct task_environment *own = flow_own_environment(f);

	if (flow_environment(f, judge_of(f), env) < 0 || (own && flow_env_table(f, env, &own->env) < 0))
		return -1;
	return flow_env_verifier(f, env, &flow_verifier_of(f)->env, grants);
}

/* What the agent was told up to now, and what of its files is kept: names in it are its own to make. */
static const char *told(struct flow *f)
{
	const struct task_artifacts *lists[] = {&f->task->artifacts, f->step ? &f->step->artifacts : NULL};
	AUTO_BUF text = {0};
	uint32_t i, j;

	buf_init(&text, TOLD_MAX);
	(void)buf_str(&text, flow_instruction(f));
	for (i = 0; i < f->steps.n; i++)
		(void)buf_printf(&text, "\n%s", f->task->steps[i].instruction);
	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (j = 0; lists[i] && j < lists[i]->n; j++)
			(void)buf_printf(&text, "\n\"%s\"", lists[i]->v[j].source.s);
	return buf_failed(&text) ? NULL : arena_str(f->arena, buf_view(&text));
}

static int carry_from(struct flow *f, const struct image_work *changes, const char *const *env)
{
	const struct pol_num *conftests = &flow_verifier_of(f)->keep_conftests;
	const struct image *judge = judge_of(f);
	struct carry_request c = {.ids = &judge->ids,
				  .layers = (const char *const *)judge->layers,
				  .workdir = workdir(f),
				  .env = env,
				  .report = note_dropped,
				  .arg = f,
				  .room = flow_storage(f),
				  .stop = &f->attend.signals};
	AUTO_FD from = flow_changes(f, changes);
	AUTO_FD to = open(f->carried.upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct task_files *files = flow_files(f);
	struct carry_test_files tests = {0}, solution = {0};

	c.places = volumes_targets(f, true);
	c.mounts = volumes_targets(f, false);
	c.instruction = told(f);
	if (!c.places || !c.mounts || !c.instruction)
		return flow_no_memory(f);
	if (from < 0 || to < 0) {
		(void)error_sys(f->err, from < 0 ? from : errno, "the agent's changes");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	if (read_texts(f, files->tests, files->test_script, &tests) < 0 ||
	    read_texts(f, files->solution, files->solve_script, &solution) < 0)
		return -1;
	c.tests = &tests;
	c.solution = &solution;
	c.upper = from;
	c.keep_conftests = conftests->set && conftests->v;
	if (is_separate(f)) {
		c.start = flow_judge_workdir(f, judge);
		c.had = (const char *const *)f->image.layers;
		c.wanted = ARTIFACTS;
	}
	return carry_changes(&c, to, f->err) < 0 ? flow_fail(f, TASK_INFRASTRUCTURE_ERROR) : 0;
}

/* Of the agent's files, those that a verifier of its own gets, as if they were all that was changed. */
static int carry_artifacts(struct flow *f, const char *const *env)
{
	struct image_work artifacts = {.lock = -1};
	int r;

	if (image_work_new(f->store, &artifacts, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	r = flow_show_artifacts(f, &artifacts);
	if (r == 0)
		r = carry_from(f, &artifacts, env);
	image_work_done(f->store, &artifacts);
	return r;
}

int flow_freeze(struct flow *f)
{
	struct flow_grants grants = {.n = 0};
	struct flow_env env = {0};

	flow_begin(f, PHASE_FREEZE);
	if (flow_collect_commands(f) < 0 || (is_separate(f) && find_judge(f) < 0))
		return -1;
	/* what the verifier loads from where depends on its variables */
	if (verifier_env(f, &env, &grants) < 0 || volumes_settle(f, judge_of(f), env.v) < 0)
		return -1;
	if (image_work_new(f->store, &f->carried, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	if ((is_separate(f) ? carry_artifacts(f, env.v) : carry_from(f, &f->agent, env.v)) < 0)
		return -1;
	flow_end(f, PHASE_FREEZE, 0);
	return 0;
}

static int show_tests(struct flow *f, struct image_work *to, const char ***ret_argv)
{
	const struct task_files *files = flow_files(f);
	struct flow_shown what = {.folder = files->tests, .targets = {"/tests"}, .script = files->test_script};
	AUTO_FD layer = open(to->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	if (!what.script) {
		(void)error_set(f->err, ERROR_INPUT, "the task has no test script");
		return flow_fail(f, TASK_REFUSED);
	}
	if (f->task->format == TASK_DOCUMENT)
		what.targets[1] = "/verifier";
	for (i = 0; log_folders[i]; i++)
		if (layer < 0 || (is_separate(f) && strcmp(log_folders[i], ARTIFACTS) == 0
					  ? layer_add_open
					  : layer_add_empty)(layer, &f->image.ids, log_folders[i], f->err) < 0)
			return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return flow_show(f, to, &what, ret_argv);
}

/* What the tests printed says more than that there is no reward. */
static int verifier_error(struct flow *f)
{
	struct error why = *f->err;

	(void)error_set(f->err, why.kind,
			"%s; the tests ended with exit status %d, and output/%s.txt has what they said", why.text,
			f->result->phases[PHASE_VERIFY].exit, verified_names[f->verified]);
	return flow_fail(f, f->err->kind == ERROR_INPUT ? TASK_VERIFIER_ERROR : TASK_INFRASTRUCTURE_ERROR);
}

static int read_output(struct flow *f, struct reward *ret)
{
	const char *name = arena_printf(f->arena, "output/%s.txt", verified_names[f->verified]);
	AUTO_FD output = name ? sys_open_beneath(f->out, name, O_RDONLY | O_NOFOLLOW, 0) : -ENOMEM;

	if (output < 0)
		return error_sys(f->err, output, "the verifier's output");
	if (f->task->parser.s && strcmp(f->task->parser.s, "swebench") == 0)
		return reward_read_swebench(output, f->arena, ret, f->err);
	return reward_read_pytest(output, f->verified_well, f->arena, ret, f->err);
}

static int read_reward(struct flow *f, struct reward *ret)
{
	const struct task_range *range = &flow_verifier_of(f)->range;
	AUTO_FD upper = flow_changes(f, &f->verifiers[f->verified]);
	AUTO_FD folder = -1;

	if (f->task->format == TASK_TERMINAL)
		return read_output(f, ret);
	/* written by the verifier's processes alone: this folder was made for them, and nobody else ever saw it */
	folder = upper < 0 ? upper : sys_open_beneath(upper, &log_folders[0][1], O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0)
		return error_set(f->err, ERROR_INPUT, "the verifier left no reward: %s is empty", log_folders[0]);
	return reward_read(folder, range->set ? range->low : 0, range->set ? range->high : 1, f->arena, ret, f->err);
}

static int run_verifier(struct flow *f, struct image_work *tests)
{
	const struct task_verifier *v = flow_verifier_of(f);
	const struct task_environment *own = flow_own_environment(f);
	struct flow_env env = {0};
	struct flow_command c = {.name = verified_names[f->verified],
				 .phase = "verify",
				 .env = &env,
				 .work = &f->verifiers[f->verified],
				 .user = v->user.s,
				 .layers = {tests->upper, f->carried.upper},
				 .in = -1};
	struct flow_grants grants = {.n = 0};
	struct task_ended e = {0};
	const char **argv = NULL;

	/* none unless it is declared */
	c.network = v->network.mode.set            ? &v->network
		    : own && own->network.mode.set ? &own->network
						   : &f->task->environment.network;
	c.offline = !c.network->mode.set;
	c.timeout_ms = v->timeout.set ? v->timeout.v : TASK_DEFAULT_VERIFIER_MS;
	if (is_separate(f)) {
		c.image = &f->judge;
		c.cwd = flow_judge_workdir(f, &f->judge);
		c.own = own;
	}
	if (show_tests(f, tests, &argv) < 0 || verifier_env(f, &env, &grants) < 0)
		return -1;
	if (services_allow(f, c.network, c.offline) < 0)
		return -1;
	c.grants = grants.v;
	c.n_grants = grants.n;
	c.argv = (char *const *)(uintptr_t)argv;
	if (flow_run(f, &c, &e) < 0)
		return -1;
	flow_end(f, PHASE_VERIFY, e.status);
	f->verified_well = e.status == 0;
	if (e.error.kind != ERROR_NONE) {
		*f->err = e.error;
		return flow_fail(f, TASK_VERIFIER_ERROR);
	}
	if (e.timed_out) {
		(void)error_set(f->err, ERROR_INPUT,
				"the verifier did not end within %llu s; output/%s.txt has what it said",
				(unsigned long long)c.timeout_ms / 1000, c.name);
		return flow_fail(f, TASK_VERIFIER_ERROR);
	}
	return 0;
}

/* Of the task, or of one of its steps: then their mean, or the last one's, is the task's. */
static int keep_reward(struct flow *f, const struct reward *r)
{
	struct task_result *to = f->result;
	bool final = f->task->steps_reward.set && f->task->steps_reward.v == TASK_STEPS_FINAL;
	struct task_reward *keys;

	to->status = TASK_SCORED;
	to->reward = r->value;
	if (!f->step) {
		to->rewards = r->v;
		to->n_rewards = r->n;
		return 0;
	}
	f->steps.sum += r->value;
	f->steps.n++;
	keys = arena_array(f->arena, f->steps.n, sizeof(*keys));
	if (!keys || arena_failed(f->arena))
		return flow_no_memory(f);
	if (to->n_rewards)
		memcpy(keys, to->rewards, to->n_rewards * sizeof(*keys));
	keys[to->n_rewards++] = (struct task_reward){arena_str(f->arena, sv_of(f->step->name.s)), r->value};
	to->rewards = keys;
	if (!final)
		to->reward = f->steps.sum / f->steps.n;
	return 0;
}

static int verify_once(struct flow *f, enum flow_verified which)
{
	struct image_work tests = {.lock = -1};
	int r;

	f->verified = which;
	if (image_work_new(f->store, &f->verifiers[which], f->err) < 0 || image_work_new(f->store, &tests, f->err) < 0)
		r = flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	else
		r = run_verifier(f, &tests);
	image_work_done(f->store, &tests);
	return r;
}

void flow_verify_done(struct flow *f)
{
	size_t i;

	for (i = 0; i < VERIFIED_MAX; i++)
		image_work_done(f->store, &f->verifiers[i]);
}

/* Tests that cannot even start in what the agent left, or find no reward for it, judge the image without it: it gets
 * what it would have got for nothing, and where they can do no more there, it was not the agent. */
static int verify_without(struct flow *f)
{
	image_work_done(f->store, &f->carried);
	if (image_work_new(f->store, &f->carried, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return verify_once(f, VERIFIED_WITHOUT);
}

static void note_unusable(struct flow *f, const char *failed, const struct error *err)
{
	const char *why = arena_printf(
		f->arena, "none of the agent's changes is carried, for the tests %s with them: %s", failed, err->text);

	if (why)
		(void)task_result_find(f->result, "carry.unusable", "/", why);
}

/* Did the agent leave anything that is carried? */
static bool has_carried(const struct flow *f)
{
	AUTO_FD upper = open(f->carried.upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = upper < 0 ? NULL : sys_list(upper);
	struct dirent *e;
	bool any = false;

	while (d && !any && (e = readdir(d)))
		any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		(void)closedir(d);
	return any;
}

/* Could it be what the agent left that kept tests from a reward? A reward that is out of range, or that their two files
 * do not agree on, they have made as they always do: a score in its place would hide that from who wrote them. So would
 * one in the place of the task's own solution's. */
static bool may_be_agents(const struct flow *f)
{
	const struct agent *agent = f->req->agent;

	return f->err->kind == ERROR_INPUT && f->err->code != ERANGE && !(agent && agent->kind == AGENT_ORACLE) &&
	       has_carried(f);
}

/* Tests that ran and left no reward. Where they have one for the image alone, it was what the agent left that kept them
 * from it. */
static int reward_without(struct flow *f, struct reward *ret)
{
	struct error why = *f->err;
	int ended = f->result->phases[PHASE_VERIFY].exit, r;
	enum flow_verified with = f->verified;

	if (!may_be_agents(f))
		return verifier_error(f);
	*ret = (struct reward){0};
	r = verify_without(f);
	if (r == 0 && read_reward(f, ret) == 0) {
		note_unusable(f, "left no reward", &why);
		return 0;
	}
	/* a disk that is full, or a sandbox that cannot be made, says nothing of the tests */
	if (r == 0 && f->err->kind != ERROR_INPUT)
		return verifier_error(f);
	if (r < 0 && (f->result->signal || f->result->status == TASK_INFRASTRUCTURE_ERROR))
		return -1;
	f->result->phases[PHASE_VERIFY].exit = ended;
	f->verified = with;
	*f->err = why;
	return verifier_error(f);
}

int flow_verify(struct flow *f)
{
	struct reward reward = {0};
	int r;

	flow_begin(f, PHASE_VERIFY);
	f->lost = false;
	r = verify_once(f, VERIFIED_FIRST);
	/* a service that works for the agent may have ended the kernel that they shared: now they do not */
	if (r == 0 && f->lost)
		r = verify_once(f, VERIFIED_AGAIN);
	if (r < 0 && flow_in_the_way(f)) {
		note_unusable(f, "could not start", f->err);
		r = verify_without(f);
		if (r == 0 && read_reward(f, &reward) < 0)
			return verifier_error(f);
	} else if (r == 0 && read_reward(f, &reward) < 0) {
		r = reward_without(f, &reward);
	}
	if (r < 0)
		return -1;
	return keep_reward(f, &reward);
}

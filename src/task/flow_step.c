/* Which part of the task is going on: one of its steps, or the task as a whole. */
#include "task/flow.h"

static void take_num(struct pol_num *to, const struct pol_num *from)
{
	if (!to->set)
		*to = *from;
}

static void take_str(struct pol_str *to, const struct pol_str *from)
{
	if (!to->s)
		*to = *from;
}

static void take_network(struct task_network *to, const struct task_network *from)
{
	if (!to->mode.set)
		*to = *from;
}

static void take_verifier(struct task_verifier *to, const struct task_verifier *from)
{
	take_num(&to->timeout, &from->timeout);
	take_str(&to->user, &from->user);
	take_network(&to->network, &from->network);
	take_str(&to->service, &from->service);
	take_num(&to->keep_conftests, &from->keep_conftests);
	take_num(&to->separate, &from->separate);
	if (!to->environment)
		to->environment = from->environment;
	if (!to->collect.n)
		to->collect = from->collect;
	if (!to->env.n)
		to->env = from->env;
	if (!to->range.set)
		to->range = from->range;
}

static void take_files(struct task_files *to, const struct task_files *from)
{
	if (!to->test_script) {
		to->tests = from->tests;
		to->test_script = from->test_script;
		to->test_dockerfile = from->test_dockerfile;
	}
	if (!to->solve_script) {
		to->solution = from->solution;
		to->solve_script = from->solve_script;
	}
}

int flow_enter_step(struct flow *f, const struct task_step *step)
{
	struct task_step *s = arena_alloc(f->arena, sizeof(*s));

	if (!s)
		return flow_no_memory(f);
	*s = *step;
	take_num(&s->agent.timeout, &f->task->agent.timeout);
	take_str(&s->agent.user, &f->task->agent.user);
	take_network(&s->agent.network, &f->task->agent.network);
	take_str(&s->agent.prompt_prefix, &f->task->agent.prompt_prefix);
	take_verifier(&s->verifier, &f->task->verifier);
	take_files(&s->files, &f->task->files);
	f->step = s;
	return 0;
}

const struct task_files *flow_files(const struct flow *f)
{
	return f->step ? &f->step->files : &f->task->files;
}

const struct task_agent *flow_agent_of(const struct flow *f)
{
	return f->step ? &f->step->agent : &f->task->agent;
}

const struct task_verifier *flow_verifier_of(const struct flow *f)
{
	return f->step ? &f->step->verifier : &f->task->verifier;
}

const char *flow_instruction(struct flow *f)
{
	const char *text = f->step ? f->step->instruction : f->task->instruction,
		   *prefix = flow_agent_of(f)->prompt_prefix.s;

	const char *whole = prefix ? arena_printf(f->arena, "%s\n\n%s", prefix, text) : NULL;

	return whole ? whole : text;
}

const struct task_environment *flow_own_environment(const struct flow *f)
{
	const struct task_verifier *v = flow_verifier_of(f);

	return v->separate.set && v->separate.v ? v->environment : NULL;
}

const char *flow_judge_workdir(const struct flow *f, const struct image *judge)
{
	const struct task_environment *own = flow_own_environment(f);

	return own && own->workdir.s ? own->workdir.s : judge->config.workdir;
}

#include "task/format_check.h"

#include "task/bounds.h"
#include "task/format_value.h"

struct check {
	struct arena *arena; /* for what the functions make, which is thrown away */
	bool failed;
};

/* Present values must be of the type, and in its canonical form. */
static void text(struct check *c, const char *s, value_str_fn *type)
{
	const char *made;

	if (s && (type(c->arena, sv_of(s), &made) || strcmp(made, s) != 0))
		c->failed = true;
}

static void list(struct check *c, const struct pol_list *v, value_str_fn *type)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		text(c, v->v[i].s, type);
}

static void pairs(struct check *c, const struct pol_pairs *v, value_str_fn *name)
{
	uint32_t i;

	for (i = 0; i < v->n; i++) {
		text(c, v->v[i].key, name);
		text(c, v->v[i].value, task_value_text);
	}
}

static void need(struct check *c, bool there)
{
	if (!there)
		c->failed = true;
}

static void network(struct check *c, const struct task_network *n)
{
	uint32_t i;

	need(c, (n->hosts.n > 0) == (n->mode.set && n->mode.v == NET_ALLOWLIST));
	list(c, &n->hosts, task_value_host);
	for (i = 0; i < n->hosts.n; i++)
		need(c, bounds_host_is_fine(n->hosts.v[i].s));
}

static void commands(struct check *c, const struct task_commands *v)
{
	uint32_t i;

	for (i = 0; i < v->n; i++) {
		const struct task_command *k = &v->v[i];

		need(c, k->command.s);
		text(c, k->command.s, task_value_command);
		text(c, k->cwd.s, task_value_inside);
		pairs(c, &k->env, value_env_name);
		text(c, k->user.s, task_value_user);
		text(c, k->service.s, task_value_service);
	}
}

static void mcp(struct check *c, const struct task_mcp *m)
{
	need(c, m->name.s && (m->transport.v == TASK_MCP_STDIO ? m->command.s : m->url.s));
	text(c, m->name.s, task_value_line);
	text(c, m->url.s, task_value_line);
	text(c, m->command.s, task_value_command);
	list(c, &m->args, task_value_text);
	text(c, m->cwd.s, task_value_inside);
	pairs(c, &m->env, value_env_name);
	pairs(c, &m->headers, value_name);
	list(c, &m->tools, task_value_line);
	list(c, &m->include_tags, task_value_line);
	list(c, &m->exclude_tags, task_value_line);
}

static void environment(struct check *c, const struct task_environment *e)
{
	uint32_t i;

	text(c, e->docker_image.s, task_value_image);
	network(c, &e->network);
	pairs(c, &e->env, value_env_name);
	text(c, e->workdir.s, task_value_inside);
	text(c, e->skills_dir.s, task_value_inside);
	text(c, e->healthcheck.command.s, task_value_command);
	for (i = 0; i < e->n_mcp; i++)
		mcp(c, &e->mcp[i]);
	commands(c, &e->setup);
}

static void agent(struct check *c, const struct task_agent *a)
{
	text(c, a->user.s, task_value_user);
	network(c, &a->network);
	text(c, a->prompt_prefix.s, task_value_some);
}

static void verifier(struct check *c, const struct task_verifier *v)
{
	text(c, v->user.s, task_value_user);
	network(c, &v->network);
	pairs(c, &v->env, value_env_name);
	text(c, v->service.s, task_value_service);
	if (v->environment)
		environment(c, v->environment);
	commands(c, &v->collect);
	list(c, &v->pytest_plugins, task_value_line);
}

static void artifacts(struct check *c, const struct task_artifacts *v)
{
	uint32_t i;

	for (i = 0; i < v->n; i++) {
		need(c, v->v[i].source.s);
		text(c, v->v[i].source.s, task_value_source);
		text(c, v->v[i].destination.s, task_value_below);
		text(c, v->v[i].service.s, task_value_service);
		list(c, &v->v[i].exclude, task_value_pattern);
	}
}

/* Which files there are is for us to find, not for a parser to say. */
static void no_files(struct check *c, const struct task_files *f)
{
	need(c, !f->config && !f->instruction && !f->context && !f->dockerfile && !f->compose && !f->tests &&
			!f->test_script && !f->test_dockerfile && !f->test_compose && !f->solution &&
			!f->solve_script && !f->workdir);
}

static void step(struct check *c, const struct task_step *s)
{
	need(c, s->name.s && !s->instruction);
	text(c, s->name.s, task_value_step);
	agent(c, &s->agent);
	verifier(c, &s->verifier);
	text(c, s->healthcheck.command.s, task_value_command);
	artifacts(c, &s->artifacts);
	pairs(c, &s->min_reward, task_value_line);
	no_files(c, &s->files);
}

int format_check(const struct task *t, struct error *err)
{
	struct check c = {.arena = arena_new()};
	uint32_t i;

	if (!c.arena)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	text(&c, t->schema.s, task_value_schema);
	text(&c, t->name.s, task_value_line);
	text(&c, t->instruction, task_value_long);
	need(&c, !t->name.s || !strstr(t->name.s, ".."));
	agent(&c, &t->agent);
	verifier(&c, &t->verifier);
	environment(&c, &t->environment);
	pairs(&c, &t->solution.env, value_env_name);
	artifacts(&c, &t->artifacts);
	need(&c, !t->parser.s || strcmp(t->parser.s, "pytest") == 0 || strcmp(t->parser.s, "swebench") == 0);
	for (i = 0; i < t->n_steps; i++)
		step(&c, &t->steps[i]);
	no_files(&c, &t->files);
	arena_free(c.arena);
	return c.failed ? error_set(err, ERROR_INPUT,
				    "the task could not be parsed safely: its parser said nothing that makes sense")
			: 0;
}

#include "task/review.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "conf/dockerfile.h"
#include "image/recipe.h"
#include "sys/beneath.h"
#include "task/build.h"
#include "task/compose.h"
#include "task/compose_fit.h"
#include "task/compose_main.h"
#include "task/env.h"
#include "task/format.h"
#include "task/review_compose.h"

const char *review_grant(void *credentials, const char *name)
{
	const struct credentials *c = credentials;
	uint32_t i;

	for (i = 0; c && i < c->n; i++)
		if (c->v[i].verifier_env && strcmp(c->v[i].verifier_env, name) == 0)
			return c->v[i].name;
	return NULL;
}

struct reviewing {
	int folder;
	const struct task *t;
	struct task_problems *problems;
	struct arena *arena;
	const struct compose *compose; /* NULL: there is none, or it is refused */
};

static void check_table(struct reviewing *r, const char *key, bool warning, const struct pol_pairs *table,
			const struct task_env_scope *scope)
{
	struct task_env_value value;
	struct error err;
	uint32_t i;

	for (i = 0; i < table->n; i++)
		if (task_env_resolve(table, i, scope, r->arena, &value, &err) < 0)
			task_problem_add(r->problems, &(struct task_problem){.warning = warning,
									     .file = r->t->files.config,
									     .line = table->v[i].at.line,
									     .column = table->v[i].at.column,
									     .key = key,
									     .what = err.text});
}

static void check_commands(struct reviewing *r, const char *key, const struct task_commands *v,
			   const struct task_env_scope *scope)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		check_table(r, key, false, &v->v[i].env, scope);
}

static void check_environment(struct reviewing *r, const char *key, const struct task_environment *e,
			      const struct task_env_scope *outer)
{
	struct task_env_scope scope = *outer;
	uint32_t i;

	check_table(r, key, false, &e->env, outer);
	scope.others = &e->env;
	check_commands(r, "setup_commands.env", &e->setup, &scope);
	for (i = 0; i < e->n_mcp; i++) {
		check_table(r, "mcp_servers.env", false, &e->mcp[i].env, &scope);
		check_table(r, "mcp_servers.headers", false, &e->mcp[i].headers, &scope);
	}
}

static void refuse_at(struct reviewing *r, const struct origin *at, const char *key, const char *what)
{
	task_problem_add(
		r->problems,
		&(struct task_problem){
			.file = r->t->files.config, .line = at->line, .column = at->column, .key = key, .what = what});
}

/* A machine that tests run on once, and nothing before them. */
static void check_own(struct reviewing *r, const struct task_environment *e)
{
	static const char what[] =
		"is not supported of a verifier's own machine; do it in its image, or in the test script";

	if (e->setup.n)
		refuse_at(r, &e->setup.v[0].command.at, "verifier.environment.setup_commands", what);
	if (e->healthcheck.command.s)
		refuse_at(r, &e->healthcheck.command.at, "verifier.environment.healthcheck", what);
	if (e->n_mcp)
		refuse_at(r, &e->mcp[0].name.at, "verifier.environment.mcp_servers", "is for agents; leave it out");
}

static void check_verifier(struct reviewing *r, const struct task_verifier *v, const struct task_env_scope *granted,
			   const struct task_env_scope *plain)
{
	check_table(r, "verifier.env", false, &v->env, granted);
	check_commands(r, "verifier.collect.env", &v->collect, plain);
	if (v->environment) {
		check_environment(r, "verifier.environment.env", v->environment, plain);
		check_own(r, v->environment);
	}
}

static void check_env(struct reviewing *r, const struct credentials *credentials)
{
	struct task_env_scope plain = {0}, inside = {.others = &r->t->environment.env};
	struct task_env_scope granted = {.credential = review_grant, .arg = (void *)(uintptr_t)credentials};
	uint32_t i;

	check_environment(r, "environment.env", &r->t->environment, &plain);
	/* only the oracle misses it, and says so when it is run */
	check_table(r, "solution.env", true, &r->t->solution.env, &inside);
	check_verifier(r, &r->t->verifier, &granted, &inside);
	for (i = 0; i < r->t->n_steps; i++)
		check_verifier(r, &r->t->steps[i].verifier, &granted, &inside);
}

/* ---- the Dockerfile ---- */

/* A problem in one text: "FILE:LINE: INSTRUCTION: what". */
static void tell_line(struct reviewing *r, const char *file, const char *text)
{
	struct task_problem p = {.file = file, .key = "", .what = text};
	size_t n = strlen(file);
	unsigned line;
	int used = 0;

	if (strncmp(text, file, n) == 0 && sscanf(text + n, ":%9u: %n", &line, &used) == 1 && used) {
		p.line = line;
		p.column = 1;
		p.what = text + n + used;
	}
	task_problem_add(r->problems, &p);
}

/* -ENOENT where there is none, and other -errno. */
static int read_beneath(int folder, const char *path, struct buf *out)
{
	AUTO_FD fd = sys_open_beneath(folder, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);

	return fd < 0 ? fd : buf_read_fd(out, fd);
}

/* 0: read, or there is none; 1: told. */
static int read_part(struct reviewing *r, const char *path, struct buf *out)
{
	int code = read_beneath(r->folder, path, out);

	if (code == 0 || code == -ENOENT)
		return 0;
	tell_line(r, path,
		  code == -EFBIG ? "is too large; shorten it"
				 : "cannot be read; it must be a regular file that you may read");
	return 1;
}

struct of_dockerfile {
	struct reviewing *r;
	const char *name;
};

static void tell_copied(void *arg, const char *text)
{
	const struct of_dockerfile *of = arg;
	const char *kept = arena_str(of->r->arena, sv_of(text));

	tell_line(of->r, of->name, kept ? kept : "out of memory");
}

/* The files that it copies must be there. */
static int check_copied(struct reviewing *r, const struct recipe *recipe, const char *name, const char *context,
			struct error *err)
{
	AUTO_FD folder = sys_open_beneath(r->folder, context, O_RDONLY | O_DIRECTORY, 0);
	struct of_dockerfile of = {r, name};

	if (folder < 0)
		return error_sys(err, folder, "the build context");
	build_check_files(recipe, folder, name, tell_copied, &of);
	return 0;
}

/* One file and the .dockerignore of its context; NULL: there is none to check. how: as flow_build() has it. */
static int check_dockerfile(struct reviewing *r, const char *name, const char *context, const struct compose_build *how,
			    struct error *err)
{
	const char *ignore_name =
		name ? strcmp(context, ".") == 0 ? ".dockerignore" : arena_printf(r->arena, "%s/.dockerignore", context)
		     : "";
	struct recipe_request req = {.name = name, .ignore_name = ignore_name, .platform = recipe_platform()};
	const struct recipe *recipe = NULL;
	const char **problem;
	AUTO_BUF text = {0};
	AUTO_BUF ignore = {0};

	buf_init(&text, DOCKERFILE_BYTES);
	buf_init(&ignore, DOCKERFILE_BYTES);
	if (!name || !ignore_name)
		return name ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
	if (read_part(r, name, &text) || read_part(r, ignore_name, &ignore))
		return 0;
	if (how) {
		req.target = how->target[0] ? how->target : NULL;
		req.args = (const char *const *)compose_arguments(r->arena, &how->args);
	}
	if (arena_failed(r->arena))
		return error_set(err, ERROR_SYSTEM, "out of memory");
	req.dockerfile = buf_view(&text);
	req.ignore = buf_view(&ignore);
	if (recipe_parse(r->arena, &req, &recipe, err) < 0) {
		if (err->kind != ERROR_INPUT)
			return -1;
		tell_line(r, name, err->text);
		return 0;
	}
	for (problem = recipe->problems; *problem; problem++)
		tell_line(r, name, *problem);
	return check_copied(r, recipe, name, context, err);
}

static const char *join(struct arena *a, const char *folder, const char *path)
{
	if (strcmp(folder, ".") == 0)
		return path;
	return strcmp(path, ".") == 0 ? folder : arena_printf(a, "%s/%s", folder, path);
}

/* What a service is built of, paths being relative to the folder of the task's environment. That the file is there is
 * looked at with the other paths (compose_paths.h). */
static int check_build(struct reviewing *r, const struct compose_build *b, struct error *err)
{
	const char *context = b->set ? join(r->arena, r->t->files.context, b->context) : NULL,
		   *name = context ? join(r->arena, context, b->dockerfile) : NULL;

	if (b->set && !name)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return b->set ? check_dockerfile(r, name, context, b, err) : 0;
}

/* All services, the agent's own among them, which is there without a Compose file, too. */
static int check_services(struct reviewing *r, struct error *err)
{
	const struct compose *c = r->compose;
	struct compose_service own = c ? c->services[c->main] : compose_main_none;
	uint32_t i;

	compose_main_choose(r->t, REVIEW_MAIN_IMAGE, &own);
	if (check_build(r, &own.build, err) < 0)
		return -1;
	for (i = 0; c && i < c->n_services; i++)
		if (i != c->main && check_build(r, &c->services[i].build, err) < 0)
			return -1;
	return 0;
}

static int check_builds(struct reviewing *r, struct error *err)
{
	const struct task *t = r->t;
	uint32_t i;

	if (check_services(r, err) < 0)
		return -1;
	if (check_dockerfile(r, t->files.test_dockerfile, t->files.tests, NULL, err) < 0)
		return -1;
	for (i = 0; i < t->n_steps; i++)
		if (check_dockerfile(r, t->steps[i].files.test_dockerfile, t->steps[i].files.tests, NULL, err) < 0)
			return -1;
	return 0;
}

static int check_compose(struct reviewing *r, const struct review *with, struct error *err)
{
	const struct task *t = r->t;
	bool lenient = with->lenient;
	uint32_t i;

	if (review_compose(r->folder, t, lenient, r->arena, r->problems, &r->compose, err) < 0 ||
	    review_verifier_compose(r->folder, &t->files, lenient, r->arena, r->problems, err) < 0)
		return -1;
	for (i = 0; i < t->n_steps; i++)
		if (review_verifier_compose(r->folder, &t->steps[i].files, lenient, r->arena, r->problems, err) < 0)
			return -1;
	if (r->compose && !with->by_docker)
		compose_fit(r->compose, t, REVIEW_MAIN_IMAGE, r->problems);
	return 0;
}

int review_task(int folder, const struct review *with, struct task **ret, struct task_problems *problems,
		struct error *err)
{
	struct reviewing r = {.problems = problems};
	struct task *t;
	uint32_t before;

	format_check_hooks(folder, problems);
	before = problems->refused;
	problems->refused = 0; /* of the format alone: what else is wrong is to be told, too */
	if (format_load(folder, with->lenient, &t, problems, err) < 0) {
		problems->refused += before;
		return -1;
	}
	problems->refused += before;
	r.folder = folder;
	r.t = t;
	r.arena = t->arena;
	check_env(&r, with->credentials);
	if (check_compose(&r, with, err) == 0 && check_builds(&r, err) == 0 && problems->refused == 0) {
		*ret = t;
		return 0;
	}
	if (problems->refused)
		(void)format_refused(problems, err);
	task_free(t);
	return -1;
}

#include "task/review_compose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "conf/yaml.h"
#include "image/recipe.h"
#include "sys/beneath.h"
#include "task/compose.h"
#include "task/compose_paths.h"
#include "task/compose_plan.h"
#include "task/env.h"

/* The keys of [environment.env] are what a Compose file may name. Those that do not resolve are told elsewhere. */
static int declared(const struct task *t, struct arena *a, struct compose_input *in, struct error *err)
{
	const struct pol_pairs *env = &t->environment.env;
	struct task_env_scope scope = {0};
	struct task_env_value value;
	struct compose_pair *v = arena_array(a, env->n, sizeof(*v));
	struct error ignored;
	uint32_t i;

	if (!v)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < env->n; i++)
		if (task_env_resolve(env, i, &scope, a, &value, &ignored) == 0)
			v[in->n_variables++] = (struct compose_pair){value.name, value.value};
	in->variables = v;
	return 0;
}

static int fail_read(const char *file, int code, struct task_problems *problems)
{
	task_problem_add(problems,
			 &(struct task_problem){
				 .file = file,
				 .key = "",
				 .what = code == -EFBIG
						 ? "is too large; shorten it"
						 : "cannot be read; it must be a regular file that you may read"});
	return 0;
}

/* Reads, parses and looks at what is named in the folder that the file is in. *ret stays NULL where it was refused. */
static int load(int folder, const char *context, struct compose_input *in, struct arena *a,
		struct task_problems *problems, const struct compose **ret, struct error *err)
{
	uint32_t before = problems->refused;
	const struct compose *compose = NULL;
	AUTO_FD file = sys_open_beneath(folder, in->file, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	AUTO_FD below = sys_open_beneath(folder, context, O_RDONLY | O_DIRECTORY, 0);
	AUTO_BUF text = {0};
	int code;

	buf_init(&text, YAML_TREE_BYTES);
	code = file < 0 ? file : buf_read_fd(&text, file);
	if (code < 0)
		return fail_read(in->file, code, problems);
	in->text = buf_view(&text);
	if (compose_load(in, a, problems, &compose, err) < 0) {
		if (err->kind != ERROR_INPUT)
			return -1;
		if (problems->refused == before)
			task_problem_add(problems,
					 &(struct task_problem){.file = in->file, .key = "", .what = err->text});
		return 0;
	}
	code = below < 0 ? below : compose_paths_check(compose, below, in->file, problems);
	if (code == 0)
		*ret = compose;
	return code < 0 ? error_sys(err, code, "%s", in->file) : 0;
}

/* What a group of sandboxes cannot do is told now, not when it is to start. */
static int check_plan(const struct compose *c, const char *file, struct arena *a, struct task_problems *problems,
		      struct error *err)
{
	struct task_problem p = {.file = file, .key = "", .what = err->text};
	struct compose_plan plan;
	unsigned line = 0;
	int used = 0;

	if (compose_plan(c, file, recipe_platform() + strlen("linux/"), a, &plan, err) == 0)
		return 0;
	if (err->kind != ERROR_INPUT)
		return -1;
	if (strncmp(err->text, file, strlen(file)) == 0 &&
	    sscanf(err->text + strlen(file), ":%9u: %n", &line, &used) == 1 && used) {
		p.line = line;
		p.column = 1;
		p.what = err->text + strlen(file) + used;
	}
	task_problem_add(problems, &p);
	return 0;
}

int review_compose_read(int folder, const struct task *t, const struct review_compose *with, struct arena *a,
			struct task_problems *problems, const struct compose **ret, struct error *err)
{
	const struct task_environment *e = &t->environment;
	struct compose_input in = {
		.file = t->files.compose,
		.runner = {.project = with->project,
			   .image = with->image,
			   .prebuilt = e->docker_image.s ? e->docker_image.s : "",
			   .cpus = e->cpus.set ? e->cpus.v : TASK_DEFAULT_CPUS,
			   .memory = e->memory.set ? e->memory.v : (uint64_t)TASK_DEFAULT_MEMORY_MB << 20},
		.harbor = t->format != TASK_TERMINAL,
		.lenient = with->lenient,
	};
	const struct compose *compose = NULL;

	if (declared(t, a, &in, err) < 0 || load(folder, t->files.context, &in, a, problems, &compose, err) < 0)
		return -1;
	if (!compose)
		return 0;
	*ret = compose;
	return check_plan(compose, in.file, a, problems, err);
}

int review_compose(int folder, const struct task *t, bool lenient, struct arena *a, struct task_problems *problems,
		   const struct compose **ret, struct error *err)
{
	const struct review_compose with = {.project = "task", .image = REVIEW_MAIN_IMAGE, .lenient = lenient};

	return t->files.compose ? review_compose_read(folder, t, &with, a, problems, ret, err) : 0;
}

/* Is it the file of its own folder, where the whole folder is? */
static bool is_in_tests(const struct compose_mount *m)
{
	static const char tests[] = "/tests";

	if (m->kind != COMPOSE_MOUNT_TASK || strncmp(m->target, tests, strlen(tests)) != 0)
		return false;
	if (strcmp(m->source, ".") == 0)
		return strcmp(m->target, tests) == 0;
	return m->target[strlen(tests)] == '/' && strcmp(m->target + strlen(tests) + 1, m->source) == 0;
}

/* Does it say anything but that? What is left without its mounts must be what an empty service is. */
static int says_more(const struct compose *c, struct arena *a, bool *ret, struct error *err)
{
	struct compose_input plain = {.file = "empty",
				      .text = sv_of("services: {main: {}}"),
				      .runner = {.project = "task", .image = "task", .prebuilt = ""},
				      .harbor = true};
	struct task_problems none = {.arena = a};
	const struct compose *empty;
	struct compose_service main;
	struct compose rest = *c;
	uint32_t i;

	if (compose_parse(&plain, a, &none, &empty, err) < 0)
		return -1;
	*ret = true;
	if (c->n_services != 1)
		return 0;
	main = c->services[0];
	for (i = 0; i < main.mounts.n; i++)
		if (!is_in_tests(&main.mounts.v[i]))
			return 0;
	main.mounts = (struct compose_mounts){0};
	rest.services = &main;
	*ret = !compose_equal(&rest, empty);
	return 0;
}

int review_verifier_compose(int folder, const struct task_files *files, bool lenient, struct arena *a,
			    struct task_problems *problems, struct error *err)
{
	struct compose_input in = {.file = files->test_compose,
				   .runner = {.project = "task", .image = "task", .prebuilt = ""},
				   .harbor = true,
				   .lenient = lenient};
	const struct compose *compose = NULL;
	bool more = false;

	if (!in.file)
		return 0;
	if (load(folder, files->tests, &in, a, problems, &compose, err) < 0)
		return -1;
	if (compose && says_more(compose, a, &more, err) < 0)
		return -1;
	if (more)
		task_problem_add(
			problems,
			&(struct task_problem){
				.file = in.file,
				.key = "services",
				.what = "gives the verifier more than files of its own folder below /tests; Cordon "
					"starts no services for a verifier: let its Dockerfile have what it needs"});
	return 0;
}

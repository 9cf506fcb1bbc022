#include "task/review_compose.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "conf/yaml.h"
#include "sys/beneath.h"
#include "task/compose.h"
#include "task/compose_paths.h"
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
	task_problem_add(problems, &(struct task_problem){.file = file, .key = "", .what = code == -EFBIG ? "is too large; shorten it" : "cannot be read; it must be a regular file that you may read"});
	return 0;
}

int review_compose(int folder, const struct task *t, bool lenient, struct arena *a, struct task_problems *problems, struct error *err)
{
	const struct task_environment *e = &t->environment;
	struct compose_input in = {
		.file = t->files.compose,
		.runner = {.project = "task", .image = "task", .prebuilt = e->docker_image.s ? e->docker_image.s : "",
			   .cpus = e->cpus.set ? e->cpus.v : TASK_DEFAULT_CPUS, .memory = e->memory.set ? e->memory.v : (uint64_t)TASK_DEFAULT_MEMORY_MB << 20},
		.harbor = t->format != TASK_TERMINAL,
		.lenient = lenient,
	};
	const struct compose *compose = NULL;
	uint32_t before = problems->refused;
	AUTO_FD file = -1;
	AUTO_FD context = -1;
	AUTO_BUF text = {0};
	int code;

	if (!in.file)
		return 0;
	buf_init(&text, YAML_TREE_BYTES);
	file = sys_open_beneath(folder, in.file, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	code = file < 0 ? file : buf_read_fd(&text, file);
	if (code < 0)
		return fail_read(in.file, code, problems);
	in.text = buf_view(&text);
	if (declared(t, a, &in, err) < 0)
		return -1;
	if (compose_load(&in, a, problems, &compose, err) < 0) {
		if (err->kind != ERROR_INPUT)
			return -1;
		if (problems->refused == before)
			task_problem_add(problems, &(struct task_problem){.file = in.file, .key = "", .what = err->text});
		return 0;
	}
	context = sys_open_beneath(folder, t->files.context, O_RDONLY | O_DIRECTORY, 0);
	code = context < 0 ? context : compose_paths_check(compose, context, in.file, problems);
	return code < 0 ? error_sys(err, code, "%s", in.file) : 0;
}

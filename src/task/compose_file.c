#include "task/compose_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "image/recipe.h"
#include "task/compose.h"
#include "task/compose_bind.h"
#include "task/compose_main.h"
#include "task/compose_write.h"
#include "task/env.h"
#include "task/review_compose.h"

#define MAIN_TAG "cordon-main"

bool compose_name_is_fine(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    (name[i] != '-' || i == 0 || name[i - 1] == '-' || !name[i + 1]))
			return false;
	return i > 0 && i <= COMPOSE_NAME_MAX;
}

void compose_name_of(const char *dir, char ret[COMPOSE_NAME_MAX + 1])
{
	AUTO_FREE char *path = real_path(dir, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL, *p;
	size_t n = 0;

	for (p = slash ? slash + 1 : dir; *p && n < COMPOSE_NAME_MAX; p++) {
		if (isalnum((unsigned char)*p))
			ret[n++] = (char)tolower((unsigned char)*p);
		else if (n && ret[n - 1] != '-')
			ret[n++] = '-';
	}
	while (n && ret[n - 1] == '-')
		n--;
	ret[n] = '\0';
	if (n == 0)
		(void)snprintf(ret, COMPOSE_NAME_MAX + 1, "task");
}

int compose_project(const char *state, const char *name, struct compose_project *ret, struct error *err)
{
	struct compose_project p = {0};
	struct text_shown shown;

	if (name && !compose_name_is_fine(name))
		return error_set(err, ERROR_USAGE,
				 "%s is no name for it: write at most %d lower-case letters and digits, with single "
				 "dashes between them",
				 text_show(&shown, sv_of(name)), COMPOSE_NAME_MAX);
	if (snprintf(p.root, sizeof(p.root), "%s/compose", state) >= (int)sizeof(p.root))
		return error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long");
	if (name) {
		(void)snprintf(p.name, sizeof(p.name), "%s", name);
		(void)snprintf(p.project, sizeof(p.project), "cordon-%u-%s", (unsigned)geteuid(), name);
		if (snprintf(p.folder, sizeof(p.folder), "%.*s/%s", PATH_MAX - 100, p.root, name) >= PATH_MAX - 50)
			return error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long");
	}
	*ret = p;
	return 0;
}

/* What the task's own file says; or what its runners take where it has none. */
static int read_model(const struct compose_file_request *req, struct arena *a, const char *image,
		      const struct compose **ret, struct error *err)
{
	const struct review_compose with = {.project = req->project->project, .image = image, .lenient = req->lenient};
	const struct pol_str *ready = &req->task->environment.docker_image;
	struct compose_input in = {
		.file = "docker-compose.yaml",
		.text = sv_of("services: {main: {}}"),
		.runner = {.project = with.project, .image = image, .prebuilt = ready->s ? ready->s : ""},
		.harbor = true};
	struct task_problems problems = {.arena = a};

	if (!req->task->files.compose)
		return compose_parse(&in, a, &problems, ret, err);
	if (review_compose_read(req->stage, req->task, &with, a, &problems, ret, err) < 0)
		return -1;
	/* it was reviewed with other names; what these change is told here */
	if (problems.refused)
		return error_set(err, ERROR_INPUT, "%.100s: %.300s", req->task->files.compose,
				 problems.v[problems.n - 1].what);
	return 0;
}

/* The table's variables come instead of those that the file has under the same names. */
static int add_variables(const struct task *t, struct arena *a, struct compose_service *s, struct error *err)
{
	const struct pol_pairs *table = &t->environment.env;
	const struct task_env_scope scope = {.others = table};
	struct compose_pair *v = arena_array(a, (size_t)s->environment.n + table->n + 1, sizeof(*v));
	struct task_env_value value;
	uint32_t n = s->environment.n, i, k;

	if (!v)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (n)
		memcpy(v, s->environment.v, n * sizeof(*v));
	for (i = 0; i < table->n; i++) {
		if (task_env_resolve(table, i, &scope, a, &value, err) < 0)
			return -1;
		for (k = 0; k < n && strcmp(v[k].name, value.name) != 0; k++)
			;
		v[k] = (struct compose_pair){value.name, value.value};
		n += k == n;
	}
	s->environment = (struct compose_pairs){.v = v, .n = n};
	return 0;
}

static uint64_t lower(uint64_t a, const struct pol_num *b)
{
	return b->set && (!a || b->v < a) ? b->v : a;
}

/* The agent's own service also has what the task says of its environment. */
static int fill_main(const struct task *t, struct arena *a, const char *image, struct compose_service *s,
		     struct error *err)
{
	const struct task_environment *e = &t->environment;

	compose_main_choose(t, image, s);
	s->memory = lower(s->memory, &e->memory);
	s->cpus = lower(s->cpus, &e->cpus);
	if (e->workdir.s)
		s->working_dir = e->workdir.s;
	if (t->agent.user.s)
		s->user = t->agent.user.s;
	return add_variables(t, a, s, err);
}

static int fill(const struct compose_file_request *req, const struct compose *from, struct arena *a, const char *image,
		struct compose_file *ret, struct error *err)
{
	struct compose *c = arena_alloc(a, sizeof(*c));
	uint32_t i;

	ret->images = arena_array(a, from->n_services + 1, sizeof(*ret->images));
	if (!c || !ret->images)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	*c = *from;
	c->services = arena_array(a, from->n_services, sizeof(*c->services));
	if (!c->services)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	memcpy(c->services, from->services, from->n_services * sizeof(*c->services));
	if (fill_main(req->task, a, image, &c->services[c->main], err) < 0)
		return -1;
	for (i = 0; i < c->n_services; i++) {
		const struct compose_service *s = &c->services[i];

		ret->images[i] = !s->build.set  ? s->image
				 : i == c->main ? image
						: arena_printf(a, "%s:%s", req->project->project, s->name);
	}
	ret->compose = c;
	return arena_failed(a) ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
}

static int fill_place(const struct compose_file_request *req, struct arena *a, struct compose_file *ret,
		      struct compose_place *place, struct error *err)
{
	const char *root = req->project->folder, **folders = arena_array(a, COMPOSE_FOLDERS + 1, sizeof(*folders));
	size_t i;

	ret->context = req->task->files.context ? req->task->files.context : ".";
	ret->hidden = compose_hidden(req->task, a);
	place->task = strcmp(ret->context, ".") == 0 ? arena_printf(a, "%s/stage", root)
						     : arena_printf(a, "%s/stage/%s", root, ret->context);
	place->copies = arena_printf(a, "%s/copies", root);
	place->hidden = ret->hidden;
	for (i = 0; i < COMPOSE_FOLDERS; i++) {
		place->folders[i] = arena_printf(a, "%s/logs/%s", root, compose_folder_names[i]);
		if (folders)
			folders[i] = compose_folder_names[i];
	}
	ret->folders = folders;
	return arena_failed(a) ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
}

/* An engine refuses more processors than the machine has. */
static uint64_t processors(uint64_t bound)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t all = n > 0 ? (uint64_t)n * 1000 : 1000;

	return bound && bound < all ? bound : all;
}

int compose_file(const struct compose_file_request *req, struct arena *a, struct compose_file *ret, struct error *err)
{
	const char *file = req->task->files.compose ? req->task->files.compose : "docker-compose.yaml";
	const char *ready = req->task->environment.docker_image.s,
		   *image = ready ? ready : arena_printf(a, "%s:" MAIN_TAG, req->project->project);
	struct compose_policy policy = {.memory = req->memory, .cpus = processors(req->cpus), .pids = req->pids};
	struct compose_place place = {0};
	const struct compose *model = NULL;
	struct compose_plan plan;
	const char *wrong;
	int r;

	if (!image)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (read_model(req, a, image, &model, err) < 0 || fill(req, model, a, image, ret, err) < 0 ||
	    fill_place(req, a, ret, &place, err) < 0)
		return -1;
	wrong = compose_wrong(ret->compose);
	if (wrong)
		return error_set(
			err, ERROR_INPUT,
			"%.100s: this task cannot be said in a Compose file: %.200s; `cordon task run` needs none",
			file, wrong);
	if (compose_plan(ret->compose, file, strchr(recipe_platform(), '/') + 1, a, &plan, err) < 0)
		return -1;
	policy.plan = &plan;
	policy.images = ret->images;
	r = compose_write(ret->compose, &place, &policy, &ret->text);
	return r < 0 ? error_sys(err, r, "the Compose file of this task") : 0;
}

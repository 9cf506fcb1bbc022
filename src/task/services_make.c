#include "task/services_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/recipe.h"
#include "image/users.h"
#include "sys/beneath.h"
#include "task/compose.h"
#include "task/compose_bind.h"
#include "task/compose_main.h"
#include "task/compose_paths.h"
#include "task/volume_copy.h"
#include "task/volumes.h"

/* What the compose file calls the image that is made of the task's Dockerfile. */
#define MAIN_IMAGE "cordon-task"

enum { FILE_MAX = 1 << 20, SERVICE_ROOM = 4 };

static int refused(struct flow *f)
{
	/* an image that is not here is no fault of the task's */
	return flow_fail(f, f->err->kind == ERROR_SYSTEM || f->err->kind == ERROR_MISSING ? TASK_INFRASTRUCTURE_ERROR
											  : TASK_REFUSED);
}

/* The staged folder that holds the compose file: its paths are relative to it. */
static const char *folder_of(const struct flow *f)
{
	return f->task->files.context;
}

static const char *below(struct flow *f, const char *folder, const char *path)
{
	if (strcmp(folder, ".") == 0)
		return path;
	return strcmp(path, ".") == 0 ? folder : arena_printf(f->arena, "%s/%s", folder, path);
}

/* What the task declares: the values that its own tables give. */
static int declared(struct flow *f, struct compose_input *in)
{
	struct compose_pair *v;
	struct flow_env env = {0};
	size_t i;

	if (flow_env_table(f, &env, &f->task->environment.env) < 0)
		return -1;
	v = arena_array(f->arena, env.n + 1, sizeof(*v));
	for (i = 0; v && i < env.n; i++) {
		const char *equals = strchr(env.v[i], '=');

		v[i] = (struct compose_pair){arena_str(f->arena, sv_n(env.v[i], (size_t)(equals - env.v[i]))),
					     equals + 1};
	}
	in->variables = v;
	in->n_variables = (uint32_t)env.n;
	return arena_failed(f->arena) ? flow_no_memory(f) : 0;
}

static int parse(struct flow *f, const struct compose **ret)
{
	const struct task_environment *e = &f->task->environment;
	struct compose_input in = {
		.file = f->task->files.compose, .harbor = f->task->format != TASK_TERMINAL, .lenient = f->req->lenient};
	AUTO_FD fd = sys_open_beneath(f->stage, f->task->files.compose, O_RDONLY | O_NOFOLLOW, 0);
	AUTO_FD folder = sys_open_beneath(f->stage, folder_of(f), O_RDONLY | O_DIRECTORY, 0);
	struct task_problems problems = {.arena = f->arena};
	AUTO_BUF text = {0};
	int r;

	buf_init(&text, FILE_MAX);
	r = fd < 0 ? fd : folder < 0 ? folder : buf_read_fd(&text, fd);
	if (r < 0) {
		(void)error_sys(f->err, r, "%s", f->task->files.compose);
		return refused(f);
	}
	in.text = buf_view(&text);
	in.runner =
		(struct compose_runner){.project = "cordon",
					.image = MAIN_IMAGE,
					.prebuilt = e->docker_image.s ? e->docker_image.s : "",
					.cpus = e->cpus.set ? e->cpus.v : TASK_DEFAULT_CPUS,
					.memory = e->memory.set ? e->memory.v : (uint64_t)TASK_DEFAULT_MEMORY_MB << 20};
	if (declared(f, &in) < 0)
		return -1;
	if (compose_load(&in, f->arena, &problems, ret, f->err) < 0)
		return refused(f);
	r = compose_paths_check(*ret, folder, in.file, &problems);
	if (r < 0)
		(void)error_sys(f->err, r, "%s", in.file);
	else if (r > 0)
		(void)error_set(f->err, ERROR_INPUT, "%s:%u: %s: %s", problems.v[problems.n - 1].file,
				problems.v[problems.n - 1].line, problems.v[problems.n - 1].key,
				problems.v[problems.n - 1].what);
	return r == 0 ? 0 : refused(f);
}

/* Lines of a text. */
static const char **lines(struct flow *f, const char *text)
{
	size_t n = 1, i = 0;
	const char *p;
	const char **v;

	for (p = text; *p; p++)
		n += *p == '\n';
	v = arena_array(f->arena, n + 1, sizeof(*v));
	for (p = text; v && *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (*p != '\n')
			v[i++] = arena_str(f->arena, sv_n(p, strcspn(p, "\n")));
	return v;
}

int services_read(struct flow *f)
{
	struct services *s;
	uint32_t i;

	if (!f->task->files.compose)
		return 0;
	s = arena_alloc(f->arena, sizeof(*s));
	if (!s)
		return flow_no_memory(f);
	if (parse(f, &s->compose) < 0)
		return -1;
	if (compose_plan(s->compose, f->task->files.compose, strchr(recipe_platform(), '/') + 1, f->arena, &s->plan,
			 f->err) < 0)
		return refused(f);
	s->v = arena_array(f->arena, s->plan.n, sizeof(*s->v));
	s->hidden = compose_hidden(f->task, f->arena);
	if (arena_failed(f->arena))
		return flow_no_memory(f);
	for (i = 0; i < s->plan.n; i++)
		s->v[i] = (struct service){.step = &s->plan.steps[i],
					   .hosts = lines(f, s->plan.steps[i].hosts),
					   .work = {.lock = -1},
					   .run = {.fd = -1},
					   .stdin_end = -1};
	if (arena_failed(f->arena))
		return flow_no_memory(f);
	f->services = s;
	services_tell_binds(f);
	return 0;
}

static int make_image(struct flow *f, const struct compose_service *c, struct image *ret)
{
	const char *context = c->build.set ? below(f, folder_of(f), c->build.context) : NULL;
	const char *dockerfile = context ? below(f, context, c->build.dockerfile) : NULL;

	if (!c->build.set)
		return image_find(f->store, c->image, ret, f->err);
	return dockerfile ? flow_build(f, context, dockerfile, &c->build, ret)
			  : error_set(f->err, ERROR_SYSTEM, "out of memory");
}

/* A name that a service gives what it builds is an image to others: the service that makes it, or this one itself. */
static struct compose_service maker_of(const struct flow *f, const struct compose_service *c)
{
	const struct compose *all = f->services->compose;
	struct compose_service own = all->services[all->main];
	uint32_t i;

	compose_main_choose(f->task, MAIN_IMAGE, &own);
	if (c->build.set)
		return *c;
	if (own.build.set && (strcmp(c->image, own.image) == 0 || strcmp(c->image, MAIN_IMAGE) == 0))
		return own;
	for (i = 0; i < all->n_services; i++)
		if (i != all->main && all->services[i].build.set && strcmp(all->services[i].image, c->image) == 0)
			return all->services[i];
	return *c;
}

static int find_image(struct flow *f, struct service *s)
{
	struct compose_service maker = maker_of(f, s->step->service);

	if (make_image(f, &maker, &s->image) < 0)
		return f->result->status == TASK_TIMEOUT ? -1 : refused(f);
	s->has_image = true;
	return 0;
}

/* As Docker does it: an entry point of the file's own takes the image's command with it. */
static char **command_of(struct flow *f, const struct service *s)
{
	const struct compose_service *c = s->step->service;
	const char *const *head = c->entrypoint.set ? c->entrypoint.v : s->image.config.entrypoint;
	const char *const *tail = c->command.set ? c->command.v : c->entrypoint.set ? NULL : s->image.config.command;
	size_t n = 0, i;
	char **argv;

	for (i = 0; head && head[i]; i++)
		n++;
	for (i = 0; tail && tail[i]; i++)
		n++;
	argv = arena_array(f->arena, n + 1, sizeof(*argv));
	n = 0;
	for (i = 0; argv && head && head[i]; i++)
		argv[n++] = arena_str(f->arena, sv_of(head[i]));
	for (i = 0; argv && tail && tail[i]; i++)
		argv[n++] = arena_str(f->arena, sv_of(tail[i]));
	return argv;
}

/* A folder for the services alone, which lives as long as the task's run. mode: 0: everybody's. */
static const char *volume(struct flow *f, const char *name, mode_t mode)
{
	AUTO_FD volumes = -1;
	AUTO_FD fd = -1;
	bool made;

	if (mkdirat(f->scratch.fd, "volumes", 0711) < 0 && errno != EEXIST)
		return NULL;
	volumes = openat(f->scratch.fd, "volumes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made = volumes >= 0 && mkdirat(volumes, name, 0755) == 0;
	if (volumes < 0 || (!made && errno != EEXIST))
		return NULL;
	/* what is there may be shut by whoever has it mounted */
	fd = openat(volumes, name, (made ? O_RDONLY : O_PATH) | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (made && (fchmod(fd, mode ? mode : 01777) < 0 ||
				(geteuid() == 0 && fchown(fd, f->image.ids.zero_uid, f->image.ids.zero_gid) < 0))))
		return NULL;
	return arena_printf(f->arena, "%s/volumes/%s", f->scratch.path, name);
}

static const char *source_of(struct flow *f, const struct compose_service *c, const struct compose_mount *m)
{
	AUTO_FD there = -1;
	const char *path;

	switch (m->kind) {
	case COMPOSE_MOUNT_TASK:
		if (services_bind(f, m) == COMPOSE_BIND_COPY)
			return services_copy(f, folder_of(f), c, m);
		path = below(f, folder_of(f), m->source);
		there = path ? sys_open_beneath(f->stage, path, O_PATH | O_NOFOLLOW, 0) : -1;
		if (there >= 0)
			return arena_printf(f->arena, "%s/stage/%s", f->scratch.path, path);
		return volume(f, arena_printf(f->arena, ".empty-%s-%zu", c->name, (size_t)(m - c->mounts.v)), 0);
	case COMPOSE_MOUNT_RUNNER:
		return volume(f, arena_printf(f->arena, ".runner-%s", compose_folder_names[m->folder]), 0);
	case COMPOSE_MOUNT_TMPFS:
		return volume(f, arena_printf(f->arena, ".tmpfs-%s-%zu", c->name, (size_t)(m - c->mounts.v)),
			      (mode_t)m->mode);
	default:
		return volume(f,
			      m->source[0] ? arena_printf(f->arena, "volume-%s", m->source)
					   : arena_printf(f->arena, ".own-%s-%zu", c->name, (size_t)(m - c->mounts.v)),
			      0);
	}
}

/* For the first sandbox of each service: what its image has in the place of a volume is in the volume, unless others
 * have put something there. */
static int fill_volume(struct flow *f, const struct compose_service *c, const struct compose_mount *m,
		       const struct image_root *root)
{
	const char *mark = arena_printf(f->arena, "volumes/.had-%s-%zu", c->name, (size_t)(m - c->mounts.v)),
		   *path = source_of(f, c, m);
	AUTO_FD fd = -1;
	int r;

	if (m->kind != COMPOSE_MOUNT_VOLUME || !path || !mark || mkdirat(f->scratch.fd, mark, 0700) < 0)
		return 0;
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 ? error_sys(f->err, errno, "the volume at %s", m->target)
		   : volume_fill(fd, m->target, root->layers, &f->image.ids, flow_storage(f), f->err);
	return r < 0 ? flow_fail(f, TASK_INFRASTRUCTURE_ERROR) : 0;
}

/* Of the agent or the verifier, whose folders for logs are their own and nobody else's; and a verifier has only those
 * volumes that no agent had (volumes.h). */
static bool is_left_out(const struct flow *f, const struct compose_mount *m)
{
	return m->kind == COMPOSE_MOUNT_RUNNER ||
	       (m->kind == COMPOSE_MOUNT_VOLUME && f->phase == PHASE_VERIFY && !volumes_live(f, m));
}

/* A tmpfs that needs no mount: what the agent leaves in one of its own is judged, so it is part of its files; and every
 * sandbox has one for shared memory. */
static bool is_there(const struct compose_mount *m, bool own)
{
	return m->kind == COMPOSE_MOUNT_TMPFS && (own || strcmp(m->target, "/dev/shm") == 0);
}

static int add_mounts(struct flow *f, const struct compose_service *c, bool own, struct image_root *root)
{
	struct image_mount *v = arena_array(f->arena, root->n_mounts + c->mounts.n + 1, sizeof(*v));
	size_t n = root->n_mounts;
	uint32_t i;

	if (!v)
		return flow_no_memory(f);
	if (n)
		memcpy(v, root->mounts, n * sizeof(*v));
	for (i = 0; i < c->mounts.n; i++) {
		const struct compose_mount *m = &c->mounts.v[i];

		if (is_there(m, own) || (own && is_left_out(f, m)) || services_bind(f, m) == COMPOSE_BIND_LEAVE)
			continue;
		v[n] = (struct image_mount){.source = source_of(f, c, m),
					    .target = m->target,
					    .writable = m->kind != COMPOSE_MOUNT_TASK && !m->read_only};
		if (!v[n].source) {
			(void)error_sys(f->err, errno, "a folder for the service %s", c->name);
			return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
		}
		if (fill_volume(f, c, m, root) < 0)
			return -1;
		n++;
	}
	root->mounts = v;
	root->n_mounts = n;
	return 0;
}

static int fill_env(struct flow *f, const struct service *s, struct image_root *root)
{
	const struct compose_pairs *own = &s->step->service->environment;
	struct flow_env *env = arena_alloc(f->arena, sizeof(*env));
	uint32_t i;

	if (!env)
		return flow_no_memory(f);
	if (flow_env_pairs(f, env, (const char *const *)s->image.config.env) < 0)
		return -1;
	for (i = 0; i < own->n; i++)
		if (flow_env_add(f, env, own->v[i].name, own->v[i].value) < 0)
			return -1;
	root->env = env->v;
	return 0;
}

int services_root(struct flow *f, struct service *s, struct task_sandbox *ret)
{
	const struct compose_service *c = s->step->service;
	struct image_root *root = &ret->root;
	struct image_user user;

	if (find_image(f, s) < 0)
		return -1;
	if (image_work_new(f->store, &s->work, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	root->layers = (const char *const *)s->image.layers;
	if (image_user_find(root->layers, c->user[0] ? c->user : s->image.config.user, &user, f->err) < 0)
		return refused(f);
	root->upper = s->work.upper;
	root->work = s->work.work;
	root->ids = s->image.ids;
	root->cwd = c->working_dir[0] ? c->working_dir : s->image.config.workdir;
	image_user_become(&user, root);
	root->hosts = s->hosts;
	/* more than the agent's: who fills a volume that it shares is to be ended before the services, and judged */
	root->storage = SERVICE_ROOM * flow_storage(f);
	ret->argv = command_of(f, s);
	if (!ret->argv || !ret->argv[0]) {
		(void)error_set(f->err, ERROR_INPUT, "%s: the service %s has no command, and its image has none",
				f->task->files.compose, c->name);
		return refused(f);
	}
	return fill_env(f, s, root) < 0 ? -1 : add_mounts(f, c, false, root);
}

static const struct compose_service *main_of(const struct flow *f)
{
	return f->services->plan.steps[f->services->plan.main].service;
}

const char *services_volume(struct flow *f, const struct compose_mount *m)
{
	return source_of(f, main_of(f), m);
}

int services_env(struct flow *f, struct flow_env *env)
{
	const struct compose_pairs *own;
	uint32_t i;

	if (!f->services)
		return 0;
	own = &main_of(f)->environment;
	for (i = 0; i < own->n; i++)
		if (flow_env_add(f, env, own->v[i].name, own->v[i].value) < 0)
			return -1;
	return 0;
}

int services_main(struct flow *f, struct image_root *root)
{
	if (!f->services)
		return 0;
	root->hosts = f->services->v[f->services->plan.main].hosts;
	return add_mounts(f, main_of(f), true, root);
}

static void lower(struct pol_num *to, uint64_t v)
{
	if (v && (!to->set || v < to->v))
		*to = (struct pol_num){.set = true, .v = v};
}

void services_limit(const struct flow *f, struct bounds *b, struct task_environment *room)
{
	*room = f->task->environment;
	b->environment = room;
	if (!f->services)
		return;
	lower(&room->memory, main_of(f)->memory);
	lower(&room->cpus, main_of(f)->cpus);
	b->processes = main_of(f)->pids;
}

const struct compose_check *services_check(const struct flow *f)
{
	const struct compose_check *c = f->services ? &f->services->plan.steps[f->services->plan.main].check : NULL;

	return c && c->argv ? c : NULL;
}

int services_image(struct flow *f, struct image *ret)
{
	struct compose_service own = f->services ? *main_of(f) : compose_main_none;

	compose_main_choose(f->task, MAIN_IMAGE, &own);
	if (make_image(f, &own, ret) < 0)
		return -1;
	/* for whoever asks what holds for the agent's files */
	if (own.user[0])
		ret->config.user = own.user;
	if (own.working_dir[0])
		ret->config.workdir = own.working_dir;
	return 0;
}

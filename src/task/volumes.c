#include "task/volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "task/carry_rules.h"
#include "task/services_parts.h"
#include "task/volume_copy.h"

static const struct compose_mounts *mounts_of(const struct flow *f)
{
	return f->services ? &f->services->plan.steps[f->services->plan.main].service->mounts : NULL;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strcmp(folder, "/") == 0 || (strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

/* Under whatever of its places. One without a name has no other. */
static bool agent_writes(const struct compose_mounts *all, const struct compose_mount *m)
{
	uint32_t i;

	for (i = 0; i < all->n; i++) {
		const struct compose_mount *o = &all->v[i];

		if (o->kind == COMPOSE_MOUNT_VOLUME && !o->read_only && (o == m || (m->source[0] && strcmp(o->source, m->source) == 0)))
			return true;
	}
	return false;
}

/* Does a variable by which programs find what they load name it, or something in it? */
static bool is_named(const char *const *env, const char *path)
{
	static const char *const names[] = {"PATH=", "PYTHONPATH=", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "BASH_ENV=", "ENV=", "HOME="};
	size_t i;

	for (; *env; env++)
		for (i = 0; i < ARRAY_LEN(names); i++)
			if (strncmp(*env, names[i], strlen(names[i])) == 0 && strstr(*env, path))
				return true;
	return false;
}

/* A place from which nothing is loaded unasked. */
static bool is_plain(const struct flow *f, const char *const *env, const char *path)
{
	static const char *const loaded[] = {"/bin", "/boot", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/root", "/sbin", "/usr"};
	const char *workdir = f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;
	size_t i;

	for (i = 0; i < ARRAY_LEN(loaded); i++)
		if (is_below(path, loaded[i]))
			return false;
	/* tests of a work folder that is the root look everywhere */
	return !is_below(path, workdir) && !is_below(workdir, path) && !carry_runner_place(path) && !is_named(env, path);
}

bool volumes_live(const struct flow *f, const struct compose_mount *m)
{
	return f->services->live && f->services->live[m - mounts_of(f)->v];
}

static int by_target(const void *a, const void *b)
{
	const struct compose_mount *const *x = a, *const *y = b;

	return strcmp((*x)->target, (*y)->target);
}

/* Those that are not live, outer ones first. NULL: no memory. */
static const struct compose_mount **unsettled(struct flow *f, size_t *ret_n)
{
	const struct compose_mounts *all = mounts_of(f);
	const struct compose_mount **v = arena_array(f->arena, all->n + 1, sizeof(*v));
	uint32_t i;

	*ret_n = 0;
	for (i = 0; v && i < all->n; i++)
		if (all->v[i].kind == COMPOSE_MOUNT_VOLUME && !volumes_live(f, &all->v[i]))
			v[(*ret_n)++] = &all->v[i];
	if (v)
		qsort(v, *ret_n, sizeof(*v), by_target);
	return v;
}

/* Who was ended for storing too much stored more than the limit, by what fits into a moment: that is judged like the rest. What is larger than twice the limit is nothing that anybody could have been let to make. */
static int settle_one(struct flow *f, int upper, const struct compose_mount *m)
{
	static const char *const said[] = {
		[VOLUME_COPIED] = "a volume that the agent could reach: the verifier gets what was in it when the agent ended, by the rules for its other files, and not what services write to it later",
		[VOLUME_IN_THE_WAY] = "a volume in whose place the agent or the image has something else: the verifier does not get it",
		[VOLUME_TOO_LARGE] = "a volume that holds more than the task may store: the verifier does not get it",
	};
	struct volume_copy v = {.upper = upper, .target = m->target, .layers = (const char *const *)f->image.layers, .ids = &f->image.ids, .limit = 2 * flow_storage(f), .stop = &f->attend.signals};
	const char *source = services_volume(f, m);
	AUTO_FD volume = source ? open(source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int r;

	if (volume < 0)
		return error_sys(f->err, errno, "the volume at %s", m->target);
	v.volume = volume;
	r = volume_copy(&v, f->err);
	if (r < 0)
		return -1;
	(void)task_result_find(f->result, "carry.volume", m->target, said[r]);
	return 0;
}

int volumes_settle(struct flow *f, const char *const *env)
{
	const struct compose_mounts *all = mounts_of(f);
	const struct compose_mount **v;
	AUTO_FD upper = -1;
	size_t n = 0, i;

	if (!all)
		return 0;
	f->services->live = arena_array(f->arena, all->n + 1, sizeof(*f->services->live));
	for (i = 0; f->services->live && i < all->n; i++)
		f->services->live[i] = all->v[i].kind == COMPOSE_MOUNT_VOLUME && !agent_writes(all, &all->v[i]) && is_plain(f, env, all->v[i].target);
	v = unsettled(f, &n);
	if (!f->services->live || !v)
		return flow_no_memory(f);
	upper = open(f->agent.upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (upper < 0) {
		(void)error_sys(f->err, errno, "the agent's changes");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	for (i = 0; i < n; i++)
		if (settle_one(f, upper, v[i]) < 0)
			return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return 0;
}

int volumes_unsettle(struct flow *f)
{
	const struct compose_mount **v;
	AUTO_FD upper = -1;
	size_t n = 0;

	if (!f->services || !f->services->live)
		return 0;
	v = unsettled(f, &n);
	if (!v)
		return flow_no_memory(f);
	upper = open(f->agent.upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (upper >= 0 && n > 0)
		if (volume_uncopy(upper, v[--n]->target, &f->image.ids, f->err) < 0)
			return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	f->services->live = NULL;
	return 0;
}

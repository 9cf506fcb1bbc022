#include "task/volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "image/users.h"
#include "task/carry_link.h"
#include "task/carry_rules.h"
#include "task/services_parts.h"
#include "task/volume_copy.h"

static const struct compose_mounts *mounts_of(const struct flow *f)
{
	return f->services ? &f->services->plan.steps[f->services->plan.main].service->mounts : NULL;
}

/* Under whatever of its places. One without a name has no other. */
static bool agent_writes(const struct compose_mounts *all, const struct compose_mount *m)
{
	uint32_t i;

	for (i = 0; i < all->n; i++) {
		const struct compose_mount *o = &all->v[i];

		if (o->kind == COMPOSE_MOUNT_VOLUME && !o->read_only &&
		    (o == m || (m->source[0] && strcmp(o->source, m->source) == 0)))
			return true;
	}
	return false;
}

/* At, above or below. */
static bool touches(const char *path, const char *folder)
{
	return path_is_in(path, folder) || path_is_in(folder, path);
}

/* Words, in which a path begins at the first slash. */
#define OPTIONS " \t=:;,"

/* By which programs find what they load: paths between separators. What is none does no harm: it is one below the
 * folder where they start. */
static const struct loader {
	const char *name, *separators;
} loaders[] = {
	{"PATH", ":"},
	{"HOME", ""},
	{"ENV", ""},
	{"BASH_ENV", ""},
	{"ZDOTDIR", ""},
	{"LD_LIBRARY_PATH", ":;"},
	{"LD_PRELOAD", ": "},
	{"LD_AUDIT", ":"},
	{"GCONV_PATH", ":"},
	{"PYTHONPATH", ":"},
	{"PYTHONHOME", ":"},
	{"PYTHONSTARTUP", ""},
	{"PYTHONUSERBASE", ""},
	{"PYTHONPYCACHEPREFIX", ""},
	{"PYTEST_ADDOPTS", OPTIONS},
	{"VIRTUAL_ENV", ""},
	{"CONDA_PREFIX", ""},
	{"NODE_PATH", ":"},
	{"NODE_OPTIONS", OPTIONS},
	{"PERL5LIB", ":"},
	{"PERLLIB", ":"},
	{"PERL5OPT", OPTIONS},
	{"RUBYLIB", ":"},
	{"RUBYOPT", OPTIONS},
	{"GEM_HOME", ""},
	{"GEM_PATH", ":"},
	{"BUNDLE_PATH", ""},
	{"CLASSPATH", ":"},
	{"JAVA_HOME", ""},
	{"JAVA_TOOL_OPTIONS", OPTIONS},
	{"LUA_PATH", ";?"},
	{"LUA_CPATH", ";?"},
	{"GOROOT", ""},
	{"GOPATH", ":"},
	{"GOBIN", ""},
	{"CARGO_HOME", ""},
	{"RUSTUP_HOME", ""},
	{"XDG_CONFIG_HOME", ""},
	{"XDG_CONFIG_DIRS", ":"},
	{"XDG_DATA_HOME", ""},
	{"XDG_DATA_DIRS", ":"},
	{"GIT_CONFIG_GLOBAL", ""},
	{"GIT_CONFIG_SYSTEM", ""},
	{"GIT_EXEC_PATH", ""},
	{"GIT_TEMPLATE_DIR", ""},
	{"PIP_CONFIG_FILE", ""},
	{"PIP_TARGET", ""},
	{"PIP_PREFIX", ""},
	{"npm_config_prefix", ""},
	{"NPM_CONFIG_PREFIX", ""},
	{"R_LIBS", ":"},
	{"R_LIBS_USER", ":"},
	{"R_HOME", ""},
	{"PHP_INI_SCAN_DIR", ":"},
	{"PHPRC", ""},
	{"CURL_HOME", ""},
	{"WGETRC", ""},
	{"OPENSSL_CONF", ""},
	{"OPENSSL_MODULES", ""},
};

/* As the entry is written, and where it leads in the image. One that cannot be told touches all. */
static bool entry_touches(const struct layered *image, const char *cwd, struct sv entry, const char *path)
{
	char whole[PATH_MAX], real[PATH_MAX];
	int n;

	n = snprintf(whole, sizeof(whole), "%s/%.*s", entry.n && entry.p[0] == '/' ? "" : cwd, (int)entry.n, entry.p);
	if (entry.n > PATH_MAX || n >= (int)sizeof(whole) || !carry_link_in(image, sv_n(whole, (size_t)n), real))
		return true;
	return touches(path, real[0] ? real : "/");
}

/* What a home that is the root loads from has a name that says so. */
static bool in_root_home(const char *path)
{
	return path[1] == '.' || path_is_in(path, "/bin");
}

static bool is_named(const struct layered *image, const struct loader *l, const char *value, const char *cwd,
		     const char *path)
{
	size_t n, skip;

	if (strcmp(l->name, "HOME") == 0 && strspn(value, "/.") == strlen(value))
		return false; /* in_root_home() */
	for (;; value += n + 1) {
		n = strcspn(value, l->separators);
		skip = l->separators[0] == ' ' ? strcspn(value, "/") : 0;
		if (skip < n && entry_touches(image, cwd, sv_n(value + skip, n - skip), path))
			return true;
		if (!value[n])
			return false;
	}
}

bool volumes_loaded(const struct layered *image, const char *const *env, const char *cwd, const char *path)
{
	size_t i, n;

	for (; *env; env++)
		for (i = 0; i < ARRAY_LEN(loaders); i++) {
			n = strlen(loaders[i].name);
			if (strncmp(*env, loaders[i].name, n) == 0 && (*env)[n] == '=' &&
			    is_named(image, &loaders[i], *env + n + 1, cwd, path))
				return true;
		}
	return touches(path, cwd) || in_root_home(path);
}

/* Who judges. */
struct judge {
	struct layered image;
	const char *const *env, *cwd, *home;
};

/* A place from which nothing is loaded unasked. */
static bool is_plain(const struct flow *f, const struct judge *j, const char *path)
{
	static const char *const loaded[] = {"/bin",          "/boot",     "/etc",    "/home",         "/lib",
					     "/lib32",        "/lib64",    "/libx32", "/node_modules", "/opt",
					     "/root",         "/sbin",     "/usr",    "/var/cache",    "/var/lib/apt",
					     "/var/lib/dpkg", "/var/spool"};
	const char *workdir = f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;
	size_t i;

	for (i = 0; i < ARRAY_LEN(loaded); i++)
		if (touches(path, loaded[i]))
			return false;
	if (strcmp(j->home, "/") != 0 && touches(path, j->home))
		return false;
	/* tests of a work folder that is the root look everywhere */
	return !touches(path, workdir) && !carry_runner_place(path) && carry_name_of(path) == NAME_PLAIN &&
	       !volumes_loaded(&j->image, j->env, j->cwd, path);
}

/* Wherever links of the image lead from there. */
static bool is_live(const struct flow *f, const struct judge *j, const struct compose_mount *m)
{
	char real[PATH_MAX];

	if (m->kind != COMPOSE_MOUNT_VOLUME || agent_writes(mounts_of(f), m) || !is_plain(f, j, m->target))
		return false;
	return carry_link_in(&j->image, sv_of(m->target), real) && real[0] && is_plain(f, j, real);
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

/* Who was ended for storing too much stored more than the limit, by what fits into a moment: that is judged like the
 * rest. What is larger than twice the limit is nothing that anybody could have been let to make. */
static int settle_one(struct flow *f, int upper, const struct compose_mount *m)
{
	static const char *const said[] = {
		[VOLUME_COPIED] =
			"a volume that the agent could reach: the verifier gets what was in it when the agent ended, "
			"by the rules for its other files, and not what services write to it later",
		[VOLUME_IN_THE_WAY] = "a volume in whose place the agent or the image has something else: the verifier "
				      "does not get it",
		[VOLUME_TOO_LARGE] = "a volume that holds more than the task may store: the verifier does not get it",
	};
	struct volume_copy v = {.upper = upper,
				.target = m->target,
				.layers = (const char *const *)f->image.layers,
				.ids = &f->image.ids,
				.limit = 2 * flow_storage(f),
				.stop = &f->attend.signals};
	const char *source = services_volume(f, m);
	/* who copies it opens it: the agent may have shut it, or given it to another id */
	AUTO_FD volume = source ? open(source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int r;

	if (volume < 0)
		return error_sys(f->err, errno, "the volume at %s", m->target);
	v.volume = volume;
	r = volume_copy(&v, f->err);
	if (r < 0 && !flow_in_the_way(f))
		return -1;
	(void)task_result_find(
		f->result, "carry.volume", m->target,
		r < 0 ? "a volume that could not be read as the agent left it: the verifier does not get it" : said[r]);
	return 0;
}

static int find_live(struct flow *f, const struct image *image, const char *const *env)
{
	const struct compose_mounts *all = mounts_of(f);
	const char *user = flow_verifier_of(f)->user.s;
	struct judge j = {.env = env,
			  .cwd = image == &f->image && f->task->environment.workdir.s ? f->task->environment.workdir.s
				 : image == &f->image                                 ? image->config.workdir
										      : flow_judge_workdir(f, image)};
	struct image_user who;
	uint32_t i;
	int r;

	if (image_user_find((const char *const *)image->layers, user ? user : image->config.user, &who, f->err) < 0)
		return flow_fail(f, TASK_REFUSED);
	j.home = who.home;
	r = layered_open(&j.image, (const char *const *)image->layers);
	if (r < 0) {
		(void)error_sys(f->err, r, "the image's layers");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	f->services->live = arena_array(f->arena, all->n + 1, sizeof(*f->services->live));
	for (i = 0; f->services->live && i < all->n; i++)
		f->services->live[i] = is_live(f, &j, &all->v[i]);
	layered_done(&j.image);
	return f->services->live ? 0 : flow_no_memory(f);
}

int volumes_settle(struct flow *f, const struct image *image, const char *const *env)
{
	const struct compose_mount **v;
	AUTO_FD upper = -1;
	size_t n = 0, i;

	if (!mounts_of(f))
		return 0;
	if (find_live(f, image, env) < 0)
		return -1;
	v = unsettled(f, &n);
	if (!v)
		return flow_no_memory(f);
	upper = flow_changes(f, &f->agent);
	if (upper < 0) {
		(void)error_sys(f->err, upper, "the agent's changes");
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
	upper = flow_changes(f, &f->agent);
	if (upper < 0) {
		(void)error_sys(f->err, upper, "the agent's changes");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	while (n > 0)
		if (volume_uncopy(upper, v[--n]->target, &f->image.ids, f->err) < 0)
			return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	f->services->live = NULL;
	return 0;
}

static bool has_mounted(const struct flow *f, const struct compose_mount *m, bool live)
{
	return live ? volumes_live(f, m) : m->kind == COMPOSE_MOUNT_TASK;
}

const char *const *volumes_targets(struct flow *f, bool live)
{
	const struct compose_mounts *all = mounts_of(f);
	const char **v = arena_array(f->arena, (all ? all->n : 0) + 1, sizeof(*v));
	uint32_t i;
	size_t n = 0;

	for (i = 0; v && all && i < all->n; i++)
		if (has_mounted(f, &all->v[i], live))
			v[n++] = all->v[i].target;
	return (const char *const *)v;
}

bool volumes_target(const struct flow *f, const char *path)
{
	const struct compose_mounts *all = mounts_of(f);
	uint32_t i;

	for (i = 0; all && i < all->n; i++)
		if (strcmp(all->v[i].target, path) == 0 &&
		    (has_mounted(f, &all->v[i], true) || has_mounted(f, &all->v[i], false)))
			return true;
	return false;
}

#include "task/build_native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/users.h"
#include "sys/tree.h"

const char **native_paths(const struct native_build *b, const struct build_layers *l)
{
	const char **v = arena_array(b->arena, l->n + 1, sizeof(*v));
	size_t k;

	for (k = 0; v && k < l->n; k++)
		v[k] = l->paths[l->n - 1 - k];
	return v;
}

const char *native_work_path(const struct native_build *b, const struct image_work *w, const char *below)
{
	return arena_printf(b->arena, "%s/run%s%s", w->path, *below ? "/" : "", below);
}

static int make_folder(const struct native_build *b, int dir, const char *name, mode_t mode, struct error *err)
{
	AUTO_FD fd = -1;

	if (mkdirat(dir, name, 0700) < 0)
		return errno == EEXIST ? 0 : error_sys(err, errno, "image store: %s", name);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (b->ids.zero_uid != geteuid() && fchown(fd, b->ids.zero_uid, b->ids.zero_gid) < 0) ||
	    fchmod(fd, mode) < 0)
		return error_sys(err, errno, "image store: %s", name);
	return 0;
}

int native_work_new(struct native_build *b, struct image_work *ret, struct error *err)
{
	if (image_work_new(b->req->store, ret, err) < 0)
		return -1;
	if (make_folder(b, ret->lock, "run", 0700, err) == 0 &&
	    make_folder(b, ret->lock, "run/upper", 0755, err) == 0 &&
	    make_folder(b, ret->lock, "run/work", 0700, err) == 0)
		return 0;
	image_work_done(b->req->store, ret);
	return -1;
}

int native_make_plain(struct native_build *b, struct image_work *w, const char *name, struct error *err)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "run/%s", name);
	return make_folder(b, w->lock, path, 0755, err);
}

int native_make(struct native_build *b, struct image_work *w, const char *name, struct error *err)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/upper", name);
	if (native_make_plain(b, w, name, err) < 0 || native_make_plain(b, w, path, err) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/work", name);
	return native_make_plain(b, w, path, err);
}

int native_work_take(struct image_work *w, struct error *err)
{
	if (unlinkat(w->lock, "upper", AT_REMOVEDIR) < 0 || renameat(w->lock, "run/upper", w->lock, "upper") < 0)
		return error_sys(err, errno, "%s", w->upper);
	return 0;
}

int native_step_user(const struct native_build *b, const struct build_layers *below, const char *user,
		     struct image_user *ret, struct error *err)
{
	const char **layers = native_paths(b, below);

	return layers ? image_user_find((const char *const *)layers, user, ret, err) : error_sys(err, ENOMEM, "layers");
}

int native_step_owner(const struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		      uint32_t *uid, uint32_t *gid, struct error *err)
{
	struct image_user u;

	if (native_step_user(b, below, s->kind == RECIPE_COPY ? s->chown : s->user, &u, err) < 0)
		return -1;
	*uid = u.uid;
	*gid = u.gid;
	/* --chown=USER alone gives its group the user's number, not the user's group */
	if (s->kind == RECIPE_COPY && !strchr(s->chown, ':'))
		*gid = *uid;
	return 0;
}

void native_note_unowned(struct native_build *b)
{
	if (!b->unowned && b->req->note)
		b->req->note(b->req->arg,
			     "there is one user id for the image here: what should belong to others, or run as others, "
			     "belongs to its root and runs as it; changes of owners only look successful");
	b->unowned = true;
}

/* ---- layers ---- */

/* The same layer further down says nothing that this one does not say above all others; and an overlay takes each once.
 */
static void layers_drop(struct build_layers *l, const char *digest)
{
	size_t k;

	for (k = 0; k < l->n; k++)
		if (strcmp(l->digests[k], digest) == 0) {
			l->n--;
			memmove(l->paths + k, l->paths + k + 1, (l->n - k) * sizeof(*l->paths));
			memmove(l->digests + k, l->digests + k + 1, (l->n - k) * sizeof(*l->digests));
			return;
		}
}

static int layers_add(struct native_build *b, struct build_layers *l, const char *path, const char *digest,
		      struct error *err)
{
	const char **paths, **digests;

	layers_drop(l, digest);
	if (l->n == IMAGE_MAX_LAYERS)
		return error_set(err, ERROR_INPUT, "the image would have more than %d layers", IMAGE_MAX_LAYERS);
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		paths = arena_array(b->arena, l->cap, sizeof(*paths));
		digests = arena_array(b->arena, l->cap, sizeof(*digests));
		if (!paths || !digests)
			return error_sys(err, ENOMEM, "layers");
		if (l->n) {
			memcpy(paths, l->paths, l->n * sizeof(*paths));
			memcpy(digests, l->digests, l->n * sizeof(*digests));
		}
		l->paths = paths;
		l->digests = digests;
	}
	l->paths[l->n] = arena_str(b->arena, sv_of(path));
	l->digests[l->n] = arena_str(b->arena, sv_of(digest));
	return l->paths[l->n] && l->digests[l->n++] ? 0 : error_sys(err, ENOMEM, "layers");
}

static int layers_of_image(struct native_build *b, const char *name, struct build_layers *l, struct error *err)
{
	const struct build_base *base = build_base_of(&b->plan, name);
	size_t k;

	if (!base)
		return error_set(err, ERROR_SYSTEM, "image %s was not looked up", name);
	for (k = base->image.n_layers; k-- > 0;)
		if (layers_add(b, l, base->image.layers[k], base->image.layer_digests[k], err) < 0)
			return -1;
	return 0;
}

/* *ret is NULL for the context. */
static int layers_from(struct native_build *b, const struct recipe_from *from, const struct build_layers **ret,
		       struct error *err)
{
	struct build_layers *l;

	*ret = NULL;
	if (from->origin == RECIPE_CONTEXT)
		return 0;
	if (from->origin == RECIPE_STAGE) {
		*ret = &b->stages[from->stage];
		return 0;
	}
	l = arena_alloc(b->arena, sizeof(*l));
	if (!l)
		return error_sys(err, ENOMEM, "layers");
	*ret = l;
	return from->origin == RECIPE_IMAGE ? layers_of_image(b, from->image, l, err) : 0;
}

/* The layer is the build's, and part of the stage, but for one with nothing in it. */
static int keep_layer(struct native_build *b, struct build_layers *stage, struct image_layer *l, struct error *err)
{
	AUTO_FD made = open(l->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct image_layer *wider;

	if (b->n_held == b->cap_held) {
		b->cap_held = b->cap_held ? 2 * b->cap_held : 32;
		wider = reallocarray(b->held, b->cap_held, sizeof(*wider));
		if (!wider) {
			image_layer_done(l);
			return error_sys(err, ENOMEM, "layers");
		}
		b->held = wider;
	}
	b->held[b->n_held++] = *l;
	return sys_is_empty(made) ? 0 : layers_add(b, stage, l->path, l->digest, err);
}

/* ---- steps ---- */

static int carry_out(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		     const struct build_sources *from, struct image_work *w, struct error *err)
{
	if (s->kind == RECIPE_RUN)
		return native_run(b, below, s, from, w, err);
	return s->kind == RECIPE_COPY ? native_copy(b, below, s, from, w, err) : native_workdir(b, below, s, w, err);
}

/* Whoever found that there is no room knew what was left, not what there was. */
static int fail(const struct native_build *b, struct error *err)
{
	if (err->kind != ERROR_DENIED || err->code != EDQUOT)
		return -1;
	(void)error_set(
		err, ERROR_DENIED,
		"its files are more than the %llu MiB that may be stored; a task can ask for more with storage_mb",
		(unsigned long long)b->req->limit.room >> 20);
	err->code = EDQUOT;
	return -1;
}

static int make_layer(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		      const struct build_sources *from, const char *key, struct image_layer *ret, struct error *err)
{
	struct image_work w;
	int r;

	if (native_work_new(b, &w, err) < 0)
		return -1;
	b->copied = 0;
	r = carry_out(b, below, s, from, &w, err);
	if (r < 0)
		r = fail(b, err);
	if (r >= 0)
		r = native_work_take(&w, err);
	if (r == 0)
		r = image_add_layer(b->req->store, &w, b->req->limit.until_ms, ret, err);
	if (r == 0 && image_cache_put(b->req->store, key, ret->digest, err) < 0) {
		image_layer_done(ret);
		r = -1;
	}
	image_work_done(b->req->store, &w);
	return r;
}

static int sources_of(struct native_build *b, const struct recipe_step *s, struct build_sources *ret, struct error *err)
{
	const struct build_layers **mounts = arena_array(b->arena, s->n_mounts + 1, sizeof(*mounts));
	size_t k;

	if (!mounts)
		return error_sys(err, ENOMEM, "layers");
	for (k = 0; k < s->n_mounts; k++)
		if (layers_from(b, &s->mounts[k].from, &mounts[k], err) < 0)
			return -1;
	ret->mounts = mounts;
	return layers_from(b, &s->from, &ret->from, err);
}

static bool uses_caches(const struct recipe_step *s)
{
	size_t k;

	for (k = 0; s->kind == RECIPE_RUN && k < s->n_mounts; k++)
		if (s->mounts[k].kind == RECIPE_MOUNT_CACHE)
			return true;
	return false;
}

static int step(struct native_build *b, struct build_layers *stage, const struct recipe_step *s,
		struct build_result *ret, size_t all, struct error *err)
{
	struct build_sources from;
	struct image_layer layer;
	char key[SHA256_HEX];
	uint32_t uid, gid;
	int r;

	/* what was made before takes time to be found: patterns are compared with names */
	if (limit_check_time(&b->req->limit, err) < 0 || sources_of(b, s, &from, err) < 0 ||
	    native_step_owner(b, stage, s, &uid, &gid, err) < 0)
		return -1;
	from.caches = uses_caches(s) ? b->cached : "";
	if (build_key(&b->plan, stage, s, &from, uid, gid, b->ids.count, key, err) < 0)
		return -1;
	r = image_cache_get(b->req->store, key, &layer, err);
	if (r < 0)
		return -1;
	if (b->req->step)
		b->req->step(b->req->arg, ret->steps + 1, all, s->text, r == 0);
	ret->steps++;
	ret->cached += r == 0;
	if (uses_caches(s)) /* its key has all those before it */
		memcpy(b->cached, key, sizeof(key));
	if (r > 0 && make_layer(b, stage, s, &from, key, &layer, err) < 0)
		return -1;
	return keep_layer(b, stage, &layer, err);
}

static int stage(struct native_build *b, size_t at, struct build_result *ret, size_t all, struct error *err)
{
	const struct recipe_stage *st = &b->plan.recipe->stages[at];
	const struct build_layers *base = NULL;
	struct build_layers *l = &b->stages[at];
	size_t k;

	if (layers_from(b, &st->from, &base, err) < 0)
		return error_prefix(err, "%.200s:%u: FROM", b->plan.shown, st->line);
	for (k = 0; base && k < base->n; k++)
		if (layers_add(b, l, base->paths[k], base->digests[k], err) < 0)
			return -1;
	for (k = 0; k < st->n_steps; k++)
		if (step(b, l, &st->steps[k], ret, all, err) < 0)
			return build_fail(&b->plan, &st->steps[k], err);
	return 0;
}

static int build(struct native_build *b, struct build_result *ret, struct error *err)
{
	const struct recipe *r = b->plan.recipe;
	const struct recipe_stage *last = &r->stages[r->n_stages - 1];
	const struct build_layers *l;
	size_t k, all = 0;

	b->arena = b->plan.arena;
	b->ids = *image_store_ids(b->req->store);
	b->stages = arena_array(b->arena, r->n_stages, sizeof(*b->stages));
	if (!b->stages)
		return error_sys(err, ENOMEM, "a build");
	for (k = 0; k < r->n_stages; k++)
		all += r->stages[k].n_steps;
	for (k = 0; k < r->n_stages; k++)
		if (stage(b, k, ret, all, err) < 0)
			return -1;
	l = &b->stages[r->n_stages - 1];
	return image_add(b->req->store, b->req->name, &last->config, l->digests, l->n, ret->digest, err);
}

int build_native(const struct build_request *req, struct build_result *ret, struct error *err)
{
	struct native_build b = {.req = req, .caches = {.lock = -1}};
	size_t k;
	int r;

	*ret = (struct build_result){0};
	r = build_plan(req, &b.plan, err);
	if (r == 0)
		r = build(&b, ret, err);
	if (b.caches.lock >= 0)
		image_work_done(req->store, &b.caches);
	for (k = 0; k < b.n_held; k++)
		image_layer_done(&b.held[k]);
	free(b.held);
	build_plan_done(&b.plan);
	return r;
}

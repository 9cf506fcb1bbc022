/* RUN, COPY and WORKDIR of a native build. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "image/unpack.h"
#include "task/build_native.h"

/* ---- COPY ---- */

/* What is left for this step. */
static struct image_limit limit_of(const struct native_build *b)
{
	struct image_limit l = b->req->limit;

	if (l.room)
		l.room = b->copied < l.room ? l.room - b->copied : 1;
	return l;
}

static int copy(struct native_build *b, struct copy_job *job, struct error *err)
{
	struct copy_made made;
	int r;

	job->limit = limit_of(b);
	r = copy_run(job, &made, err);
	b->copied += made.written;
	if (made.unowned)
		native_note_unowned(b);
	return r;
}

static int copy_from_layers(struct native_build *b, const struct build_layers *source, const struct recipe_step *s,
			    const struct copy_owner *owner, const struct merged_tree *target, struct error *err)
{
	const char **paths = native_paths(b, source);
	const struct merged_tree tree = {(const char *const *)paths, NULL};
	struct copy_job job = {.step = s, .ids = &b->ids, .target = *target, .source = &tree, .owner = *owner};

	return paths ? copy(b, &job, err) : error_sys(err, ENOMEM, "layers");
}

struct adding {
	struct native_build *b;
	const struct recipe_step *step;
	const struct copy_owner *owner;
	const struct merged_tree *target;
};

/* An archive into a layer of its own, and from there to its destination: what is in it meets the image's links as any
 * other file does. */
static int unpack_one(void *arg, const char *name, int fd, struct error *err)
{
	const struct adding *a = arg;
	struct native_build *b = a->b;
	const char *all[] = {".", NULL}, *none[] = {NULL}, *path[1], *digest[1] = {""};
	struct recipe_step whole = {.kind = RECIPE_COPY,
				    .sources = all,
				    .excludes = none,
				    .dest = a->step->dest,
				    .chown = "",
				    .chmod = a->step->chmod};
	struct build_layers layer = {path, digest, 1, 1};
	struct unpack_budget budget;
	struct unpack_job job = {.in = fd, .what = "an archive of ADD", .budget = &budget, .limit = limit_of(a->b)};
	struct unpack_result result;
	struct image_work w;
	AUTO_FD folder = -1;
	int r;

	(void)name;
	unpack_budget_init(&budget);
	if (!copy_is_archive(fd))
		return 0;
	if (image_work_new(b->req->store, &w, err) < 0)
		return -1;
	path[0] = w.upper;
	folder = openat(w.lock, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = folder < 0 ? error_sys(err, errno, "%s", w.upper) : image_unpack(&b->ids, folder, &job, &result, err);
	if (r == 0)
		r = copy_from_layers(b, &layer, &whole, a->owner, a->target, err);
	image_work_done(b->req->store, &w);
	return r;
}

static int copy_from_context(struct native_build *b, const struct recipe_step *s, const struct copy_owner *owner,
			     const struct merged_tree *target, struct error *err)
{
	struct copy_job job = {.step = s,
			       .ids = &b->ids,
			       .target = *target,
			       .context = &b->plan.context,
			       .owner = *owner,
			       .skip_archives = s->unpack};
	struct adding a = {b, s, owner, target};

	if (s->unpack && context_each_file(&b->plan.context, s, unpack_one, &a, err) < 0)
		return -1;
	return copy(b, &job, err);
}

int native_copy(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		const struct build_sources *from, struct image_work *w, struct error *err)
{
	const char **paths = native_paths(b, below);
	struct merged_tree target = {(const char *const *)paths, native_work_path(b, w, "")};
	struct copy_owner owner = {.set = *s->chown != '\0'};

	if (!paths || !target.folder)
		return error_sys(err, ENOMEM, "layers");
	if (owner.set && native_step_owner(b, below, s, &owner.uid, &owner.gid, err) < 0)
		return -1;
	return from->from ? copy_from_layers(b, from->from, s, &owner, &target, err)
			  : copy_from_context(b, s, &owner, &target, err);
}

int native_workdir(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		   struct image_work *w, struct error *err)
{
	const char **paths = native_paths(b, below);
	struct merged_tree target = {(const char *const *)paths, native_work_path(b, w, "")};
	struct copy_owner owner = {.set = true};
	bool made = false;

	if (!paths || !target.folder)
		return error_sys(err, ENOMEM, "layers");
	if (native_step_owner(b, below, s, &owner.uid, &owner.gid, err) < 0 ||
	    copy_make_folder(&b->ids, &target, s->workdir, &owner, &made, err) < 0)
		return -1;
	return made ? 0 : 1;
}

/* ---- RUN ---- */

/* A copy, in a folder of the step's own: the context's own folder would show what .dockerignore names, too, and other
 * layers are no folder at all. */
static int mount_copy(struct native_build *b, const struct build_layers *from, const struct recipe_mount *m, size_t at,
		      struct image_work *w, const char **ret, struct error *err)
{
	const char *source[] = {m->source, NULL}, *no_layers[] = {NULL};
	char name[32], inner[64];
	struct recipe_step s = context_of_mount(source);
	struct copy_owner owner = {.set = false};
	struct merged_tree target = {no_layers, NULL};

	(void)snprintf(name, sizeof(name), "from%zu", at);
	(void)snprintf(inner, sizeof(inner), "%s/upper/m", name);
	target.folder = native_work_path(b, w, name);
	*ret = native_work_path(b, w, inner);
	if (!target.folder || !*ret)
		return error_sys(err, ENOMEM, "a mount");
	if (native_make(b, w, name, err) < 0)
		return -1;
	return from ? copy_from_layers(b, from, &s, &owner, &target, err)
		    : copy_from_context(b, &s, &owner, &target, err);
}

/* Caches live as long as the build. */
static int mount_cache(struct native_build *b, const struct recipe_mount *m, const char **ret, struct error *err)
{
	char digest[SHA256_HEX];

	sha256_hex_of(sv_of(m->id), digest);
	if (b->caches.lock < 0 && native_work_new(b, &b->caches, err) < 0)
		return -1;
	*ret = native_work_path(b, &b->caches, digest);
	return *ret ? native_make_plain(b, &b->caches, digest, err) : error_sys(err, ENOMEM, "a mount");
}

static int one_mount(struct native_build *b, const struct recipe_mount *m, const struct build_layers *from, size_t at,
		     struct image_work *w, struct image_mount *to, struct error *err)
{
	char name[32];

	to->target = m->target;
	to->writable = m->kind != RECIPE_MOUNT_BIND;
	if (m->kind == RECIPE_MOUNT_CACHE)
		return mount_cache(b, m, &to->source, err);
	if (m->kind == RECIPE_MOUNT_TMPFS) {
		(void)snprintf(name, sizeof(name), "tmp%zu", at);
		to->source = native_work_path(b, w, name);
		return to->source ? native_make_plain(b, w, name, err) : error_sys(err, ENOMEM, "a mount");
	}
	return mount_copy(b, from, m, at, w, &to->source, err);
}

/* HOME, which the image may leave to whoever runs it. */
static const char *const *environment(struct native_build *b, const struct recipe_step *s, const char *home)
{
	size_t n = 0, k;
	const char **v;
	bool has = false;

	while (s->env[n])
		n++;
	v = arena_array(b->arena, n + 2, sizeof(*v));
	for (k = 0; v && k < n; k++) {
		v[k] = s->env[k];
		has = has || strncmp(s->env[k], "HOME=", 5) == 0;
	}
	if (v && !has)
		v[n] = arena_printf(b->arena, "HOME=%s", home);
	return (const char *const *)v;
}

static int run_in(struct native_build *b, const struct image_root *root, const struct recipe_step *s, struct error *err)
{
	struct build_run r = {.text = s->text, .root = root, .no_network = s->no_network};
	size_t n = 0, k;
	char **argv;
	int status;

	while (s->argv[n])
		n++;
	argv = arena_array(b->arena, n + 1, sizeof(*argv));
	for (k = 0; argv && k < n; k++)
		argv[k] = arena_str(b->arena, sv_of(s->argv[k]));
	if (!argv || !root->env)
		return error_sys(err, ENOMEM, "a command");
	r.argv = argv;
	status = b->req->run(b->req->arg, &r, err);
	if (status > 0)
		return error_set(err, ERROR_INPUT, "the command ended with exit status %d", status);
	return status;
}

int native_run(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
	       const struct build_sources *from, struct image_work *w, struct error *err)
{
	const char **paths = native_paths(b, below);
	struct image_mount *mounts = arena_array(b->arena, s->n_mounts + 1, sizeof(*mounts));
	struct image_root root = {.layers = (const char *const *)paths,
				  .ids = b->ids,
				  .mounts = mounts,
				  .n_mounts = s->n_mounts,
				  .cwd = s->workdir};
	struct image_user user;
	size_t k;

	root.upper = native_work_path(b, w, "upper");
	root.work = native_work_path(b, w, "work");
	if (!paths || !mounts || !root.upper || !root.work)
		return error_sys(err, ENOMEM, "a command");
	if (!below->n)
		return error_set(err, ERROR_INPUT, "there is nothing in the image that could be run");
	if (native_step_user(b, below, s->user, &user, err) < 0)
		return -1;
	image_user_become(&user, &root);
	if (b->ids.count == 1 && (root.uid || root.gid)) {
		root.uid = root.gid = 0;
		native_note_unowned(b);
	}
	for (k = 0; k < s->n_mounts; k++)
		if (one_mount(b, &s->mounts[k], from->mounts[k], k, w, &mounts[k], err) < 0)
			return -1;
	root.env = environment(b, s, user.home);
	return run_in(b, &root, s, err);
}

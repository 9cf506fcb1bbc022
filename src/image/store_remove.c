/*
 * Removing images, and the layers that nothing needs any more.
 *
 * A layer stays while an image consists of it, while somebody holds it, or while a builder may come back to it: what it
 * made within the last days, and not for an image that was just removed. Pruning keeps nothing for that last reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/store_parts.h"

enum { CACHE_DAYS = 7 };

struct removal {
	struct image_store *s;
	char **gone; /* layers of the image that was removed, NULL-terminated */
	char (*kept)[STORE_NAME];
	size_t n_kept, cap_kept;
	uint64_t freed;
	const char *only; /* the one layer that may go; NULL: all */
	const struct image_prune *prune; /* nothing is kept for builders to come; NULL: see above */
};

static int keep(struct removal *r, const char *file)
{
	void *more;

	if (r->n_kept == r->cap_kept) {
		r->cap_kept = r->cap_kept ? 2 * r->cap_kept : 64;
		more = reallocarray(r->kept, r->cap_kept, STORE_NAME);
		if (!more)
			return -ENOMEM;
		r->kept = more;
	}
	(void)snprintf(r->kept[r->n_kept++], STORE_NAME, "%s", file);
	return 0;
}

static bool is_kept(const struct removal *r, const char *file)
{
	size_t i;

	for (i = 0; i < r->n_kept; i++)
		if (strcmp(r->kept[i], file) == 0)
			return true;
	return false;
}

static int keep_layers(void *arg, const struct image_record *rec)
{
	char file[STORE_NAME];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < rec->n_layers; i++) {
		store_name_of(rec->layers[i], file);
		if (!is_kept(arg, file))
			r = keep(arg, file);
	}
	return r;
}

static bool was_of_image(const struct removal *r, const char *file)
{
	char name[STORE_NAME];
	char **l;

	for (l = r->gone; l && *l; l++) {
		store_name_of(*l, name);
		if (strcmp(name, file) == 0)
			return true;
	}
	return false;
}

/* Nobody else has it: an fd with its lock, or -1. */
static int hold_alone(const struct image_store *s, const char *file)
{
	AUTO_FD fd = openat(s->layers, file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? -1 : fd_take(&fd);
}

/* What a build that goes on has made stays, with the way to it. */
static bool is_in_use(const struct image_store *s, const char *file)
{
	AUTO_FD fd = hold_alone(s, file);

	return fd < 0 && faccessat(s->layers, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A cache entry keeps its layer, or goes with it. */
static int keep_cached(void *arg, const char *key)
{
	struct removal *r = arg;
	char file[STORE_NAME];
	struct stat st;

	if (fstatat(r->s->cache, key, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    store_link_get(r->s->cache, key, file, sizeof(file)) < 0)
		return 0;
	if (is_kept(r, file))
		return 0;
	if (r->only)
		return keep(r, file);
	if (r->prune ? is_in_use(r->s, file)
		     : st.st_mtime >= time(NULL) - (time_t)CACHE_DAYS * 86400 && !was_of_image(r, file))
		return keep(r, file);
	if (!r->prune || !r->prune->look)
		(void)unlinkat(r->s->cache, key, 0);
	return 0;
}

/* Out of the way at once, and removed when nobody waits for the store any more. */
static int move_layer(void *arg, const char *file)
{
	struct removal *r = arg;
	char digest[IMAGE_DIGEST], name[32], size[24] = "";
	uint64_t number = 0, bytes;
	AUTO_FD fd = -1;

	if (!store_digest_of(file, digest) || is_kept(r, file) || (r->only && strcmp(r->only, digest) != 0))
		return 0;
	fd = hold_alone(r->s, file);
	if (fd < 0)
		return 0; /* in use: the next removal finds it */
	(void)store_link_get(r->s->sizes, file, size, sizeof(size));
	bytes = strtoull(size, NULL, 10);
	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(name, sizeof(name), "r%016llx", (unsigned long long)number);
	if (!(r->prune && r->prune->look)) {
		if (renameat(r->s->layers, file, r->s->tmp, name) < 0)
			return 0;
		(void)unlinkat(r->s->sizes, file, 0);
	}
	r->freed += bytes;
	if (r->prune)
		r->prune->tell(r->prune->arg, digest, bytes);
	return 0;
}

static int drop_layers(struct removal *r, struct error *err)
{
	int said = store_each_record(r->s, keep_layers, r, err), code = 0;

	if (said == 0)
		code = store_each_name(r->s->cache, keep_cached, r);
	/* what could not be looked through keeps everything */
	if (said == 0 && code == 0)
		code = store_each_name(r->s->layers, move_layer, r);
	free(r->kept);
	if (said < 0)
		return -1;
	return code < 0 ? error_sys(err, code, "image store %s", r->s->path) : 0;
}

struct unnaming {
	const struct image_store *s;
	const char *file; /* of the image */
	const char *only; /* the one name to take away; NULL: all */
	size_t left; /* names that stay; those by digest, which an import adds, keep nothing */
};

static int drop_name(void *arg, const char *name)
{
	struct unnaming *u = arg;
	char target[STORE_NAME];

	if (store_link_get(u->s->names, name, target, sizeof(target)) < 0 || strcmp(target, u->file) != 0)
		return 0;
	if (u->only && strcmp(u->only, name) != 0)
		u->left += !strchr(name, '@');
	else
		(void)unlinkat(u->s->names, name, 0);
	return 0;
}

static int drop_record(struct image_store *s, const char *digest, struct error *err)
{
	char path[16 + STORE_NAME], file[STORE_NAME];

	store_name_of(digest, file);
	(void)snprintf(path, sizeof(path), "images/%s", file);
	return unlinkat(s->dir, path, 0) < 0 && errno != ENOENT ? error_sys(err, errno, "image %s", digest) : 0;
}

static int remove_locked(struct image_store *s, const char *name, struct arena *a, uint64_t *freed, struct error *err)
{
	char digest[IMAGE_DIGEST], canonical[IMAGE_NAME_MAX + 1], file[STORE_NAME], only[IMAGE_NAME_MAX + 1];
	struct removal r = {.s = s};
	struct unnaming u = {.s = s, .file = file};
	struct image_record rec = {0};
	struct error ignored = {0};
	struct text_shown shown;

	if (store_resolve(s, name, digest, canonical, err) < 0) {
		/* whoever wants it gone is not to be told how to get it */
		return err->kind == ERROR_MISSING
			       ? error_set(err, ERROR_MISSING,
					   "there is no image %s here; `cordon image ls` lists those that are",
					   text_show(&shown, sv_of(name)))
			       : -1;
	}
	store_name_of(digest, file);
	if (canonical[0]) {
		store_file_of(canonical, only);
		u.only = only;
	}
	if (store_each_name(s->names, drop_name, &u) < 0)
		return error_sys(err, errno, "image store %s/names", s->path);
	if (!u.left) {
		u.only = NULL;
		(void)store_each_name(s->names, drop_name, &u);
	}
	/* one that is damaged can be removed, too */
	if (!u.left && store_record_read(s, digest, a, &rec, &ignored) == 0)
		r.gone = rec.layers;
	if ((!u.left && drop_record(s, digest, err) < 0) || drop_layers(&r, err) < 0)
		return -1;
	*freed = r.freed;
	return 0;
}

int image_remove(struct image_store *s, const char *name, uint64_t *ret_freed, struct error *err)
{
	struct arena *a = arena_new();
	uint64_t freed = 0;
	int r = -1, lock;

	if (!a)
		return error_sys(err, ENOMEM, "image store %s", s->path);
	lock = store_lock(s, LOCK_EX, err);
	if (lock >= 0) {
		r = remove_locked(s, name, a, &freed, err);
		(void)close(lock);
	}
	arena_free(a);
	store_sweep(s);
	if (r == 0 && ret_freed)
		*ret_freed = freed;
	return r;
}

void store_drop_layer(struct image_store *s, const char *digest)
{
	struct removal r = {.s = s, .only = digest};
	struct error ignored = {0};
	int lock = store_lock(s, LOCK_EX, &ignored);

	if (lock < 0)
		return;
	(void)drop_layers(&r, &ignored);
	(void)close(lock);
	store_sweep(s);
}

int image_prune(struct image_store *s, const struct image_prune *how, struct error *err)
{
	struct removal r = {.s = s, .prune = how};
	int code = -1, lock = store_lock(s, LOCK_EX, err);

	if (lock >= 0) {
		code = drop_layers(&r, err);
		(void)close(lock);
	}
	if (!how->look)
		store_sweep(s);
	return code;
}

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/ids.h"
#include "image/store_parts.h"
#include "image/walk.h"
#include "sys/names.h"

static int lock_folder(int dir, const char *name, int how)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, how | LOCK_NB) < 0)
		return -errno;
	return fd_take(&fd);
}

int store_hold(const struct image_store *s, const char *digest)
{
	char file[STORE_NAME];

	store_name_of(digest, file);
	return lock_folder(s->layers, file, LOCK_SH);
}

void image_layer_done(struct image_layer *l)
{
	free(l->path);
	if (l->lock >= 0)
		(void)close(l->lock);
	*l = (struct image_layer){.lock = -1};
}

/* lock becomes the layer's. */
static int give_layer(const struct image_store *s, const char *digest, int lock, struct image_layer *ret,
		      struct error *err)
{
	char file[STORE_NAME], text[24] = "";
	struct image_layer l = {.lock = lock};

	store_name_of(digest, file);
	memcpy(l.digest, digest, IMAGE_DIGEST);
	(void)store_link_get(s->sizes, file, text, sizeof(text));
	l.bytes = strtoull(text, NULL, 10);
	if (asprintf(&l.path, "%s/layers/%s", s->path, file) < 0) {
		(void)close(lock);
		return error_sys(err, ENOMEM, "layer %s", digest);
	}
	*ret = l;
	return 0;
}

static int find_locked(struct image_store *s, const char *digest, struct image_layer *ret, struct error *err)
{
	int fd = store_hold(s, digest);

	if (fd == -ENOENT)
		return 1;
	return fd < 0 ? error_sys(err, fd, "layer %s", digest) : give_layer(s, digest, fd, ret, err);
}

int image_layer_find(struct image_store *s, const char *digest, struct image_layer *ret, struct error *err)
{
	AUTO_FD lock = -1;

	if (!image_is_digest(sv_of(digest)))
		return error_set(err, ERROR_INPUT, "a layer's digest is none");
	lock = store_lock(s, LOCK_SH, err);
	return lock < 0 ? -1 : find_locked(s, digest, ret, err);
}

/* ---- places to make layers in ---- */

/* A folder in tmp/ that is locked before anybody else may look at it. */
static int make_place(struct image_store *s, struct image_work *w, struct error *err)
{
	AUTO_FD lock = store_lock(s, LOCK_EX, err);
	uint64_t number = 0;

	if (lock < 0)
		return -1;
	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(w->name, sizeof(w->name), "w%016llx", (unsigned long long)number);
	if (mkdirat(s->tmp, w->name, 0700) < 0)
		return error_sys(err, errno, "image store %s/tmp", s->path);
	w->lock = lock_folder(s->tmp, w->name, LOCK_EX);
	if (w->lock < 0)
		return error_sys(err, w->lock, "image store %s/tmp", s->path);
	/* whoever is root inside must be able to pass through it */
	if (s->ids.zero_uid != geteuid() && fchown(w->lock, s->ids.zero_uid, s->ids.zero_gid) < 0)
		return error_sys(err, errno, "image store %s/tmp", s->path);
	return 0;
}

static int make_inner(const struct image_store *s, const struct image_work *w, const char *name, mode_t mode,
		      struct error *err)
{
	AUTO_FD fd = -1;

	if (mkdirat(w->lock, name, 0700) < 0)
		return error_sys(err, errno, "%s/%s", w->path, name);
	fd = openat(w->lock, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (s->ids.zero_uid != geteuid() && fchown(fd, s->ids.zero_uid, s->ids.zero_gid) < 0) ||
	    fchmod(fd, mode) < 0)
		return error_sys(err, errno, "%s/%s", w->path, name);
	return 0;
}

int image_work_new(struct image_store *s, struct image_work *ret, struct error *err)
{
	struct image_work w = {.lock = -1};

	store_sweep(s);
	if (make_place(s, &w, err) < 0)
		return -1;
	if (asprintf(&w.path, "%s/tmp/%s", s->path, w.name) < 0)
		w.path = NULL;
	if (asprintf(&w.upper, "%s/tmp/%s/upper", s->path, w.name) < 0)
		w.upper = NULL;
	if (asprintf(&w.work, "%s/tmp/%s/work", s->path, w.name) < 0)
		w.work = NULL;
	if (!w.path || !w.upper || !w.work)
		(void)error_sys(err, ENOMEM, "image store %s/tmp", s->path);
	else if (make_inner(s, &w, "upper", 0755, err) == 0 && make_inner(s, &w, "work", 0700, err) == 0) {
		*ret = w;
		return 0;
	}
	image_work_done(s, &w);
	return -1;
}

void image_work_done(struct image_store *s, struct image_work *w)
{
	struct error ignored = {0};

	if (w->lock >= 0) {
		(void)image_ids_remove(&s->ids, s->tmp, w->name, &ignored);
		(void)close(w->lock);
	}
	free(w->path);
	free(w->upper);
	free(w->work);
	*w = (struct image_work){.lock = -1};
}

int store_put_layer(struct image_store *s, struct image_work *w, const char *digest, uint64_t bytes,
		    struct image_layer *ret, struct error *err)
{
	AUTO_FD lock = store_lock(s, LOCK_EX, err);
	AUTO_FD held = -1;
	char file[STORE_NAME], text[24];
	int r;

	if (lock < 0)
		return -1;
	r = find_locked(s, digest, ret, err);
	if (r <= 0)
		return r;
	store_name_of(digest, file);
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	held = lock_folder(w->lock, "upper", LOCK_SH);
	if (held < 0)
		return error_sys(err, held, "%s", w->upper);
	r = store_link_put(s->sizes, file, text);
	if (r == 0)
		r = sys_rename(w->lock, "upper", s->layers, file, SYS_RENAME_NOREPLACE);
	if (r < 0)
		return error_sys(err, r, "layer %s", digest);
	return give_layer(s, digest, fd_take(&held), ret, err);
}

int image_add_layer(struct image_store *s, struct image_work *w, int64_t until_ms, struct image_layer *ret,
		    struct error *err)
{
	struct walk_result walked;

	if (image_walk_digest(&s->ids, w->upper, until_ms, &walked, err) < 0)
		return -1;
	return store_put_layer(s, w, walked.digest, walked.bytes, ret, err);
}

/* ---- what builders made before ---- */

static bool is_key(const char *key)
{
	return strlen(key) == 64 && strspn(key, "0123456789abcdef") == 64;
}

int image_cache_get(struct image_store *s, const char *key, struct image_layer *ret, struct error *err)
{
	AUTO_FD lock = -1;
	char file[STORE_NAME], digest[IMAGE_DIGEST];
	struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};

	if (!is_key(key))
		return error_set(err, ERROR_INPUT, "a key of the build cache is 64 hex digits");
	lock = store_lock(s, LOCK_SH, err);
	if (lock < 0)
		return -1;
	if (store_link_get(s->cache, key, file, sizeof(file)) < 0 || !store_digest_of(file, digest))
		return 1;
	(void)utimensat(s->cache, key, now, AT_SYMLINK_NOFOLLOW); /* it is of use: see store_remove.c */
	return find_locked(s, digest, ret, err);
}

int image_cache_put(struct image_store *s, const char *key, const char *digest, struct error *err)
{
	AUTO_FD lock = -1;
	char file[STORE_NAME];
	int r;

	if (!is_key(key) || !image_is_digest(sv_of(digest)))
		return error_set(err, ERROR_INPUT,
				 "a key of the build cache is 64 hex digits, and what it leads to a layer's digest");
	lock = store_lock(s, LOCK_EX, err);
	if (lock < 0)
		return -1;
	store_name_of(digest, file);
	r = store_link_put(s->cache, key, file);
	return r < 0 ? error_sys(err, r, "the build cache") : 0;
}

/* ---- tidying ---- */

struct dead {
	const struct image_store *s;
	char names[32][NAME_MAX + 1];
	int locks[32];
	size_t n;
};

static int take_dead(void *arg, const char *name)
{
	struct dead *d = arg;
	int fd = lock_folder(d->s->tmp, name, LOCK_EX);

	if (fd < 0)
		return 0; /* somebody works there */
	(void)snprintf(d->names[d->n], sizeof(d->names[0]), "%s", name);
	d->locks[d->n++] = fd;
	return d->n == ARRAY_LEN(d->locks);
}

static int one_is_there(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

/* Whoever makes a place holds the store until it is locked: what can be locked meanwhile belongs to nobody. It is
 * removed when nobody waits for us. */
void store_sweep(struct image_store *s)
{
	struct dead d = {.s = s};
	struct error ignored = {0};
	size_t i;
	int lock;

	if (store_each_name(s->tmp, one_is_there, NULL) != 1)
		return;
	lock = store_lock(s, LOCK_EX, &ignored);
	if (lock < 0)
		return;
	(void)store_each_name(s->tmp, take_dead, &d);
	(void)close(lock);
	for (i = 0; i < d.n; i++) {
		(void)image_ids_remove(&s->ids, s->tmp, d.names[i], &ignored);
		(void)close(d.locks[i]);
	}
}

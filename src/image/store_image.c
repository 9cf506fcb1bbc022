#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/config.h"
#include "image/ids.h"
#include "image/store_parts.h"

void image_done(struct image *i)
{
	size_t n;

	for (n = 0; i->locks && n < i->n_layers; n++)
		if (i->locks[n] >= 0)
			(void)close(i->locks[n]);
	arena_free(i->arena);
	*i = (struct image){0};
}

struct naming {
	const struct image_store *s;
	const char *file; /* "sha256-HEX" */
	struct arena *a;
	char **names;
	size_t n, cap;
};

static int take_name(void *arg, const char *name)
{
	struct naming *n = arg;
	char target[STORE_NAME], canonical[IMAGE_NAME_MAX + 1];

	if (store_link_get(n->s->names, name, target, sizeof(target)) < 0 || strcmp(target, n->file) != 0)
		return 0;
	if (n->n + 1 >= n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 8;
		char **more = arena_array(n->a, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		if (n->n)
			memcpy(more, n->names, n->n * sizeof(*more));
		n->names = more;
		n->cap = cap;
	}
	store_canonical_of(name, canonical);
	n->names[n->n] = arena_str(n->a, sv_of(canonical));
	return n->names[n->n++] ? 0 : -ENOMEM;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names that lead to it, sorted. */
static char **names_of(const struct image_store *s, const char *digest, struct arena *a)
{
	char file[STORE_NAME];
	struct naming n = {.s = s, .file = file, .a = a};

	store_name_of(digest, file);
	if (store_each_name(s->names, take_name, &n) < 0)
		return NULL;
	if (!n.names)
		return arena_array(a, 1, sizeof(char *));
	qsort(n.names, n.n, sizeof(*n.names), by_text);
	n.names[n.n] = NULL;
	return n.names;
}

/* Names, paths and locks to what the record says. The store is locked. */
static int complete(const struct image_store *s, const struct image_record *rec, struct arena *a, struct image *ret,
		    struct error *err)
{
	char file[STORE_NAME];
	size_t i;

	*ret = (struct image){.names = names_of(s, rec->digest, a),
			      .layer_digests = rec->layers,
			      .config = rec->config,
			      .ids = s->ids,
			      .bytes = rec->bytes,
			      .created = rec->created,
			      .arena = a};
	memcpy(ret->digest, rec->digest, IMAGE_DIGEST);
	ret->layers = arena_array(a, rec->n_layers + 1, sizeof(*ret->layers));
	ret->locks = arena_array(a, rec->n_layers, sizeof(*ret->locks));
	if (!ret->names || !ret->layers || !ret->locks)
		return error_sys(err, ENOMEM, "image %s", rec->digest);
	for (i = 0; i < rec->n_layers; i++) {
		store_name_of(rec->layers[i], file);
		ret->layers[i] = arena_printf(a, "%s/layers/%s", s->path, file);
		ret->locks[i] = store_hold(s, rec->layers[i]);
		ret->n_layers++;
		if (ret->locks[i] < 0)
			return error_set(err, ERROR_INPUT,
					 "image %s lacks its layer %s; `cordon image rm %.19s`, then import it again",
					 rec->digest, rec->layers[i], rec->digest);
	}
	return arena_failed(a) ? error_sys(err, ENOMEM, "image %s", rec->digest) : 0;
}

int image_find(struct image_store *s, const char *name, struct image *ret, struct error *err)
{
	char digest[IMAGE_DIGEST], canonical[IMAGE_NAME_MAX + 1];
	AUTO_FD lock = store_lock(s, LOCK_SH, err);
	struct image_record rec = {0};
	struct image found = {0};
	struct arena *a;

	if (lock < 0 || store_resolve(s, name, digest, canonical, err) < 0)
		return -1;
	a = arena_new();
	if (!a)
		return error_sys(err, ENOMEM, "image %s", digest);
	if (store_record_read(s, digest, a, &rec, err) < 0) {
		arena_free(a);
		return -1;
	}
	if (complete(s, &rec, a, &found, err) < 0) {
		image_done(&found);
		return -1;
	}
	*ret = found;
	return 0;
}

struct listing {
	struct image_store *s;
	char (*digests)[IMAGE_DIGEST];
	size_t n, cap;
};

static int take_digest(void *arg, const struct image_record *rec)
{
	struct listing *l = arg;
	void *more;

	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		more = reallocarray(l->digests, l->cap, IMAGE_DIGEST);
		if (!more)
			return -ENOMEM;
		l->digests = more;
	}
	memcpy(l->digests[l->n++], rec->digest, IMAGE_DIGEST);
	return 0;
}

int image_each(struct image_store *s, int (*fn)(void *arg, struct image *i), void *arg, struct error *err)
{
	struct listing l = {.s = s};
	struct error ignored = {0};
	struct image one;
	size_t i;
	int r = 0;

	if (store_each_record(s, take_digest, &l, err) < 0)
		r = -1;
	if (l.n)
		qsort(l.digests, l.n, IMAGE_DIGEST, (int (*)(const void *, const void *))strcmp);
	for (i = 0; r == 0 && i < l.n; i++) {
		/* one that goes away meanwhile is passed over, too */
		if (image_find(s, l.digests[i], &one, &ignored) < 0)
			continue;
		r = fn(arg, &one);
		image_done(&one);
	}
	free(l.digests);
	return r;
}

static uint64_t size_of(const struct image_store *s, const char *digest)
{
	char file[STORE_NAME], text[24];

	store_name_of(digest, file);
	return store_link_get(s->sizes, file, text, sizeof(text)) < 0 ? 0 : strtoull(text, NULL, 10);
}

/* The store is locked. */
static int put_name(struct image_store *s, const char *name, const char *digest, struct error *err)
{
	char canonical[IMAGE_NAME_MAX + 1], file[IMAGE_NAME_MAX + 1], target[STORE_NAME];
	int r;

	if (image_name_canonical(sv_of(name), canonical, err) < 0)
		return -1;
	store_file_of(canonical, file);
	store_name_of(digest, target);
	r = store_link_put(s->names, file, target);
	return r < 0 ? error_sys(err, r, "the name %s", canonical) : 0;
}

/* Layers are given lowest first, and kept topmost first. */
static int make_record(struct image_store *s, const struct image_config *config, const char *const *layers, size_t n,
		       char **room, struct image_record *ret, struct error *err)
{
	AUTO_BUF json = {0};
	size_t i;

	buf_init(&json, 4 * IMAGE_CONFIG_MAX);
	image_config_json(&json, config, layers, n);
	if (buf_failed(&json))
		return error_set(err, ERROR_INPUT, "the image's config is too long");
	*ret = (struct image_record){.created = (int64_t)time(NULL), .layers = room, .n_layers = n, .config = *config};
	memcpy(ret->digest, "sha256:", 7);
	sha256_hex_of(buf_view(&json), ret->digest + 7);
	for (i = 0; i < n; i++) {
		room[n - 1 - i] = (char *)(uintptr_t)layers[i];
		ret->bytes += size_of(s, layers[i]);
	}
	return 0;
}

static int layers_exist(struct image_store *s, const char *const *layers, size_t n, struct error *err)
{
	char file[STORE_NAME];
	size_t i;

	for (i = 0; i < n; i++) {
		if (!image_is_digest(sv_of(layers[i])))
			return error_set(err, ERROR_INPUT, "a layer's digest is none");
		store_name_of(layers[i], file);
		if (faccessat(s->layers, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return error_set(err, ERROR_MISSING, "layer %s is not in the store", layers[i]);
	}
	return 0;
}

int image_add_as(struct image_store *s, const char *name, const char *digest, const struct image_config *config,
		 const char *const *layers, size_t n, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	char *room[IMAGE_MAX_LAYERS];
	struct image_record rec;
	AUTO_FD lock = -1;

	if (n == 0 || n > IMAGE_MAX_LAYERS)
		return error_set(err, ERROR_INPUT, "an image has between 1 and %d layers, not %zu", IMAGE_MAX_LAYERS,
				 n);
	if (make_record(s, config, layers, n, room, &rec, err) < 0)
		return -1;
	if (digest)
		memcpy(rec.digest, digest, IMAGE_DIGEST);
	store_sync(s);
	lock = store_lock(s, LOCK_EX, err);
	if (lock < 0 || layers_exist(s, layers, n, err) < 0 || store_record_write(s, &rec, err) < 0)
		return -1;
	if (name && put_name(s, name, rec.digest, err) < 0)
		return -1;
	memcpy(ret_digest, rec.digest, IMAGE_DIGEST);
	return 0;
}

int image_add(struct image_store *s, const char *name, const struct image_config *config, const char *const *layers,
	      size_t n, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	return image_add_as(s, name, NULL, config, layers, n, ret_digest, err);
}

int image_tag(struct image_store *s, const char *digest, const char *name, struct error *err)
{
	AUTO_FD lock = store_lock(s, LOCK_EX, err);
	char found[IMAGE_DIGEST], canonical[IMAGE_NAME_MAX + 1];

	if (lock < 0 || store_resolve(s, digest, found, canonical, err) < 0)
		return -1;
	return put_name(s, name, found, err);
}

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cachefile.h"
#include "base/cleanup.h"
#include "base/coding.h"
#include "base/text.h"
#include "image/config.h"
#include "image/store_parts.h"

enum { VERSION = 1, PREFIX_MIN = 12 };

static void images_path(const struct image_store *s, char *to, size_t size)
{
	(void)snprintf(to, size, "%s/images", s->path);
}

static int decode(struct sv body, struct arena *a, struct image_record *ret)
{
	struct wire_in in;
	struct sv digest;
	uint32_t n, i;

	wire_in_init(&in, body);
	if (wire_get_u32(&in) != VERSION)
		return -EBADMSG;
	ret->created = (int64_t)wire_get_u64(&in);
	ret->bytes = wire_get_u64(&in);
	n = wire_get_u32(&in);
	if (n == 0 || n > IMAGE_MAX_LAYERS)
		return -EBADMSG;
	ret->layers = arena_array(a, (size_t)n + 1, sizeof(*ret->layers));
	for (i = 0; ret->layers && i < n; i++) {
		digest = wire_get_sv(&in);
		if (!image_is_digest(digest))
			return -EBADMSG;
		ret->layers[i] = arena_str(a, digest);
	}
	ret->n_layers = n;
	if (image_config_get(&in, a, &ret->config) < 0 || !wire_ok(&in))
		return -EBADMSG;
	return arena_failed(a) ? -ENOMEM : 0;
}

/* 0 or -errno. */
static int load(const struct image_store *s, const char *digest, struct arena *a, struct image_record *ret)
{
	char path[4096], name[STORE_NAME];
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, STORE_RECORD_MAX);
	images_path(s, path, sizeof(path));
	store_name_of(digest, name);
	r = cachefile_read(path, name, &b);
	if (r == 0)
		r = decode(buf_view(&b), a, ret);
	if (r == 0)
		(void)snprintf(ret->digest, sizeof(ret->digest), "%s", digest);
	return r;
}

/* What says nothing of the record: it may be whole. */
static bool is_passing(int code)
{
	return code == -ENOMEM || code == -EMFILE || code == -ENFILE || code == -EIO || code == -EACCES;
}

int store_record_read(const struct image_store *s, const char *digest, struct arena *a, struct image_record *ret,
		      struct error *err)
{
	int r = load(s, digest, a, ret);

	if (r == -ENOENT)
		return error_set(err, ERROR_MISSING, "there is no image %s", digest);
	if (is_passing(r))
		return error_sys(err, r, "image %s", digest);
	return r < 0 ? error_set(err, ERROR_INPUT, "image %s is damaged; `cordon image rm %s`, then import it again",
				 digest, digest)
		     : 0;
}

int store_record_write(const struct image_store *s, const struct image_record *rec, struct error *err)
{
	char path[4096], name[STORE_NAME];
	AUTO_BUF b = {0};
	size_t i;
	int r;

	buf_init(&b, STORE_RECORD_MAX);
	wire_put_u32(&b, VERSION);
	wire_put_u64(&b, (uint64_t)rec->created);
	wire_put_u64(&b, rec->bytes);
	wire_put_u32(&b, (uint32_t)rec->n_layers);
	for (i = 0; i < rec->n_layers; i++)
		wire_put_sv(&b, sv_of(rec->layers[i]));
	image_config_put(&b, &rec->config);
	images_path(s, path, sizeof(path));
	store_name_of(rec->digest, name);
	r = buf_failed(&b) ? buf_failed(&b) : cachefile_replace(path, name, &b);
	return r < 0 ? error_sys(err, r, "image %s", rec->digest) : 0;
}

struct each {
	const struct image_store *s;
	int (*fn)(void *arg, const struct image_record *rec);
	void *arg;
};

/* One that is damaged is passed over; but what cannot be read just now is not taken for that, since its layers would
 * go. */
static int one_record(void *arg, const char *name)
{
	struct each *e = arg;
	struct arena *a = arena_new();
	struct image_record rec = {0};
	char digest[IMAGE_DIGEST];
	int r = a ? 0 : -ENOMEM;

	if (a && store_digest_of(name, digest)) {
		r = load(e->s, digest, a, &rec);
		r = r == 0 ? e->fn(e->arg, &rec) : is_passing(r) ? r : 0;
	}
	arena_free(a);
	return r;
}

int store_each_record(const struct image_store *s, int (*fn)(void *arg, const struct image_record *rec), void *arg,
		      struct error *err)
{
	struct each e = {s, fn, arg};
	AUTO_FD dir = openat(s->dir, "images", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (dir < 0)
		return errno == ENOENT ? 0 : error_sys(err, errno, "image store %s/images", s->path);
	r = store_each_name(dir, one_record, &e);
	return r < 0 ? error_sys(err, r, "image store %s/images", s->path) : r;
}

struct search {
	struct sv prefix;
	char found[IMAGE_DIGEST];
	unsigned n;
};

static int compare_prefix(void *arg, const struct image_record *rec)
{
	struct search *s = arg;

	if (strncmp(rec->digest + 7, s->prefix.p, s->prefix.n) == 0) {
		memcpy(s->found, rec->digest, IMAGE_DIGEST);
		s->n++;
	}
	return 0;
}

/* "sha256:" in front may be left out. */
static bool is_prefix(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (hex_value(s.p[i]) < 0 || (s.p[i] >= 'A' && s.p[i] <= 'F'))
			return false;
	return s.n >= PREFIX_MIN && s.n <= 64;
}

static int by_digest(const struct image_store *s, const char *name, char ret[IMAGE_DIGEST], struct error *err)
{
	struct search search = {.prefix = sv_of(strncmp(name, "sha256:", 7) == 0 ? name + 7 : name)};
	char path[16 + STORE_NAME];

	if (!is_prefix(search.prefix))
		return 1;
	/* whole: also one that is damaged, to be removed */
	if (search.prefix.n == 64) {
		(void)snprintf(path, sizeof(path), "images/sha256-%s", search.prefix.p);
		if (faccessat(s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return 1;
		(void)snprintf(ret, IMAGE_DIGEST, "sha256:%s", search.prefix.p);
		return 0;
	}
	if (store_each_record(s, compare_prefix, &search, err) < 0)
		return -1;
	if (search.n > 1)
		return error_set(err, ERROR_INPUT, "%s is the beginning of %u images' digests; write more of it", name,
				 search.n);
	if (search.n == 1)
		memcpy(ret, search.found, IMAGE_DIGEST);
	return search.n == 1 ? 0 : 1;
}

void store_file_of(const char *canonical, char ret[IMAGE_NAME_MAX + 1])
{
	char *p;

	(void)snprintf(ret, IMAGE_NAME_MAX + 1, "%s", canonical);
	for (p = ret; (p = strchr(p, '/'));)
		*p = '%';
}

void store_canonical_of(const char *file, char ret[IMAGE_NAME_MAX + 1])
{
	char *p;

	(void)snprintf(ret, IMAGE_NAME_MAX + 1, "%s", file);
	for (p = ret; (p = strchr(p, '%'));)
		*p = '/';
}

int store_resolve(const struct image_store *s, const char *name, char ret_digest[IMAGE_DIGEST],
		  char ret_canonical[IMAGE_NAME_MAX + 1], struct error *err)
{
	char canonical[IMAGE_NAME_MAX + 1], shorter[IMAGE_NAME_MAX + 1], file[IMAGE_NAME_MAX + 1], target[STORE_NAME];
	int r = by_digest(s, name, ret_digest, err);

	ret_canonical[0] = '\0';
	if (r <= 0)
		return r;
	if (strncmp(name, "sha256:", 7) == 0)
		return error_set(err, ERROR_MISSING,
				 "there is no image %.80s here; `cordon image ls` lists those that are", name);
	if (image_name_canonical(sv_of(name), canonical, err) < 0)
		return -1;
	store_file_of(canonical, file);
	if (store_link_get(s->names, file, target, sizeof(target)) < 0 || !store_digest_of(target, ret_digest)) {
		image_name_short(canonical, shorter);
		return error_set(err, ERROR_MISSING,
				 "image %s is not here; `docker save %s | cordon image import %s -` brings it from "
				 "Docker, `cordon image ls` lists what is here",
				 shorter, shorter, shorter);
	}
	memcpy(ret_canonical, canonical, sizeof(canonical));
	return 0;
}

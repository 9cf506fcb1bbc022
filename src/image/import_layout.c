/*
 * Images in parts: OCI layouts, and what docker save writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "base/text.h"
#include "image/import_parts.h"
#include "image/manifest.h"
#include "image/store_parts.h"
#include "sys/lookup.h"

enum { NESTED_MAX = 4, BLOB_PATH = 128 };

#if defined(__x86_64__)
static const char our_arch[] = "amd64";
#else
static const char our_arch[] = "arm64";
#endif

/* Docker writes a layer that two images have as a link to the first one: links that stay in the folder are followed. */
static int open_part(int folder, const char *path, uint64_t *ret_size, struct error *err)
{
	struct text_shown shown;
	AUTO_FD fd = sys_open_in_root(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_sys(err, fd, "%s", text_show(&shown, sv_of(path)));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s is no file", text_show(&shown, sv_of(path)));
	*ret_size = (uint64_t)st.st_size;
	return fd_take(&fd);
}

/* JSON, whole. digest: what it must have; NULL: any. */
static int read_part(int folder, const char *path, const char *digest, struct buf *out, struct error *err)
{
	struct text_shown shown;
	char found[IMAGE_DIGEST] = "sha256:";
	uint64_t size;
	AUTO_FD fd = open_part(folder, path, &size, err);
	int r;

	if (fd < 0)
		return -1;
	buf_init(out, MANIFEST_MAX);
	r = buf_read_fd(out, fd);
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s is longer than %d bytes", text_show(&shown, sv_of(path)),
				 MANIFEST_MAX);
	if (r < 0)
		return error_sys(err, r, "%s", text_show(&shown, sv_of(path)));
	sha256_hex_of(buf_view(out), found + 7);
	if (digest && strcmp(digest, found) != 0)
		return error_set(err, ERROR_INPUT, "%s is damaged or was changed: its digest is %s",
				 text_show(&shown, sv_of(path)), found);
	return 0;
}

static void blob_path(const char *digest, char to[BLOB_PATH])
{
	(void)snprintf(to, BLOB_PATH, "blobs/sha256/%.64s", digest + 7);
}

/* ---- layers, and the image that they make ---- */

struct parts {
	int folder;
	const char **paths; /* of the layers, lowest first */
	const char **blobs; /* their digests; NULL: not known */
	size_t n;
	const char *image; /* digest of the config */
	const struct manifest_config *config;
};

static int check_platform(const struct manifest_config *c, struct error *err)
{
	struct text_shown os, arch;

	if ((c->os[0] && strcmp(c->os, "linux") != 0) || (c->arch[0] && strcmp(c->arch, our_arch) != 0))
		return error_set(err, ERROR_INPUT,
				 "the image is for %s/%s, and this machine is linux/%s; get the one for it (`docker "
				 "pull --platform linux/%s`)",
				 text_show(&os, sv_of(c->os)), text_show(&arch, sv_of(c->arch)), our_arch, our_arch);
	return 0;
}

static int take_layer(struct importing *i, const struct parts *p, size_t k, struct image_layer *ret, bool *ret_made,
		      struct error *err)
{
	char what[64];
	uint64_t size;
	AUTO_FD fd = -1;
	int r = image_layer_find(i->s, p->config->layers[k], ret, err);

	*ret_made = r > 0;
	if (r <= 0)
		return r;
	(void)snprintf(what, sizeof(what), "layer %zu of %zu", k + 1, p->n);
	fd = open_part(p->folder, p->paths[k], &size, err);
	if (fd < 0)
		return error_prefix(err, "%s", what);
	return import_layer(i, fd, what, p->blobs ? p->blobs[k] : NULL, p->config->layers[k], size, ret, err);
}

static int take_parts(struct importing *i, const struct parts *p, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct image_layer layers[IMAGE_MAX_LAYERS];
	bool made[IMAGE_MAX_LAYERS];
	size_t k, n = 0;
	int r = check_platform(p->config, err);

	if (r == 0 && p->n != p->config->n_layers)
		r = error_set(err, ERROR_INPUT, "the image has %zu layers, and its config speaks of %zu", p->n,
			      p->config->n_layers);
	while (r == 0 && n < p->n) {
		r = take_layer(i, p, n, &layers[n], &made[n], err);
		n += r == 0;
	}
	if (r == 0)
		r = image_add_as(i->s, i->name, p->image, &p->config->config, p->config->layers, n, ret_digest, err);
	for (k = 0; k < n; k++)
		image_layer_done(&layers[k]);
	for (k = 0; r < 0 && k < n; k++)
		if (made[k])
			store_drop_layer(i->s, p->config->layers[k]);
	return r;
}

/* A name with a digest is a promise of what is in it. */
static int check_promise(const struct importing *i, const char *manifest, const char *config, struct error *err)
{
	const char *at = strchr(i->name, '@');

	if (!at || (manifest && strcmp(at + 1, manifest) == 0) || strcmp(at + 1, config) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "the name says %s, and the image is %s; give it a name with a tag", at + 1,
			 manifest ? manifest : config);
}

/* ---- OCI ---- */

/* Is it the one that is looked for? Whole names are compared as such, a tag alone with ours. */
static bool is_named(const struct importing *i, const char *name)
{
	char canonical[IMAGE_NAME_MAX + 1];
	struct error ignored = {0};
	const char *colon = strrchr(i->name, ':');

	if (!name[0])
		return false;
	if (colon && !strpbrk(name, ":/@") && strcmp(colon + 1, name) == 0)
		return true;
	return image_name_canonical(sv_of(name), canonical, &ignored) == 0 && strcmp(canonical, i->name) == 0;
}

static bool is_ours(const struct manifest_blob *b)
{
	return (!b->os[0] || strcmp(b->os, "linux") == 0) && (!b->arch[0] || strcmp(b->arch, our_arch) == 0);
}

static int choose(const struct importing *i, const struct manifest *index, const struct manifest_blob **ret,
		  struct error *err)
{
	const struct manifest_blob *one = NULL, *named = NULL;
	size_t k, n = 0, n_named = 0;

	for (k = 0; k < index->n; k++) {
		if (!is_ours(&index->entries[k]))
			continue;
		one = &index->entries[k];
		n++;
		if (is_named(i, one->name)) {
			named = one;
			n_named++;
		}
	}
	if (n == 0)
		return error_set(err, ERROR_INPUT, "there is no image for linux/%s in it", our_arch);
	if (n > 1 && n_named != 1)
		return error_set(err, ERROR_INPUT,
				 "there are %zu images in it, and %s of them is called %s; give the name of the one "
				 "that you mean",
				 n, n_named ? "more than one" : "none", i->name);
	*ret = n == 1 ? one : named;
	return 0;
}

/* From the index, and those in it, to a manifest. */
static int find_manifest(const struct importing *i, int folder, struct arena *a, struct manifest *ret,
			 char ret_digest[IMAGE_DIGEST], struct error *err)
{
	char path[BLOB_PATH] = "index.json";
	const struct manifest_blob *next = NULL;
	struct manifest m;
	unsigned depth;

	ret_digest[0] = '\0';
	for (depth = 0; depth < NESTED_MAX; depth++) {
		AUTO_BUF json = {0};

		if (read_part(folder, path, ret_digest[0] ? ret_digest : NULL, &json, err) < 0 ||
		    manifest_read(buf_view(&json), path, a, &m, err) < 0)
			return -1;
		if (!m.is_index) {
			*ret = m;
			return ret_digest[0] ? 0 : error_set(err, ERROR_INPUT, "index.json is no index");
		}
		if (choose(i, &m, &next, err) < 0)
			return -1;
		memcpy(ret_digest, next->digest, IMAGE_DIGEST);
		blob_path(ret_digest, path);
	}
	return error_set(err, ERROR_INPUT, "indexes lead to indexes, more than %d deep", NESTED_MAX);
}

/* The same image by the digest that FROM name@sha256:… would say. */
static void name_by_digest(struct importing *i, const char *manifest, const char *image)
{
	char name[IMAGE_NAME_MAX + 1];
	const char *slash = strrchr(i->name, '/'), *end = strpbrk(slash ? slash : i->name, ":@");
	struct error ignored = {0};

	if (snprintf(name, sizeof(name), "%.*s@%s", (int)(end ? end - i->name : (ptrdiff_t)strlen(i->name)), i->name,
		     manifest) < (int)sizeof(name))
		(void)image_tag(i->s, image, name, &ignored);
}

static int import_oci(struct importing *i, int folder, struct arena *a, char ret_digest[IMAGE_DIGEST],
		      struct error *err)
{
	char digest[IMAGE_DIGEST], path[BLOB_PATH];
	struct manifest_config config;
	struct manifest m;
	struct parts p = {.folder = folder, .config = &config};
	AUTO_BUF json = {0};
	size_t k;

	if (find_manifest(i, folder, a, &m, digest, err) < 0 || check_promise(i, digest, m.config.digest, err) < 0)
		return -1;
	blob_path(m.config.digest, path);
	if (read_part(folder, path, m.config.digest, &json, err) < 0 ||
	    manifest_read_config(buf_view(&json), "the image's config", a, &config, err) < 0)
		return -1;
	p.paths = arena_array(a, m.n, sizeof(*p.paths));
	p.blobs = arena_array(a, m.n, sizeof(*p.blobs));
	for (k = 0; p.paths && p.blobs && k < m.n; k++) {
		p.blobs[k] = m.entries[k].digest;
		p.paths[k] = arena_printf(a, "blobs/sha256/%s", m.entries[k].digest + 7);
	}
	if (arena_failed(a))
		return error_sys(err, ENOMEM, "the image");
	p.n = m.n;
	p.image = m.config.digest;
	if (take_parts(i, &p, ret_digest, err) < 0)
		return -1;
	name_by_digest(i, digest, ret_digest);
	return 0;
}

/* ---- docker save ---- */

static const struct manifest_saved *choose_saved(const struct importing *i, const struct manifest_saved *all, size_t n,
						 struct error *err)
{
	const char **t;
	size_t k;

	for (k = 0; k < n; k++)
		for (t = all[k].tags; *t; t++)
			if (is_named(i, *t))
				return &all[k];
	if (n == 1)
		return &all[0];
	(void)error_set(err, ERROR_INPUT,
			"there are %zu images in it, and none is called %s; give the name of the one that you mean", n,
			i->name);
	return NULL;
}

/* The file is named after its digest, in one way or another. */
static int check_config_name(const char *path, const char *digest, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct text_shown shown;
	char said[IMAGE_DIGEST];

	(void)snprintf(said, sizeof(said), "sha256:%.64s", name);
	if (image_is_digest(sv_of(said)) && strcmp(said, digest) != 0)
		return error_set(err, ERROR_INPUT, "%s is damaged or was changed: its digest is %s",
				 text_show(&shown, sv_of(path)), digest);
	return 0;
}

static int import_saved(struct importing *i, int folder, struct arena *a, char ret_digest[IMAGE_DIGEST],
			struct error *err)
{
	const struct manifest_saved *one;
	struct manifest_saved *all;
	struct manifest_config config;
	char digest[IMAGE_DIGEST] = "sha256:";
	struct parts p = {.folder = folder, .config = &config, .image = digest};
	AUTO_BUF list = {0};
	AUTO_BUF json = {0};
	size_t n;

	if (read_part(folder, "manifest.json", NULL, &list, err) < 0 ||
	    manifest_read_saved(buf_view(&list), "manifest.json", a, &all, &n, err) < 0)
		return -1;
	one = choose_saved(i, all, n, err);
	if (!one || read_part(folder, one->config, NULL, &json, err) < 0)
		return -1;
	sha256_hex_of(buf_view(&json), digest + 7);
	if (check_config_name(one->config, digest, err) < 0 || check_promise(i, NULL, digest, err) < 0 ||
	    manifest_read_config(buf_view(&json), "the image's config", a, &config, err) < 0)
		return -1;
	p.paths = one->layers;
	p.n = one->n_layers;
	return take_parts(i, &p, ret_digest, err);
}

int import_layout(struct importing *i, int folder, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct arena *a = arena_new();
	struct stat st;
	int r;

	if (!a)
		return error_sys(err, ENOMEM, "the image");
	/* Docker writes both nowadays; the one with all digests is preferred */
	if (fstatat(folder, "index.json", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstatat(folder, "oci-layout", &st, AT_SYMLINK_NOFOLLOW) == 0)
		r = import_oci(i, folder, a, ret_digest, err);
	else
		r = import_saved(i, folder, a, ret_digest, err);
	arena_free(a);
	return r;
}

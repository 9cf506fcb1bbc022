#include "task/build_key.h"

#include <string.h>

#include "image/copy.h"
#include "wire/wire.h"

enum { FIELDS_MAX = RECIPE_BYTES };

static void put_list(struct buf *b, const char *const *v)
{
	uint32_t n = 0, k;

	while (v[n])
		n++;
	wire_put_u32(b, n);
	for (k = 0; k < n; k++)
		wire_put_sv(b, sv_of(v[k]));
}

static void put_layers(struct buf *b, const struct build_layers *l)
{
	size_t k;

	wire_put_u32(b, l ? (uint32_t)l->n : UINT32_MAX);
	for (k = 0; l && k < l->n; k++)
		wire_put_sv(b, sv_of(l->digests[k]));
}

/* Memory that was short, or a cache that was filled by others, can make a RUN leave something else behind: another task
 * must not get that. */
static void put_run(struct buf *b, const struct recipe_step *s, const struct build_sources *from, const char *bounds)
{
	size_t k;

	wire_put_sv(b, sv_of(bounds ? bounds : ""));
	wire_put_sv(b, sv_of(from->caches));
	put_list(b, (const char *const *)s->argv);
	put_list(b, (const char *const *)s->env);
	wire_put_sv(b, sv_of(s->workdir));
	wire_put_u32(b, s->no_network);
	wire_put_u32(b, (uint32_t)s->n_mounts);
	for (k = 0; k < s->n_mounts; k++) {
		wire_put_u32(b, s->mounts[k].kind);
		put_layers(b, from->mounts[k]);
		wire_put_sv(b, sv_of(s->mounts[k].source));
		wire_put_sv(b, sv_of(s->mounts[k].target));
		wire_put_sv(b, sv_of(s->mounts[k].id));
	}
}

static void put_copy(struct buf *b, const struct recipe_step *s, const struct build_sources *from)
{
	put_layers(b, from->from);
	put_list(b, (const char *const *)s->sources);
	put_list(b, (const char *const *)s->excludes);
	wire_put_sv(b, sv_of(s->dest));
	wire_put_u32(b, *s->chown != '\0');
	wire_put_sv(b, sv_of(s->chmod));
	wire_put_u32(b, s->parents);
	wire_put_u32(b, s->unpack);
}

/* Files of the context that the step reads. */
static int add_files(const struct build_plan *p, const struct recipe_step *s, const struct build_sources *from,
		     struct sha256 *h, struct error *err)
{
	const char *one[2] = {NULL, NULL};
	struct recipe_step mounted = context_of_mount(one);
	size_t k;

	if (s->kind == RECIPE_COPY && !from->from)
		return copy_digest(&p->context, s, &p->limit, h, err);
	if (s->kind == RECIPE_COPY && s->n_files) /* heredocs beside --from */
		return copy_digest(
			&p->context,
			&(struct recipe_step){
				.sources = one, .excludes = s->excludes, .files = s->files, .n_files = s->n_files},
			&p->limit, h, err);
	for (k = 0; s->kind == RECIPE_RUN && k < s->n_mounts; k++) {
		if (s->mounts[k].kind != RECIPE_MOUNT_BIND || from->mounts[k])
			continue;
		one[0] = s->mounts[k].source;
		if (copy_digest(&p->context, &mounted, &p->limit, h, err) < 0)
			return -1;
	}
	return 0;
}

int build_key(const struct build_plan *p, const struct build_layers *below, const struct recipe_step *s,
	      const struct build_sources *from, uint32_t uid, uint32_t gid, uint32_t ids, char ret[SHA256_HEX],
	      struct error *err)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 h;
	AUTO_BUF b = {0};

	buf_init(&b, FIELDS_MAX);
	wire_put_sv(&b, sv_of("cordon build 4"));
	wire_put_u32(&b, ids);
	put_layers(&b, below);
	wire_put_u32(&b, s->kind);
	wire_put_u32(&b, uid);
	wire_put_u32(&b, gid);
	if (s->kind == RECIPE_RUN)
		put_run(&b, s, from, p->bounds);
	else if (s->kind == RECIPE_COPY)
		put_copy(&b, s, from);
	else
		wire_put_sv(&b, sv_of(s->workdir));
	if (buf_failed(&b))
		return error_set(err, ERROR_INPUT, "the step is too large");
	sha256_init(&h);
	sha256_add(&h, b.p, b.n);
	if (add_files(p, s, from, &h, err) < 0)
		return -1;
	sha256_done(&h, digest);
	sha256_hex(digest, ret);
	return 0;
}

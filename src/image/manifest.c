/*
 * In the parent: the fields, checked.
 */
#include "image/manifest.h"

#include <errno.h>
#include <string.h>

#include "conf/parse_role.h"
#include "image/config.h"
#include "image/unpack_path.h"

enum { ANSWER_MAX = 2 * MANIFEST_MAX };

static const char *get_text(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);

	if (!image_text_ok(s) || memchr(s.p, '\n', s.n))
		in->failed = true;
	return arena_str(a, s);
}

static void get_blob(struct wire_in *in, struct arena *a, struct manifest_blob *ret)
{
	struct sv digest = wire_get_sv(in);

	if (image_is_digest(digest))
		memcpy(ret->digest, digest.p, digest.n);
	else
		in->failed = true;
	ret->size = wire_get_u64(in);
	ret->media = get_text(in, a);
	ret->os = get_text(in, a);
	ret->arch = get_text(in, a);
	ret->name = get_text(in, a);
	if (ret->size > INT64_MAX)
		in->failed = true;
}

static int finish(const struct wire_in *in, const struct arena *a)
{
	return arena_failed(a) ? -ENOMEM : wire_ok(in) ? 0 : -EBADMSG;
}

int manifest_decode(struct sv answer, struct arena *a, struct manifest *ret)
{
	struct manifest m = {0};
	struct wire_in in;
	uint32_t n, i;
	int r;

	wire_in_init(&in, answer);
	m.is_index = wire_get_u32(&in) == 1;
	if (!m.is_index)
		get_blob(&in, a, &m.config);
	n = wire_get_u32(&in);
	if (n == 0 || n > MANIFEST_MAX_ENTRIES || (!m.is_index && n > IMAGE_MAX_LAYERS))
		return -EBADMSG;
	m.entries = arena_array(a, n, sizeof(*m.entries));
	for (i = 0; m.entries && i < n && !in.failed; i++)
		get_blob(&in, a, &m.entries[i]);
	m.n = n;
	r = finish(&in, a);
	if (r == 0)
		*ret = m;
	return r;
}

static const char **get_list(struct wire_in *in, struct arena *a, uint32_t max, size_t *ret_n)
{
	bool has = wire_get_u32(in) == 1;
	uint32_t n = wire_get_u32(in), i;
	const char **v;

	if (n > max || (n && !has))
		in->failed = true;
	if (in->failed)
		return NULL;
	v = arena_array(a, (size_t)n + 1, sizeof(*v));
	for (i = 0; v && i < n && !in->failed; i++)
		v[i] = get_text(in, a);
	*ret_n = n;
	return v;
}

/* A file of the archive. */
static bool path_ok(const char *path)
{
	struct unpack_path p;

	return path && unpack_path_read(sv_of(path), &p) == NULL && p.path[0] && p.special == UNPACK_PLAIN &&
	       strcmp(p.path, path) == 0;
}

int manifest_decode_saved(struct sv answer, struct arena *a, struct manifest_saved **ret, size_t *ret_n)
{
	struct manifest_saved *all;
	struct wire_in in;
	uint32_t n, i;
	size_t k;
	int r;

	wire_in_init(&in, answer);
	n = wire_get_u32(&in);
	if (n == 0 || n > MANIFEST_MAX_ENTRIES)
		return -EBADMSG;
	all = arena_array(a, n, sizeof(*all));
	for (i = 0; all && i < n && !in.failed; i++) {
		all[i].config = get_text(&in, a);
		all[i].tags = get_list(&in, a, MANIFEST_MAX_ENTRIES, &k);
		all[i].layers = get_list(&in, a, IMAGE_MAX_LAYERS, &all[i].n_layers);
		if (!path_ok(all[i].config) || !all[i].tags || !all[i].layers)
			in.failed = true;
		for (k = 0; !in.failed && k < all[i].n_layers; k++)
			in.failed = !path_ok(all[i].layers[k]);
	}
	r = finish(&in, a);
	if (r == 0) {
		*ret = all;
		*ret_n = n;
	}
	return r;
}

int manifest_decode_config(struct sv answer, struct arena *a, struct manifest_config *ret)
{
	struct manifest_config c = {0};
	struct wire_in in;
	size_t i;
	int r;

	wire_in_init(&in, answer);
	c.os = get_text(&in, a);
	c.arch = get_text(&in, a);
	c.layers = get_list(&in, a, IMAGE_MAX_LAYERS, &c.n_layers);
	if (!c.layers || c.n_layers == 0)
		return -EBADMSG;
	for (i = 0; i < c.n_layers; i++)
		if (!c.layers[i] || !image_is_digest(sv_of(c.layers[i])))
			return -EBADMSG;
	r = image_config_get(&in, a, &c.config);
	if (r == 0)
		r = finish(&in, a);
	if (r == 0)
		*ret = c;
	return r;
}

static int ask(parse_role_fn *parse, struct sv json, const char *what, struct buf *out, struct error *err)
{
	const struct parse_role role = {.what = what, .parse = parse};

	buf_init(out, ANSWER_MAX);
	if (parse_role_run(&role, json, out, err) == 0)
		return 0;
	/* what the child says of it does not name it; what is said of the child does */
	return strncmp(err->text, what, strlen(what)) == 0 ? -1 : error_prefix(err, "%s", what);
}

static int answer(int r, const char *what, struct error *err)
{
	if (r == 0)
		return 0;
	return r == -ENOMEM
		       ? error_sys(err, ENOMEM, "%s", what)
		       : error_set(err, ERROR_INPUT,
				   "%s: a digest, size, path or text in it is none, or there is more than there may be",
				   what);
}

int manifest_read(struct sv json, const char *what, struct arena *a, struct manifest *ret, struct error *err)
{
	AUTO_BUF b = {0};

	if (ask(manifest_parse, json, what, &b, err) < 0)
		return -1;
	return answer(manifest_decode(buf_view(&b), a, ret), what, err);
}

int manifest_read_saved(struct sv json, const char *what, struct arena *a, struct manifest_saved **ret, size_t *ret_n,
			struct error *err)
{
	AUTO_BUF b = {0};

	if (ask(manifest_parse_saved, json, what, &b, err) < 0)
		return -1;
	return answer(manifest_decode_saved(buf_view(&b), a, ret, ret_n), what, err);
}

int manifest_read_config(struct sv json, const char *what, struct arena *a, struct manifest_config *ret,
			 struct error *err)
{
	AUTO_BUF b = {0};

	if (ask(manifest_parse_config, json, what, &b, err) < 0)
		return -1;
	return answer(manifest_decode_config(buf_view(&b), a, ret), what, err);
}

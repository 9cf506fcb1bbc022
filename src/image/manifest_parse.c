/*
 * In the child: JSON to fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_scan.h"
#include "image/config.h"
#include "image/manifest.h"

static int wrong(struct error *err, const char *what)
{
	return error_set(err, ERROR_INPUT, "%s", what);
}

static int scan(struct json_scan *s, struct buf *text, struct sv json, struct error *err)
{
	struct scan_error why = {0};
	int r = buf_sv(text, json);

	if (r == 0)
		r = json_scan_read(s, text, &why);
	if (r == -ENOMEM)
		return error_sys(err, ENOMEM, "reading JSON");
	if (r < 0)
		return error_set(err, ERROR_INPUT, "it is no JSON that can be used: it %s, at byte %zu",
				 why.why ? why.why : "is too long", why.at);
	return json_scan_kind(s, 0) == SCAN_OBJECT || json_scan_kind(s, 0) == SCAN_ARRAY
		       ? 0
		       : wrong(err, "it is no JSON object");
}

/* The string's own bytes; "" where there is none, or it is no string. */
static void put_string(const struct json_scan *s, uint32_t node, struct buf *out)
{
	AUTO_BUF text = {0};

	buf_init(&text, IMAGE_CONFIG_MAX);
	if (node && json_scan_kind(s, node) == SCAN_STRING)
		json_scan_decode(s, node, &text);
	if (buf_failed(&text))
		out->failed = buf_failed(&text);
	wire_put_sv(out, buf_view(&text));
}

static uint32_t count(const struct json_scan *s, uint32_t list)
{
	uint32_t n = 0, i;

	for (i = json_scan_first(s, list); i; i = json_scan_after(s, list, i))
		n++;
	return n;
}

/* Absent and null are none; a string alone is a list of one, as old configs had it. False: it is something else. */
static bool put_strings(const struct json_scan *s, uint32_t list, struct buf *out)
{
	uint32_t i;

	if (!list || json_scan_kind(s, list) == SCAN_NULL) {
		wire_put_u32(out, 0);
		wire_put_u32(out, 0);
		return true;
	}
	wire_put_u32(out, 1);
	if (json_scan_kind(s, list) == SCAN_STRING) {
		wire_put_u32(out, 1);
		put_string(s, list, out);
		return true;
	}
	if (json_scan_kind(s, list) != SCAN_ARRAY)
		return false;
	wire_put_u32(out, count(s, list));
	for (i = json_scan_first(s, list); i; i = json_scan_after(s, list, i)) {
		if (json_scan_kind(s, i) != SCAN_STRING)
			return false;
		put_string(s, i, out);
	}
	return true;
}

static bool put_size(const struct json_scan *s, uint32_t node, struct buf *out)
{
	uint64_t v = 0;
	struct sv text;
	size_t i;

	if (!node || json_scan_kind(s, node) != SCAN_NUMBER)
		return false;
	text = json_scan_text(s, node);
	for (i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(text.p[i] - '0'), &v))
			return false;
	}
	wire_put_u64(out, v);
	return text.n > 0;
}

static bool put_blob(const struct json_scan *s, uint32_t node, struct buf *out)
{
	uint32_t platform = node ? json_scan_get(s, node, "platform") : 0,
		 notes = node ? json_scan_get(s, node, "annotations") : 0, name;

	if (!node || json_scan_kind(s, node) != SCAN_OBJECT)
		return false;
	put_string(s, json_scan_get(s, node, "digest"), out);
	if (!put_size(s, json_scan_get(s, node, "size"), out))
		return false;
	put_string(s, json_scan_get(s, node, "mediaType"), out);
	put_string(s, platform ? json_scan_get(s, platform, "os") : 0, out);
	put_string(s, platform ? json_scan_get(s, platform, "architecture") : 0, out);
	name = notes ? json_scan_get(s, notes, "io.containerd.image.name") : 0;
	if (notes && !name)
		name = json_scan_get(s, notes, "org.opencontainers.image.ref.name");
	put_string(s, name, out);
	return true;
}

static int put_blobs(const struct json_scan *s, uint32_t list, struct buf *out, struct error *err)
{
	uint32_t i, n = list && json_scan_kind(s, list) == SCAN_ARRAY ? count(s, list) : 0;

	if (n == 0 || n > MANIFEST_MAX_ENTRIES)
		return wrong(err, "its list of manifests or layers is missing, or too long");
	wire_put_u32(out, n);
	for (i = json_scan_first(s, list); i; i = json_scan_after(s, list, i))
		if (!put_blob(s, i, out))
			return wrong(err, "a manifest or layer in it has no size or is no object");
	return 0;
}

int manifest_parse(struct sv json, struct buf *out, struct error *err)
{
	AUTO_BUF text = {0};
	AUTO_SCAN s = {0};
	uint32_t list;

	buf_init(&text, MANIFEST_MAX);
	if (scan(&s, &text, json, err) < 0)
		return -1;
	list = json_scan_get(&s, 0, "manifests");
	wire_put_u32(out, list != 0);
	if (list)
		return put_blobs(&s, list, out, err);
	if (!json_scan_get(&s, 0, "config"))
		return wrong(err,
			     "it has neither manifests nor a config: manifests of the first schema cannot be used");
	if (!put_blob(&s, json_scan_get(&s, 0, "config"), out))
		return wrong(err, "its config has no size or is no object");
	return put_blobs(&s, json_scan_get(&s, 0, "layers"), out, err);
}

int manifest_parse_saved(struct sv json, struct buf *out, struct error *err)
{
	AUTO_BUF text = {0};
	AUTO_SCAN s = {0};
	uint32_t i;

	buf_init(&text, MANIFEST_MAX);
	if (scan(&s, &text, json, err) < 0)
		return -1;
	if (json_scan_kind(&s, 0) != SCAN_ARRAY || count(&s, 0) > MANIFEST_MAX_ENTRIES)
		return wrong(err, "it is no list of images");
	wire_put_u32(out, count(&s, 0));
	for (i = json_scan_first(&s, 0); i; i = json_scan_after(&s, 0, i)) {
		put_string(&s, json_scan_get(&s, i, "Config"), out);
		if (!put_strings(&s, json_scan_get(&s, i, "RepoTags"), out) ||
		    !put_strings(&s, json_scan_get(&s, i, "Layers"), out))
			return wrong(err, "tags or layers in it are no lists of strings");
	}
	return 0;
}

/* Absolute and clean, whatever the image says. */
static void put_workdir(const struct json_scan *s, uint32_t node, struct buf *out)
{
	struct arena *a = arena_new();
	AUTO_BUF text = {0};
	char *clean;

	buf_init(&text, IMAGE_CONFIG_MAX);
	if (node && json_scan_kind(s, node) == SCAN_STRING)
		json_scan_decode(s, node, &text);
	clean = a ? image_path_clean(a, buf_view(&text)) : NULL;
	if (!clean || buf_failed(&text))
		out->failed = -ENOMEM;
	else
		wire_put_sv(out, sv_n(clean, strlen(clean)));
	arena_free(a);
}

/* As image_config_put() writes it. Variables without a name or "=" are no variables. */
static bool put_env(const struct json_scan *s, uint32_t list, struct buf *out)
{
	AUTO_BUF good = {0};
	uint32_t i, n = 0;
	struct sv v;

	if (!list || json_scan_kind(s, list) != SCAN_ARRAY)
		return put_strings(s, list, out);
	buf_init(&good, MANIFEST_MAX);
	for (i = json_scan_first(s, list); i; i = json_scan_after(s, list, i)) {
		v = json_scan_text(s, i);
		if (json_scan_kind(s, i) != SCAN_STRING)
			return false;
		if (!memchr(v.p, '=', v.n) || sv_starts(v, "="))
			continue;
		put_string(s, i, &good);
		n++;
	}
	wire_put_u32(out, 1);
	wire_put_u32(out, n);
	(void)buf_sv(out, buf_view(&good));
	return !buf_failed(&good);
}

int manifest_parse_config(struct sv json, struct buf *out, struct error *err)
{
	static const char *const lists[] = {"Entrypoint", "Cmd", "Shell", "OnBuild"};
	AUTO_BUF text = {0};
	AUTO_SCAN s = {0};
	uint32_t c, root;
	size_t i;

	buf_init(&text, MANIFEST_MAX);
	if (scan(&s, &text, json, err) < 0)
		return -1;
	c = json_scan_get(&s, 0, "config");
	if (c && json_scan_kind(&s, c) != SCAN_OBJECT)
		c = 0;
	root = json_scan_get(&s, 0, "rootfs");
	put_string(&s, json_scan_get(&s, 0, "os"), out);
	put_string(&s, json_scan_get(&s, 0, "architecture"), out);
	if (!root || !put_strings(&s, json_scan_get(&s, root, "diff_ids"), out))
		return wrong(err, "it does not say which layers it has (rootfs.diff_ids)");
	if (!put_env(&s, c ? json_scan_get(&s, c, "Env") : 0, out))
		return wrong(err, "Env is no list of strings");
	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (!put_strings(&s, c ? json_scan_get(&s, c, lists[i]) : 0, out))
			return error_set(err, ERROR_INPUT, "%s is no list of strings", lists[i]);
	put_workdir(&s, c ? json_scan_get(&s, c, "WorkingDir") : 0, out);
	put_string(&s, c ? json_scan_get(&s, c, "User") : 0, out);
	return 0;
}

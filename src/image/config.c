#include "image/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"

bool image_text_ok(struct sv s)
{
	size_t n;

	for (; s.n; s = sv_n(s.p + n, s.n - n)) {
		unsigned char c = (unsigned char)s.p[0];

		n = text_utf8(s);
		if (n == 0 || c == 0x7f || (c < 0x20 && c != '\t' && c != '\n'))
			return false;
	}
	return true;
}

char *image_path_clean(struct arena *a, struct sv path)
{
	char *out = arena_alloc(a, path.n + 2);
	size_t n = 0, i = 0, from;
	struct sv c;

	if (!out)
		return NULL;
	while (i < path.n) {
		for (from = i; i < path.n && path.p[i] != '/';)
			i++;
		c = sv_n(path.p + from, i - from);
		i++;
		if (sv_is(c, "..")) {
			while (n && out[--n] != '/')
				;
		} else if (c.n && !sv_is(c, ".")) {
			out[n++] = '/';
			memcpy(out + n, c.p, c.n);
			n += c.n;
		}
	}
	if (n == 0)
		out[n++] = '/';
	out[n] = '\0';
	return out;
}

static void put_list(struct buf *out, const char *const *v)
{
	uint32_t n = 0;

	wire_put_u32(out, v != NULL);
	while (v && v[n])
		n++;
	wire_put_u32(out, n);
	for (; v && *v; v++)
		wire_put_sv(out, sv_of(*v));
}

void image_config_put(struct buf *out, const struct image_config *c)
{
	put_list(out, c->env);
	put_list(out, c->entrypoint);
	put_list(out, c->command);
	put_list(out, c->shell);
	put_list(out, c->on_build);
	wire_put_sv(out, sv_of(c->workdir ? c->workdir : "/"));
	wire_put_sv(out, sv_of(c->user ? c->user : ""));
}

static const char *get_text(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);

	if (!image_text_ok(s))
		in->failed = true;
	return arena_str(a, s);
}

static const char **get_list(struct wire_in *in, struct arena *a)
{
	bool has = wire_get_u32(in) == 1;
	uint32_t n = wire_get_u32(in), i;
	const char **v;

	if (n > IMAGE_CONFIG_STRINGS || (n && !has))
		in->failed = true;
	if (!has || in->failed)
		return NULL;
	v = arena_array(a, (size_t)n + 1, sizeof(*v));
	for (i = 0; v && i < n && !in->failed; i++)
		v[i] = get_text(in, a);
	return v;
}

static bool env_ok(const char **env)
{
	const char *equals;

	for (; env && *env; env++) {
		equals = strchr(*env, '=');
		if (!equals || equals == *env)
			return false;
	}
	return true;
}

int image_config_get(struct wire_in *in, struct arena *a, struct image_config *ret)
{
	struct image_config c = {0};

	c.env = get_list(in, a);
	c.entrypoint = get_list(in, a);
	c.command = get_list(in, a);
	c.shell = get_list(in, a);
	c.on_build = get_list(in, a);
	c.workdir = get_text(in, a);
	c.user = get_text(in, a);
	if (arena_failed(a))
		return -ENOMEM;
	if (!c.env)
		c.env = arena_array(a, 1, sizeof(*c.env));
	if (!c.env)
		return -ENOMEM;
	if (in->failed || !env_ok(c.env) || c.workdir[0] != '/' ||
	    strcmp(image_path_clean(a, sv_of(c.workdir)), c.workdir) != 0)
		return -EBADMSG;
	*ret = c;
	return 0;
}

static void put_strings(struct json *j, const char *key, const char *const *v)
{
	if (!v)
		return;
	json_key(j, key);
	json_list(j);
	for (; *v; v++)
		json_str(j, *v);
	json_end(j);
}

void image_config_json(struct buf *out, const struct image_config *c, const char *const *layers, size_t n)
{
	struct json j;
	size_t i;

	json_init(&j, out);
	json_open(&j);
#if defined(__x86_64__)
	json_kstr(&j, "architecture", "amd64");
#else
	json_kstr(&j, "architecture", "arm64");
#endif
	json_key(&j, "config");
	json_open(&j);
	json_kstr(&j, "User", c->user ? c->user : "");
	put_strings(&j, "Env", c->env);
	put_strings(&j, "Entrypoint", c->entrypoint);
	put_strings(&j, "Cmd", c->command);
	put_strings(&j, "Shell", c->shell);
	put_strings(&j, "OnBuild", c->on_build);
	json_kstr(&j, "WorkingDir", c->workdir ? c->workdir : "/");
	json_close(&j);
	json_kstr(&j, "os", "linux");
	json_key(&j, "rootfs");
	json_open(&j);
	json_key(&j, "diff_ids");
	json_list(&j);
	for (i = 0; i < n; i++)
		json_str(&j, layers[i]);
	json_end(&j);
	json_kstr(&j, "type", "layers");
	json_close(&j);
	json_close(&j);
}

/* Recipes and requests as bytes. Whoever decodes does not trust whoever encoded: it was a parser of hostile text. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/parse_role.h"
#include "image/mode.h"
#include "image/name.h"
#include "image/pattern.h"
#include "image/recipe.h"
#include "wire/wire.h"

enum { NOTHING = UINT32_MAX, LIST_MAX = 1 << 17 };

static void put_str(struct buf *b, const char *s)
{
	wire_put_sv(b, sv_of(s ? s : ""));
}

static void put_list(struct buf *b, const char *const *v)
{
	uint32_t n = 0, k;

	if (!v) {
		wire_put_u32(b, NOTHING);
		return;
	}
	while (v[n])
		n++;
	wire_put_u32(b, n);
	for (k = 0; k < n; k++)
		put_str(b, v[k]);
}

static void put_config(struct buf *b, const struct image_config *c)
{
	put_list(b, c->env);
	put_list(b, c->entrypoint);
	put_list(b, c->command);
	put_str(b, c->workdir);
	put_str(b, c->user);
	put_list(b, c->shell);
	put_list(b, c->on_build);
}

static void put_from(struct buf *b, const struct recipe_from *f)
{
	wire_put_u32(b, f->origin);
	wire_put_u32(b, f->stage);
	put_str(b, f->image);
}

static void put_step(struct buf *b, const struct recipe_step *s)
{
	size_t k;

	wire_put_u32(b, s->kind);
	wire_put_u32(b, s->line);
	put_str(b, s->text);
	put_list(b, s->argv);
	put_list(b, s->env);
	put_list(b, s->args);
	put_str(b, s->user);
	put_str(b, s->workdir);
	wire_put_u32(b, s->no_network);
	wire_put_u32(b, (uint32_t)s->n_mounts);
	for (k = 0; k < s->n_mounts; k++) {
		wire_put_u32(b, s->mounts[k].kind);
		put_from(b, &s->mounts[k].from);
		put_str(b, s->mounts[k].source);
		put_str(b, s->mounts[k].target);
		put_str(b, s->mounts[k].id);
	}
	put_from(b, &s->from);
	put_list(b, s->sources);
	wire_put_u32(b, (uint32_t)s->n_files);
	for (k = 0; k < s->n_files; k++) {
		put_str(b, s->files[k].name);
		put_str(b, s->files[k].content);
	}
	put_str(b, s->dest);
	put_str(b, s->chown);
	put_str(b, s->chmod);
	put_list(b, s->excludes);
	wire_put_u32(b, s->parents);
	wire_put_u32(b, s->unpack);
}

int recipe_encode(const struct recipe *r, struct buf *out)
{
	size_t k, j;

	put_list(out, r->problems);
	put_list(out, r->images);
	put_list(out, r->unknown);
	put_list(out, r->ignore);
	/* what has problems is not built */
	wire_put_u32(out, r->problems[0] ? 0 : (uint32_t)r->n_stages);
	for (k = 0; k < r->n_stages && !r->problems[0]; k++) {
		const struct recipe_stage *st = &r->stages[k];

		put_str(out, st->name);
		wire_put_u32(out, st->line);
		put_from(out, &st->from);
		put_config(out, &st->config);
		put_list(out, st->further);
		wire_put_u32(out, (uint32_t)st->n_steps);
		for (j = 0; j < st->n_steps; j++)
			put_step(out, &st->steps[j]);
	}
	return buf_failed(out) ? -1 : 0;
}

int recipe_request_encode(const struct recipe_request *req, struct buf *out)
{
	size_t k;

	put_str(out, req->name);
	wire_put_sv(out, req->dockerfile);
	put_str(out, req->ignore_name);
	wire_put_sv(out, req->ignore);
	wire_put_u32(out, req->target != NULL);
	put_str(out, req->target);
	put_str(out, req->platform);
	put_list(out, req->args);
	wire_put_u32(out, (uint32_t)req->n_images);
	for (k = 0; k < req->n_images; k++) {
		put_str(out, req->images[k].name);
		put_config(out, &req->images[k].config);
	}
	return buf_failed(out) ? -1 : 0;
}

/* Reading. Every failure marks the reader. */

struct reader {
	struct wire_in in;
	struct arena *arena;
};

static void want(struct reader *r, bool holds)
{
	r->in.failed = r->in.failed || !holds;
}

static const char *get_str(struct reader *r)
{
	struct sv s = wire_get_sv(&r->in);
	const char *copy;

	want(r, !memchr(s.p, '\0', s.n));
	copy = r->in.failed ? "" : arena_str(r->arena, s);
	want(r, copy != NULL);
	return copy ? copy : "";
}

/* Text that is shown, or ends up in somebody's configuration. */
static const char *get_plain(struct reader *r)
{
	const char *s = get_str(r), *c;

	for (c = s; *c; c++)
		want(r, (unsigned char)*c >= ' ' || *c == '\t');
	return s;
}

static const char **get_list(struct reader *r, const char *(*get)(struct reader *r))
{
	uint32_t n = wire_get_u32(&r->in), k;
	const char **v;

	if (n == NOTHING || r->in.failed)
		return NULL;
	want(r, n <= LIST_MAX && n <= r->in.rest.n / 4);
	v = r->in.failed ? NULL : arena_array(r->arena, (size_t)n + 1, sizeof(*v));
	want(r, v != NULL);
	for (k = 0; k < n && !r->in.failed; k++)
		v[k] = get(r);
	return v;
}

static const char **get_full(struct reader *r, const char *(*get)(struct reader *r))
{
	const char **v = get_list(r, get);

	want(r, v != NULL);
	return v;
}

static const char *get_variable(struct reader *r)
{
	const char *s = get_str(r);

	want(r, *s != '=' && strchr(s, '=') != NULL);
	return s;
}

static const char *get_image(struct reader *r)
{
	char canonical[IMAGE_NAME_MAX + 1];
	const char *s = get_plain(r);
	struct error err;

	want(r, image_name_canonical(sv_of(s), canonical, &err) == 0 && strcmp(s, canonical) == 0);
	return s;
}

static bool is_clean(struct arena *a, const char *path)
{
	const char *clean;
	bool left;

	clean = pattern_clean(a, sv_of(path), &left);
	return clean && !left && strcmp(clean, path) == 0;
}

/* A path or pattern below some root. */
static const char *get_relative(struct reader *r)
{
	const char *s = get_plain(r);

	want(r, is_clean(r->arena, s));
	return s;
}

/* The same, and "/./" once: what is before it is left out of the destination. */
static const char *get_source(struct reader *r)
{
	const char *s = get_plain(r), *pivot = strstr(s, RECIPE_PIVOT);

	want(r, is_clean(r->arena, pivot ? pivot + strlen(RECIPE_PIVOT) : s));
	if (pivot) {
		const char *before = arena_str(r->arena, sv_n(s, (size_t)(pivot - s)));

		want(r, before && is_clean(r->arena, before));
	}
	return s;
}

static const char *get_absolute(struct reader *r, bool slash)
{
	const char *s = get_plain(r), *body;
	size_t n = strlen(s);

	want(r, s[0] == '/');
	if (r->in.failed || n == 1)
		return s;
	body = arena_str(r->arena, sv_n(s + 1, n - 1 - (slash && s[n - 1] == '/')));
	want(r, body && is_clean(r->arena, body));
	return s;
}

static bool get_bool(struct reader *r)
{
	uint32_t v = wire_get_u32(&r->in);

	want(r, v <= 1);
	return v == 1;
}

static uint32_t get_below(struct reader *r, uint32_t bound)
{
	uint32_t v = wire_get_u32(&r->in);

	want(r, v < bound);
	return r->in.failed ? 0 : v;
}

static struct image_config get_config(struct reader *r)
{
	struct image_config c;

	c.env = get_list(r, get_variable);
	c.entrypoint = get_list(r, get_str);
	c.command = get_list(r, get_str);
	c.workdir = get_absolute(r, false);
	c.user = get_plain(r);
	c.shell = get_list(r, get_str);
	c.on_build = get_list(r, get_str);
	return c;
}

/* In stage number `stage`: only earlier ones can be named. */
static struct recipe_from get_from(struct reader *r, uint32_t stage)
{
	struct recipe_from f;

	f.origin = (enum recipe_origin)get_below(r, RECIPE_SCRATCH + 1);
	f.stage = wire_get_u32(&r->in);
	want(r, f.origin == RECIPE_STAGE ? f.stage < stage : f.stage == 0);
	f.image = f.origin == RECIPE_IMAGE ? get_image(r) : get_plain(r);
	want(r, f.origin == RECIPE_IMAGE || !*f.image);
	return f;
}

static const char *get_name(struct reader *r)
{
	const char *s = get_plain(r);

	want(r, *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0);
	return s;
}

static size_t get_count(struct reader *r, size_t each, void *ret)
{
	uint32_t n = wire_get_u32(&r->in);
	void *v;

	want(r, n <= LIST_MAX && n <= r->in.rest.n / 4);
	if (r->in.failed)
		return 0;
	v = arena_array(r->arena, (size_t)n + 1, each);
	want(r, v != NULL);
	memcpy(ret, &v, sizeof(v));
	return r->in.failed ? 0 : n;
}

static void get_mounts(struct reader *r, uint32_t stage, struct recipe_step *s)
{
	size_t k;

	s->n_mounts = get_count(r, sizeof(*s->mounts), &s->mounts);
	for (k = 0; k < s->n_mounts && !r->in.failed; k++) {
		struct recipe_mount *m = &s->mounts[k];

		m->kind = (enum recipe_mount_kind)get_below(r, RECIPE_MOUNT_TMPFS + 1);
		m->from = get_from(r, stage);
		m->source = get_relative(r);
		m->target = get_absolute(r, false);
		m->id = get_plain(r);
		want(r, strcmp(m->target, "/") != 0);
	}
}

static void get_files(struct reader *r, struct recipe_step *s)
{
	size_t k;

	s->n_files = get_count(r, sizeof(*s->files), &s->files);
	for (k = 0; k < s->n_files && !r->in.failed; k++) {
		s->files[k].name = get_name(r);
		s->files[k].content = get_str(r);
	}
}

static void get_step(struct reader *r, uint32_t stage, struct recipe_step *s)
{
	size_t k;

	s->kind = (enum recipe_kind)get_below(r, RECIPE_WORKDIR + 1);
	s->line = wire_get_u32(&r->in);
	s->text = get_plain(r);
	s->argv = get_full(r, get_str);
	s->env = get_full(r, get_variable);
	s->args = get_full(r, get_variable);
	s->user = get_plain(r);
	s->workdir = get_absolute(r, false);
	s->no_network = get_bool(r);
	get_mounts(r, stage, s);
	s->from = get_from(r, stage);
	s->sources = get_full(r, get_source);
	get_files(r, s);
	s->dest = get_absolute(r, true);
	s->chown = get_plain(r);
	s->chmod = get_plain(r);
	want(r, !*s->chmod || mode_is_valid(s->chmod));
	s->excludes = get_full(r, get_plain);
	s->parents = get_bool(r);
	s->unpack = get_bool(r);
	for (k = 0; !s->parents && !r->in.failed && s->sources[k]; k++)
		want(r, !strstr(s->sources[k], RECIPE_PIVOT));
	want(r, s->kind != RECIPE_RUN || (s->argv && s->argv[0]));
}

static void get_stage(struct reader *r, uint32_t index, struct recipe_stage *st)
{
	size_t k;

	st->name = get_plain(r);
	st->line = wire_get_u32(&r->in);
	st->from = get_from(r, index);
	want(r, st->from.origin != RECIPE_CONTEXT);
	st->config = get_config(r);
	st->further = get_full(r, get_plain);
	st->n_steps = get_count(r, sizeof(*st->steps), &st->steps);
	for (k = 0; k < st->n_steps && !r->in.failed; k++)
		get_step(r, index, &st->steps[k]);
}

static const char *get_problem(struct reader *r)
{
	AUTO_BUF b = {0};
	const char *s;

	buf_init(&b, 8192);
	text_escape(&b, sv_of(get_str(r)), 600);
	s = arena_str(r->arena, buf_view(&b));
	want(r, s != NULL);
	return s ? s : "";
}

int recipe_decode(struct arena *a, struct sv bytes, const struct recipe **ret)
{
	struct reader r = {.arena = a};
	struct recipe *out = arena_alloc(a, sizeof(*out));
	size_t k;

	if (!out)
		return -1;
	wire_in_init(&r.in, bytes);
	out->problems = get_full(&r, get_problem);
	out->images = get_full(&r, get_image);
	out->unknown = get_full(&r, get_image);
	out->ignore = get_full(&r, get_plain);
	out->n_stages = get_count(&r, sizeof(*out->stages), &out->stages);
	want(&r, out->n_stages <= RECIPE_STAGES);
	for (k = 0; k < out->n_stages && !r.in.failed; k++)
		get_stage(&r, (uint32_t)k, &out->stages[k]);
	want(&r, r.in.failed || out->n_stages || out->problems[0]);
	*ret = out;
	return wire_ok(&r.in) ? 0 : -1;
}

int recipe_request_decode(struct arena *a, struct sv bytes, struct recipe_request *ret)
{
	struct reader r = {.arena = a};
	struct recipe_image *images = NULL;
	bool has_target;
	size_t k;

	wire_in_init(&r.in, bytes);
	ret->name = get_plain(&r);
	ret->dockerfile = wire_get_sv(&r.in);
	ret->ignore_name = get_plain(&r);
	ret->ignore = wire_get_sv(&r.in);
	has_target = get_bool(&r);
	ret->target = get_plain(&r);
	ret->target = has_target ? ret->target : NULL;
	ret->platform = get_plain(&r);
	ret->args = get_list(&r, get_variable);
	ret->n_images = get_count(&r, sizeof(*images), &images);
	for (k = 0; k < ret->n_images && !r.in.failed; k++) {
		images[k].name = get_image(&r);
		images[k].config = get_config(&r);
	}
	ret->images = images;
	return wire_ok(&r.in) ? 0 : -1;
}

static bool is_taken(struct arena *a, const struct image_config *c)
{
	struct reader r = {.arena = a};
	AUTO_BUF b = {0};

	buf_init(&b, RECIPE_BYTES);
	put_config(&b, c);
	wire_in_init(&r.in, buf_view(&b));
	(void)get_config(&r);
	return !buf_failed(&b) && wire_ok(&r.in);
}

const char *recipe_base_wrong(const struct image_config *c)
{
	struct arena *a = arena_new();
	const struct {
		struct image_config c;
		const char *wrong;
	} parts[] = {
		{{.workdir = c->workdir, .user = ""},
		 "its WorkingDir has a newline or another control character, or is no absolute path"},
		{{.workdir = "/", .user = c->user}, "its User has a newline or another control character"},
		{{.env = c->env, .workdir = "/", .user = ""}, "its Env has what is no variable"},
		{*c, "its configuration has more than one may"},
	};
	const char *wrong = a ? NULL : "there is no memory to read its configuration";
	size_t k;

	for (k = 0; a && !wrong && k < ARRAY_LEN(parts); k++)
		wrong = is_taken(a, &parts[k].c) ? NULL : parts[k].wrong;
	arena_free(a);
	return wrong;
}

static int parse(struct sv in, struct buf *out, struct error *err)
{
	struct arena *a = arena_new();
	struct recipe_request req;
	const struct recipe *r;
	int ret = -1;

	if (!a || recipe_request_decode(a, in, &req) < 0)
		(void)error_set(err, ERROR_INPUT, "the Dockerfile cannot be read");
	else if (recipe_make(a, &req, &r, err) == 0)
		ret = recipe_encode(r, out) < 0 ? error_set(err, ERROR_INPUT, "%s: the recipe is too large", req.name)
						: 0;
	arena_free(a);
	return ret;
}

int recipe_parse(struct arena *a, const struct recipe_request *req, const struct recipe **ret, struct error *err)
{
	const struct parse_role role = {.what = "the Dockerfile", .parse = parse};
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};

	buf_init(&in, RECIPE_BYTES);
	buf_init(&out, RECIPE_BYTES);
	if (recipe_request_encode(req, &in) < 0)
		return error_set(err, ERROR_INPUT, "%s: the file or its arguments are too large", req->name);
	if (parse_role_run(&role, buf_view(&in), &out, err) < 0)
		return -1;
	return recipe_decode(a, buf_view(&out), ret) < 0
		       ? error_set(err, ERROR_INPUT, "the Dockerfile could not be parsed safely")
		       : 0;
}

#include "policy/policy_compile.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "policy/policy_ceiling.h"
#include "policy/policy_fields.h"
#include "policy/policy_mandatory.h"
#include "policy/policy_merge.h"
#include "policy/policy_parse.h"
#include "policy/policy_provider.h"
#include "policy/policy_resolve.h"
#include "policy/policy_where.h"

struct compile {
	const struct policy_request *req;
	const struct policy_fetch *fetch;
	struct policy *root; /* owns the arena and the table of files */
	struct error *err;
	const char *ids[POLICY_MAX_FILES + 1]; /* of the files, by index */
	unsigned fetched;
	uint32_t open[POLICY_MAX_DEPTH]; /* files whose `extends` is being followed */
	unsigned depth;
};

/* An empty layer that shares arena and file table with all others. */
static struct policy *layer_new(struct compile *c)
{
	struct policy *p = arena_alloc(c->root->arena, sizeof(*p));

	if (!p) {
		(void)policy_no_memory(c->err);
		return NULL;
	}
	p->arena = c->root->arena;
	p->files = c->root->files;
	p->n_files = POLICY_MAX_FILES + 1;
	return p;
}

/* The file's index in the table; a file that is met again keeps its index. */
static uint32_t file_index(struct compile *c, const struct policy_text *text)
{
	uint32_t i;

	for (i = 1; i < c->root->n_files; i++)
		if (strcmp(c->ids[i], text->id) == 0)
			return i;
	c->ids[i] = text->id;
	c->root->files[i] = text->name;
	c->root->n_files++;
	return i;
}

static int fail_cycle(struct compile *c, uint32_t file, struct origin at)
{
	struct text_shown name;
	AUTO_BUF chain = {0};
	unsigned i;

	buf_init(&chain, 8192);
	for (i = 0; i < c->depth; i++) {
		text_escape(&chain, sv_of(c->root->files[c->open[i]]), 60);
		(void)buf_str(&chain, " -> ");
	}
	(void)text_show(&name, sv_of(c->root->files[file]));
	return policy_fail(c->root, at, "extends", c->err, "cycle: %.250s%.80s; remove one of them",
			   chain.p ? chain.p : "", name.s);
}

static int load_text(struct compile *c, const struct policy_want *want, struct origin at, struct policy *into);

static enum policy_want_kind kind_of(const char *name)
{
	return strpbrk(name, "/.") ? POLICY_WANT_FILE : POLICY_WANT_PROFILE;
}

/* What a layer extends, laid over each other in order; the layer itself goes on top. */
static int load_extends(struct compile *c, uint32_t file, const struct policy *layer, struct policy *into)
{
	uint32_t i;

	for (i = 0; i < layer->extends.n; i++) {
		struct policy_want want = {.name = layer->extends.v[i].s, .from = c->ids[file]};

		want.kind = kind_of(want.name);
		if (load_text(c, &want, layer->extends.v[i].at, into) < 0)
			return -1;
	}
	return policy_merge(into, layer) < 0 ? policy_no_memory(c->err) : 0;
}

static int parse_text(struct compile *c, const struct policy_text *text, struct origin at, struct policy *into)
{
	struct policy *layer = layer_new(c);
	uint32_t file = file_index(c, text);
	unsigned i;
	int r;

	if (!layer)
		return -1;
	for (i = 0; i < c->depth; i++)
		if (c->open[i] == file)
			return fail_cycle(c, file, at);
	if (c->depth == POLICY_MAX_DEPTH)
		return policy_fail(c->root, at, "extends", c->err, "nested deeper than %d files; flatten the chain",
				   POLICY_MAX_DEPTH);
	if (policy_parse(layer, text->name, file, buf_view(&text->bytes), c->err) < 0)
		return -1;
	c->open[c->depth++] = file;
	r = load_extends(c, file, layer, into);
	c->depth--;
	return r;
}

/* 0, -1, or 1: there is no such text (the ceiling only). `at`: where it is named. */
static int load_text(struct compile *c, const struct policy_want *want, struct origin at, struct policy *into)
{
	struct policy_text text = {0};
	int r;

	if (c->fetched++ == POLICY_MAX_FILES)
		return policy_fail(c->root, at, "extends", c->err, "more than %d files; use fewer", POLICY_MAX_FILES);
	buf_init(&text.bytes, POLICY_MAX_BYTES);
	r = c->fetch->get(c->fetch->ctx, want, c->root->arena, &text, c->err);
	if (r < 0 && at.line)
		(void)error_prefix(c->err, "%s:%u: extends", policy_where(c->root, at), at.column);
	if (r == 0)
		r = parse_text(c, &text, at, into);
	buf_done(&text.bytes);
	return r;
}

static int lay_phase(struct compile *c, struct policy *p)
{
	uint32_t i;

	for (i = 0; c->req->phase && i < p->n_phases; i++)
		if (strcmp(p->phases[i].name, c->req->phase) == 0 && policy_merge(p, p->phases[i].policy) < 0)
			return policy_no_memory(c->err);
	return 0;
}

/* What holds for request and ceiling alike, once their files are merged. */
static int finish_layer(struct compile *c, struct policy *p)
{
	struct resolve r = {c->req->home, c->req->workdir};
	const struct net_rules *allow = &p->net.allow;

	if (lay_phase(c, p) < 0 || policy_resolve(p, &r, c->err) < 0)
		return -1;
	/* Rules that nobody would look at are a mistake; which one, only the author knows. */
	if (allow->n && !p->net.mode.set)
		return policy_fail(p, allow->v[0].at, "network.allow", c->err,
				   "there are rules but no mode; add network.mode: allowlist");
	return policy_providers_complete(p, c->err);
}

static int load_sources(struct compile *c, struct policy *into)
{
	static const struct policy_source fallback = {.name = "default", .is_profile = true};
	const struct policy_source *sources = c->req->n_sources ? c->req->sources : &fallback;
	size_t i, n = c->req->n_sources ? c->req->n_sources : 1;

	for (i = 0; i < n; i++) {
		struct policy_want want = {.name = sources[i].name};

		if (sources[i].is_bound)
			continue;
		want.kind = sources[i].is_profile ? POLICY_WANT_PROFILE : POLICY_WANT_FILE;
		if (load_text(c, &want, (struct origin){0}, into) < 0)
			return -1;
	}
	if (finish_layer(c, into) < 0 || policy_providers_check(into, c->err) < 0)
		return -1;
	if (c->req->runtime)
		into->process.runtime =
			(struct pol_num){.v = (uint64_t)name_index(runtime_names, sv_of(c->req->runtime)), .set = true};
	/* Before the ceiling: what the request leaves open is the default, not the ceiling's. */
	return policy_fields_preset(into) < 0 ? policy_no_memory(c->err) : 0;
}

typedef int tighten_fn(struct policy *request, const struct policy *by, const struct policy_request *req,
		       struct error *err);

static int apply_text(struct compile *c, const struct policy_want *want, tighten_fn *tighten, struct policy *request)
{
	struct policy *by = layer_new(c);
	int r;

	if (!by)
		return -1;
	r = load_text(c, want, (struct origin){0}, by);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (finish_layer(c, by) < 0)
		return -1;
	return tighten(request, by, c->req, c->err);
}

static int apply_ceiling(struct compile *c, struct policy *request)
{
	static const struct policy_want want = {.kind = POLICY_WANT_CEILING};

	return apply_text(c, &want, policy_ceiling, request);
}

static int apply_bounds(struct compile *c, struct policy *request)
{
	size_t i;

	for (i = 0; i < c->req->n_sources; i++) {
		struct policy_want want = {.kind = POLICY_WANT_FILE, .name = c->req->sources[i].name};

		if (c->req->sources[i].is_bound && apply_text(c, &want, policy_bound, request) < 0)
			return -1;
	}
	return 0;
}

static bool has_string(const struct pol_list *list, const char *s)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->v[i].s, s) == 0)
			return true;
	return false;
}

/*
 * Cordon's own folders: who could write there would choose the policy of the next run, or the content of its image, and
 * the credentials are there. Named by where they are and by where they would be with another environment.
 */
static int deny_own(struct compile *c, struct policy *p)
{
	const struct policy_request *req = c->req;
	const char *own[] = {req->config_dir,   "~/.config/cordon", req->cache_dir,
			     "~/.cache/cordon", req->state_dir,     "~/.local/state/cordon",
			     req->data_dir,     "~/.local/share/cordon"};
	struct resolve r = {req->home, req->workdir};
	struct pol_list list = {.set = true};
	size_t i;

	list.v = arena_array(p->arena, ARRAY_LEN(own), sizeof(*list.v));
	if (!list.v)
		return policy_no_memory(c->err);
	for (i = 0; i < ARRAY_LEN(own); i++) {
		if (!own[i])
			continue;
		/* Paths of the environment are no patterns: resolve "" below them, so that they are escaped. */
		if (own[i][0] == '/')
			r.home = own[i];
		list.v[list.n].s = resolve_path(p->arena, &r, own[i][0] == '/' ? "~" : own[i], false);
		r.home = req->home;
		if (!list.v[list.n].s)
			return policy_no_memory(c->err);
		list.n += !has_string(&list, list.v[list.n].s);
	}
	if (merge_list(p->arena, &p->fs.deny, &list) < 0 || mandatory_add(p) < 0)
		return policy_no_memory(c->err);
	return 0;
}

static int compile(struct compile *c)
{
	struct policy *p = layer_new(c), *root = c->root;
	const char **files;

	if (!p || load_sources(c, p) < 0)
		return -1;
	if ((!c->req->no_ceiling && apply_ceiling(c, p) < 0) || apply_bounds(c, p) < 0)
		return -1;
	if (deny_own(c, p) < 0)
		return -1;
	files = root->files;
	p->n_files = root->n_files;
	*root = *p;
	root->files = files;
	return 0;
}

static int check_request(const struct policy_request *req, struct error *err)
{
	if (!req->home || req->home[0] != '/')
		return error_set(err, ERROR_USAGE, "the home folder is not known; set HOME to an absolute path");
	if (!req->workdir || req->workdir[0] != '/')
		return error_set(err, ERROR_USAGE, "the work folder must be an absolute path");
	if (req->phase && name_index(phase_names, sv_of(req->phase)) < 0)
		return error_set(err, ERROR_USAGE, "there is no such phase; use build, setup, agent or verify");
	if (req->runtime && name_index(runtime_names, sv_of(req->runtime)) < 0)
		return error_set(err, ERROR_USAGE,
				 "there is no such runtime; use auto, native, gvisor, runc, crun or docker");
	return 0;
}

int policy_compile(const struct policy_request *req, const struct policy_fetch *fetch, struct policy **ret,
		   struct error *err)
{
	struct compile c = {.req = req, .fetch = fetch, .err = err};

	if (check_request(req, err) < 0)
		return -1;
	c.root = policy_new();
	if (!c.root)
		return policy_no_memory(err);
	c.root->files = arena_array(c.root->arena, POLICY_MAX_FILES + 1, sizeof(*c.root->files));
	if (!c.root->files) {
		policy_free(c.root);
		return policy_no_memory(err);
	}
	c.root->files[0] = "built in";
	if (compile(&c) < 0) {
		policy_free(c.root);
		return -1;
	}
	*ret = c.root;
	return 0;
}

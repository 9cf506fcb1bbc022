#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "conf/dockerfile.h"
#include "sys/lookup.h"
#include "task/build_parts.h"

enum { IGNORE_BYTES = 1 << 20, ROUNDS = 16 };

struct texts {
	struct buf dockerfile, ignore;
	char ignore_name[512];
};

int build_fail(const struct build_plan *p, const struct recipe_step *s, struct error *err)
{
	static const char *const names[] = {[RECIPE_RUN] = "RUN", [RECIPE_COPY] = "COPY", [RECIPE_WORKDIR] = "WORKDIR"};

	return error_prefix(err, "%.200s:%u: %s", p->shown, s->line, s->unpack ? "ADD" : names[s->kind]);
}

/* A file of the context, by its name in it; links stay inside. 1: there is none. */
static int read_text(int context, const char *path, struct buf *to, struct error *err)
{
	AUTO_FD fd = sys_open_in_root(context, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct text_shown t;
	int r;

	if (fd == -ENOENT)
		return 1;
	r = fd < 0 ? fd : buf_read_fd(to, fd);
	return r < 0 ? error_sys(err, r, "%s", text_show(&t, sv_of(path))) : 0;
}

static int read_texts(const struct build_request *req, struct texts *t, struct error *err)
{
	struct text_shown s;
	int r = read_text(req->context, req->dockerfile, &t->dockerfile, err);

	if (r > 0)
		return error_set(err, ERROR_INPUT, "there is no %s",
				 text_show(&s, sv_of(req->shown ? req->shown : req->dockerfile)));
	if (r < 0)
		return -1;
	(void)snprintf(t->ignore_name, sizeof(t->ignore_name), "%.400s.dockerignore", req->dockerfile);
	r = read_text(req->context, t->ignore_name, &t->ignore, err);
	if (r > 0) {
		(void)snprintf(t->ignore_name, sizeof(t->ignore_name), ".dockerignore");
		r = read_text(req->context, t->ignore_name, &t->ignore, err);
	}
	return r < 0 ? -1 : 0;
}

const struct build_base *build_base_of(const struct build_plan *p, const char *name)
{
	size_t k;

	for (k = 0; k < p->n_bases; k++)
		if (strcmp(p->bases[k].name, name) == 0)
			return &p->bases[k];
	return NULL;
}

/* The line of the first FROM or --from that names the image. */
static uint32_t line_of(const struct recipe *r, const char *name)
{
	size_t k, j;

	for (k = 0; k < r->n_stages; k++) {
		if (strcmp(r->stages[k].from.image, name) == 0)
			return r->stages[k].line;
		for (j = 0; j < r->stages[k].n_steps; j++)
			if (strcmp(r->stages[k].steps[j].from.image, name) == 0)
				return r->stages[k].steps[j].line;
	}
	return 1;
}

static int hold(const struct build_request *req, struct build_plan *p, const char *name, bool fetch, struct error *err)
{
	struct build_base *b = &p->bases[p->n_bases];
	int r = image_find(req->store, name, &b->image, err);
	const char *wrong;

	if (r < 0 && err->kind == ERROR_MISSING && fetch) {
		struct error not_found = *err;

		r = build_base_fetch(req, name, err);
		if (r > 0)
			*err = not_found;
		r = r == 0 ? image_find(req->store, name, &b->image, err) : -1;
	}
	if (r < 0)
		return -1;
	b->name = arena_str(p->arena, sv_of(name));
	p->n_bases++;
	wrong = recipe_base_wrong(&b->image.config);
	if (wrong)
		return error_set(err, ERROR_INPUT, "nothing can be built on image %s: %s", name, wrong);
	return b->name ? 0 : error_sys(err, ENOMEM, "image %s", name);
}

/* Looks up what is not held yet. *ret_more: something was found. */
static int find_images(const struct build_request *req, struct build_plan *p, bool must, bool *ret_more,
		       struct error *err)
{
	struct build_base *wider;
	size_t k, n = 0;

	*ret_more = false;
	while (p->recipe->images[n])
		n++;
	wider = arena_array(p->arena, p->n_bases + n + 1, sizeof(*wider));
	if (!wider)
		return error_sys(err, ENOMEM, "images");
	if (p->n_bases)
		memcpy(wider, p->bases, p->n_bases * sizeof(*wider));
	p->bases = wider;
	for (k = 0; k < n; k++) {
		if (build_base_of(p, p->recipe->images[k]))
			continue;
		if (hold(req, p, p->recipe->images[k], must, err) == 0)
			*ret_more = true;
		else if (must || err->kind != ERROR_MISSING)
			return error_prefix(err, "%.200s:%u: FROM", p->shown, line_of(p->recipe, p->recipe->images[k]));
	}
	return 0;
}

static int make(const struct build_request *req, const struct texts *t, struct build_plan *p, struct error *err)
{
	struct recipe_request ask = {.name = p->shown,
				     .dockerfile = buf_view(&t->dockerfile),
				     .ignore_name = t->ignore_name,
				     .ignore = buf_view(&t->ignore),
				     .target = req->target,
				     .platform = recipe_platform(),
				     .args = req->args,
				     .n_images = p->n_bases};
	struct recipe_image *known = arena_array(p->arena, p->n_bases + 1, sizeof(*known));
	size_t k;

	if (!known)
		return error_sys(err, ENOMEM, "images");
	for (k = 0; k < p->n_bases; k++)
		known[k] = (struct recipe_image){p->bases[k].name, p->bases[k].image.config};
	ask.images = known;
	return recipe_parse(p->arena, &ask, &p->recipe, err);
}

static int plan(const struct build_request *req, struct build_plan *p, bool must, struct error *err)
{
	struct texts t = {0};
	unsigned round;
	bool more = true;
	int r;

	buf_init(&t.dockerfile, DOCKERFILE_BYTES + 1);
	buf_init(&t.ignore, IGNORE_BYTES);
	*p = (struct build_plan){.arena = arena_new(),
				 .shown = req->shown ? req->shown : req->dockerfile,
				 .bounds = req->bounds,
				 .limit = req->limit};
	r = p->arena ? read_texts(req, &t, err) : error_sys(err, ENOMEM, "a build");
	for (round = 0; r == 0 && more; round++) {
		r = round == ROUNDS ? error_set(err, ERROR_INPUT,
						"%.200s: triggers of images name further images without end", p->shown)
				    : make(req, &t, p, err);
		if (r == 0 && must && p->recipe->problems[0])
			r = error_set(err, ERROR_INPUT, "%s", p->recipe->problems[0]);
		more = false;
		if (r == 0 && req->store && !p->recipe->problems[0])
			r = find_images(req, p, must, &more, err);
	}
	if (r == 0)
		p->context = (struct context){
			.root = req->context, .modes = req->modes, .ignore = (const char *const *)p->recipe->ignore};
	buf_done(&t.dockerfile);
	buf_done(&t.ignore);
	return r;
}

int build_plan(const struct build_request *req, struct build_plan *ret, struct error *err)
{
	return plan(req, ret, true, err);
}

int build_plan_look(const struct build_request *req, struct build_plan *ret, struct error *err)
{
	return plan(req, ret, false, err);
}

void build_plan_done(struct build_plan *p)
{
	size_t k;

	for (k = 0; k < p->n_bases; k++)
		image_done(&p->bases[k].image);
	arena_free(p->arena);
	*p = (struct build_plan){0};
}

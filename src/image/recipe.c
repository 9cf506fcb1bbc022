#include "image/recipe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "image/pattern.h"
#include "image/recipe_maker.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const char *recipe_platform(void)
{
#if defined(__x86_64__)
	return "linux/amd64";
#elif defined(__aarch64__)
	return "linux/arm64";
#else
#error "say what this machine is called"
#endif
}

void recipe_problem_text(struct recipe_maker *m, const char *text)
{
	if (m->problems.n < RECIPE_PROBLEMS)
		words_add(&m->problems, sv_of(text ? text : "out of memory"));
	else
		m->more_problems++;
}

void recipe_problem(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *what, const char *word)
{
	struct text_shown w, name;

	recipe_problem_text(m, arena_printf(m->arena, "%.200s:%u: %s: %s%.*s", text_show(&name, sv_of(m->origin)),
					    i->line, dockerfile_kind_name(i->kind), what, RECIPE_SHOWN,
					    text_show(&w, sv_of(word))));
}

const char *recipe_get(void *arg, struct sv name)
{
	return recipe_vars_get(arg, name);
}

const char *recipe_expand_with(struct recipe_maker *m, const struct dockerfile_instruction *i,
			       const struct recipe_vars *v, const char *word)
{
	struct recipe_vars copy = *v;
	struct expand how = {
		.arena = m->arena, .escape = m->escape, .get = recipe_get, .arg = &copy, .budget = &m->budget};
	struct error err = {0};
	const char *s;

	if (expand_word(&how, sv_of(word), &s, &err) == 0)
		return s;
	recipe_problem(m, i, err.text, "");
	return NULL;
}

const char *recipe_expand(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word)
{
	return recipe_expand_with(m, i, &m->env, word);
}

const char *recipe_path(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *path,
			bool keep_slash)
{
	size_t n = strlen(path);
	bool slash = n && (path[n - 1] == '/' || (path[n - 1] == '.' && (n == 1 || path[n - 2] == '/'))), left;
	const char *clean, *c;

	for (c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			recipe_problem(m, i, "a path has a control character: ", path);
			return NULL;
		}
	if (path[0] != '/')
		path = arena_printf(m->arena, "%s/%s", m->stage->config.workdir, path);
	clean = path ? pattern_clean(m->arena, sv_of(path), &left) : NULL;
	if (!clean)
		return NULL;
	if (strcmp(clean, ".") == 0)
		return "/";
	return arena_printf(m->arena, "/%s%s", clean, keep_slash && (slash || !n) ? "/" : "");
}

/* For a person: one line, escaped. */
static const char *shown(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	struct text_shown s;

	return arena_printf(m->arena, "%.*s", RECIPE_SHOWN, text_show(&s, text_trim(sv_of(i->text))));
}

/* The lists are shared by all steps between two changes, and what they take is counted. */
static void take_lists(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	size_t k, n = 0;

	if (m->env_list)
		return;
	for (k = 0; k < m->env.n; k++)
		n += strlen(m->env.names[k]) + strlen(m->env.values[k]) + 2;
	if (2 * n > m->budget) {
		recipe_problem(m, i, "variables take too much memory", "");
		m->env.n = m->args.n = 0;
		n = 0;
	}
	m->budget -= 2 * n;
	m->env_list = recipe_vars_list(&m->env);
	m->args_list = recipe_vars_list(&m->args);
}

struct recipe_step *recipe_step_new(struct recipe_maker *m, const struct dockerfile_instruction *i,
				    enum recipe_kind kind)
{
	struct recipe_stage *st = m->stage;
	struct recipe_step *wider;

	if (st->n_steps == m->steps_cap) {
		m->steps_cap = m->steps_cap ? 2 * m->steps_cap : 16;
		wider = arena_array(m->arena, m->steps_cap, sizeof(*wider));
		if (!wider) {
			m->steps_cap = st->n_steps;
			return NULL;
		}
		if (st->n_steps)
			memcpy(wider, st->steps, st->n_steps * sizeof(*wider));
		st->steps = wider;
	}
	take_lists(m, i);
	wider = &st->steps[st->n_steps++];
	*wider = (struct recipe_step){
		.kind = kind,
		.line = i->line,
		.text = shown(m, i),
		.argv = m->none,
		.env = m->env_list,
		.args = m->args_list,
		.user = st->config.user,
		.workdir = st->config.workdir,
		.from = {RECIPE_CONTEXT, 0, ""},
		.sources = m->none,
		.dest = "/",
		.chown = "",
		.chmod = "",
		.excludes = m->none,
	};
	return wider;
}

/* Begins with what the base has. */
static void inherit(struct recipe_maker *m, const struct image_config *base)
{
	const char **e, *eq;

	m->stage->config = *base;
	for (e = base->env; e && *e; e++) {
		eq = strchr(*e, '=');
		if (eq)
			recipe_vars_set(&m->image, arena_str(m->arena, sv_n(*e, (size_t)(eq - *e))), eq + 1);
	}
}

static void base_image(struct recipe_maker *m)
{
	static const struct image_config nothing = {.workdir = "/", .user = ""};
	const char *name = recipe_need_image(m, m->part->from, m->part->base);
	size_t k;

	m->stage->config = nothing;
	if (!name)
		return;
	m->stage->from.image = name;
	for (k = 0; k < m->req->n_images; k++)
		if (strcmp(m->req->images[k].name, name) == 0) {
			inherit(m, &m->req->images[k].config);
			return;
		}
	for (k = 0; k < m->unknown.n; k++)
		if (strcmp(m->unknown.v[k], name) == 0)
			return;
	words_add(&m->unknown, sv_of(name));
}

static void base(struct recipe_maker *m)
{
	struct recipe_part *p = m->part, *below;

	m->stage->from = p->origin;
	m->stage->config = (struct image_config){.workdir = "/", .user = ""};
	if (p->origin.origin == RECIPE_STAGE) {
		below = &m->parts[p->origin.stage];
		m->stage->from.stage = below->index;
		m->stage->config = m->out->stages[below->index].config;
		m->image = recipe_vars_copy(&below->image);
		m->args = recipe_vars_copy(&below->args);
		m->env = recipe_vars_copy(&below->env);
	} else if (p->origin.origin == RECIPE_IMAGE) {
		base_image(m);
	}
	if (!recipe_vars_get(&m->image, sv_of("PATH")))
		recipe_vars_set(&m->image, "PATH", DEFAULT_PATH);
}

/* ONBUILD of what the stage stands on. */
static void triggers(struct recipe_maker *m, const char **list)
{
	const struct dockerfile *f;
	struct error err = {0};
	struct text_shown s;
	size_t k;

	m->origin = arena_printf(m->arena, "%.100s:%u: trigger of %.100s", m->req->name, m->part->from->line,
				 text_show(&s, sv_of(m->part->base)));
	m->escape = '\\';
	for (k = 0; list && list[k] && m->origin; k++) {
		if (dockerfile_parse_trigger(m->arena, m->origin, sv_of(list[k]), &f, &err) < 0 ||
		    dockerfile_check(m->origin, &f->v[0], &err) < 0)
			recipe_problem_text(m, err.text);
		else if (f->v[0].kind == DOCKERFILE_FROM || f->v[0].kind == DOCKERFILE_ONBUILD)
			recipe_problem(m, &f->v[0], "is not allowed as a trigger", "");
		else
			recipe_instruction(m, &f->v[0]);
	}
	m->origin = m->req->name;
	m->escape = m->file->escape;
}

static void make_stage(struct recipe_maker *m, struct recipe_part *p)
{
	const char **list;
	size_t k;

	m->part = p;
	m->stage = &m->out->stages[p->index];
	m->steps_cap = 0;
	m->env = m->image = m->args = (struct recipe_vars){.arena = m->arena};
	m->further = (struct words){.arena = m->arena};
	m->env_list = NULL;
	m->command_set = false;
	*m->stage = (struct recipe_stage){.name = p->name, .line = p->from->line};
	base(m);
	for (k = 0; k < m->image.n && p->origin.origin != RECIPE_STAGE; k++)
		recipe_vars_set(&m->env, m->image.names[k], m->image.values[k]);
	list = m->stage->config.on_build;
	m->stage->config.on_build = NULL;
	triggers(m, list);
	for (k = p->first; k < p->end; k++)
		recipe_instruction(m, &m->file->v[k]);
	if (m->env.full || m->image.full || m->args.full)
		recipe_problem(m, p->from, "the stage has too many variables", "");
	m->stage->config.env = recipe_vars_list(&m->image);
	m->stage->further = words_take(&m->further);
	p->env = m->env;
	p->image = m->image;
	p->args = m->args;
}

/* Docker's own frontend is the language that is read here. */
static bool is_own_frontend(const char *syntax)
{
	size_t n;

	if (strncmp(syntax, "docker.io/", 10) == 0)
		syntax += 10;
	if (strncmp(syntax, "docker/dockerfile", 17) != 0)
		return false;
	syntax += 17;
	n = strcspn(syntax, " \t");
	return n == 0 || *syntax == ':' || *syntax == '@';
}

static void check_file(struct recipe_maker *m)
{
	const char *syntax = m->file->syntax;
	struct text_shown s;
	struct error err = {0};
	size_t k, n = 0;

	if (syntax && !is_own_frontend(syntax))
		recipe_problem_text(m, arena_printf(m->arena,
						    "%.100s:%u: # syntax=%.100s: a frontend is a program that would "
						    "read this file in our place; remove the line",
						    m->req->name, m->file->syntax_line, text_show(&s, sv_of(syntax))));
	for (k = 0; k < m->file->n; k++) {
		if (dockerfile_check(m->req->name, &m->file->v[k], &err) < 0)
			recipe_problem_text(m, err.text);
		n += m->file->v[k].kind == DOCKERFILE_FROM;
	}
	if (n > RECIPE_STAGES)
		recipe_problem_text(
			m, arena_printf(m->arena, "%.100s:1: more than %d stages", m->req->name, RECIPE_STAGES));
	m->parts = arena_array(m->arena, n + 1, sizeof(*m->parts));
}

static void ignore(struct recipe_maker *m)
{
	struct words w = {.arena = m->arena};
	struct sv rest = m->req->ignore, line;
	const char *end, *p;
	uint32_t n = 0;
	bool valid;

	if (rest.n >= 3 && memcmp(rest.p, "\xef\xbb\xbf", 3) == 0)
		rest = sv_n(rest.p + 3, rest.n - 3);
	while (rest.n) {
		end = memchr(rest.p, '\n', rest.n);
		line = sv_n(rest.p, end ? (size_t)(end - rest.p) : rest.n);
		rest = sv_n(rest.p + line.n + (end != NULL), rest.n - line.n - (end != NULL));
		n++;
		p = memchr(line.p, '\0', line.n) ? NULL : pattern_ignore_line(m->arena, line, &valid);
		if (memchr(line.p, '\0', line.n) || !valid || w.n >= 4096)
			recipe_problem_text(m, arena_printf(m->arena, "%.200s:%u: not a pattern, or too many",
							    m->req->ignore_name, n));
		else if (p)
			words_add(&w, sv_of(p));
	}
	m->out->ignore = words_take(&w);
}

static void make(struct recipe_maker *m)
{
	size_t k;

	check_file(m);
	if (m->problems.n || !m->parts) /* what has not its form is not looked at further */
		return;
	recipe_stages(m);
	m->out->stages = arena_array(m->arena, m->out->n_stages + 1, sizeof(*m->out->stages));
	for (k = 0; k < m->n_parts && m->out->stages; k++)
		if (m->parts[k].needed)
			make_stage(m, &m->parts[k]);
}

int recipe_make(struct arena *a, const struct recipe_request *req, const struct recipe **ret, struct error *err)
{
	struct recipe *r = arena_alloc(a, sizeof(*r));
	struct recipe_maker m = {
		.arena = a,
		.req = req,
		.out = r,
		.budget = EXPAND_BUDGET,
		.origin = req->name,
		.global = {.arena = a},
		.images = {.arena = a},
		.unknown = {.arena = a},
		.problems = {.arena = a},
		.none = arena_array(a, 1, sizeof(char *)),
	};
	struct error said = {0};

	if (!r)
		return error_sys(err, ENOMEM, "reading a Dockerfile");
	if (dockerfile_parse(a, req->name, req->dockerfile, &m.file, &said) < 0) {
		recipe_problem_text(&m, said.text);
	} else {
		m.escape = m.file->escape;
		make(&m);
	}
	ignore(&m);
	if (m.more_problems)
		words_add(&m.problems, sv_of("there are further problems"));
	r->images = words_take(&m.images);
	r->unknown = words_take(&m.unknown);
	r->problems = words_take(&m.problems);
	if (arena_failed(a))
		return error_sys(err, ENOMEM, "reading a Dockerfile");
	*ret = r;
	return 0;
}

#include "image/recipe_write.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "image/recipe_maker.h"

struct writing {
	struct arena *arena;
	const struct recipe_writer *w;
	struct buf *out;
	struct recipe_vars env;	 /* as ENV and ARG have been written in this stage */
	struct recipe_vars args;
	const char *user;
	size_t at; /* of all steps */
	struct error *err;
};

static int refuse(struct writing *w, uint32_t line, const char *what)
{
	return error_set(w->err, ERROR_INPUT, "%.200s:%u: %s; Docker's builder cannot do that, the native one can",
			 w->w->name, line, what);
}

static struct sv name_of(const char *variable)
{
	return sv_n(variable, strcspn(variable, "="));
}

static bool has_name(const char *const *list, struct sv name)
{
	for (; *list; list++)
		if (sv_eq(name_of(*list), name))
			return true;
	return false;
}

/* Not every builder takes quotes away from a name. */
static bool is_plain(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")];
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return true;
	return false;
}

/* Writes the variable where it is not what it was. A Dockerfile's own have no line breaks; those of the image below may
 * have: what stands behind one would be an instruction. */
static int variable(struct writing *w, uint32_t line, const char *kind, struct recipe_vars *v, const char *text)
{
	const char *name = arena_str(w->arena, name_of(text)), *value = strchr(text, '=') + 1,
		   *was = name ? recipe_vars_get(v, sv_of(name)) : NULL;
	const char *quoted;

	if (was && strcmp(was, value) == 0)
		return 0;
	if (has_control(text))
		return refuse(w, line,
			      "a variable of the base image has a line break or another control character in it");
	quoted = recipe_quoted(w->arena, value);
	if (!name || !quoted)
		return error_sys(w->err, ENOMEM, "a Dockerfile");
	buf_printf(w->out, "%s %s=%s\n", kind, is_plain(name) ? name : recipe_quoted(w->arena, name), quoted);
	recipe_vars_set(v, name, value);
	return 0;
}

static int variables(struct writing *w, const struct recipe_step *s)
{
	size_t k;

	for (k = 0; s->env[k]; k++) {
		if (has_name((const char *const *)s->args, name_of(s->env[k]))) {
			if (recipe_vars_get(&w->env, name_of(s->env[k])))
				return refuse(w, s->line, "ARG gives a variable of ENV another value");
			if (variable(w, s->line, "ARG", &w->args, s->env[k]) < 0)
				return -1;
		} else if (variable(w, s->line, "ENV", &w->env, s->env[k]) < 0) {
			return -1;
		}
	}
	return 0;
}

static void user(struct writing *w, const char *who)
{
	if (strcmp(w->user, who) != 0)
		buf_printf(w->out, "USER %s\n", recipe_quoted(w->arena, *who ? who : "0"));
	w->user = who;
}

void recipe_write_copy(struct arena *a, struct buf *out, const char *word, const struct recipe_step *s,
		       const char *from, const char *const *sources, const char *dest)
{
	struct words v = {.arena = a};
	const char *json;

	for (; *sources; sources++)
		words_add(&v, sv_of(*sources));
	words_add(&v, sv_of(dest));
	json = recipe_json(a, (const char *const *)words_take(&v));
	buf_printf(out, "%s ", word);
	if (*from)
		buf_printf(out, "--from=%s ", from);
	if (*s->chown)
		buf_printf(out, "--chown=%s ", recipe_quoted(a, s->chown));
	buf_printf(out, "%s\n", json ? json : "");
}

/* In arguments of COPY and ADD variables are expanded, also in JSON: each is written so that it expands to itself. */
static const char **escaped(struct arena *a, const char *const *v)
{
	struct words w = {.arena = a};

	for (; *v; v++) {
		AUTO_BUF b = {0};
		const char *c;

		buf_init(&b, 2 * strlen(*v) + 1);
		for (c = *v; *c; c++) {
			if (strchr("\\$\"'", *c))
				buf_char(&b, '\\');
			buf_char(&b, *c);
		}
		words_add(&w, buf_view(&b));
	}
	return words_take(&w);
}

static int copy(struct writing *w, const struct recipe_step *s)
{
	const char *from = s->from.origin == RECIPE_STAGE ? arena_printf(w->arena, "s%u", s->from.stage)
							  : s->from.image,
		   *one[2] = {s->dest, NULL};
	const char **sources, **dest;

	if (s->from.origin == RECIPE_CONTEXT && w->w->copy)
		return w->w->copy(w->w->arg, w->at, s, w->out, w->err);
	if (s->from.origin == RECIPE_SCRATCH || s->excludes[0] || s->n_files || *s->chmod || s->parents)
		return refuse(w, s->line, "--exclude, --chmod, --parents, or heredocs or scratch with --from");
	sources = escaped(w->arena, (const char *const *)s->sources);
	dest = escaped(w->arena, one);
	if (!from || !sources || !dest)
		return error_sys(w->err, ENOMEM, "a Dockerfile");
	recipe_write_copy(w->arena, w->out, s->unpack ? "ADD" : "COPY", s, from, (const char *const *)sources, dest[0]);
	return 0;
}

static int run(struct writing *w, const struct recipe_step *s)
{
	const char *json = recipe_json(w->arena, (const char *const *)s->argv);
	size_t k;

	for (k = 0; k < s->n_mounts; k++)
		if (s->mounts[k].kind == RECIPE_MOUNT_BIND)
			return refuse(w, s->line, "RUN --mount=type=bind");
	if (s->no_network && !w->w->no_network)
		return refuse(w, s->line, "RUN --network=none beside others that have one");
	if (variables(w, s) < 0)
		return -1;
	user(w, s->user);
	buf_printf(w->out, "RUN %s\n", json ? json : "");
	return json ? 0 : error_sys(w->err, ENOMEM, "a Dockerfile");
}

static int end_of_stage(struct writing *w, const struct recipe_stage *st)
{
	static const char *const none[] = {NULL};
	const char *entry =
		recipe_json(w->arena, st->config.entrypoint ? (const char *const *)st->config.entrypoint : none);
	const char *command =
		recipe_json(w->arena, st->config.command ? (const char *const *)st->config.command : none);
	size_t k;

	if (!entry || !command)
		return error_sys(w->err, ENOMEM, "a Dockerfile");
	for (k = 0; st->config.env && st->config.env[k]; k++)
		if (variable(w, st->line, "ENV", &w->env, st->config.env[k]) < 0)
			return -1;
	user(w, st->config.user);
	buf_printf(w->out, "ENTRYPOINT %s\nCMD %s\n", entry, command);
	for (k = 0; st->further[k]; k++)
		buf_printf(w->out, "%s\n", st->further[k]);
	return 0;
}

static int stage(struct writing *w, const struct recipe *r, size_t index)
{
	const struct recipe_stage *st = &r->stages[index];
	int code = 0;
	size_t k;

	w->env = w->args = (struct recipe_vars){.arena = w->arena};
	w->user = "";
	if (st->from.origin == RECIPE_STAGE) {
		buf_printf(w->out, "FROM s%u AS s%zu\n", st->from.stage, index);
		w->user = r->stages[st->from.stage].config.user;
	} else {
		buf_printf(w->out, "FROM %s AS s%zu\n", st->from.origin == RECIPE_SCRATCH ? "scratch" : st->from.image,
			   index);
	}
	for (k = 0; code == 0 && k < st->n_steps; k++, w->at++) {
		const struct recipe_step *s = &st->steps[k];

		if (s->kind == RECIPE_RUN)
			code = run(w, s);
		else if (s->kind == RECIPE_COPY)
			code = copy(w, s);
		else
			buf_printf(w->out, "WORKDIR %s\n", recipe_quoted(w->arena, s->workdir));
	}
	return code < 0 ? -1 : end_of_stage(w, st);
}

int recipe_write(struct arena *a, const struct recipe *r, const struct recipe_writer *how, struct buf *out,
		 struct error *err)
{
	struct writing w = {.arena = a, .w = how, .out = out, .err = err};
	size_t k;

	for (k = 0; k < r->n_stages; k++)
		if (stage(&w, r, k) < 0)
			return -1;
	if (buf_failed(out) || arena_failed(a))
		return error_sys(err, ENOMEM, "a Dockerfile");
	return 0;
}

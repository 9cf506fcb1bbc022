/* What each instruction means, COPY, ADD and RUN's flags apart. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "image/recipe_maker.h"

const char *recipe_quoted(struct arena *a, const char *s)
{
	char *out = arena_alloc(a, 2 * strlen(s) + 3), *p = out;

	if (!out)
		return NULL;
	*p++ = '"';
	for (; *s; s++) {
		if (strchr("\"\\$", *s))
			*p++ = '\\';
		*p++ = *s;
	}
	*p++ = '"';
	*p = '\0';
	return out;
}

const char *recipe_json(struct arena *a, const char *const *v)
{
	AUTO_BUF b = {0};
	struct json j;

	buf_init(&b, RECIPE_BYTES);
	json_init(&j, &b);
	json_list(&j);
	for (; *v; v++)
		json_str(&j, *v);
	json_end(&j);
	return buf_failed(&b) ? NULL : arena_str(a, buf_view(&b));
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return true;
	return false;
}

/* The words behind the shell, or themselves. */
static const char **with_shell(struct recipe_maker *m, bool shell, const char *const *args)
{
	static const char *const sh[] = {"/bin/sh", "-c", NULL};
	const char *const *p = m->stage->config.shell ? m->stage->config.shell : sh;
	struct words w = {.arena = m->arena};

	for (; shell && *p; p++)
		words_add(&w, sv_of(*p));
	for (; *args; args++)
		words_add(&w, sv_of(*args));
	return words_take(&w);
}

static bool is_variable(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *name,
			const char *value)
{
	if (*name && !strchr(name, '=') && !has_control(name) && !has_control(value))
		return true;
	recipe_problem(m, i, "a name is empty or has a =, or a control character is in it or its value: ", name);
	return false;
}

static void env(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	struct words w = {.arena = m->arena};
	const char *name, *value;
	size_t k;

	/* first all, then set: of ENV A=1 B=$A, B has the A of before */
	for (k = 0; i->args[k]; k += 3) {
		name = recipe_expand(m, i, i->args[k]);
		value = recipe_expand(m, i, i->args[k + 1]);
		if (!name || !value || !is_variable(m, i, name, value))
			continue;
		words_add(&w, sv_of(name));
		words_add(&w, sv_of(value));
	}
	for (k = 0; k + 1 < w.n; k += 2) {
		recipe_vars_set(&m->env, w.v[k], w.v[k + 1]);
		recipe_vars_set(&m->image, w.v[k], w.v[k + 1]);
		recipe_vars_unset(&m->args, w.v[k]);
	}
	m->env_list = NULL;
}

static const char *given(const struct recipe_maker *m, const char *name)
{
	size_t k, n = strlen(name);

	for (k = 0; m->req->args && m->req->args[k]; k++)
		if (strncmp(m->req->args[k], name, n) == 0 && m->req->args[k][n] == '=')
			return m->req->args[k] + n + 1;
	return NULL;
}

static void arg(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *name, *value, *eq;
	size_t k;

	for (k = 0; i->args[k]; k++) {
		eq = strchr(i->args[k], '=');
		name = arena_str(m->arena, eq ? sv_n(i->args[k], (size_t)(eq - i->args[k])) : sv_of(i->args[k]));
		name = name ? recipe_expand(m, i, name) : NULL;
		value = name ? given(m, name) : NULL;
		if (name && !value)
			value = eq ? recipe_expand(m, i, eq + 1) : recipe_vars_get(&m->global, sv_of(name));
		if (!name || !value)
			continue;
		if (!is_variable(m, i, name, value))
			continue;
		recipe_vars_set(&m->env, name, value);
		recipe_vars_set(&m->args, name, value);
	}
	m->env_list = NULL;
}

/* A heredoc that is a program: as a file that runs, which must not stay. */
static const char **script(struct recipe_maker *m, const char *data)
{
	static const char runner[] =
		"f=/tmp/.heredoc && printf %s \"$1\" >$f && chmod 755 $f && { $f; r=$?; rm -f $f; exit $r; }";
	const char *const argv[] = {"/bin/sh", "-c", runner, "sh", data, NULL};

	return with_shell(m, false, argv);
}

static const char **command_with_heredocs(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const struct dockerfile_heredoc *h = dockerfile_heredoc_of(m->arena, i, i->args[0]);
	const char *const *v;
	const char *data, *one[2] = {NULL, NULL};
	AUTO_BUF b = {0};
	size_t k;

	if (h) {
		data = dockerfile_content(m->arena, &i->heredocs[0]);
		if (!data)
			return NULL;
		if (strncmp(data, "#!", 2) == 0)
			return script(m, data);
		one[0] = data;
	} else {
		buf_init(&b, RECIPE_BYTES);
		buf_str(&b, i->args[0]);
		for (k = 0; k < i->n_heredocs; k++)
			buf_printf(&b, "\n%s%s", i->heredocs[k].content, i->heredocs[k].name);
		one[0] = buf_failed(&b) ? NULL : arena_str(m->arena, buf_view(&b));
	}
	v = one;
	return with_shell(m, true, v);
}

static void run(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	struct recipe_step *s = recipe_step_new(m, i, RECIPE_RUN);

	if (!s || !recipe_run_flags(m, i, s))
		return;
	s->argv = i->n_heredocs && !i->json ? command_with_heredocs(m, i)
					    : with_shell(m, !i->json, (const char *const *)i->args);
	if (!s->argv || !s->argv[0])
		recipe_problem(m, i, "there is no command", "");
}

static void workdir(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *path = recipe_expand(m, i, i->args[0]);

	path = path ? recipe_path(m, i, path, false) : NULL;
	if (!path)
		return;
	m->stage->config.workdir = path;
	(void)recipe_step_new(m, i, RECIPE_WORKDIR);
}

static void user(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *u = recipe_expand(m, i, i->args[0]);

	if (!u)
		return;
	if (!*u || has_control(u) || strlen(u) > 255)
		recipe_problem(m, i, "not the name of a user: ", u);
	else
		m->stage->config.user = u;
}

static void further(struct recipe_maker *m, const char *line)
{
	if (line)
		words_add(&m->further, sv_of(line));
}

static void expose(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *p;
	size_t k;

	for (k = 0; i->args[k]; k++) {
		p = recipe_expand(m, i, i->args[k]);
		if (!p)
			continue;
		if (p[strspn(p, "0123456789-/acdilmnoprstuvACDILMNOPRSTUV ")])
			recipe_problem(m, i, "not a port: ", p);
		else if (p[strspn(p, " ")])
			further(m, arena_printf(m->arena, "EXPOSE %s", p));
	}
}

static void label(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *name, *value;
	size_t k;

	for (k = 0; i->args[k]; k += 3) {
		name = recipe_expand(m, i, i->args[k]);
		value = recipe_expand(m, i, i->args[k + 1]);
		if (!name || !value)
			continue;
		if (has_control(name) || has_control(value))
			recipe_problem(m, i, "a control character is in it: ", name);
		else
			further(m, arena_printf(m->arena, "LABEL %s=%s", recipe_quoted(m->arena, name),
						recipe_quoted(m->arena, value)));
	}
}

static void health(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	AUTO_BUF b = {0};
	const char *json;
	size_t k;

	if (strcasecmp(i->args[0], "NONE") == 0) {
		further(m, "HEALTHCHECK NONE");
		return;
	}
	buf_init(&b, RECIPE_BYTES);
	for (k = 0; i->flags[k]; k++) {
		const char *value = strchr(i->flags[k], '=') + 1;

		if (value[strspn(value, "0123456789.hmsunµ")])
			recipe_problem(m, i, "not a duration or a number: ", i->flags[k]);
		else
			buf_printf(&b, " %s", i->flags[k]);
	}
	json = recipe_json(m->arena, with_shell(m, !i->json, (const char *const *)i->args + 1));
	if (json && !buf_failed(&b))
		further(m, arena_printf(m->arena, "HEALTHCHECK%s CMD %s", buf_view(&b).p, json));
}

static void stop_signal(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *s = recipe_expand(m, i, i->args[0]), *c;

	for (c = s; c && *c; c++)
		if (!((*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '+' ||
		      *c == '-'))
			break;
	if (s && (*c || !*s))
		recipe_problem(m, i, "not a signal: ", s);
	else if (s)
		further(m, arena_printf(m->arena, "STOPSIGNAL %s", s));
}

static void on_build(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	struct words w = {.arena = m->arena};
	const char **p = m->stage->config.on_build;
	AUTO_BUF b = {0};
	size_t k;

	buf_init(&b, RECIPE_BYTES);
	buf_sv(&b, text_trim(sv_of(i->trigger->text)));
	for (k = 0; k < i->n_heredocs; k++)
		buf_printf(&b, "\n%s%s", i->heredocs[k].content, i->heredocs[k].name);
	for (; p && *p; p++)
		words_add(&w, sv_of(*p));
	words_add(&w, buf_view(&b));
	m->stage->config.on_build = words_take(&w);
}

static void entry_point(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char **v = with_shell(m, !i->json && i->args[0], (const char *const *)i->args);

	m->stage->config.entrypoint = v && v[0] ? v : NULL;
	if (!m->command_set)
		m->stage->config.command = NULL;
}

void recipe_instruction(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char **v;

	switch (i->kind) {
	case DOCKERFILE_ENV:
		env(m, i);
		break;
	case DOCKERFILE_ARG:
		arg(m, i);
		break;
	case DOCKERFILE_RUN:
		run(m, i);
		break;
	case DOCKERFILE_ADD:
	case DOCKERFILE_COPY:
		recipe_copy(m, i);
		break;
	case DOCKERFILE_WORKDIR:
		workdir(m, i);
		break;
	case DOCKERFILE_USER:
		user(m, i);
		break;
	case DOCKERFILE_CMD:
		v = with_shell(m, !i->json && i->args[0], (const char *const *)i->args);
		m->stage->config.command = v && v[0] ? v : NULL;
		m->command_set = true;
		break;
	case DOCKERFILE_ENTRYPOINT:
		entry_point(m, i);
		break;
	case DOCKERFILE_SHELL:
		m->stage->config.shell = i->args;
		break;
	case DOCKERFILE_EXPOSE:
		expose(m, i);
		break;
	case DOCKERFILE_LABEL:
		label(m, i);
		break;
	case DOCKERFILE_HEALTHCHECK:
		health(m, i);
		break;
	case DOCKERFILE_STOPSIGNAL:
		stop_signal(m, i);
		break;
	case DOCKERFILE_ONBUILD:
		on_build(m, i);
		break;
	case DOCKERFILE_VOLUME: /* names a place, changes nothing in the image */
	case DOCKERFILE_MAINTAINER:
	case DOCKERFILE_FROM:
	case DOCKERFILE_UNKNOWN:
		break;
	}
}

/* Which stages there are, what they stand on, and which are needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "image/name.h"
#include "image/recipe_maker.h"

int recipe_find_stage(const struct recipe_maker *m, const char *word, size_t before)
{
	char *end;
	unsigned long n;
	size_t k;

	/* of two with one name the later counts */
	for (k = before; k-- > 0;)
		if (m->parts[k].name[0] && strcasecmp(m->parts[k].name, word) == 0)
			return (int)k;
	if (word[0] < '0' || word[0] > '9')
		return -1;
	errno = 0;
	n = strtoul(word, &end, 10);
	return !*end && !errno && n < before ? (int)n : -1;
}

/* ARG before the first FROM. */
static void global_arg(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	const char *eq, *value, *name;
	size_t k, a;

	for (k = 0; i->args[k]; k++) {
		eq = strchr(i->args[k], '=');
		name = arena_str(m->arena, eq ? sv_n(i->args[k], (size_t)(eq - i->args[k])) : sv_of(i->args[k]));
		value = eq ? recipe_expand_with(m, i, &m->global, eq + 1) : NULL;
		for (a = 0; name && m->req->args && m->req->args[a]; a++)
			if (strncmp(m->req->args[a], name, strlen(name)) == 0 && m->req->args[a][strlen(name)] == '=')
				value = m->req->args[a] + strlen(name) + 1;
		if (name && value)
			recipe_vars_set(&m->global, name, value);
	}
}

static void platform_args(struct recipe_maker *m)
{
	static const char *const sides[] = {"BUILD", "TARGET"};
	const char *platform = m->req->platform, *slash = strchr(platform, '/');
	const char *os = arena_str(m->arena, sv_n(platform, slash ? (size_t)(slash - platform) : strlen(platform)));
	size_t k;

	for (k = 0; k < 2 && os; k++) {
		recipe_vars_set(&m->global, arena_printf(m->arena, "%sPLATFORM", sides[k]), platform);
		recipe_vars_set(&m->global, arena_printf(m->arena, "%sOS", sides[k]), os);
		recipe_vars_set(&m->global, arena_printf(m->arena, "%sARCH", sides[k]), slash ? slash + 1 : "");
		recipe_vars_set(&m->global, arena_printf(m->arena, "%sVARIANT", sides[k]), "");
	}
}

/* Ours, in one of its spellings? */
static bool is_our_platform(const struct recipe_maker *m, const char *platform)
{
	static const char *const same[][3] = {{"amd64", "x86_64", "x86-64"}, {"arm64", "aarch64", "arm64/v8"}};
	const char *arch = strncasecmp(platform, "linux/", 6) == 0 ? platform + 6 : platform;
	const char *ours = strchr(m->req->platform, '/');
	size_t k, j;

	if (!ours)
		return false;
	ours++;
	if (!*platform || strcasecmp(arch, ours) == 0 || strcasecmp(platform, "linux") == 0)
		return true;
	for (k = 0; k < 2; k++)
		for (j = 0; strcmp(ours, same[k][0]) == 0 && j < 3; j++)
			if (strcasecmp(arch, same[k][j]) == 0)
				return true;
	return false;
}

static void from(struct recipe_maker *m, struct recipe_part *p, size_t at)
{
	const struct dockerfile_instruction *i = p->from;
	const char *platform = dockerfile_flag(i, "platform", NULL);
	int stage;

	p->name = i->args[1] ? i->args[2] : "";
	p->base = recipe_expand_with(m, i, &m->global, i->args[0]);
	if (platform)
		platform = recipe_expand_with(m, i, &m->global, platform);
	if (!p->base) {
		p->base = "";
		return;
	}
	if (!*p->base) {
		recipe_problem(m, i, "the image's name is empty; give its variable a default: ", i->args[0]);
		return;
	}
	if (platform && !is_our_platform(m, platform)) {
		recipe_problem(m, i, "only images of this machine's platform can be used, not ", platform);
		return;
	}
	stage = recipe_find_stage(m, p->base, at);
	if (stage >= 0 && (p->base[0] < '0' || p->base[0] > '9'))
		p->origin = (struct recipe_from){RECIPE_STAGE, (uint32_t)stage, ""};
	else
		p->origin =
			(struct recipe_from){strcmp(p->base, "scratch") == 0 ? RECIPE_SCRATCH : RECIPE_IMAGE, 0, ""};
}

/* Cuts the file into parts. */
static void cut(struct recipe_maker *m)
{
	struct recipe_part *p = NULL;
	size_t k;

	for (k = 0; k < m->file->n; k++) {
		const struct dockerfile_instruction *i = &m->file->v[k];

		if (i->kind == DOCKERFILE_FROM) {
			p = &m->parts[m->n_parts];
			*p = (struct recipe_part){.from = i, .first = k + 1, .end = k + 1, .name = ""};
			from(m, p, m->n_parts);
			m->n_parts++;
		} else if (p) {
			p->end = k + 1;
		} else if (i->kind == DOCKERFILE_ARG) {
			global_arg(m, i);
		} else {
			recipe_problem(m, i, "stands before the first FROM", "");
		}
	}
}

static void need(struct recipe_maker *m, size_t part, size_t *todo, size_t *n)
{
	if (m->parts[part].needed)
		return;
	m->parts[part].needed = true;
	todo[(*n)++] = part;
}

static void need_word(struct recipe_maker *m, const char *word, size_t part, size_t *todo, size_t *n)
{
	int stage = word ? recipe_find_stage(m, word, part) : -1;

	if (stage >= 0)
		need(m, (size_t)stage, todo, n);
}

/* "from=" in a mount's list. NULL: there is none. */
static const char *mount_from(struct recipe_maker *m, const char *mount)
{
	const char *p = mount;
	size_t n;

	for (; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (n > 5 && strncasecmp(p, "from=", 5) == 0)
			return arena_str(m->arena, sv_n(p + 5, n - 5));
	}
	return NULL;
}

static void need_below(struct recipe_maker *m, size_t part, size_t *todo, size_t *n)
{
	const struct recipe_part *p = &m->parts[part];
	const char *mount;
	size_t k, at;

	if (p->origin.origin == RECIPE_STAGE)
		need(m, p->origin.stage, todo, n);
	for (k = p->first; k < p->end; k++) {
		const struct dockerfile_instruction *i = &m->file->v[k];

		if (i->kind == DOCKERFILE_COPY)
			need_word(m, dockerfile_flag(i, "from", NULL), part, todo, n);
		at = 0;
		while (i->kind == DOCKERFILE_RUN && (mount = dockerfile_flag(i, "mount", &at)))
			need_word(m, mount_from(m, mount), part, todo, n);
	}
}

void recipe_stages(struct recipe_maker *m)
{
	size_t todo[RECIPE_STAGES], n = 0, k;
	uint32_t index = 0;
	int target;

	platform_args(m);
	cut(m);
	if (!m->n_parts) {
		recipe_problem_text(m, arena_printf(m->arena, "%s:1: there is no FROM", m->req->name));
		return;
	}
	target = m->req->target ? recipe_find_stage(m, m->req->target, m->n_parts) : (int)m->n_parts - 1;
	if (target < 0) {
		recipe_problem_text(
			m, arena_printf(m->arena, "%s:1: there is no stage with the name of the target", m->req->name));
		return;
	}
	need(m, (size_t)target, todo, &n);
	while (n)
		need_below(m, todo[--n], todo, &n);
	for (k = 0; k < m->n_parts; k++)
		if (m->parts[k].needed)
			m->parts[k].index = index++;
	m->out->n_stages = index;
}

const char *recipe_need_image(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *name)
{
	char canonical[IMAGE_NAME_MAX + 1];
	struct error err = {0};
	size_t k;

	if (image_name_canonical(sv_of(name), canonical, &err) < 0) {
		recipe_problem(m, i, err.text, "");
		return NULL;
	}
	for (k = 0; k < m->images.n; k++)
		if (strcmp(m->images.v[k], canonical) == 0)
			return m->images.v[k];
	words_add(&m->images, sv_of(canonical));
	return m->images.n ? m->images.v[m->images.n - 1] : NULL;
}

int recipe_from_word(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word,
		     struct recipe_from *ret)
{
	int stage = recipe_find_stage(m, word, (size_t)(m->part - m->parts));

	*ret = (struct recipe_from){RECIPE_CONTEXT, 0, ""};
	if (stage >= 0 && !m->parts[stage].needed) { /* only a trigger can say that */
		recipe_problem(m, i, "a trigger of the base image names a stage that nothing else needs: ", word);
		return -1;
	}
	if (stage >= 0) {
		*ret = (struct recipe_from){RECIPE_STAGE, m->parts[stage].index, ""};
		return 0;
	}
	if (strchr(word, '$')) {
		recipe_problem(m, i, "variables are not expanded in from=; name a stage for it: ", word);
		return -1;
	}
	if (word[0] >= '0' && word[0] <= '9' && !word[strspn(word, "0123456789")]) {
		recipe_problem(m, i, "there is no stage before this one with the number ", word);
		return -1;
	}
	if (strcmp(word, "scratch") == 0) {
		ret->origin = RECIPE_SCRATCH;
		return 0;
	}
	ret->origin = RECIPE_IMAGE;
	ret->image = recipe_need_image(m, i, word);
	return ret->image ? 0 : -1;
}

/* COPY and ADD: where their files come from, and where they go. */
#include <string.h>
#include <strings.h>

#include "image/mode.h"
#include "image/pattern.h"
#include "image/recipe_maker.h"

/* Anything but a path: what ADD would fetch. */
static bool is_remote(const char *source)
{
	return strstr(source, "://") || strncasecmp(source, "git@", 4) == 0 ||
	       strncasecmp(source, "github.com/", 11) == 0;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

static void source(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word,
		   const struct recipe_step *s, struct words *w)
{
	const char *path = recipe_expand(m, i, word), *pivot, *clean;
	bool left, above = false;

	if (!path)
		return;
	if (is_remote(path)) {
		recipe_problem(m, i,
			       "nothing is fetched from elsewhere while an image is built; put the file beside the "
			       "Dockerfile, or fetch it in a RUN: ",
			       path);
		return;
	}
	pivot = s->parents ? strstr(path, RECIPE_PIVOT) : NULL;
	clean = pattern_clean(m->arena, sv_of(pivot ? pivot + strlen(RECIPE_PIVOT) : path), &left);
	if (clean && pivot) {
		const char *before = pattern_clean(m->arena, sv_n(path, (size_t)(pivot - path)), &above);

		/* what is behind it stays behind it */
		above = above || left;
		clean = before ? arena_printf(m->arena, "%s" RECIPE_PIVOT "%s", before, clean) : NULL;
	}
	if (!clean)
		return;
	if (above)
		recipe_problem(m, i, "the source leaves the build context, or the folder before /./: ", path);
	else if (left && s->from.origin == RECIPE_CONTEXT)
		recipe_problem(m, i, "the source leaves the build context: ", path);
	else if (has_control(clean) || !pattern_is_valid(sv_of(clean)))
		recipe_problem(m, i, "the source is not a path or a pattern: ", path);
	else
		words_add(w, sv_of(clean));
}

/* The content, its variables expanded where the heredoc's word was not quoted. Quotes are nothing special in it. */
static const char *content(struct recipe_maker *m, const struct dockerfile_instruction *i,
			   const struct dockerfile_heredoc *h)
{
	const char *text = dockerfile_content(m->arena, h);
	struct recipe_vars v = m->env;
	struct expand how = {.arena = m->arena,
			     .escape = '\\',
			     .no_quotes = true,
			     .get = recipe_get,
			     .arg = &v,
			     .budget = &m->budget};
	struct error err = {0};

	if (!text || !h->expand)
		return text;
	if (expand_word(&how, sv_of(text), &text, &err) == 0)
		return text;
	recipe_problem(m, i, err.text, "");
	return NULL;
}

static void file(struct recipe_maker *m, const struct dockerfile_instruction *i, const struct dockerfile_heredoc *h,
		 struct recipe_step *s)
{
	struct recipe_file *f = &s->files[s->n_files];

	f->name = h->name;
	f->content = content(m, i, h);
	if (strchr(f->name, '/') || strcmp(f->name, ".") == 0 || strcmp(f->name, "..") == 0 || has_control(f->name))
		recipe_problem(m, i, "a heredoc's name is no file's: ", f->name);
	else if (f->content)
		s->n_files++;
}

static const char *flag(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *name)
{
	const char *value = dockerfile_flag(i, name, NULL);

	value = value ? recipe_expand(m, i, value) : NULL;
	if (value && has_control(value)) {
		recipe_problem(m, i, "a control character in the value of --", name);
		return "";
	}
	return value ? value : "";
}

static bool is_true(const struct dockerfile_instruction *i, const char *name)
{
	const char *value = dockerfile_flag(i, name, NULL);

	return value && strcasecmp(value, "false") != 0;
}

static void excludes(struct recipe_maker *m, const struct dockerfile_instruction *i, struct recipe_step *s)
{
	struct words w = {.arena = m->arena};
	const char *value, *p;
	size_t at = 0;
	bool valid;

	while ((value = dockerfile_flag(i, "exclude", &at))) {
		value = recipe_expand(m, i, value);
		p = value ? pattern_ignore_line(m->arena, sv_of(value), &valid) : NULL;
		if (value && !valid)
			recipe_problem(m, i, "not a pattern: ", value);
		else if (p)
			words_add(&w, sv_of(p));
	}
	s->excludes = words_take(&w);
}

static void flags(struct recipe_maker *m, const struct dockerfile_instruction *i, struct recipe_step *s)
{
	const char *from = dockerfile_flag(i, "from", NULL);

	if (from)
		(void)recipe_from_word(m, i, from, &s->from);
	s->chown = flag(m, i, "chown");
	s->chmod = flag(m, i, "chmod");
	if (*s->chmod && !mode_is_valid(s->chmod))
		recipe_problem(m, i, "write a mode such as 0755 or u=rwX,go=rX: --chmod=", s->chmod);
	excludes(m, i, s);
	s->parents = is_true(i, "parents");
	s->unpack = i->kind == DOCKERFILE_ADD && (!dockerfile_flag(i, "unpack", NULL) || is_true(i, "unpack"));
	if (dockerfile_flag(i, "checksum", NULL) || dockerfile_flag(i, "keep-git-dir", NULL))
		recipe_problem(m, i,
			       "--checksum and --keep-git-dir are for what is fetched from elsewhere, and nothing is",
			       "");
}

void recipe_copy(struct recipe_maker *m, const struct dockerfile_instruction *i)
{
	struct recipe_step *s = recipe_step_new(m, i, RECIPE_COPY);
	struct words w = {.arena = m->arena};
	const struct dockerfile_heredoc *h;
	const char *dest;
	size_t k;

	if (!s)
		return;
	s->files = arena_array(m->arena, i->n_heredocs + 1, sizeof(*s->files));
	if (!s->files)
		return;
	flags(m, i, s);
	for (k = 0; i->args[k + 1]; k++) {
		h = dockerfile_heredoc_of(m->arena, i, i->args[k]);
		if (h && s->n_files < i->n_heredocs)
			file(m, i, h, s);
		else if (h)
			recipe_problem(m, i, "a heredoc is named twice: ", i->args[k]);
		else
			source(m, i, i->args[k], s, &w);
	}
	s->sources = words_take(&w);
	if (dockerfile_heredoc_of(m->arena, i, i->args[k])) {
		recipe_problem(m, i, "a heredoc cannot be the destination", "");
		return;
	}
	dest = recipe_expand(m, i, i->args[k]);
	dest = dest ? recipe_path(m, i, dest, true) : NULL;
	if (!dest)
		return;
	s->dest = dest;
	if (k > 1 && dest[strlen(dest) - 1] != '/')
		s->dest = arena_printf(m->arena, "%s/", dest);
}

/* RUN's flags. */
#include <string.h>
#include <strings.h>

#include "image/pattern.h"
#include "image/recipe_maker.h"

enum { MOUNTS = 32 };

struct mount_words {
	const char *type, *from, *source, *target, *id;
	bool writable;
};

/* One "key=value" of a mount. False: a problem was added. */
static bool mount_word(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word,
		       struct mount_words *w)
{
	static const char *const passed[] = {"sharing",  "mode",     "uid", "gid", "size",
					     "required", "readonly", "ro",  "env", NULL};
	const char *eq = strchr(word, '='), *value = eq ? eq + 1 : "true";
	struct sv key = eq ? sv_n(word, (size_t)(eq - word)) : sv_of(word);
	size_t k;

	if (sv_is(key, "type"))
		w->type = value;
	else if (sv_is(key, "from"))
		w->from = value;
	else if (sv_is(key, "source") || sv_is(key, "src"))
		w->source = value;
	else if (sv_is(key, "target") || sv_is(key, "dst") || sv_is(key, "destination"))
		w->target = value;
	else if (sv_is(key, "id"))
		w->id = value;
	else if (sv_is(key, "rw") || sv_is(key, "readwrite"))
		w->writable = strcasecmp(value, "false") != 0;
	else {
		for (k = 0; passed[k] && !sv_is(key, passed[k]); k++)
			;
		if (!passed[k]) {
			recipe_problem(m, i, "a mount has an unknown key: ", word);
			return false;
		}
	}
	return true;
}

static bool mount_kind(struct recipe_maker *m, const struct dockerfile_instruction *i, const struct mount_words *w,
		       enum recipe_mount_kind *ret)
{
	if (!w->type || strcasecmp(w->type, "bind") == 0) {
		*ret = RECIPE_MOUNT_BIND;
		if (!w->writable)
			return true;
		recipe_problem(m, i, "a bind mount that can be written to is not supported; leave rw out, or COPY", "");
		return false;
	}
	*ret = strcasecmp(w->type, "tmpfs") == 0 ? RECIPE_MOUNT_TMPFS : RECIPE_MOUNT_CACHE;
	if (*ret == RECIPE_MOUNT_TMPFS || strcasecmp(w->type, "cache") == 0)
		return true;
	if (strcasecmp(w->type, "secret") == 0 || strcasecmp(w->type, "ssh") == 0)
		recipe_problem(m, i, "nothing secret enters a build; remove --mount=type=", w->type);
	else
		recipe_problem(m, i, "unknown type of mount: ", w->type);
	return false;
}

static bool mount_places(struct recipe_maker *m, const struct dockerfile_instruction *i, const struct mount_words *w,
			 struct recipe_mount *to)
{
	const char *target = w->target ? recipe_expand(m, i, w->target) : NULL;
	const char *source = recipe_expand(m, i, w->source ? w->source : "/");
	const char *id = w->id ? recipe_expand(m, i, w->id) : "";
	bool left = false;

	if (!w->target)
		recipe_problem(m, i, "a mount has no target", "");
	if (!target || !source || !id)
		return false;
	to->target = recipe_path(m, i, target, false);
	to->id = *id || !to->target ? id : to->target;
	to->source = pattern_clean(m->arena, sv_of(source), &left);
	if (left)
		recipe_problem(m, i, "the source of a mount leaves its root: ", source);
	if (to->target && strcmp(to->target, "/") == 0)
		recipe_problem(m, i, "a mount cannot cover the whole root", "");
	to->from = (struct recipe_from){RECIPE_CONTEXT, 0, ""};
	if (w->from && to->kind == RECIPE_MOUNT_BIND && recipe_from_word(m, i, w->from, &to->from) < 0)
		return false;
	if (w->from && to->kind == RECIPE_MOUNT_CACHE) {
		recipe_problem(m, i, "a cache that begins with files from elsewhere is not supported: from=", w->from);
		return false;
	}
	return to->target && to->source && !left;
}

static bool mount(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *list,
		  struct recipe_mount *to)
{
	struct mount_words w = {0};
	const char *p, *word;
	size_t n;

	if (strchr(list, '"')) {
		recipe_problem(m, i, "quotes in a mount are not understood: ", list);
		return false;
	}
	for (p = list; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		word = arena_str(m->arena, sv_n(p, n));
		if (!word || !mount_word(m, i, word, &w))
			return false;
	}
	return mount_kind(m, i, &w, &to->kind) && mount_places(m, i, &w, to);
}

bool recipe_run_flags(struct recipe_maker *m, const struct dockerfile_instruction *i, struct recipe_step *s)
{
	const char *network = dockerfile_flag(i, "network", NULL), *security = dockerfile_flag(i, "security", NULL),
		   *list;
	size_t at = 0;
	bool ok = true;

	s->no_network = network && strcmp(network, "none") == 0;
	if (network && !s->no_network && strcmp(network, "default") != 0) {
		recipe_problem(m, i, "a build has no network but its own; remove --network=", network);
		ok = false;
	}
	if (security && strcmp(security, "sandbox") != 0) {
		recipe_problem(m, i, "a build gets no privileges; remove --security=", security);
		ok = false;
	}
	if (dockerfile_flag(i, "device", NULL)) {
		recipe_problem(m, i, "a build gets no devices; remove --device", "");
		ok = false;
	}
	s->mounts = arena_array(m->arena, MOUNTS, sizeof(*s->mounts));
	while (s->mounts && (list = dockerfile_flag(i, "mount", &at))) {
		if (s->n_mounts == MOUNTS) {
			recipe_problem(m, i, "too many mounts", "");
			return false;
		}
		if (mount(m, i, list, &s->mounts[s->n_mounts]))
			s->n_mounts++;
		else
			ok = false;
	}
	return ok && s->mounts;
}

#include "task/carry_place.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"
#include "task/carry_new.h"
#include "task/carry_text.h"

enum { TREE_DEPTH = 8, TREE_NAMES = 20000 };

/* __init__.py, or a library in its place: Python takes that first. */
static bool is_init(const char *name)
{
	return strcmp(name, "__init__.py") == 0 || (strncmp(name, "__init__.", 9) == 0 && sv_ends(sv_of(name), ".so"));
}

static bool is_test_file(const char *name)
{
	static const char *const names[] = {"test_*.py", "*_test.py", "test.py", "tests.py"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (glob_component(sv_of(names[i]), sv_of(name)))
			return true;
	return false;
}

static bool is_blank(int dir, const char *name)
{
	AUTO_BUF text = {0};

	buf_init(&text, CARRY_TEXT_MAX);
	return carry_read(dir, name, &text) == 0 && carry_python_blank(buf_view(&text));
}

/* Has the image code there? Then it is a package that is worked on. */
static bool has_code(const struct entry *e)
{
	return e->image.st_mode && (!S_ISREG(e->image.st_mode) || !is_blank(e->image_fd, e->name));
}

struct search {
	const struct layered *at;
	unsigned depth;
	size_t *left; /* names to look at */
	bool below, found;
};

/* Is it a test file, or a folder with one somewhere below it? */
static bool look_at(void *arg, const char *name) /* NOLINT(misc-no-recursion) */
{
	struct search *w = arg, in = *w;
	AUTO_LAYERED child = {0};
	struct stat st;
	int fd;

	if (*w->left == 0) {
		w->found = true; /* what cannot be looked through is not trusted */
		return false;
	}
	--*w->left;
	layered_stat(w->at, name, &st, &fd);
	w->found = S_ISREG(st.st_mode) && is_test_file(name);
	if (!w->found && w->below && S_ISDIR(st.st_mode) && w->depth < TREE_DEPTH &&
	    layered_enter(w->at, name, &child) == 0) {
		in.at = &child;
		in.depth++;
		(void)layered_names(&child, look_at, &in);
		w->found = in.found;
	}
	return !w->found;
}

static bool holds_tests(const struct layered *image, bool below)
{
	size_t left = TREE_NAMES;
	struct search w = {.at = image, .left = &left, .below = below};

	(void)layered_names(image, look_at, &w);
	return w.found;
}

/* Is the folder that ends at `end` one of the image's packages? */
static bool image_package(const struct carry *c, const char *end)
{
	char path[PATH_MAX + 16];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%.*s/__init__.py", (int)(end - c->at) - 1, c->at + 1);
	view_stat(&c->root, path, &st);
	return end > c->at && st.st_mode;
}

/* Is the folder called as those of tests are, or below one that is? A package of the image's may have one called test
 * that is part of what it does. */
static bool called_tests(const struct carry *c, struct sv folder)
{
	static const char *const names[] = {"tests", "*_tests", "unittests", "testsuite"};
	const char *at = c->at, *end = folder.p + folder.n, *slash, *top;
	size_t i;

	if (c->work && path_is_in(c->at, c->work))
		at += strlen(c->work);
	for (top = at; at < end; at = slash) {
		struct sv name;

		slash = memchr(at + 1, '/', (size_t)(end - at - 1));
		slash = slash ? slash : end;
		name = sv_n(at + 1, (size_t)(slash - at) - 1);
		for (i = 0; i < ARRAY_LEN(names); i++)
			if (glob_component(sv_of(names[i]), name))
				return true;
		if ((sv_is(name, "test") && !image_package(c, at)) || (sv_is(name, "testing") && at == top))
			return true;
	}
	return false;
}

static bool by_place(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c);
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.*s", (int)folder.n, folder.p);
	if (path_is_in(c->req->workdir, path) || (c->req->start && path_is_in(c->req->start, path)) ||
	    called_tests(c, folder))
		return true;
	if (!carry_leads_to(c->copies, path) && !(c->tests.copies_here && carry_among(c->starts, folder)) &&
	    !holds_tests(&s->image, e->image.st_mode == 0))
		return false;
	return !has_code(e) && !carry_tests_import(c->req->tests, carry_base(folder));
}

bool carry_place_runs(const struct carry *c, const struct spot *s, const struct entry *e)
{
	if (c->req->keep_conftests || s->zone == ZONE_SYSTEM || s->zone == ZONE_FREE || !is_init(e->name) ||
	    S_ISDIR(e->st.st_mode) || is_whiteout(&e->st))
		return false;
	return by_place(c, s, e) && (strcmp(e->name, "__init__.py") != 0 || !is_blank(s->in, e->name));
}

bool carry_place_link(const struct carry *c, const struct entry *e)
{
	return (c->work && strcmp(e->name, "tests") == 0 && sv_is(carry_parent(c), c->work)) ||
	       carry_leads_to(c->copies, c->at);
}

#include "task/carry_project.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "conf/toml.h"
#include "task/carry_rules.h"
#include "task/carry_text.h"

static const struct ynode *member(const struct ynode *n, struct sv name)
{
	const struct ynode *k;

	if (!n || n->kind != YNODE_MAP)
		return NULL;
	for (k = n->first; k; k = k->next)
		if (sv_eq(k->text, name))
			return k->value;
	return NULL;
}

/* Neither has it, or both the same. No deeper than the parser lets them be. */
static bool same_node(const struct ynode *a, const struct ynode *b) /* NOLINT(misc-no-recursion) */
{
	const struct ynode *x, *y;

	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->type != b->type || a->n != b->n || !sv_eq(a->text, b->text))
		return false;
	for (x = a->first, y = b->first; x && y; x = x->next, y = y->next)
		if (!same_node(x, y) || !same_node(x->value, y->value))
			return false;
	return !x && !y;
}

/* The node at "a.b.c". */
static const struct ynode *at_path(const struct ynode *n, const char *path)
{
	const char *end;

	for (; n && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, '.');
		n = member(n, sv_n(path, (size_t)(end - path)));
	}
	return n;
}

/* Of what uv is told these keys name no other place to install from. */
static bool same_for_uv(const struct ynode *ours, const struct ynode *image)
{
	static const char *const harmless_keys[] = {"dev-dependencies", "default-groups",   "managed",
						    "package",          "required-version", "workspace"};
	const struct ynode *k;
	size_t i;

	if (!ours)
		return true;
	if (ours->kind != YNODE_MAP)
		return same_node(ours, image);
	for (k = ours->first; k; k = k->next) {
		for (i = 0; i < ARRAY_LEN(harmless_keys) && !sv_is(k->text, harmless_keys[i]); i++)
			;
		if (i == ARRAY_LEN(harmless_keys) && !same_node(k->value, member(image, k->text)))
			return false;
	}
	return true;
}

/* A package that must not be the agent's: a test tool, or what the tests install. */
static bool is_the_tests(struct sv name, const struct carry_tests *tests)
{
	char plain[128];
	size_t i;

	if (name.n == 0 || name.n >= sizeof(plain))
		return false;
	for (i = 0; i < name.n; i++) {
		char c = name.p[i];

		plain[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c == '-' || c == '.' ? '_' : c);
	}
	return carry_tool_package(sv_n(plain, name.n)) || (tests && carry_tests_install(tests, sv_n(plain, name.n)));
}

static size_t skip_space(struct sv s, size_t i)
{
	while (i < s.n && memchr(" \t\r\n", s.p[i], 4))
		i++;
	return i;
}

/* "NAME [extras] @ ADDRESS": from there, and from no index. */
static bool has_address(struct sv s, struct sv *ret_name)
{
	size_t start = skip_space(s, 0), i = start;

	while (i < s.n && !memchr(" \t\r\n[@<>=!~;(", s.p[i], 13))
		i++;
	*ret_name = sv_n(s.p + start, i - start);
	i = skip_space(s, i);
	if (i < s.n && s.p[i] == '[') {
		while (i < s.n && s.p[i++] != ']')
			;
		i = skip_space(s, i);
	}
	return i < s.n && s.p[i] == '@';
}

/* Poetry's way: NAME = {path = "..."}, or a list of such. */
static bool has_place(const struct ynode *n) /* NOLINT(misc-no-recursion) */
{
	static const char *const keys[] = {"path", "file", "url", "git", "source"};
	const struct ynode *x;
	size_t i;

	for (x = n->first; x; x = x->next) {
		for (i = 0; n->kind == YNODE_MAP && i < ARRAY_LEN(keys); i++)
			if (sv_is(x->text, keys[i]))
				return true;
		if (n->kind == YNODE_LIST && has_place(x))
			return true;
	}
	return false;
}

/* Is anything of the tests' to come from somewhere else, by what is said in n? No deeper than the parser lets it be. */
static bool misleads(const struct ynode *n, const struct carry_tests *tests) /* NOLINT(misc-no-recursion) */
{
	const struct ynode *x;
	struct sv name;

	if (!n)
		return false;
	if (n->kind == YNODE_SCALAR)
		return has_address(n->text, &name) && is_the_tests(name, tests);
	for (x = n->first; x; x = x->next) {
		if (n->kind == YNODE_MAP && x->value && is_the_tests(x->text, tests) && has_place(x->value))
			return true;
		if (misleads(n->kind == YNODE_MAP ? x->value : x, tests))
			return true;
	}
	return false;
}

/* Where installers and builders get what they install. Who takes such a key of the image's away gets nothing of his own
 * for it. */
static bool same_places(const struct ynode *ours, const struct ynode *image, const struct carry_tests *tests)
{
	static const char *const places[] = {"build-system.backend-path", "tool.poetry.source",
					     "tool.pdm.source",           "tool.pdm.resolution",
					     "tool.rye.sources",          "tool.pixi.pypi-options"};
	static const char *const lists[] = {
		"project.dependencies",     "project.optional-dependencies", "dependency-groups",
		"build-system.requires",    "tool.uv.dev-dependencies",      "tool.pdm.dev-dependencies",
		"tool.poetry.dependencies", "tool.poetry.dev-dependencies",  "tool.poetry.group"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(places); i++)
		if (at_path(ours, places[i]) && !same_node(at_path(ours, places[i]), at_path(image, places[i])))
			return false;
	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (misleads(at_path(ours, lists[i]), tests) &&
		    !same_node(at_path(ours, lists[i]), at_path(image, lists[i])))
			return false;
	return same_for_uv(at_path(ours, "tool.uv"), at_path(image, "tool.uv"));
}

/* What a project is built by, and tools that run nothing of its own. */
static bool builds(struct sv tool)
{
	static const char *const tools[] = {"poetry",         "hatch",        "pdm",        "setuptools",
					    "setuptools_scm", "flit",         "maturin",    "scikit-build",
					    "cibuildwheel",   "meson-python", "uv",         "rye",
					    "pixi",           "briefcase",    "commitizen", "semantic_release",
					    "black",          "ruff",         "isort",      "pyright",
					    "basedpyright"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(tools); i++)
		if (sv_is(tool, tools[i]))
			return true;
	return false;
}

/* Is there a key in it, however deep, that makes a tool run something? */
static bool has_orders(const struct ynode *n) /* NOLINT(misc-no-recursion) */
{
	const struct ynode *x;

	for (x = n && n->kind != YNODE_SCALAR ? n->first : NULL; x; x = x->next)
		if ((n->kind == YNODE_MAP && carry_orders_code(x->text)) ||
		    has_orders(n->kind == YNODE_MAP ? x->value : x))
			return true;
	return false;
}

/* Of tools that judge (mypy, pylint, coverage), these keys are as the image has them. */
static bool same_orders(const struct ynode *ours, const struct ynode *image) /* NOLINT(misc-no-recursion) */
{
	const struct ynode *k;

	if (!ours || ours->kind != YNODE_MAP)
		return !has_orders(ours) || same_node(ours, image);
	for (k = ours->first; k; k = k->next)
		if (carry_orders_code(k->text) ? !same_node(k->value, member(image, k->text))
					       : !same_orders(k->value, member(image, k->text)))
			return false;
	return true;
}

static bool same_tools(const struct ynode *ours, const struct ynode *image)
{
	const struct ynode *k;

	for (k = ours && ours->kind == YNODE_MAP ? ours->first : NULL; k; k = k->next)
		if (!builds(k->text) && !same_orders(k->value, member(image, k->text)))
			return false;
	return true;
}

/* What is no TOML is nothing that pytest would start with; it is not trusted to be nothing for another. */
static bool same_toml(struct arena *a, struct sv ours, struct sv image, const struct carry_tests *tests)
{
	static const char *const settings[] = {"tool.pytest", "tool.behave", "tool.coverage.run.plugins"};
	const struct ynode *x, *y;
	struct error err;
	size_t i;

	if (toml_tree(a, "pyproject.toml", ours, &x, &err) < 0 || toml_tree(a, "pyproject.toml", image, &y, &err) < 0)
		return false;
	for (i = 0; i < ARRAY_LEN(settings); i++)
		if (!same_node(at_path(x, settings[i]), at_path(y, settings[i])))
			return false;
	return same_tools(at_path(x, "tool"), at_path(y, "tool")) && same_places(x, y, tests);
}

bool carry_same_project(struct sv ours, struct sv image, const struct carry_tests *tests)
{
	struct arena *a;
	bool same;

	if (sv_eq(ours, image))
		return true;
	a = arena_new();
	same = a && same_toml(a, ours, image, tests);
	arena_free(a);
	return same;
}

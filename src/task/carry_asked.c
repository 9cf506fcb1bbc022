#include "task/carry_asked.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "sys/tree.h"
#include "task/carry_new.h"

enum { DEPTH_MAX = 16, FILE_MAX = 32 << 20, BYTES_MAX = 768 << 20, NAMES_MAX = 600000 };

/* Texts of one kind below a folder of the image. */
struct reading {
	struct carry *c;
	struct carry_words *words;
	const struct layered *at;
	const char *package; /* the name at depth 0 */
	void (*asks)(struct sv text, asked_fn *fn, void *arg);
	bool (*is_text)(struct sv name);
	unsigned depth;
	size_t *bytes, *names; /* that may still be read */
};

/* Asked for only by a Python that knows no names of hosts in TLS, or for a certificate of a developer's own server:
 * many agents install these beside them. */
static bool hardly_asked(const char *package, struct sv name)
{
	static const char *const packages[] = {"requests", "urllib3", "flask", "werkzeug"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(packages); i++)
		if (strcmp(package, packages[i]) == 0)
			return sv_is(name, "cryptography") || sv_starts(name, "cryptography.") ||
			       sv_is(name, "OpenSSL") || sv_starts(name, "OpenSSL.");
	return false;
}

static void add_name(void *arg, struct sv name)
{
	struct reading *r = arg;
	const char *dot = memchr(name.p, '.', name.n);

	if (r->asks == carry_asks_python && hardly_asked(r->package, name))
		return;
	(void)carry_words_add(r->words, r->c->arena, name);
	if (dot && r->asks == carry_asks_python) /* "a." says that there is some part */
		(void)carry_words_add(r->words, r->c->arena, sv_n(name.p, (size_t)(dot - name.p) + 1));
}

/* What cannot be read may ask for anything. */
static void read_text(struct reading *r, int dir, const char *name)
{
	AUTO_BUF text = {0};

	buf_init(&text, FILE_MAX);
	if (carry_read(dir, name, &text) < 0 || text.n > *r->bytes) {
		r->words->full = true;
		return;
	}
	*r->bytes -= text.n;
	r->asks(buf_view(&text), add_name, r);
}

static bool is_python(struct sv name)
{
	return sv_ends(name, ".py");
}

static bool is_script(struct sv name)
{
	return sv_ends(name, ".js") || sv_ends(name, ".cjs") || sv_ends(name, ".mjs");
}

/* Folders that nobody loads from but a package's own tests and builders; and test tools and installers, which have a
 * list. */
static bool passed_over(const struct reading *r, const char *name)
{
	static const char *const folders[] = {"__pycache__", "test",      "tests",         "__tests__",
					      "testing",     "doc",       "docs",          "example",
					      "examples",    "benchmark", "benchmarks",    "idlelib",
					      "lib2to3",     "ensurepip", "site-packages", "dist-packages"};
	struct sv stem = sv_n(name, strcspn(name, "-."));
	size_t i;

	for (i = 0; i < ARRAY_LEN(folders); i++)
		if (strcmp(name, folders[i]) == 0)
			return true;
	return r->depth == 0 && r->asks == carry_asks_python && carry_tool_package(stem);
}

static bool read_name(void *arg, const char *name) /* NOLINT(misc-no-recursion) */
{
	struct reading *r = arg, in = *r;
	AUTO_LAYERED child = {0};
	struct stat st;
	int fd = -1;

	if (*r->names == 0 || r->words->full) {
		r->words->full = true;
		return false;
	}
	--*r->names;
	if (passed_over(r, name))
		return true;
	if (r->depth == 0)
		r->package = in.package = name;
	layered_stat(r->at, name, &st, &fd);
	if (S_ISREG(st.st_mode) && r->is_text(sv_of(name)))
		read_text(r, fd, name);
	if (!S_ISDIR(st.st_mode))
		return true;
	if (r->depth == DEPTH_MAX || layered_enter(r->at, name, &child) < 0) {
		r->words->full = true;
		return false;
	}
	in.at = &child;
	in.depth++;
	(void)layered_names(&child, read_name, &in);
	return true;
}

static void read_python(struct carry *c, const struct layered *folder)
{
	struct reading r = {.c = c,
			    .words = &c->asked,
			    .at = folder,
			    .asks = carry_asks_python,
			    .is_text = is_python,
			    .bytes = &c->asked_bytes,
			    .names = &c->asked_names};

	(void)layered_names(folder, read_name, &r);
}

/* What the project in the image lists: whoever does its work installs that. */
static bool read_list(void *arg, const char *name)
{
	static const char *const lists[] = {"requirements*.txt", "pyproject.toml",   "setup.py",    "setup.cfg",
					    "Pipfile",           "environment.y*ml", "package.json"};
	struct reading *r = arg;
	struct stat st;
	int fd = -1;
	size_t i;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (glob_component(sv_of(lists[i]), sv_of(name))) {
			layered_stat(r->at, name, &st, &fd);
			if (S_ISREG(st.st_mode))
				(void)carry_tests_read_file(&r->c->project_files, r->c->arena, fd, name);
		}
	return true;
}

/* What the tools that are passed over ask for, and agents may well install: pip a proxy's library, and one that is
 * tried for what it prints; Python the data of time zones. */
static void know_tools(struct carry *c)
{
	(void)carry_words_add(&c->asked, c->arena, sv_of("socks"));
	(void)carry_words_add(&c->asked, c->arena, sv_of("tzdata"));
	if (carry_tests_install(&c->tests, sv_of("pip")) || carry_tests_install(&c->tests, sv_of("pip3")))
		(void)carry_words_add(&c->asked, c->arena, sv_of("attr"));
}

static void know_asked(struct carry *c)
{
	AUTO_LAYERED work = {0};
	struct reading r = {.c = c, .at = &work};

	c->asked_known = true;
	know_tools(c);
	c->asked_bytes = BYTES_MAX;
	c->asked_names = NAMES_MAX;
	carry_pythons(c, read_python);
	if (c->work && view_enter(&c->root, sv_of(c->work + 1), &work) == 0)
		(void)layered_names(&work, read_list, &r);
	if (carry_words_read(&c->project, c->arena, &c->project_files) < 0 || arena_failed(c->arena))
		c->asked.full = true;
	(void)carry_tests_learn(&c->solved, c->arena, c->req->solution);
}

/* Has a package of the agent's some part that is asked for, or code that is run on the way to any? */
static bool part_asked(const struct carry *c, const struct spot *s, const struct entry *e, struct sv base)
{
	AUTO_FD in =
		S_ISDIR(e->st.st_mode) ? openat(s->in, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *d = in < 0 ? NULL : sys_list(in);
	bool found = !d; /* a file; and who cannot look must not trust it */
	char path[2 * CARRY_WORD_MAX + 2];
	struct dirent *x;

	while (d && !found && (x = readdir(d))) {
		int n = snprintf(path, sizeof(path), "%.*s.%.*s", (int)base.n, base.p, (int)strcspn(x->d_name, "."),
				 x->d_name);

		found = strncmp(x->d_name, "__init__.", 9) == 0 ||
			(x->d_name[0] != '.' &&
			 carry_words_have(&c->asked,
					  sv_n(path, (size_t)n < sizeof(path) ? (size_t)n : sizeof(path) - 1)));
	}
	if (d)
		(void)closedir(d);
	return found;
}

/* Does the task itself speak of the module? */
static bool is_spoken_of(const struct carry *c, struct sv base)
{
	return carry_tests_module(c->req->tests, base) || carry_tests_module(c->req->solution, base) ||
	       carry_tests_install(&c->solved, base) || carry_words_name(&c->project, base) ||
	       carry_words_package(&c->named, base);
}

static bool is_asked(struct carry *c, const struct spot *s, const struct entry *e, struct sv base)
{
	char part[CARRY_WORD_MAX + 2];

	if (!c->asked_known)
		know_asked(c);
	if (base.n == 0 || base.n >= CARRY_WORD_MAX)
		return false;
	(void)snprintf(part, sizeof(part), "%.*s.", (int)base.n, base.p);
	return carry_words_have(&c->asked, base) ||
	       (carry_words_have(&c->asked, sv_of(part)) && part_asked(c, s, e, base));
}

bool carry_asked_module(struct carry *c, const struct spot *s, const struct entry *e, struct sv base)
{
	return (is_asked(c, s, e, base) || c->asked.full) && !is_spoken_of(c, base);
}

bool carry_asked_beside(struct carry *c, const struct spot *s, const struct entry *e, struct sv base)
{
	char plain[CARRY_WORD_MAX + 1];

	/* most of a project is named: then the image need not be read */
	return !carry_words_have(&c->named, carry_word_plain(base, plain)) && is_asked(c, s, e, base) &&
	       !is_spoken_of(c, base);
}

/* The names of the node_modules folder at that path, which is the one above where a scope is. */
static int know_node(struct carry *c, struct sv folder)
{
	AUTO_LAYERED at = {0};
	struct reading r = {.c = c,
			    .words = &c->node_asked,
			    .at = &at,
			    .asks = carry_asks_node,
			    .is_text = is_script,
			    .bytes = &c->asked_bytes,
			    .names = &c->asked_names};

	if (c->node_folder && sv_is(folder, c->node_folder))
		return 0;
	if (!c->asked_known)
		know_asked(c);
	c->node_asked = (struct carry_words){0};
	c->node_folder = arena_str(c->arena, folder);
	if (!c->node_folder || folder.n == 0 || view_enter(&c->root, sv_n(folder.p + 1, folder.n - 1), &at) < 0)
		return -1;
	(void)layered_names(&at, read_name, &r);
	return arena_failed(c->arena) ? -1 : 0;
}

bool carry_asked_node(struct carry *c)
{
	struct sv name = carry_base(sv_n(c->at, c->len)), folder = carry_parent(c), scope = carry_base(folder),
		  whole = name;
	char plain[CARRY_WORD_MAX + 1];

	if (scope.n && scope.p[0] == '@') {
		folder.n -= scope.n + 1;
		whole = sv_n(scope.p, scope.n + 1 + name.n);
	}
	if (name.n > CARRY_WORD_MAX || know_node(c, folder) < 0)
		return true;
	if (!c->node_asked.full && !carry_words_have(&c->node_asked, whole))
		return false;
	name = carry_word_plain(name, plain);
	return !carry_words_have(&c->named, name) && !carry_words_have(&c->project, name);
}

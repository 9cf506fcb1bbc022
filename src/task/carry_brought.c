#include "task/carry_brought.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "task/carry_new.h"
#include "task/carry_store.h"
#include "task/carry_told.h"

enum { PLACES_MAX = 512, NAME_LENGTH = 255 };

/* A kind of names, and the endings that one is found with, without the ending. */
static const struct language {
	char kind;
	const char *endings;
} languages[] = {
	{'p', " py pyw pyc pyd so "},
	{'n', " js mjs cjs json node ts mts cts jsx tsx "},
	{'r', " rb so "},
	{'l', " pm pl so "},
	{'u', " lua so "},
	{'h', " php "},
	{'j', " java class jar "},
};

/* What is found by its whole name alone. */
static const char shells[] = " sh bash zsh ksh bats ";
static const char scripts[] = " sh bash zsh ksh bats mk awk tcl jl R h hpp hh inc ";

struct strings {
	const char **v;
	size_t n, room;
};

/* Keys: a kind and a path below the tests' folder: "plib/util" of lib/util.py; "P" of a folder with such modules, "N"
 * of one that may be a package of node's, "x" of any file by its whole name, "d" of any folder. */
struct brought {
	struct strings keys;
	struct strings places;            /* where the tests look for something: absolute */
	struct strings commands;          /* of the PATH, as they make it */
	struct strings nodes;             /* of NODE_PATH */
	struct carry_words below, looked; /* of their own folder: paths that they name; words where they look */
	bool python, shell, node;         /* may what is elsewhere be found first? */
};

static int add_string(struct carry *c, struct strings *to, const char *s)
{
	const char **more;

	if (!s)
		return -ENOMEM;
	if (to->n == to->room) {
		more = arena_array(c->arena, to->room ? 2 * to->room : 256, sizeof(more[0]));
		if (!more)
			return -ENOMEM;
		if (to->n)
			memcpy(more, to->v, to->n * sizeof(more[0]));
		to->v = more;
		to->room = to->room ? 2 * to->room : 256;
	}
	to->v[to->n++] = s;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool have(const struct brought *b, char kind, struct sv name)
{
	char text[PATH_MAX + 2];
	const char *key = text;

	if (name.n == 0 || name.n > PATH_MAX || b->keys.n == 0)
		return false;
	(void)snprintf(text, sizeof(text), "%c%.*s", kind, (int)name.n, name.p);
	return bsearch(&key, b->keys.v, b->keys.n, sizeof(b->keys.v[0]), by_text);
}

static bool in_identifier(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
	       (unsigned char)ch >= 0x80;
}

static bool in_path(char ch)
{
	return in_identifier(ch) || ch == '.' || ch == '-' || ch == '+' || ch == '/' || ch == '@';
}

/* Is what follows the name's last dot one of these? */
static bool ends_as(struct sv name, const char *endings)
{
	char ending[16];
	size_t n = 0;

	while (n < name.n && n < 10 && name.p[name.n - 1 - n] != '.')
		n++;
	if (n == 0 || n >= 10 || n + 1 >= name.n || name.p[name.n - 1 - n] != '.')
		return false;
	(void)snprintf(ending, sizeof(ending), " %.*s ", (int)n, name.p + name.n - n);
	return strstr(endings, ending);
}

/* The path of a module as it is asked for: a library may have a tag before its ending. */
static struct sv without_ending(struct sv path, char kind)
{
	struct sv base = carry_base(path);
	size_t n = base.n;

	if (kind == 'p')
		n = (size_t)((const char *)memchr(base.p, '.', base.n) - base.p);
	else
		while (n && base.p[--n] != '.')
			;
	return sv_n(path.p, path.n - base.n + n);
}

static struct sv folder_of(struct sv path)
{
	struct sv base = carry_base(path);

	return sv_n(path.p, path.n > base.n ? path.n - base.n - 1 : 0);
}

static struct sv first_part(struct sv path)
{
	const char *slash = memchr(path.p, '/', path.n);

	return slash ? sv_n(path.p, (size_t)(slash - path.p)) : path;
}

/* What a line is about. */
struct searching {
	bool commands, node;
};

static int add_key(struct carry *c, char kind, const char *before, struct sv path)
{
	return add_string(c, &c->brought->keys, arena_printf(c->arena, "%c%s%.*s", kind, before, (int)path.n, path.p));
}

/* Does such a file make a package of its folder? Data of node's may lie anywhere. */
static bool may_be_package(struct sv path, char kind)
{
	struct sv name = carry_base(path);

	return kind == 'p' ||
	       (kind == 'n' && (!sv_ends(name, ".json") || sv_is(name, "package.json") || sv_is(name, "index.json")));
}

/* A file of the tests, below a folder where it would be looked for. */
static int add_file(struct carry *c, const char *before, struct sv path)
{
	struct sv folder;
	size_t i;
	int r = add_key(c, 'x', before, path);

	for (folder = folder_of(path); r == 0 && folder.n; folder = folder_of(folder))
		r = add_key(c, 'd', before, folder);
	for (i = 0; r == 0 && i < ARRAY_LEN(languages); i++) {
		char kind = languages[i].kind;

		if (!ends_as(path, languages[i].endings))
			continue;
		r = add_key(c, kind, before, without_ending(path, kind));
		for (folder = folder_of(path); r == 0 && folder.n && may_be_package(path, kind);
		     folder = folder_of(folder))
			r = add_key(c, kind == 'p' ? 'P' : 'N', before, folder);
	}
	return r;
}

/* Do the tests look for something in that folder of theirs? */
static bool is_looked(const struct brought *b, struct sv folder)
{
	return carry_words_have(&b->below, folder) || carry_words_have(&b->looked, carry_base(folder));
}

static int add_files(struct carry *c)
{
	const struct carry_test_file *f;
	struct sv path, folder;
	int r = 0;

	for (f = c->req->tests->first; r == 0 && f; f = f->next) {
		path = sv_of(f->path ? f->path : f->name ? f->name : "");
		/* what node finds beside its own files */
		if (path.n == 0 || memmem(path.p, path.n, "node_modules/", 13))
			continue;
		r = add_file(c, "", path);
		if (r == 0)
			r = add_file(c, "tests/", path);
		for (folder = folder_of(path); r == 0 && folder.n; folder = folder_of(folder))
			if (is_looked(c->brought, folder))
				r = add_file(c, "", sv_n(path.p + folder.n + 1, path.n - folder.n - 1));
	}
	return r;
}

/* Where the tests look for something: absolute, or from where they may be. */
static int add_place(struct carry *c, struct strings *to, struct sv path)
{
	const char *const froms[] = {c->req->workdir, c->req->start};
	size_t i;
	int r = 0;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	while (path.n > 1 && path.p[0] == '.' && path.p[1] == '/')
		path = sv_n(path.p + 2, path.n - 2);
	if (path.n == 0 || path.n > NAME_LENGTH || to->n >= PLACES_MAX)
		return 0;
	if (path.p[0] == '/')
		return add_string(c, to, arena_str(c->arena, path));
	for (i = 0; r == 0 && i < ARRAY_LEN(froms); i++)
		if (froms[i])
			r = add_string(c, to, arena_printf(c->arena, "%s/%.*s", froms[i], (int)path.n, path.p));
	return r;
}

/* The word without an option's letter, or a variable, at its beginning: -I/tests/lib, $PWD/src. */
static struct sv place_in(struct sv word, bool variable)
{
	size_t from = 0;

	if (word.n > 2 && word.p[0] == '-')
		from = 2;
	while (variable && from < word.n && word.p[from] != '/')
		from++;
	while (variable && from < word.n && word.p[from] == '/')
		from++;
	return sv_n(word.p + from, word.n - from);
}

static int take_word(struct carry *c, struct sv word, const struct searching *in)
{
	struct brought *b = c->brought;
	struct sv part;
	int r = add_place(c, &b->places, word);

	if (r == 0 && in->commands)
		r = add_place(c, &b->commands, word);
	if (r == 0 && in->node)
		r = add_place(c, &b->nodes, word);
	while (r == 0 && word.n) {
		part = first_part(word);
		r = carry_words_add(&b->looked, c->arena, part);
		part.n += part.n < word.n;
		word = sv_n(word.p + part.n, word.n - part.n);
	}
	return r;
}

/* A line that says where something is looked for: all of its words may be such places. */
static int take_line(struct carry *c, struct sv line, const struct searching *in)
{
	size_t i = 0, n;
	int r = 0;

	while (r == 0 && i < line.n) {
		for (n = 0; i + n < line.n && in_path(line.p[i + n]); n++)
			;
		if (n)
			r = take_word(c, place_in(sv_n(line.p + i, n), i && strchr("${", line.p[i - 1])), in);
		i += n ? n : 1;
	}
	return r;
}

static bool says(struct sv line, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (memmem(line.p, line.n, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Is there a PATH, and not the end of a longer name? */
static bool says_path(struct sv line)
{
	const char *at = line.p, *end = line.p + line.n;

	while ((at = memmem(at, (size_t)(end - at), "PATH", 4))) {
		if ((at == line.p || !in_identifier(at[-1])) && (at + 4 == end || !in_identifier(at[4])))
			return true;
		at += 4;
	}
	return false;
}

static int read_line(struct carry *c, struct sv line)
{
	static const char *const python[] = {"PYTHONPATH",     "pythonpath",  "sys.path",   "import-mode",
					     "import_mode",    "importlib",   "__import__", "addsitedir",
					     "sys, \"path\"",  "sys, 'path'", "runpy",      "pkgutil",
					     "pytest_plugins", "tar ",        "unzip "};
	static const char *const node[] = {"NODE_PATH",    "modulePaths",     "moduleDirectories",
					   "module.paths", "globalPaths",     "baseUrl",
					   "alias",        "moduleNameMapper"};
	static const char *const looks[] = {
		"PYTHONPATH",   "pythonpath",    "sys.path",  "addsitedir", "NODE_PATH", "PERL5LIB", "PERLLIB",
		"RUBYLIB",      "CLASSPATH",     "LUA_PATH",  "LUA_CPATH",  " -I",       "\"-I",     "include_path",
		"package.path", "package.cpath", "LOAD_PATH", "@INC",       "use lib ",  " -cp ",    "classpath"};
	static const char *const own[] = {"/tests/", "TEST_DIR/", "TEST_DIR}/"};
	struct searching in = {.commands = says_path(line), .node = memmem(line.p, line.n, "NODE_PATH", 9)};
	struct brought *b = c->brought;
	const char *at, *end = line.p + line.n;
	size_t i, n;
	int r = 0;

	b->python |= says(line, python, ARRAY_LEN(python));
	b->node |= says(line, node, ARRAY_LEN(node));
	b->shell |= in.commands;
	for (i = 0; r == 0 && i < ARRAY_LEN(own); i++)
		for (at = line.p; r == 0 && (at = memmem(at, (size_t)(end - at), own[i], strlen(own[i])));) {
			at += strlen(own[i]);
			for (n = 0; at + n < end && in_path(at[n]); n++)
				;
			while (n && at[n - 1] == '/')
				n--;
			r = carry_words_add(&b->below, c->arena, sv_n(at, n));
		}
	return r == 0 && (in.commands || says(line, looks, ARRAY_LEN(looks))) ? take_line(c, line, &in) : r;
}

static int read_texts(struct carry *c)
{
	const struct carry_test_file *f;
	int r = 0;

	for (f = c->req->tests->first; r == 0 && f; f = f->next) {
		struct sv text = f->text;

		while (r == 0 && text.n) {
			const char *eol = memchr(text.p, '\n', text.n);
			size_t n = eol ? (size_t)(eol - text.p) : text.n;

			r = read_line(c, sv_n(text.p, n));
			text = sv_n(text.p + n + (eol != NULL), text.n - n - (eol != NULL));
		}
	}
	return r;
}

/* `-p checks`, `-m checks`: a module of their own that something is started with. */
static bool starts_own(const struct carry *c, struct sv text)
{
	const char *at = text.p, *end = text.p + text.n;
	size_t n;

	for (; (at = memmem(at, (size_t)(end - at), "-", 1)); at++) {
		const char *name = at + 2;

		if (name >= end || (at[1] != 'p' && at[1] != 'm'))
			continue;
		while (name < end && strchr(" \t\"',", *name))
			name++;
		for (n = 0; name + n < end && in_identifier(name[n]); n++)
			;
		if (have(c->brought, 'p', sv_n(name, n)) || have(c->brought, 'P', sv_n(name, n)))
			return true;
	}
	return false;
}

/* The variables of the verifier's. */
static int read_variables(struct carry *c)
{
	static const char *const names[] = {"PYTHONPATH", "NODE_PATH", "PERL5LIB", "PERLLIB",
					    "RUBYLIB",    "CLASSPATH", "LUA_PATH", "LUA_CPATH"};
	struct brought *b = c->brought;
	const char *value;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(names); i++) {
		value = carry_variable(c, names[i]);
		if (value)
			r = take_line(c, sv_of(value), &(struct searching){.node = strcmp(names[i], "NODE_PATH") == 0});
	}
	value = carry_variable(c, "PYTHONPATH");
	b->python |= value && *value;
	value = carry_variable(c, "NODE_PATH");
	b->node |= value && *value;
	for (i = 0; c->path[i]; i++)
		b->shell |= path_is_in(c->path[i], "/tests");
	return r;
}

int carry_brought_init(struct carry *c)
{
	const struct carry_test_file *f;
	struct brought *b;
	int r;

	if (!c->req->tests || !c->req->instruction)
		return 0;
	b = c->brought = arena_alloc(c->arena, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->python = b->shell = b->node = c->req->tests->cut;
	r = read_variables(c);
	r = r < 0 ? r : read_texts(c);
	r = r < 0 ? r : add_files(c);
	if (r < 0)
		return r;
	if (b->keys.n)
		qsort(b->keys.v, b->keys.n, sizeof(b->keys.v[0]), by_text);
	for (f = c->req->tests->first; f && !b->python; f = f->next)
		b->python = starts_own(c, f->text);
	return 0;
}

static bool among(const struct strings *v, struct sv folder)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (sv_is(folder, v->v[i]))
			return true;
	return false;
}

/* Is c->at in a folder of the root's that holds the work folder, too? */
static bool holds_work(const struct carry *c)
{
	struct sv top = first_part(sv_n(c->at + 1, c->len - 1));

	return sv_eq(top, first_part(sv_of(c->req->workdir + 1)));
}

/* Is the folder one where something would be found before, or instead of, the tests' own? */
static bool is_searched(const struct carry *c, struct sv folder)
{
	if (folder.n == 0)
		return !holds_work(c);
	return sv_is(folder, c->req->workdir) || (c->req->start && sv_is(folder, c->req->start)) ||
	       carry_among(c->modules, folder) || carry_among(c->starts, folder) || carry_among(c->copies, folder) ||
	       among(&c->brought->places, folder) || carry_python_folder(carry_base(folder));
}

/* Has the image a module at that path, as a file or a package? Then that is what is found, whatever is beside it. */
static bool image_module(const struct carry *c, struct sv root, struct sv first)
{
	static const char *const endings[] = {".py", "/__init__.py"};
	char path[2 * PATH_MAX];
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(endings); i++) {
		(void)snprintf(path, sizeof(path), "%.*s/%.*s%s", (int)root.n, root.p, (int)first.n, first.p,
			       endings[i]);
		view_stat(&c->root, path + 1, &st);
		if (st.st_mode)
			return true;
	}
	return false;
}

/* Would Python take it for a module of theirs, or look into it for one? */
static bool is_python(const struct carry *c, const struct entry *e, struct sv root, struct sv path)
{
	const struct brought *b = c->brought;
	bool ending = ends_as(path, languages[0].endings);
	struct sv name = ending ? without_ending(path, 'p') : path, base = carry_base(name), up;

	/* a link may lead to a package */
	if (!b->python || (!ending && (!S_ISLNK(e->st.st_mode) || memchr(base.p, '.', base.n))) ||
	    image_module(c, root, first_part(name)))
		return false;
	if (have(b, 'p', name) || have(b, 'P', name))
		return true;
	for (up = folder_of(name); up.n; up = folder_of(up))
		if (have(b, 'p', up))
			return true;
	return (sv_is(base, "__init__") || sv_is(base, "__main__")) && have(b, 'P', folder_of(name));
}

/* Could a shell take it for a command, or read it as one of its scripts? */
static bool is_command(const struct entry *e, struct sv path)
{
	return ends_as(path, shells) || S_ISLNK(e->st.st_mode) || (e->st.st_mode & 0111);
}

static bool is_script(const struct carry *c, const struct entry *e, struct sv path)
{
	const struct brought *b = c->brought;
	size_t i;

	for (i = 1; i < ARRAY_LEN(languages); i++)
		if (languages[i].kind != 'n' && ends_as(path, languages[i].endings) &&
		    have(b, languages[i].kind, without_ending(path, languages[i].kind)))
			return true;
	if (!have(b, 'x', path))
		return false;
	if (ends_as(path, scripts) && !ends_as(path, shells))
		return true;
	/* a shell looks for what is no path */
	return b->shell && !memchr(path.p, '/', path.n) &&
	       (ends_as(path, shells) || (!memchr(path.p, '.', path.n) && is_command(e, path)));
}

/* A package of node's, or a file that is one. */
static bool is_node(const struct carry *c, const struct entry *e, struct sv path)
{
	bool ending = ends_as(path, languages[1].endings);
	struct sv name = ending && !S_ISDIR(e->st.st_mode) ? without_ending(path, 'n') : path;

	if (!c->brought->node || (!ending && S_ISREG(e->st.st_mode) && memchr(path.p, '.', path.n)))
		return false;
	return have(c->brought, 'n', name) || have(c->brought, 'N', name);
}

/* Is the name in the text as a whole? *at moves behind it. */
static const char *next_mention(struct sv text, const char **at, struct sv name)
{
	const char *end = text.p + text.n, *found;

	while (*at && (found = memmem(*at, (size_t)(end - *at), name.p, name.n))) {
		*at = found + 1;
		if ((found == text.p || !in_identifier(found[-1])) &&
		    (found + name.n == end || !in_identifier(found[name.n])))
			return found;
	}
	return NULL;
}

/* `-p NAME`, `require NAME`, and "NAME" as a whole: a name that something is to be found by. */
static bool is_found_by(struct sv text, const char *at, size_t n)
{
	static const char *const before[] = {"-p", "-r", "-M", "-l", "use", "require", "source"};
	const char *end = text.p + text.n, *s = at;
	size_t i;

	if (s > text.p && memchr("\"'", s[-1], 2))
		return at + n < end && at[n] == s[-1];
	while (s > text.p && (s[-1] == ' ' || s[-1] == '\t'))
		s--;
	for (i = 0; i < ARRAY_LEN(before); i++)
		if (sv_ends(sv_n(text.p, (size_t)(s - text.p)), before[i]))
			return at + n == end || at[n] != '.';
	return false;
}

/* Do the tests ask for it by that name alone, so that theirs has to be found? */
static bool is_asked(const struct carry *c, struct sv stem, struct sv name, bool command)
{
	const struct carry_test_file *f;
	const char *at, *m;

	if (!command && carry_tests_module(c->req->tests, stem))
		return true;
	for (f = c->req->tests->first; f; f = f->next) {
		for (at = f->text.p; command && (m = next_mention(f->text, &at, name));)
			if (m == f->text.p || m[-1] != '/')
				return true;
		for (at = f->text.p; (m = next_mention(f->text, &at, stem));)
			if (is_found_by(f->text, m, stem.n))
				return true;
	}
	return false;
}

/* Does the task's own solution make it? */
static bool is_solved(const struct carry *c, struct sv first, struct sv name)
{
	const struct carry_test_file *f;
	const char *at, *m;

	for (f = c->req->solution ? c->req->solution->first : NULL; f; f = f->next) {
		if (f->name && sv_is(name, f->name))
			return true;
		for (at = f->text.p; next_mention(f->text, &at, name);)
			return true;
		for (at = f->text.p; !sv_eq(first, name) && (m = next_mention(f->text, &at, first));)
			if (m + first.n < f->text.p + f->text.n && m[first.n] == '/')
				return true;
	}
	return false;
}

/* The work that the task asks for, whatever the tests have. */
static bool is_work(const struct carry *c, struct sv path, bool command)
{
	struct sv first = first_part(path), name = carry_base(path), stem = first;
	const char *dot = memchr(first.p, '.', first.n);
	bool part = !sv_eq(first, name), starts = sv_starts(name, "__");

	if (dot && dot > first.p)
		stem.n = (size_t)(dot - first.p);
	if (!(carry_told(c, first) || (part && !starts && carry_told(c, name))) && !is_solved(c, first, name))
		return false;
	return !is_asked(c, stem, name, command);
}

/* Below one of the folders that are searched. */
static bool by_search(const struct carry *c, const struct entry *e)
{
	struct sv at = sv_n(c->at, c->len), root, path;
	bool command = ends_as(at, scripts) || !strchr(e->name, '.');

	if (S_ISDIR(e->st.st_mode))
		return false;
	for (root = carry_parent(c);; root = folder_of(root)) {
		path = sv_n(at.p + root.n + 1, at.n - root.n - 1);
		if (is_searched(c, root) && (is_python(c, e, root, path) || is_script(c, e, path)) &&
		    !is_work(c, path, command))
			return true;
		if (root.n == 0)
			return false;
	}
}

bool carry_brought(const struct carry *c, const struct spot *s, const struct entry *e)
{
	struct sv folder = carry_parent(c), name = sv_of(e->name);
	bool node;

	if (!c->brought || is_whiteout(&e->st) || (e->image.st_mode & S_IFMT) == (e->st.st_mode & S_IFMT))
		return false;
	node = carry_node_folder(folder);
	if (node && name.n && name.p[0] == '@')
		return false;
	if ((node || among(&c->brought->nodes, folder)) && is_node(c, e, name))
		return node || !is_work(c, name, false);
	if (!S_ISDIR(e->st.st_mode) && is_command(e, name) &&
	    (carry_command_folder(c, s) || among(&c->brought->commands, folder)) && have(c->brought, 'x', name))
		return !is_work(c, name, true);
	return by_search(c, e);
}

bool carry_brought_folder(const struct carry *c, struct sv path)
{
	while (path.n > 1 && (path.p[path.n - 1] == '/' || path.p[path.n - 1] == '.'))
		path.n--;
	if (sv_is(path, "/tests"))
		return true;
	return c->brought && sv_starts(path, "/tests/") && have(c->brought, 'd', sv_n(path.p + 7, path.n - 7));
}

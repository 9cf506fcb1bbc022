#include "task/carry_writes.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "task/carry_brought.h"
#include "task/carry_link.h"
#include "task/carry_new.h"
#include "task/carry_told.h"

enum { ARGS_MAX = 64, WRITES_MAX = 4096, VARIABLES = 64, NESTED_MAX = 4 };

struct variable {
	struct sv name, value;
};

/* A command's words, without quotes. */
struct command {
	struct sv v[ARGS_MAX];
	size_t n;
	struct sv here, text;
	struct variable variables[VARIABLES]; /* that were given a value, a later one in the place of the first */
	size_t n_variables;
	bool shell;
	write_fn *fn;
	void *arg;
};

static bool in_variable(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The variable of that name. NULL: none that is known. */
static const struct variable *find_variable(const struct command *k, struct sv name)
{
	size_t i;

	for (i = k->n_variables; i-- > 0;)
		if (sv_eq(k->variables[i].name, name))
			return &k->variables[i];
	return NULL;
}

/* The variable at the beginning of the text, "$NAME" or "${NAME}", and how much of it that is. NULL: none that is
 * known. */
static const struct variable *variable_at(const struct command *k, struct sv text, size_t *ret_n)
{
	bool braces = text.n > 1 && text.p[1] == '{';
	size_t start = 1 + braces, n = start;

	while (n < text.n && in_variable(text.p[n]))
		n++;
	if (n == start || (braces && (n == text.n || text.p[n] != '}')))
		return NULL;
	*ret_n = n + braces;
	return find_variable(k, sv_n(text.p + start, n - start));
}

/* The word with the values of its variables, in one of two places by turns. What is not known stays. */
static struct sv expand(const struct command *k, struct sv word, char to[2][PATH_MAX])
{
	unsigned round;

	for (round = 0; round < NESTED_MAX && word.n && memchr(word.p, '$', word.n); round++) {
		char *out = to[round % 2];
		size_t i, n = 0, m;

		for (i = 0; i < word.n; i += m) {
			const struct variable *v =
				word.p[i] == '$' ? variable_at(k, sv_n(word.p + i, word.n - i), &m) : NULL;
			struct sv part = v ? v->value : sv_n(word.p + i, 1);

			m = v ? m : 1;
			if (n + part.n >= PATH_MAX)
				return word;
			memcpy(out + n, part.p, part.n);
			n += part.n;
		}
		word = sv_n(out, n);
	}
	return word;
}

/* In other texts than a shell's: an absolute path, or a variable that is one; otherwise nothing. */
static struct sv path_of(const struct command *k, struct sv word)
{
	const struct variable *v;

	if (word.n && word.p[0] == '/')
		return word;
	v = find_variable(k, word);
	return v ? v->value : sv_n("", 0);
}

/* The variable that the word is, as a whole. NULL: none that is known. */
static const struct variable *variable_of(const struct command *k, struct sv word)
{
	const struct variable *v;
	size_t n;

	if (!k->shell)
		return find_variable(k, word);
	v = word.n && word.p[0] == '$' ? variable_at(k, word, &n) : NULL;
	return v && n == word.n ? v : NULL;
}

static int tell(const struct command *k, enum carry_write is, struct sv word, struct sv from)
{
	char paths[2][PATH_MAX], froms[2][PATH_MAX], heres[2][PATH_MAX];
	const struct variable *v = variable_of(k, word);
	const char *begins = k->v[0].p, *given = v && v->value.n ? v->value.p + v->value.n : begins;
	struct carry_place_written at = {.is = is,
					 .shell = k->shell,
					 .path = k->shell ? expand(k, word, paths) : path_of(k, word),
					 .before = sv_n(k->text.p, (size_t)(begins - k->text.p)),
					 .variable = v ? v->name : sv_n("", 0)};

	if (at.path.n == 0)
		return 0;
	if (given < begins)
		at.since = sv_n(given, (size_t)(begins - given));
	at.from = expand(k, from, froms);
	at.here = expand(k, k->here, heres);
	return k->fn(k->arg, &at);
}

/* The value that the word i gives a variable: NAME=value; NAME = "/path", NAME = Path("/path"). A quotation mark ends a
 * word. */
static bool given_value(const struct command *k, size_t i, size_t name, struct sv *ret)
{
	struct sv w = k->v[i];

	if (k->shell) {
		*ret = name + 1 < w.n ? sv_n(w.p + name + 1, w.n - name - 1) : i + 1 < k->n ? k->v[i + 1] : sv_n("", 0);
		return name < w.n && w.p[name] == '=';
	}
	if (name != w.n || i + 2 >= k->n || !sv_is(k->v[i + 1], "="))
		return false;
	*ret = k->v[i + 2].p[0] != '/' && i + 3 < k->n ? k->v[i + 3] : k->v[i + 2];
	return ret->p[0] == '/';
}

static void take_variables(struct command *k)
{
	struct sv value;
	size_t i, n;

	for (i = 0; i < k->n && k->n_variables < VARIABLES; i++) {
		for (n = 0; n < k->v[i].n && in_variable(k->v[i].p[n]); n++)
			;
		if (n == 0 || !given_value(k, i, n, &value))
			continue;
		k->variables[k->n_variables].name = sv_n(k->v[i].p, n);
		k->variables[k->n_variables++].value = value;
	}
}

static bool listed(const char *const *v, size_t n, struct sv name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sv_is(name, v[i]))
			return true;
	return false;
}

/* Where in the word a redirection begins that writes; n: none does. In other texts than a shell's only a path may
 * follow. */
static size_t redirection(const struct command *k, struct sv word)
{
	size_t i, end;

	for (i = 0; i < word.n && word.p[i] != '>'; i++)
		;
	for (end = i; end < word.n && (word.p[end] == '>' || word.p[end] == '|'); end++)
		;
	if (!k->shell && end < word.n && word.p[end] != '/')
		return word.n;
	return i;
}

static bool redirects(const struct command *k, size_t i)
{
	return redirection(k, k->v[i]) < k->v[i].n;
}

static int take_redirections(const struct command *k)
{
	size_t i, at;
	int r = 0;

	for (i = 0; r == 0 && i < k->n; i++) {
		struct sv to = k->v[i];

		at = redirection(k, to);
		if (at == to.n)
			continue;
		while (at < to.n && (to.p[at] == '>' || to.p[at] == '|'))
			at++;
		to = at < to.n ? sv_n(to.p + at, to.n - at) : i + 1 < k->n ? k->v[i + 1] : sv_n("", 0);
		r = tell(k, WRITE_FILE, to, sv_n("", 0));
	}
	return r;
}

/* An argument that is no option and no part of a redirection. */
static bool is_plain(const struct command *k, size_t i)
{
	const struct sv *w = &k->v[i];

	return w->n && w->p[0] != '-' && !redirects(k, i) && !(i && k->v[i - 1].p[k->v[i - 1].n - 1] == '>') &&
	       (k->shell || path_of(k, *w).n);
}

/* Of the words behind `first`: the last is where the others are copied to. */
static int take_copy(const struct command *k, size_t first)
{
	size_t i, last = 0;
	int r = 0;

	for (i = first; i < k->n; i++)
		if (is_plain(k, i))
			last = i;
	for (i = first; r == 0 && i < last; i++)
		if (is_plain(k, i))
			r = tell(k, WRITE_COPY, k->v[last], k->v[i]);
	return r;
}

static int take_all(const struct command *k, size_t first, enum carry_write is)
{
	size_t i;
	int r = 0;

	for (i = first; r == 0 && i < k->n; i++)
		if (is_plain(k, i))
			r = tell(k, is, k->v[i], sv_n("", 0));
	return r;
}

/* "w", or mode="w", as the word i */
static bool is_mode(const struct command *k, size_t i)
{
	static const char *const modes[] = {"w",  "wb", "wt", "w+",  "wb+", "w+b", "a",
					    "ab", "at", "a+", "ab+", "x",   "xb",  "xt"};

	i += i < k->n && sv_is(k->v[i], "mode=");
	return i < k->n && listed(modes, ARRAY_LEN(modes), k->v[i]);
}

/* Path("/x").write_text(), X.write_text(): what stands before the method. */
static struct sv before_method(const struct command *k, size_t i, const char *method)
{
	struct sv w = k->v[i];

	if (sv_is(w, method))
		return i && k->v[i - 1].p[0] == '/' ? k->v[i - 1] : sv_n("", 0);
	return !k->shell && sv_ends(w, method) ? sv_n(w.p, w.n - strlen(method)) : sv_n("", 0);
}

static int take_methods(const struct command *k, size_t i)
{
	static const struct {
		const char *method;
		enum carry_write is;
		bool mode;
	} methods[] = {{".write_text", WRITE_FILE, false},
		       {".write_bytes", WRITE_FILE, false},
		       {".touch", WRITE_FILE, false},
		       {".open", WRITE_FILE, true},
		       {".mkdir", WRITE_FOLDER, false}};
	size_t j;
	int r = 0;

	for (j = 0; r == 0 && j < ARRAY_LEN(methods); j++) {
		struct sv path = before_method(k, i, methods[j].method);

		if (path.n && (!methods[j].mode || is_mode(k, i + 1)))
			r = tell(k, methods[j].is, path, sv_n("", 0));
	}
	return r;
}

static int take_word(const struct command *k, size_t i)
{
	static const char *const copiers[] = {"cp",          "mv",           "rsync",           "ln",
					      "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree",
					      "shutil.move", "os.rename",    "os.replace",      "os.symlink",
					      "os.link"};
	static const char *const makers[] = {"mkdir", "os.mkdir", "os.makedirs", "makedirs"};
	struct sv w = k->v[i];

	/* other commands have one called install, which copies nothing */
	if (listed(copiers, ARRAY_LEN(copiers), w) || (i == 0 && sv_is(w, "install")))
		return take_copy(k, i + 1);
	if (listed(makers, ARRAY_LEN(makers), w))
		return take_all(k, i + 1, WRITE_FOLDER);
	if (sv_is(w, "tee") || sv_is(w, "touch"))
		return take_all(k, i + 1, WRITE_FILE);
	if (i + 1 < k->n && (sv_is(w, "open") || sv_ends(w, ".open")) && is_mode(k, i + 2))
		return tell(k, WRITE_FILE, k->v[i + 1], sv_n("", 0));
	if (i + 1 < k->n && (sv_is(w, "-o") || sv_is(w, "--output")) && k->v[i + 1].p[0] == '/')
		return tell(k, WRITE_FILE, k->v[i + 1], sv_n("", 0));
	return take_methods(k, i);
}

static int take_command(struct command *k)
{
	size_t i;
	int r;

	take_variables(k);
	r = take_redirections(k);
	for (i = 0; r == 0 && i < k->n; i++)
		r = take_word(k, i);
	for (i = 0; i + 1 < k->n; i++)
		if (sv_is(k->v[i], "cd") || sv_is(k->v[i], "pushd"))
			k->here = memchr("/$", k->v[i + 1].p[0], 2) ? k->v[i + 1] : sv_n("", 0);
	k->n = 0;
	return r;
}

/* But not where a line goes on, or behind a redirection. */
static bool ends_command(struct sv text, size_t i)
{
	return memchr("\n;|&", text.p[i], 4) && !(i && text.p[i - 1] == '\\') &&
	       !(i && text.p[i] == '|' && text.p[i - 1] == '>');
}

int carry_writes_in(struct sv text, bool shell, write_fn *fn, void *arg)
{
	static const char between[] = " \t\r\"'`(),[]\\\n";
	struct command k = {.text = text, .shell = shell, .fn = fn, .arg = arg};
	size_t i = 0, n;
	int r = 0;

	while (r == 0 && i < text.n) {
		if (ends_command(text, i)) {
			r = take_command(&k);
			i++;
			continue;
		}
		if (!text.p[i] || strchr(between, text.p[i])) {
			i++;
			continue;
		}
		if (text.p[i] == '#' && (i == 0 || strchr(" \t\n", text.p[i - 1]))) {
			while (i < text.n && text.p[i] != '\n')
				i++;
			continue;
		}
		for (n = 0;
		     i + n < text.n && text.p[i + n] && !strchr(between, text.p[i + n]) && !ends_command(text, i + n);
		     n++)
			;
		if (k.n < ARGS_MAX)
			k.v[k.n++] = sv_n(text.p + i, n);
		i += n ? n : 1;
	}
	return r < 0 ? r : take_command(&k);
}

/* A place that is written to. */
struct written {
	struct written *next;
	enum carry_write is;
	const char *path; /* absolute */
	const char *from; /* the name of what comes; or NULL */
	bool spoken;      /* of it, before */
	bool whole;       /* it is a folder of the tests' that comes */
	bool parts;       /* what is in such a folder */
};

static struct sv without_slashes(struct sv path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

/* The last part of a path, which may be relative. */
static struct sv last_part(struct sv path)
{
	size_t n;

	path = without_slashes(path);
	for (n = path.n; n && path.p[n - 1] != '/'; n--)
		;
	return sv_n(path.p + n, path.n - n);
}

/* The path without "." and "..", from the folder on if it is relative. NULL: none that could be told. */
static char *absolute(struct carry *c, struct sv folder, struct sv path)
{
	char *to = path.p[0] == '/'
			   ? arena_printf(c->arena, "%.*s/", (int)path.n, path.p)
			   : arena_printf(c->arena, "%.*s/%.*s/", (int)folder.n, folder.p, (int)path.n, path.p);
	size_t n = 0, i, m;

	for (i = 0; to && to[i]; i += m + 1) {
		m = strcspn(to + i, "/");
		if (m == 0 || (m == 1 && to[i] == '.'))
			continue;
		if (m == 2 && to[i] == '.' && to[i + 1] == '.') {
			while (n && to[--n] != '/')
				;
			continue;
		}
		to[n++] = '/';
		memmove(to + n, to + i, m);
		n += m;
	}
	if (to)
		to[n] = '\0';
	return n ? to : NULL;
}

/* Is it no comment? If it is, *at goes to the end of the line, which is comment, too: to look back from each place in
 * it would take for ever. NULL: there is none. */
static bool is_code(struct sv text, const char **at)
{
	const char *s = *at;

	while (s > text.p && s[-1] != '\n' && s[-1] != '#')
		s--;
	if (s == text.p || s[-1] == '\n')
		return true;
	*at = memchr(*at, '\n', (size_t)(text.p + text.n - *at));
	return false;
}

/* Is the path in the text, but for comments and where a variable is given it? */
static bool speaks_of(struct sv text, struct sv path)
{
	const char *at = text.p, *end = text.p + text.n, *s;

	for (; (at = memmem(at, (size_t)(end - at), path.p, path.n)); at++) {
		if (at + path.n < end && (in_variable(at[path.n]) || memchr(".-/", at[path.n], 3)))
			continue;
		for (s = at; s > text.p && (s[-1] == '"' || s[-1] == '\'' || s[-1] == ' ' || s[-1] == '('); s--)
			;
		if (s > text.p && s[-1] == '=')
			continue;
		if (is_code(text, &at))
			return true;
		if (!at)
			return false;
	}
	return false;
}

/* Is the variable whose name stands there only given to another one? */
static bool is_given(struct sv text, const char *at, size_t n)
{
	const char *s = at, *end = text.p + text.n, *e = at + n;

	while (s > text.p && memchr("\"' ${", s[-1], 5))
		s--;
	while (e < end && memchr("\"' }", *e, 4))
		e++;
	return s > text.p && s[-1] == '=' && (e == end || *e == '\n' || *e == ';');
}

/* Is a variable that holds a path in the text, as speaks_of() has it of the path? In a shell's "$NAME". */
static bool speaks_by(struct sv text, struct sv name, bool shell)
{
	const char *at = text.p, *end = text.p + text.n, *s;

	for (; text.n && name.n && (at = memmem(at, (size_t)(end - at), name.p, name.n)); at++) {
		s = at > text.p && at[-1] == '{' ? at - 1 : at;
		if ((at + name.n < end && in_variable(at[name.n])) || (at > text.p && in_variable(at[-1])) ||
		    (shell && (s == text.p || s[-1] != '$')) || is_given(text, at, name.n))
			continue;
		if (is_code(text, &at))
			return true;
		if (!at)
			return false;
	}
	return false;
}

/* What comes, as it is known at a place. */
struct coming {
	struct sv name; /* n 0: it has none, or is not known */
	bool spoken, whole, parts;
};

static int add(struct carry *c, enum carry_write is, const char *path, struct coming in)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *folder;
	struct written *w;

	if (!slash || c->n_writes == WRITES_MAX)
		return arena_failed(c->arena) ? -ENOMEM : 0;
	c->n_writes++;
	folder = slash > path ? carry_link_resolve(c, sv_n(path, (size_t)(slash - path))) : "";
	w = arena_alloc(c->arena, sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct written){c->writes,
			      is,
			      folder ? arena_printf(c->arena, "%s%s", folder, slash) : path,
			      in.name.n ? arena_str(c->arena, in.name) : NULL,
			      in.spoken,
			      in.whole,
			      in.parts};
	c->writes = w;
	return w->path && carry_words_add(&c->write_names, c->arena, sv_of(slash + 1)) == 0 ? 0 : -ENOMEM;
}

/* What a copy may mean: the path, or a name in it where that is a folder. */
static int add_at(struct carry *c, struct sv folder, enum carry_write is, struct sv path, struct coming in)
{
	struct sv name = in.name;
	char *to = absolute(c, folder, path);
	int r;

	in.name = is == WRITE_COPY ? name : sv_n("", 0);
	r = add(c, is, to, in);
	if (r < 0 || is != WRITE_COPY || name.n == 0 || memchr(name.p, '*', name.n) || name.p[0] == '.')
		return r;
	/* "" is the root */
	return add(c, WRITE_COPY, arena_printf(c->arena, "%s/%.*s", to ? to : "", (int)name.n, name.p),
		   (struct coming){.name = name});
}

/* Where what is copied lies, if that is the tests' folder, or one in it: what comes is all of it, or what is in it. */
static void of_tests(struct carry *c, const struct carry_place_written *at, struct coming *in)
{
	static const char *const called[] = {"$TEST_DIR", "${TEST_DIR}"};
	struct sv from = without_slashes(at->from), last;
	const char *whole;
	size_t i;

	for (i = 0; i < ARRAY_LEN(called); i++)
		if (sv_starts(from, called[i]))
			from = sv_of(arena_printf(c->arena, "/tests%.*s", (int)(from.n - strlen(called[i])),
						  from.p + strlen(called[i])));
	last = last_part(from);
	in->parts = memchr(last.p, '*', last.n);
	if (in->parts)
		from.n -= last.n;
	/* what a variable holds is not known: its last part may be */
	if (memchr(from.p, '$', from.n))
		whole = arena_printf(c->arena, "/tests/%.*s", (int)last.n, last.p);
	else
		whole = absolute(c, at->here, from.n ? from : sv_of("."));
	in->whole = whole && carry_brought_folder(c, sv_of(whole));
	in->parts &= in->whole;
	in->whole &= !in->parts;
}

static int take_write(void *arg, const struct carry_place_written *at)
{
	struct carry *c = arg;
	struct sv path = at->path, here = at->here, start = sv_of(c->req->start ? c->req->start : "");
	struct coming in = {.name = last_part(at->from)};
	int r;

	if (c->n_writes == WRITES_MAX || at->from.n >= PATH_MAX / 2 || path.n >= PATH_MAX / 2 || here.n >= PATH_MAX / 2)
		return 0;
	if (memchr(path.p, '$', path.n) || memchr(path.p, '{', path.n) || memchr(path.p, '*', path.n) ||
	    memchr(path.p, '~', path.n))
		return 0;
	in.spoken = speaks_of(at->before, path) || speaks_by(at->since, at->variable, at->shell);
	if (at->is == WRITE_COPY)
		of_tests(c, at, &in);
	if (path.p[0] == '/' || (here.n && here.p[0] == '/' && !memchr(here.p, '$', here.n)))
		return add_at(c, here, at->is, path, in);
	r = add_at(c, sv_of(c->req->workdir), at->is, path, in);
	return r == 0 && start.n ? add_at(c, start, at->is, path, in) : r;
}

static bool is_shell(const struct carry_test_file *f)
{
	struct sv name = sv_of(f->name ? f->name : "");

	return sv_ends(name, ".sh") || sv_ends(name, ".bash") || sv_ends(name, ".bats") || !memchr(name.p, '.', name.n);
}

int carry_writes_init(struct carry *c)
{
	const struct carry_test_file *f;
	int r = 0;

	/* what no instruction is known of may be meant */
	for (f = c->req->tests && c->req->instruction ? c->req->tests->first : NULL; r == 0 && f; f = f->next)
		r = carry_writes_in(f->text, is_shell(f), take_write, c);
	return r;
}

/* What follows the last dot; "" where there is none behind the first character. */
static const char *ending(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? dot : "";
}

/* Would a file, or a link, be taken for what comes? */
static bool is_taken_for(const struct written *w, const struct entry *e)
{
	return !w->spoken || S_ISLNK(e->st.st_mode);
}

/* Is a folder in the way of what comes? */
static bool in_the_way(const struct written *w, const char *name)
{
	return w->is == WRITE_FILE || w->whole ||
	       (w->is == WRITE_COPY && w->from &&
		(strcmp(w->from, name) == 0 || (*ending(name) && strcmp(ending(name), ending(w->from)) == 0)));
}

static const struct written *find_write(const struct carry *c, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	const struct written *w;

	if (strlen(name) <= CARRY_WORD_MAX && !carry_words_have(&c->write_names, sv_of(name)))
		return NULL;
	for (w = c->writes; w && strcmp(w->path, path) != 0; w = w->next)
		;
	return w;
}

/* A package or a library comes before a module that tests write beside it. */
static bool before_module(const struct carry *c, const struct entry *e)
{
	size_t stem = strcspn(e->name, ".");
	char path[PATH_MAX + 4];

	if (stem == 0 || (!S_ISDIR(e->st.st_mode) && !S_ISLNK(e->st.st_mode) && !sv_ends(sv_of(e->name), ".so")))
		return false;
	(void)snprintf(path, sizeof(path), "%.*s.py", (int)(c->len - strlen(e->name) + stem), c->at);
	return find_write(c, path);
}

bool carry_written(const struct carry *c, const struct entry *e)
{
	bool folder = S_ISDIR(e->st.st_mode), node = strstr(c->at, "/node_modules/");
	struct sv name = sv_of(e->name);
	bool made = false, parts = false;
	const struct written *w;

	if (!c->req->instruction || is_whiteout(&e->st) || (e->image.st_mode & S_IFMT) == (e->st.st_mode & S_IFMT) ||
	    (c->work && path_is_in(c->work, c->at)))
		return false;
	if (folder && !node && memchr(e->name, '.', name.n) && e->name[0] != '.' && carry_tests_named(c, name))
		return true;
	if (carry_told(c, name))
		return false;
	if (before_module(c, e))
		return true;
	/* of several ways to write there, one is enough */
	for (w = find_write(c, c->at); w; w = w->next) {
		if (strcmp(w->path, c->at) != 0)
			continue;
		if (folder ? in_the_way(w, e->name) : is_taken_for(w, e))
			return true;
		made |= w->is == WRITE_FOLDER;
		parts |= w->parts;
	}
	/* a folder that they make, for what is in theirs */
	return folder && made && parts;
}

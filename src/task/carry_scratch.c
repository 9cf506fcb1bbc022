#include "task/carry_scratch.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"
#include "task/carry_told.h"

enum { TOLD_MAX = 1024 };

/* A path that the instruction names, below such a place. */
struct told_path {
	struct told_path *next;
	const char *below; /* "a/b*", without slashes at its ends */
};

/* What follows the place in the path: "" for the place itself. NULL: it is not there. */
static const char *below_place(const struct carry *c, const char *path)
{
	const char *const *place, *rest = NULL;

	for (place = c->scratch; *place && !rest; place++)
		rest = path_rest(path, *place);
	return rest ? rest + (*rest == '/') : NULL;
}

/* How much of the text stands for any name: "*", "<x>", "{x}", "[x]", "$X"; 0: nothing. */
static size_t any_name(struct sv text)
{
	static const char opens[] = "<{[", closes[] = ">}]";
	const char *open = text.n && text.p[0] ? strchr(opens, text.p[0]) : NULL;
	size_t n = 1;

	if (text.n == 0 || (!open && !memchr("*?$", text.p[0], 3)))
		return 0;
	if (text.p[0] == '$' && text.n > 1 && text.p[1] == '{')
		return 1 + any_name(sv_n(text.p + 1, text.n - 1));
	if (!open) {
		while (text.p[0] == '$' && n < text.n && ((text.p[n] >= 'A' && text.p[n] <= 'Z') || text.p[n] == '_'))
			n++;
		return n;
	}
	while (n < text.n && n < CARRY_WORD_MAX && text.p[n] != closes[open - opens] && text.p[n] != '/' &&
	       text.p[n] != '\n')
		n++;
	return n < text.n && text.p[n] == closes[open - opens] ? n + 1 : 0;
}

/* Without slashes, a sentence's end and an emphasis at its end. */
static size_t trimmed(const char *path, size_t n)
{
	size_t stars;

	for (;;) {
		for (stars = 0; stars < n && path[n - 1 - stars] == '*'; stars++)
			;
		if (stars > 1 || (stars && (n == 1 || path[n - 2] == '/')))
			n -= stars;
		else if (n && !stars && memchr("./!", path[n - 1], 3))
			n--;
		else
			return n;
	}
}

/* How much of the text is one character of a name, written as Markdown has it: "\_", "&amp;". 0: it is not. */
static size_t escaped(struct sv text, char *ret)
{
	if (text.n > 1 && text.p[0] == '\\' && text.p[1] && strchr("_.-+~#!&", text.p[1])) {
		*ret = text.p[1];
		return 2;
	}
	*ret = '&';
	return sv_starts(text, "&amp;") ? 5 : 0;
}

/* The path at the beginning of the text, in which '*' stands for any name; "" where it is none. */
static size_t take_path(struct sv text, char to[PATH_MAX])
{
	size_t i = 0, n = 0, any;
	char plain;

	while (i < text.n && n + 1 < PATH_MAX) {
		any = escaped(sv_n(text.p + i, text.n - i), &plain);
		if (any) {
			to[n++] = plain;
			i += any;
			continue;
		}
		if ((unsigned char)text.p[i] <= ' ' || memchr("\"'`(),;:|&\\]}>", text.p[i], 14) ||
		    carry_mark(sv_n(text.p + i, text.n - i)))
			break;
		any = any_name(sv_n(text.p + i, text.n - i));
		if (any == 0 && text.p[i] == '<')
			break;
		to[n++] = any ? '*' : text.p[i];
		i += any ? any : 1;
	}
	return trimmed(to, n);
}

/* How much of a path has nothing but what most names are made of: what follows may be the prose around it. */
static size_t plain_part(const char *path, size_t n)
{
	size_t i = 0;

	while (i < n &&
	       ((path[i] >= '0' && path[i] <= '9') || (path[i] >= 'a' && path[i] <= 'z') ||
		(path[i] >= 'A' && path[i] <= 'Z') || memchr("/._-+*", path[i], 6)) &&
	       !(i + 1 < n && path[i] == '-' && path[i + 1] == '-'))
		i++;
	return trimmed(path, i);
}

/* Has its first part anything but what stands for others? */
static bool says_a_name(struct sv path)
{
	size_t i;

	for (i = 0; i < path.n && path.p[i] != '/'; i++)
		if (path.p[i] != '*' && path.p[i] != '.')
			return true;
	return false;
}

static int add_told(struct carry *c, struct sv path)
{
	struct told_path *t;

	while (path.n && path.p[0] == '/')
		path = sv_n(path.p + 1, path.n - 1);
	if (!says_a_name(path)) {
		c->told_scratch = true;
		return 0;
	}
	t = arena_alloc(c->arena, sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct told_path){c->told_paths, arena_str(c->arena, path)};
	c->told_paths = t;
	return t->below ? 0 : -ENOMEM;
}

/* As it stands there, and without what may be around it. */
static int add_all(struct carry *c, const char *path, size_t n)
{
	size_t plain = plain_part(path, n), bare = n;
	int r = add_told(c, sv_n(path, n));

	while (bare && path[bare - 1] == '_')
		bare--;
	bare = trimmed(path, bare);
	if (r == 0 && plain < n)
		r = add_told(c, sv_n(path, plain));
	return r == 0 && bare < n ? add_told(c, sv_n(path, bare)) : r;
}

/* A path with spaces in it, between marks of emphasis, quotation or code; "" where it is none. */
static size_t take_marked(struct sv text, size_t at, size_t from, char to[PATH_MAX])
{
	static const char *const marks[] = {"**", "__", "`", "\"", "'"};
	const char *end = NULL, *eol = memchr(text.p + from, '\n', text.n - from);
	size_t i, n = (eol ? (size_t)(eol - text.p) : text.n) - from;

	for (i = 0; !end && i < ARRAY_LEN(marks); i++)
		if (sv_ends(sv_n(text.p, at), marks[i]))
			end = memmem(text.p + from, n, marks[i], strlen(marks[i]));
	n = end ? (size_t)(end - text.p) - from : 0;
	if (n >= PATH_MAX || !memchr(text.p + from, ' ', n) || text.p[from] != '/')
		return 0;
	memcpy(to, text.p + from, n);
	return trimmed(to, n);
}

/* As the instruction may call them. */
static const char *const called[] = {"/var/tmp", "/tmp"};

static bool in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is what begins at `at` the end of another path? Not behind an emphasis, or in the address of a file. */
static bool goes_on(struct sv text, size_t at)
{
	size_t i = at;

	while (i && text.p[i - 1] == '_')
		i--;
	if (i < at && (i == 0 || (!in_word(text.p[i - 1]) && !memchr("/.-~}", text.p[i - 1], 5))))
		return false;
	if (at == 0 || sv_ends(sv_n(text.p, at), "file://"))
		return false;
	return in_word(text.p[at - 1]) || memchr("/._-~}", text.p[at - 1], 6);
}

static int take_called(struct carry *c, struct sv text, size_t at, unsigned *left)
{
	char path[PATH_MAX];
	size_t i, n;
	struct sv rest = sv_n(text.p + at, text.n - at);

	for (i = 0; i < ARRAY_LEN(called); i++) {
		if (!sv_starts(rest, called[i]))
			continue;
		n = strlen(called[i]);
		n = take_path(sv_n(rest.p + n, rest.n - n), path);
		if ((n && path[0] != '/' && plain_part(path, n)) || !*left)
			return 0;
		--*left;
		if (add_all(c, path, n) < 0)
			return -ENOMEM;
		n = take_marked(text, at, at + strlen(called[i]), path);
		return n ? add_told(c, sv_n(path, n)) : 0;
	}
	return 0;
}

int carry_scratch_init(struct carry *c)
{
	struct sv text = sv_of(c->req->instruction ? c->req->instruction : "");
	const char **from, **to = c->scratch;
	unsigned left = TOLD_MAX;
	size_t at;
	int r = 0;

	/* the work folder is data, wherever it is */
	for (from = to; *from; from++)
		if (strcmp(*from, "/") != 0 && (!c->work || !path_is_in(*from, c->work)))
			*to++ = *from;
	*to = NULL;
	for (at = 0; r == 0 && at < text.n; at++)
		if (text.p[at] == '/' && !goes_on(text, at))
			r = take_called(c, text, at, &left);
	return r;
}

enum match { MATCH_NONE, MATCH_WAY, MATCH_IN };

/* Is the path on the way to what is told, or at or below it? */
static enum match match(const char *told, const char *path)
{
	while (*told && *path) {
		size_t n = strcspn(told, "/"), m = strcspn(path, "/");

		if (!glob_component(sv_n(told, n), sv_n(path, m)))
			return MATCH_NONE;
		told += n + (told[n] == '/');
		path += m + (path[m] == '/');
	}
	return *told ? MATCH_WAY : MATCH_IN;
}

static enum match told_match(const struct carry *c, const char *below)
{
	const struct told_path *t;
	enum match best = MATCH_NONE, m;
	struct sv first = sv_n(below, strcspn(below, "/"));

	if (c->told_scratch && (carry_told(c, first) || !carry_spoken(c, first)))
		return MATCH_IN;
	for (t = c->told_paths; t && best != MATCH_IN; t = t->next) {
		m = match(t->below, below);
		best = m > best ? m : best;
	}
	return best;
}

bool carry_scratch_place(const struct carry *c, const char *path)
{
	const char *below = below_place(c, path);

	return below && !*below;
}

bool carry_scratch_unnamed(const struct carry *c, const char *path)
{
	const char *below = below_place(c, path);

	if (!below || !c->req->instruction)
		return false;
	if ((c->work && path_is_in(path, c->work)) || (c->req->start && path_is_in(path, c->req->start)) ||
	    carry_mounted(c, path))
		return false;
	return !*below || told_match(c, below) != MATCH_IN;
}

/* Does something that is carried lie below the folder? */
static bool on_the_way(const struct carry *c, const char *below)
{
	return told_match(c, below) == MATCH_WAY || (c->work && path_is_in(c->work, c->at)) ||
	       (c->req->start && path_is_in(c->req->start, c->at)) || carry_leads_to(c->req->mounts, c->at);
}

bool carry_scratch_leaves(const struct carry *c, const struct entry *e)
{
	bool folder = S_ISDIR(e->st.st_mode);
	const char *below;

	if (!c->req->instruction || (S_ISLNK(e->st.st_mode) && S_ISLNK(e->image.st_mode)))
		return false;
	if (!folder && carry_leads_to(c->scratch, c->at))
		return true;
	below = below_place(c, c->at);
	if (!below || !*below || is_whiteout(&e->st) || (S_ISREG(e->st.st_mode) && S_ISREG(e->image.st_mode)))
		return false;
	if (folder && (S_ISDIR(e->image.st_mode) || on_the_way(c, below)))
		return false;
	return carry_scratch_unnamed(c, c->at);
}

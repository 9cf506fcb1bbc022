#include "task/carry_link.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "sys/beneath.h"
#include "task/carry_copy.h"
#include "task/carry_new.h"
#include "task/carry_scratch.h"
#include "task/carry_told.h"

/* As many links as the kernel follows; and steps for all links together, which take seconds: a folder that is opened
 * costs OPEN_STEPS of them, and every STEP_BYTES of a path one more. What was found is kept, up to MEMO_MAX bytes.
 * Copies in the place of links may take as much as BYTES_MAX, where the request says no less. */
enum {
	LINKS_MAX = 40,
	ROUNDS_MAX = 8,
	STEPS_MAX = 1 << 24,
	OPEN_STEPS = 8,
	STEP_BYTES = 64,
	MEMO_MAX = 64 << 20,
	MEMO_HEADS = 1 << 16
};
static const uint64_t BYTES_MAX = 4ULL << 30;

/* A path of a view without links on the way: a link with that text, or NULL for anything else, even nothing. */
struct seen {
	struct seen *next;
	const char *path, *target;
};

struct link_memo {
	struct seen *heads[MEMO_HEADS];
	size_t bytes;
};

/* A way through a view. */
struct trail {
	const struct layered *view;
	const struct carry *places; /* whose places end it; NULL: none does */
	struct layered in;          /* the folder `at`, unless that is the root; empty: there is none */
	bool same;                  /* the image has the link that it began with */
	bool moved;                 /* `in` is of another `at`, and is opened anew where it is needed */
	char at[PATH_MAX];          /* absolute, without links; "" is the root */
	size_t n;
	char rest[2 * PATH_MAX];
	size_t n_rest;
	unsigned links;
	uint64_t steps;
	struct link_memo *memo; /* of the view; or NULL */
	struct arena *arena;    /* the memo's */
};

static struct seen **memo_at(struct link_memo *m, struct sv path)
{
	uint32_t h = 2166136261U;
	struct seen **at;
	size_t i;

	for (i = 0; i < path.n; i++)
		h = (h ^ (unsigned char)path.p[i]) * 16777619U;
	for (at = &m->heads[(h ^ h >> 16) % MEMO_HEADS]; *at && !sv_is(path, (*at)->path); at = &(*at)->next)
		;
	return at;
}

/* What is not kept, for want of room, is looked up again. */
static void memo_keep(const struct trail *t, struct sv path, const char *target)
{
	struct seen *s = t->memo && t->memo->bytes < MEMO_MAX ? arena_alloc(t->arena, sizeof(*s)) : NULL;
	const char *text = s && target ? arena_str(t->arena, sv_of(target)) : NULL;

	if (!s || (target && !text))
		return;
	*s = (struct seen){NULL, arena_str(t->arena, path), text};
	if (!s->path)
		return;
	*memo_at(t->memo, path) = s;
	t->memo->bytes += sizeof(*s) + path.n + (target ? strlen(target) : 0);
}

static struct link_memo *memo_new(struct arena *a)
{
	struct link_memo *m = arena_alloc(a, sizeof(*m));

	if (m)
		*m = (struct link_memo){.bytes = 0};
	return m;
}

static bool trail_take(struct trail *t, int r, struct layered next)
{
	if (r < 0)
		return false;
	layered_done(&t->in);
	t->in = next;
	t->moved = false;
	return true;
}

static bool trail_enter(struct trail *t, const struct layered *folder, const char *name)
{
	struct layered next = {0};
	int r = layered_enter(folder, name, &next);

	t->steps += OPEN_STEPS;
	return trail_take(t, r, next);
}

/* Opens the folder `at`, from the root. */
static bool trail_open(struct trail *t)
{
	struct layered next = {0};
	int r = view_enter(t->view, sv_n(t->at + 1, t->n - 1), &next);
	size_t i;

	for (i = 0; i < t->n; i++)
		t->steps += t->at[i] == '/' ? OPEN_STEPS : 0;
	return trail_take(t, r, next);
}

/* NULL: it cannot be opened. */
static const struct layered *trail_folder(struct trail *t)
{
	if (t->n == 0)
		return t->view;
	return t->moved && !trail_open(t) ? NULL : &t->in;
}

static void trail_cut(struct trail *t)
{
	while (t->n && t->at[--t->n] != '/')
		;
	t->at[t->n] = '\0';
}

static bool trail_push(struct trail *t, struct sv target)
{
	if (t->n_rest + target.n + 1 > sizeof(t->rest))
		return false;
	memmove(t->rest + target.n + 1, t->rest, t->n_rest);
	memcpy(t->rest, target.p, target.n);
	t->rest[target.n] = '/';
	t->n_rest += target.n + 1;
	if (target.n && target.p[0] == '/')
		t->at[t->n = 0] = '\0';
	return true;
}

static struct sv trail_next(struct trail *t, char name[NAME_MAX + 1])
{
	size_t n = 0, skip = 0;

	while (skip < t->n_rest && t->rest[skip] == '/')
		skip++;
	while (skip + n < t->n_rest && t->rest[skip + n] != '/')
		n++;
	if (n <= NAME_MAX) {
		memcpy(name, t->rest + skip, n);
		name[n] = '\0';
	}
	memmove(t->rest, t->rest + skip + n, t->n_rest - skip - n);
	t->n_rest -= skip + n;
	return sv_n(name, n);
}

static bool is_barred(const struct trail *t)
{
	return t->places && carry_place(t->places, t->at) && !(t->same && carry_plain_device(t->at)) &&
	       strcmp(t->at, "/dev") != 0;
}

/* What is mounted may have links, which are not looked at: a way back from there cannot be told. */
static bool is_lost(const struct trail *t)
{
	return t->places && carry_mounted(t->places, t->at) && memmem(t->rest, t->n_rest, "/../", 4);
}

static bool trail_push_link(struct trail *t, struct sv target)
{
	trail_cut(t);
	return ++t->links <= LINKS_MAX && trail_push(t, target);
}

/* What is at `at`, whose folder has n bytes of it, is looked up. */
static bool trail_look(struct trail *t, struct sv name, size_t n)
{
	const struct layered *folder;
	char text[PATH_MAX];
	size_t len = t->n;
	struct stat st;
	ssize_t got;
	int fd;

	t->at[t->n = n] = '\0';
	folder = trail_folder(t);
	t->at[n] = '/';
	t->n = len;
	if (!folder)
		return false;
	layered_stat(folder, name.p, &st, &fd);
	if (!S_ISLNK(st.st_mode)) {
		if (!trail_enter(t, folder, name.p))
			return false;
		memo_keep(t, sv_n(t->at, t->n), NULL);
		return true;
	}
	got = readlinkat(fd, name.p, text, sizeof(text));
	if (got <= 0 || got == (ssize_t)sizeof(text))
		return false;
	text[got] = '\0';
	memo_keep(t, sv_n(t->at, t->n), text);
	return trail_push_link(t, sv_n(text, (size_t)got));
}

/* One step on the way. False: it leads nowhere that could be told. */
static bool trail_step(struct trail *t, struct sv name)
{
	const struct seen *seen;
	size_t n = t->n;

	if (t->n + name.n + 2 > sizeof(t->at))
		return false;
	t->at[t->n++] = '/';
	memcpy(t->at + t->n, name.p, name.n + 1);
	t->n += name.n;
	if (is_barred(t) || is_lost(t))
		return false;
	seen = t->memo ? *memo_at(t->memo, sv_n(t->at, t->n)) : NULL;
	if (!seen)
		return trail_look(t, name, n);
	if (seen->target)
		return trail_push_link(t, sv_of(seen->target));
	t->moved = true;
	return true;
}

static bool trail_follow(struct trail *t)
{
	char name[NAME_MAX + 1];
	struct sv part;
	bool ok = true;

	while (ok && (part = trail_next(t, name)).n) {
		t->steps += 1 + (t->n + t->n_rest) / STEP_BYTES;
		if (t->steps > STEPS_MAX) {
			ok = false;
		} else if (sv_is(part, "..")) {
			trail_cut(t);
			t->moved = true;
		} else if (!sv_is(part, ".")) {
			ok = part.n <= NAME_MAX && trail_step(t, part);
		}
	}
	layered_done(&t->in);
	return ok;
}

/* The image with what is in the folder `top` on it. */
static struct layered view_with(const struct carry *c, int top, int fds[VIEW_LAYERS_MAX + 1])
{
	fds[0] = top;
	memcpy(fds + 1, c->root.fds, c->root.n * sizeof(*fds));
	return (struct layered){fds, c->root.n + 1};
}

/* The root is no place to lead to: what is named below such a link would be a name of the runner's. end: where it leads
 * otherwise. */
static bool leads_to_runner(struct carry *c, const struct layered *view, struct sv target, bool same,
			    char end[PATH_MAX])
{
	struct trail t = {
		.view = view, .places = c, .same = same, .moved = true, .steps = c->link_steps, .arena = c->arena};
	struct sv folder = carry_parent(c);
	bool leads;

	if (!c->link_memo)
		c->link_memo = memo_new(c->arena);
	t.memo = c->link_memo;
	memcpy(t.at, folder.p, folder.n);
	t.n = folder.n;
	leads = !trail_push(&t, target) || !trail_follow(&t) || t.n == 0 || strcmp(t.at, "/dev") == 0;
	c->link_steps = t.steps;
	memcpy(end, t.at, t.n + 1);
	return leads;
}

bool carry_link_to_runner(struct carry *c, struct sv target, bool same)
{
	int fds[VIEW_LAYERS_MAX + 1];
	struct layered view = view_with(c, c->req->upper, fds);
	char end[PATH_MAX];

	return leads_to_runner(c, &view, target, same, end);
}

bool carry_link_same(const struct spot *s, const struct entry *e)
{
	return S_ISLNK(e->st.st_mode) && S_ISLNK(e->image.st_mode) && same_links(s->in, e->name, e->image_fd, e->name);
}

bool carry_link_in(const struct layered *image, struct sv path, char ret[PATH_MAX])
{
	struct trail t = {.view = image};

	if (!trail_push(&t, path) || !trail_follow(&t))
		return false;
	memcpy(ret, t.at, t.n + 1);
	return true;
}

const char *carry_link_resolve(const struct carry *c, struct sv path)
{
	char to[PATH_MAX];

	return carry_link_in(&c->root, path, to) && to[0] ? arena_str(c->arena, sv_of(to)) : NULL;
}

struct carried_link {
	struct carried_link *next;
	const char *path; /* absolute; NULL: it is no link any more */
	bool same;        /* the image's own */
};

int carry_link_keep(struct carry *c, bool same)
{
	struct carried_link *l = arena_alloc(c->arena, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct carried_link){c->links, arena_str(c->arena, sv_n(c->at, c->len)), same};
	c->links = l;
	return l->path ? 0 : -ENOMEM;
}

/* Where the image has programs and its own settings. */
static bool is_systems(const char *path)
{
	static const char *const roots[] = {"/bin",    "/sbin", "/lib",  "/lib32", "/lib64",
					    "/libx32", "/usr",  "/boot", "/etc"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(roots); i++)
		if (path_is_in(path, roots[i]))
			return true;
	return false;
}

/* A program's other name, or a part of a package: what it is would be another thing elsewhere. */
static bool is_programs(const struct carry *c, const char *end, const struct stat *st)
{
	struct sv folder = carry_parent(c), base = carry_base(folder);

	if (strstr(c->at, "/node_modules/") || is_systems(end))
		return true;
	return S_ISREG(st->st_mode) && (st->st_mode & 0111) &&
	       (sv_is(base, "bin") || sv_is(base, "sbin") || sv_is(base, ".bin") || carry_among(c->path, folder));
}

/* Is a part of the path a name of the tests' own: the last one, or one that the image does not have? */
static bool has_tests_name(const struct carry *c, const char *path)
{
	const char *at = path + 1, *slash;
	char part[PATH_MAX];
	struct stat st;

	for (; at; at = slash ? slash + 1 : NULL) {
		slash = strchr(at, '/');
		if (!carry_tests_own(c, slash ? sv_n(at, (size_t)(slash - at)) : sv_of(at)))
			continue;
		if (!slash)
			return true;
		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = '\0';
		view_stat(&c->root, part + 1, &st);
		if (st.st_mode == 0)
			return true;
	}
	return false;
}

/* Is it a file of the agent's under a name of the tests' own? That of a folder says little: it may be any word of
 * theirs. */
static bool is_tests_file(const struct carry *c, const char *end)
{
	struct stat st;

	view_stat(&c->root, end + 1, &st);
	return !S_ISREG(st.st_mode) && carry_tests_own(c, carry_base(sv_of(end)));
}

/* Could tests write through the link at c->at, to what they judge? Names that tests make of parts are not known: so
 * what is named must not be led to by one that is not, either. */
static bool is_doubtful(const struct carry *c, const char *end, bool folder)
{
	struct sv name = carry_base(sv_n(c->at, c->len)), last = carry_base(sv_of(end));
	bool told = carry_told(c, name);

	if (told && c->told_links)
		return carry_tests_named(c, last) || (!folder && is_tests_file(c, end));
	if (carry_tests_own(c, name))
		return true;
	if (folder)
		return told ? has_tests_name(c, end) : carry_told(c, last);
	return carry_spoken(c, name) || carry_told(c, last) || has_tests_name(c, end);
}

/* What becomes of a link that leads there. */
static enum carry_rule judge_end(const struct carry *c, const struct layered *view, const char *end)
{
	struct stat st;

	if (carry_mounted(c, end))
		return CARRY_KEEP;
	view_stat(view, end + 1, &st);
	if ((!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || carry_scratch_unnamed(c, end))
		return CARRY_LINK_NOWHERE;
	if (!c->req->instruction || is_programs(c, end, &st) || !is_doubtful(c, end, S_ISDIR(st.st_mode)))
		return CARRY_KEEP;
	return S_ISDIR(st.st_mode) ? CARRY_LINK_TESTS : CARRY_LINK_COPIED;
}

static bool has_room(struct carry *c, const struct stat *st)
{
	uint64_t room = c->req->room && c->req->room < BYTES_MAX ? c->req->room : BYTES_MAX;

	c->link_bytes += (uint64_t)st->st_blocks * 512;
	return c->link_bytes <= room;
}

/* A full disk is nothing that an agent may have for a reason to be tried again: so many names of a file are its own
 * doing. 1: there is no copy. */
static int copy_file(struct carry *c, int in, const struct stat *st, int dir, const char *name)
{
	AUTO_FD out = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = out < 0 ? carry_fail(c, errno) : carry_bytes(c, in, out, st);

	if (r == 0 || (c->err->code != ENOSPC && c->err->code != EDQUOT))
		return r;
	*c->err = (struct error){0};
	return out >= 0 && unlinkat(dir, name, 0) < 0 ? carry_fail(c, errno) : 1;
}

/* The file in the place of the link. 1: the link is gone, and there is no copy. */
static int copy_end(struct carry *c, const struct layered *view, const char *end, int dir, const char *name)
{
	AUTO_FD in = view_open(view, end + 1);
	struct stat st;

	if (in < 0 && in != -EACCES)
		return carry_fail(c, in);
	if (in >= 0 && fstat(in, &st) < 0)
		return carry_fail(c, errno);
	if (unlinkat(dir, name, 0) < 0)
		return carry_fail(c, errno);
	return in < 0 || !has_room(c, &st) ? 1 : copy_file(c, in, &st, dir, name);
}

/* The folder keeps its times. 1, or -1. */
static int change(struct carry *c, const struct layered *view, struct carried_link *l, enum carry_rule rule,
		  const char *end)
{
	struct sv folder = carry_parent(c);
	const char *below = folder.n ? arena_str(c->arena, sv_n(folder.p + 1, folder.n - 1)) : ".",
		   *name = l->path + folder.n + 1;
	AUTO_FD dir = below ? sys_open_beneath(c->to, below, O_RDONLY | O_DIRECTORY, 0) : -ENOMEM;
	struct timespec times[2];
	struct seen **gone;
	struct stat st;
	int r;

	if (dir < 0 || fstat(dir, &st) < 0)
		return carry_fail(c, dir < 0 ? dir : errno);
	if (rule == CARRY_LINK_COPIED)
		r = copy_end(c, view, end, dir, name);
	else
		r = unlinkat(dir, name, 0) < 0 ? carry_fail(c, errno) : 0;
	times[0] = times[1] = st.st_mtim;
	if (r < 0 || futimens(dir, times) < 0)
		return r < 0 ? -1 : carry_fail(c, errno);
	c->report(c->report_arg, r ? CARRY_LINK_TESTS : rule, sv_n(c->at, c->len));
	/* of what is seen there now, nothing below it was seen before */
	gone = c->link_memo ? memo_at(c->link_memo, sv_of(l->path)) : NULL;
	if (gone && *gone)
		*gone = (*gone)->next;
	l->path = NULL;
	return 1;
}

/* What it takes to look at the end of a link, which is as deep as its path has parts. */
static bool has_steps(struct carry *c, const char *end)
{
	uint64_t depth = 0;

	for (; *end; end++)
		depth += *end == '/';
	c->link_steps += OPEN_STEPS * depth + depth * depth / OPEN_STEPS;
	return c->link_steps <= STEPS_MAX;
}

/* 1: it is no link any more. */
static int judge_again(struct carry *c, const struct layered *view, struct carried_link *l, bool any)
{
	AUTO_FD fd = sys_open_beneath(c->to, l->path + 1, O_PATH | O_NOFOLLOW, 0);
	char text[PATH_MAX], end[PATH_MAX];
	ssize_t n = fd < 0 ? fd : readlinkat(fd, "", text, sizeof(text));
	enum carry_rule rule;

	c->len = strlen(l->path);
	memcpy(c->at, l->path, c->len + 1);
	if (n < 0)
		return carry_fail(c, fd < 0 ? fd : errno);
	if (leads_to_runner(c, view, sv_n(text, (size_t)n), l->same, end) || any || !has_steps(c, end))
		rule = CARRY_LINK_RUNNER;
	else
		rule = l->same ? CARRY_KEEP : judge_end(c, view, end);
	return rule == CARRY_KEEP ? 0 : change(c, view, l, rule, end);
}

/* Where one goes, another may lead elsewhere: until none does. Who needs more rounds than anybody's work would has none
 * of them. */
int carry_links_again(struct carry *c)
{
	int fds[VIEW_LAYERS_MAX + 1];
	struct layered view = view_with(c, c->to, fds);
	struct carried_link *l;
	unsigned round;
	int r = 1, gone = 1;

	c->link_memo = NULL; /* another view */
	for (round = 0; gone && r >= 0; round++)
		for (gone = 0, l = c->links; l && r >= 0; l = l->next) {
			r = l->path ? judge_again(c, &view, l, round == ROUNDS_MAX) : 0;
			gone |= r > 0;
		}
	c->at[c->len = 0] = '\0';
	return r < 0 ? -1 : 0;
}

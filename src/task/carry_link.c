#include "task/carry_link.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"
#include "task/carry_new.h"

/* As many links as the kernel follows; and folders that are opened for all links together, which takes a minute or two. */
enum { LINKS_MAX = 40, ROUNDS_MAX = 8, STEPS_MAX = 1 << 24 };

/* A way through a view. */
struct trail {
	const struct layered *view;
	const struct carry *places; /* whose places end it; NULL: none does */
	struct layered in;	    /* the folder `at`, unless that is the root; empty: there is none */
	bool moved;		    /* `in` is of another `at`, and is opened anew where it is needed */
	char at[PATH_MAX];	    /* absolute, without links; "" is the root */
	size_t n;
	char rest[2 * PATH_MAX];
	size_t n_rest;
	unsigned links;
	uint64_t steps; /* folders that were opened */
};

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

	t->steps++;
	return trail_take(t, r, next);
}

/* Opens the folder `at`, from the root. */
static bool trail_open(struct trail *t)
{
	struct layered next = {0};
	int r = view_enter(t->view, sv_n(t->at + 1, t->n - 1), &next);
	size_t i;

	for (i = 0; i < t->n; i++)
		t->steps += t->at[i] == '/';
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

static bool is_barred(const struct carry *c, const char *path)
{
	return c && carry_place(c, path) && !carry_plain_device(path) && strcmp(path, "/dev") != 0;
}

/* What is mounted may have links, which are not looked at: a way back from there cannot be told. */
static bool is_lost(const struct trail *t)
{
	return t->places && carry_mounted(t->places, t->at) && memmem(t->rest, t->n_rest, "/../", 4);
}

/* One step on the way. False: it leads nowhere that could be told. */
static bool trail_step(struct trail *t, struct sv name)
{
	const struct layered *folder = trail_folder(t);
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	if (!folder || t->n + name.n + 2 > sizeof(t->at) || t->steps > STEPS_MAX)
		return false;
	t->at[t->n++] = '/';
	memcpy(t->at + t->n, name.p, name.n + 1);
	t->n += name.n;
	if (is_barred(t->places, t->at) || is_lost(t))
		return false;
	layered_stat(folder, name.p, &st, &fd);
	if (!S_ISLNK(st.st_mode))
		return trail_enter(t, folder, name.p);
	n = readlinkat(fd, name.p, text, sizeof(text));
	trail_cut(t);
	return n > 0 && n < (ssize_t)sizeof(text) && ++t->links <= LINKS_MAX && trail_push(t, sv_n(text, (size_t)n));
}

static bool trail_follow(struct trail *t)
{
	char name[NAME_MAX + 1];
	struct sv part;
	bool ok = true;

	while (ok && (part = trail_next(t, name)).n) {
		if (sv_is(part, "..")) {
			trail_cut(t);
			t->moved = true;
		} else if (!sv_is(part, ".")) {
			ok = part.n <= NAME_MAX && trail_step(t, part);
		}
	}
	layered_done(&t->in);
	return ok;
}

/* The root is no place to lead to: what is named below such a link would be a name of the runner's. */
static bool leads_to_runner(struct carry *c, int top, struct sv target)
{
	int fds[VIEW_LAYERS_MAX + 1] = {top};
	struct layered view = {fds, c->root.n + 1};
	struct trail t = {.view = &view, .places = c, .moved = true, .steps = c->link_steps};
	struct sv folder = carry_parent(c);
	bool leads;

	memcpy(fds + 1, c->root.fds, c->root.n * sizeof(*fds));
	memcpy(t.at, folder.p, folder.n);
	t.n = folder.n;
	leads = !trail_push(&t, target) || !trail_follow(&t) || t.n == 0 || strcmp(t.at, "/dev") == 0;
	c->link_steps = t.steps;
	return leads;
}

bool carry_link_to_runner(struct carry *c, struct sv target)
{
	return leads_to_runner(c, c->req->upper, target);
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
	const char *path; /* absolute; NULL: taken away again */
};

int carry_link_keep(struct carry *c)
{
	struct carried_link *l = arena_alloc(c->arena, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct carried_link){c->links, arena_str(c->arena, sv_n(c->at, c->len))};
	c->links = l;
	return l->path ? 0 : -ENOMEM;
}

/* The folder keeps its times. */
static int take_away(struct carry *c, struct carried_link *l)
{
	struct sv folder = carry_parent(c);
	const char *below = folder.n ? arena_str(c->arena, sv_n(folder.p + 1, folder.n - 1)) : ".";
	AUTO_FD dir = below ? sys_open_beneath(c->to, below, O_RDONLY | O_DIRECTORY, 0) : -ENOMEM;
	struct timespec times[2];
	struct stat st;

	if (dir < 0)
		return dir;
	if (fstat(dir, &st) < 0 || unlinkat(dir, l->path + folder.n + 1, 0) < 0)
		return -errno;
	times[0] = times[1] = st.st_mtim;
	if (futimens(dir, times) < 0)
		return -errno;
	c->report(c->report_arg, CARRY_LINK_RUNNER, sv_n(c->at, c->len));
	l->path = NULL;
	return 1;
}

/* 1: it was taken away. */
static int judge_again(struct carry *c, struct carried_link *l, bool any)
{
	AUTO_FD fd = sys_open_beneath(c->to, l->path + 1, O_PATH | O_NOFOLLOW, 0);
	char text[PATH_MAX];
	ssize_t n = fd < 0 ? fd : readlinkat(fd, "", text, sizeof(text));

	if (n < 0)
		return fd < 0 ? fd : -errno;
	c->len = strlen(l->path);
	memcpy(c->at, l->path, c->len + 1);
	return any || leads_to_runner(c, c->to, sv_n(text, (size_t)n)) ? take_away(c, l) : 0;
}

/* Where one goes, another may lead elsewhere: until none does. Who needs more rounds than anybody's work would has none of them. */
int carry_links_again(struct carry *c)
{
	struct carried_link *l;
	unsigned round;
	int r = 1, gone = 1;

	for (round = 0; gone && r >= 0; round++)
		for (gone = 0, l = c->links; l && r >= 0; l = l->next) {
			r = l->path ? judge_again(c, l, round == ROUNDS_MAX) : 0;
			gone |= r > 0;
		}
	c->at[c->len = 0] = '\0';
	return r < 0 ? r : 0;
}

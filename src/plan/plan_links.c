#include "plan/plan_links.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "model/base_system.h"

enum { MOST_LINKS = 40 /* as the kernel has it */, MOST_INSTEAD = 400 };

/* An entry of the policy that is reached through links. */
struct plan_entry {
	const char *name, *why;
	bool writable;
	struct plan_way way;
	struct plan_entry *next;
};

struct walk {
	struct arena *arena;
	struct buf real; /* as far as it is known; "" is the root folder */
	struct buf rest; /* what is still to be walked */
	struct plan_way *way;
	unsigned links;
	bool trace;   /* of a path that may not be there */
	size_t floor; /* so much of real was not walked: it is where the path, or a link, begins */
};

static void cut(struct buf *b, size_t n)
{
	b->n = n;
	b->p[n] = '\0';
}

static void leave_folder(struct buf *real)
{
	const char *slash = strrchr(real->p, '/');

	cut(real, slash ? (size_t)(slash - real->p) : 0);
}

static int add_link(struct walk *w, size_t folder, bool is_link)
{
	struct plan_link *link = arena_alloc(w->arena, sizeof(*link));
	struct stat st = {0};

	if (!link)
		return -ENOMEM;
	link->folder = folder ? arena_str(w->arena, sv_n(w->real.p, folder)) : "/";
	link->path = arena_str(w->arena, buf_view(&w->real));
	link->rest = is_link ? arena_str(w->arena, buf_view(&w->rest)) : NULL;
	if (!link->folder || !link->path || (is_link && !link->rest))
		return -ENOMEM;
	link->next = w->way->links;
	w->way->links = link;
	if ((lstat(link->path, &st) < 0 || lstat(link->folder, &link->st) < 0) && !w->trace)
		return -errno;
	link->owner = st.st_uid;
	return 0;
}

static int leave(struct walk *w)
{
	const char *slash = strrchr(w->real.p, '/');
	size_t folder = slash ? (size_t)(slash - w->real.p) : 0;

	if (w->trace && w->real.n > w->floor && add_link(w, folder, false) < 0)
		return -ENOMEM;
	leave_folder(&w->real);
	w->floor = w->real.n < w->floor ? w->real.n : w->floor;
	return 0;
}

/* Nothing but slashes and dots is left, which do not lead on. */
static bool is_last(const struct walk *w)
{
	const char *p = w->rest.p;

	while (*p == '/' || (*p == '.' && (p[1] == '/' || !p[1])))
		p++;
	return !*p;
}

/* The name that real ends with is a link: what it says is walked before the rest. */
static int follow(struct walk *w, size_t folder, struct sv text)
{
	AUTO_BUF rest = {0};
	int r = ++w->links > MOST_LINKS ? -ELOOP : add_link(w, folder, true);

	if (r < 0)
		return r;
	buf_init(&rest, PATH_MAX);
	(void)buf_sv(&rest, text);
	(void)buf_char(&rest, '/');
	r = buf_sv(&rest, buf_view(&w->rest));
	if (r < 0)
		return r;
	cut(&w->real, text.n && text.p[0] == '/' ? 0 : folder);
	w->floor = w->real.n;
	buf_clear(&w->rest);
	return buf_sv(&w->rest, buf_view(&rest));
}

static int walk_name(struct walk *w, struct sv name)
{
	char text[PATH_MAX];
	size_t folder = w->real.n;
	ssize_t n;

	if (sv_is(name, "."))
		return 0;
	if (sv_is(name, ".."))
		return leave(w);
	(void)buf_char(&w->real, '/');
	if (buf_sv(&w->real, name) < 0)
		return -ENAMETOOLONG;
	n = w->trace && is_last(w) ? -1 : readlink(w->real.p, text, sizeof(text));
	if (n < 0)
		return w->trace || errno == EINVAL ? 0 : -errno;
	return (size_t)n < sizeof(text) ? follow(w, folder, sv_n(text, (size_t)n)) : -ENAMETOOLONG;
}

static int walk_all(struct walk *w)
{
	char name[NAME_MAX + 1];
	size_t skip, n;
	int r = 0;

	while (r == 0 && w->rest.n) {
		skip = strspn(w->rest.p, "/");
		n = strcspn(w->rest.p + skip, "/");
		if (n > NAME_MAX)
			return w->trace ? -ENOENT : -ENAMETOOLONG; /* nobody can make it */
		memcpy(name, w->rest.p + skip, n);
		memmove(w->rest.p, w->rest.p + skip + n, w->rest.n - skip - n);
		cut(&w->rest, w->rest.n - skip - n);
		if (n)
			r = walk_name(w, sv_n(name, n));
	}
	return r;
}

static int walk_from(struct walk *w, const char *folder, const char *text)
{
	int r;

	*w->way = (struct plan_way){0};
	buf_init(&w->real, PATH_MAX);
	buf_init(&w->rest, PATH_MAX);
	(void)buf_str(&w->real, folder);
	w->floor = w->real.n;
	r = buf_str(&w->rest, text) < 0 || buf_failed(&w->real) < 0 ? -ENAMETOOLONG : walk_all(w);
	if (r == 0) {
		w->way->real = w->real.n ? arena_str(w->arena, buf_view(&w->real)) : "/";
		r = w->way->real ? 0 : -ENOMEM;
	}
	buf_done(&w->real);
	buf_done(&w->rest);
	return r;
}

int plan_links_find(struct arena *a, const char *path, struct plan_way *ret)
{
	struct walk w = {.arena = a, .way = ret};

	return walk_from(&w, "", path);
}

int plan_links_trace(struct arena *a, const char *folder, const char *text, struct plan_way *ret)
{
	struct walk w = {.arena = a, .way = ret, .trace = true};

	return walk_from(&w, text[0] == '/' || strcmp(folder, "/") == 0 ? "" : folder, text);
}

/* A search for other ends of a path. */
struct instead {
	struct arena *arena;
	int (*found)(void *arg, const char *path);
	void *arg;
	unsigned left; /* so many links more */
	/* Where a path was gone on with already: several ways come together there. */
	struct gone {
		const char *folder, *text;
	} gone[MOST_INSTEAD];
	size_t n_gone;
};

static int instead_of(struct instead *in, const char *folder, const char *text);

/* The link is a folder, in which there is nothing that is known. Where the path leaves it again, what is beside it is
 * known. */
static int instead_of_link(struct instead *in, const struct plan_link *link)
{
	const char *rest = link->rest, *name;
	AUTO_BUF path = {0};
	size_t n, own;

	if (!in->left--)
		return -ELOOP;
	buf_init(&path, PATH_MAX);
	(void)buf_str(&path, link->path);
	own = path.n;
	for (;;) {
		name = rest + strspn(rest, "/");
		n = strcspn(name, "/");
		rest = name + n;
		if (!n)
			return buf_failed(&path) < 0 ? -ENAMETOOLONG : in->found(in->arg, path.p);
		if (n == 1 && name[0] == '.')
			continue;
		if (n != 2 || memcmp(name, "..", 2) != 0) {
			(void)buf_char(&path, '/');
			if (buf_sv(&path, sv_n(name, n)) < 0)
				return -ENAMETOOLONG;
		} else if (path.n > own) {
			leave_folder(&path);
		} else {
			return instead_of(in, link->folder, rest + strspn(rest, "/"));
		}
	}
}

static int each_instead(struct instead *in, const struct plan_way *way)
{
	const struct plan_link *l;
	int r = 0;

	for (l = way->links; r >= 0 && l; l = l->next)
		if (l->rest)
			r = instead_of_link(in, l);
	return r < 0 ? r : 0;
}

static bool was_gone(const struct instead *in, const char *folder, const char *text)
{
	size_t i;

	for (i = 0; i < in->n_gone; i++)
		if (strcmp(in->gone[i].text, text) == 0 && strcmp(in->gone[i].folder, folder) == 0)
			return true;
	return false;
}

/* Where the path leads from there is one more end. */
static int instead_of(struct instead *in, const char *folder, const char *text)
{
	struct plan_way way;
	int r;

	if (was_gone(in, folder, text))
		return 0;
	if (in->n_gone == MOST_INSTEAD)
		return -ELOOP;
	in->gone[in->n_gone++] = (struct gone){folder, text};
	r = plan_links_trace(in->arena, folder, text, &way);
	if (r == -ENOMEM || r == -ENAMETOOLONG)
		return r;
	r = r == 0 ? in->found(in->arg, way.real) : 0;
	return r < 0 ? r : each_instead(in, &way);
}

int plan_links_instead(struct arena *a, const char *folder, const char *text, int (*found)(void *arg, const char *path),
		       void *arg)
{
	struct instead in = {.arena = a, .found = found, .arg = arg, .left = MOST_INSTEAD};
	struct plan_way way;
	int r = plan_links_trace(a, folder, text, &way);

	return r == -ENOMEM || r == -ENAMETOOLONG ? r : each_instead(&in, &way);
}

int plan_links_note(struct draft *d, const struct plan_op *op, const struct plan_way *way)
{
	struct plan_entry *e;

	if (!way->links)
		return 0;
	e = arena_alloc(d->plan->arena, sizeof(*e));
	if (!e)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	*e = (struct plan_entry){
		.name = op->target, .why = op->why, .writable = op->writable, .way = *way, .next = d->entries};
	d->entries = e;
	return 0;
}

/* Nobody can make this name in the folder that the sandbox may write to. */
static bool is_kept(const struct draft *d, const struct plan_op *op, const struct plan_link *link)
{
	const char *inside = arena_printf(d->plan->arena, "%s%s", op->target, link->path + strlen(op->source));
	const struct plan_guard *g;
	size_t i;

	for (i = 0; inside && i < d->plan->n_guards; i++) {
		g = &d->plan->guards[i];
		if (g->yields && (glob_hit(&g->glob, sv_of(op->target)) || glob_hit(&g->glob, sv_of(op->source))))
			continue;
		if (glob_hit(&g->glob, sv_of(inside)) || glob_hit(&g->glob, sv_of(link->path)))
			return true;
	}
	return false;
}

/* The folder that was given to the run, or would be if the policy wanted one; nobody gives their home. NULL: none. */
static const char *given_folder(const struct draft *d)
{
	if (d->workdir || d->plan->workdir_mode != WORKDIR_NONE || !d->here)
		return d->workdir;
	return path_is_in(d->plan->home, d->here) ? NULL : d->here;
}

/* The folder is in a repository, which is its maker's: all of it as a path in out. Not the whole home, and not /etc,
 * where keepers of settings put one. */
static bool in_repository(const struct draft *d, const char *folder, char out[PATH_MAX])
{
	char git[PATH_MAX + 8];
	struct stat st;

	if ((size_t)snprintf(out, PATH_MAX, "%s", folder) >= PATH_MAX)
		return true;
	for (; *out && strcmp(out, "/etc") != 0 && !path_is_in(d->plan->home, out); *strrchr(out, '/') = '\0') {
		(void)snprintf(git, sizeof(git), "%s/.git", out);
		if (lstat(git, &st) == 0)
			return true;
	}
	return false;
}

static bool is_strange(uid_t owner)
{
	return owner != 0 && owner != geteuid();
}

/* What is wrong with a link, so that "it lies in ..." goes on with it; NULL: nothing. */
static const char *distrust(const struct draft *d, const struct plan_link *link, const char *real, bool writable)
{
	const char *given = given_folder(d);
	const struct plan_op *op;
	char repository[PATH_MAX];
	size_t i;

	if (given && path_is_in(link->folder, given))
		return !writable && d->plan->workdir && path_is_in(real, given) ? NULL : "the work folder";
	for (i = 0; i < d->plan->n_ops; i++) {
		op = &d->plan->ops[i];
		if (!op->host || !op->writable || !op->folder || !path_is_in(link->folder, op->source))
			continue;
		if ((writable || !path_is_in(real, op->source)) && !is_kept(d, op, link))
			return "a folder that the sandbox may write to";
	}
	if (in_repository(d, link->folder, repository) && (writable || !path_is_in(real, repository)))
		return "a repository";
	if (is_strange(link->st.st_uid) || is_strange(link->owner) || (link->st.st_mode & S_IWOTH))
		return "a folder that others may write to";
	return NULL;
}

/* How deep the deepest pattern is that names the path; -1: none does. One that floats shows nothing. */
static int deepest(const struct pol_list *list, const char *path)
{
	int depth, most = -1;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		depth = list->v[i].s[0] == '/' ? base_pattern_depth(list->v[i].s, sv_of(path)) : -1;
		most = depth > most ? depth : most;
	}
	return most;
}

/* The policy, which is below the ceiling, gives the path under this name too. */
static bool names(const struct draft *d, const char *real, bool writable)
{
	const struct pol_fs *fs = &d->policy->fs;
	bool at_work = d->plan->workdir && path_is_in(real, d->plan->workdir);
	int read = deepest(&fs->read, real), write = deepest(&fs->write, real), depth;
	const struct base_path *base = base_system_find(sv_of(real), &depth);

	if (writable && at_work && d->plan->workdir_mode == WORKDIR_READ_WRITE && read < 0)
		return true;
	if (writable)
		return write >= 0 && write >= read && (!base || depth < write);
	if (at_work)
		return true;
	if (base && depth > read && depth > write)
		return base->kind == BASE_READ;
	return read >= 0 || write >= 0;
}

/* A ceiling bounds where the entry may lead. */
static bool is_bounded(const struct draft *d, const struct plan_entry *e)
{
	const struct pol_fs *fs = &d->policy->fs;
	const char *given = d->workdir ? d->workdir : d->here;

	if (e->writable ? fs->write_bounded : fs->read_bounded)
		return true;
	return (e->writable ? fs->workdir_write_bounded : fs->workdir_read_bounded) && given &&
	       (path_is_in(e->way.real, given) || path_is_in(given, e->way.real));
}

static int judge_entry(const struct draft *d, const struct plan_entry *e)
{
	const struct plan_link *link;
	struct text_shown a, b;
	const char *where;

	for (link = e->way.links; link; link = link->next) {
		where = distrust(d, link, e->way.real, e->writable);
		if (where)
			return error_set(d->err, ERROR_DENIED,
					 "%.140s: %.120s is a symbolic link in %s, which is not trusted to say what is "
					 "meant, and leads to %.100s; name that itself, or remove the link",
					 e->why, text_show(&a, sv_of(link->path)), where,
					 text_show(&b, sv_of(e->way.real)));
	}
	if (is_bounded(d, e) && !names(d, e->way.real, e->writable))
		return error_set(d->err, ERROR_DENIED,
				 "%.140s: %.100s leads to %.120s, which the policy below the ceiling does not name; "
				 "name it itself, or ask the operator",
				 e->why, text_show(&a, sv_of(e->name)), text_show(&b, sv_of(e->way.real)));
	return 0;
}

int plan_links_judge(struct draft *d)
{
	const struct plan_entry *e;

	for (e = d->entries; e; e = e->next)
		if (judge_entry(d, e) < 0)
			return -1;
	return 0;
}

bool plan_links_trusts(const struct draft *d, const struct plan_way *way)
{
	const struct plan_link *link;

	for (link = way->links; link; link = link->next)
		if (distrust(d, link, way->real, false))
			return false;
	return true;
}

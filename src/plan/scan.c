#include "plan/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name_set.h"
#include "base/text.h"
#include "model/repository.h"
#include "plan/guard_names.h"
#include "plan/scan_links.h"
#include "plan/scan_memory.h"
#include "sys/names.h"
#include "sys/tree.h"

enum { SCAN_DEPTH = 512, ENTRIES_ROOM = 32768, GUARDS_FEW = 512 };

const struct plan_guard scan_foreign = {.rule = "a socket or FIFO of the host", .hidden = true};
const struct plan_guard scan_repository = {.rule = repository_order_rule, .host_only = true};
const struct plan_guard scan_not_searched = {.rule = "a folder that could not be searched for denied names",
					     .hidden = true};
const struct plan_guard scan_changed = {.rule = "a folder that changed while it was searched"};

struct list {
	const struct plan_guard **v;
	size_t n;
};

/* Which guards may mean a name in a folder: their first name was met, or it is on their way. */
enum {
	NEAR_PLAIN = 1,
	NEAR_ANCHORED = 2,
	NEAR_FLOATING = 4,
	NEAR_ALL = 7,
	NEAR_NAMED = 8 /* those that float and begin with its own name, if no others */
};

struct walk {
	const struct scan *scan;
	const char *root;
	const char *shown_as;
	const struct plan_guard **guards; /* room for the lists: few, or from the heap */
	const struct plan_guard **few;
	struct list always; /* of the scan's, those to be tried on every entry: they begin with a wildcard, or name root
			       or a folder above it */
	struct list floating; /* those that begin with a name */
	struct list anchored; /* those with wildcards further on */
	struct guard_names plain; /* and those with none, by their numbers in the scan: they are looked up */
	struct name_set first_names; /* of patterns that float: most entries of a tree have none of these */
	bool same; /* inside is called what it is called on the host */
	uint64_t entries;
	struct scan_memory memory;
	char *room;  /* for the entries of one folder, and not from the heap: for most searches it is enough */
	char *spare; /* such room that no folder has in use: to map it anew for each takes longer than to read one */
	struct error *err;
};

/* Does this anchored pattern match everything below root? One that begins there is found on its way (is_close()), for
 * which "/" is too short. */
static bool covers(const struct glob *g, const char *root)
{
	return strcmp(root, "/") == 0 || glob_hit(g, sv_of(root));
}

/* A guard that is tried on every entry, or where its first name stands, or a folder on its way. */
static int sort_guard(struct walk *w, const struct plan_guard *guard)
{
	const struct glob *g = &guard->glob;
	struct sv first = glob_first_name(g);

	if (first.n) {
		name_set_add(&w->first_names, first);
		w->floating.v[w->floating.n++] = guard;
	} else if (g->stars & 1 || covers(g, w->root) || (!w->same && covers(g, w->shown_as)))
		w->always.v[w->always.n++] = guard;
	else if (!glob_is_plain(g))
		w->anchored.v[w->anchored.n++] = guard;
	else if (guard_names_add(&w->plain, guard, (uint32_t)(guard - w->scan->guards)) < 0)
		return error_set(w->err, ERROR_SYSTEM, "out of memory");
	return 0;
}

static bool hits(const struct walk *w, const struct glob *g, struct sv host, struct sv inside)
{
	return glob_hit(g, inside) || (!w->same && glob_hit(g, host));
}

static bool is_on_way(const struct walk *w, const struct glob *g, struct sv host, struct sv inside)
{
	return glob_on_way(g, inside) || (!w->same && glob_on_way(g, host));
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What those without wildcards say of a path, by both its names. Where a folder above it is one of theirs, it was
 * found, and what is asked for below is in place.cover. */
static struct guard_name look_up(const struct walk *w, struct sv host, struct sv inside)
{
	struct guard_name all = {inside, GUARD_NONE, GUARD_NONE, GUARD_NONE, GUARD_NONE};
	const struct guard_name *e[] = {guard_names_find(&w->plain, inside),
					w->same ? NULL : guard_names_find(&w->plain, host)};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!e[i])
			continue;
		all.hides = least(all.hides, e[i]->hides);
		all.protects = least(all.protects, least(e[i]->protects, e[i]->yields));
		all.way = least(all.way, e[i]->way);
	}
	return all;
}

/* One that floats cannot mean the path: none but the last name could begin it, and does not. */
static bool is_beside(const struct glob *g, unsigned near, struct sv path)
{
	struct sv first = glob_first_name(g);

	return !(near & NEAR_FLOATING) && (path.n <= first.n || path.p[path.n - first.n - 1] != '/' ||
					   memcmp(path.p + path.n - first.n, first.p, first.n) != 0);
}

/* What guards say of an entry: of each kind the first, by their order in the scan. */
struct verdict {
	const struct plan_guard *hides, *protects, *way;
};

static void keep_first(const struct plan_guard **first, const struct plan_guard *g)
{
	if (!*first || g < *first)
		*first = g;
}

/* folder: nothing is on the way. covered: protected already, so that only what hides is of interest. */
static void try_list(const struct walk *w, const struct list *l, unsigned near, struct sv host, struct sv inside,
		     bool folder, bool covered, struct verdict *ret)
{
	const struct plan_guard *g;
	size_t i;

	for (i = 0; i < l->n; i++) {
		g = l->v[i];
		if ((covered && !g->hidden) || (l == &w->floating && is_beside(&g->glob, near, inside)))
			continue;
		if (hits(w, &g->glob, host, inside))
			keep_first(g->hidden ? &ret->hides : &ret->protects, g);
		else if (!folder && is_on_way(w, &g->glob, host, inside))
			keep_first(&ret->way, g);
	}
}

static void try_plain(const struct walk *w, struct sv host, struct sv inside, bool folder, bool covered,
		      struct verdict *ret)
{
	struct guard_name plain = look_up(w, host, inside);
	const struct plan_guard *guards = w->scan->guards;

	if (plain.hides != GUARD_NONE)
		keep_first(&ret->hides, &guards[plain.hides]);
	if (plain.protects != GUARD_NONE && !covered)
		keep_first(&ret->protects, &guards[plain.protects]);
	if (plain.way != GUARD_NONE && !folder && (!covered || guards[plain.way].hidden))
		keep_first(&ret->way, &guards[plain.way]);
}

/* The guard that decides: one that hides before one that protects. */
static const struct plan_guard *judge(const struct walk *w, unsigned near, struct sv host, struct sv inside,
				      bool folder, bool covered, bool *on_way)
{
	struct verdict v = {0};

	try_list(w, &w->always, near, host, inside, folder, covered, &v);
	if (near & (NEAR_FLOATING | NEAR_NAMED))
		try_list(w, &w->floating, near, host, inside, folder, covered, &v);
	if (near & NEAR_ANCHORED)
		try_list(w, &w->anchored, near, host, inside, folder, covered, &v);
	if (near & NEAR_PLAIN)
		try_plain(w, host, inside, folder, covered, &v);
	*on_way = !v.hides && !v.protects && v.way;
	return v.hides ? v.hides : v.protects ? v.protects : v.way;
}

/* A folder that may only be read is no reason to protect its files under other names: the policy says where those may
 * be written. */
static int note_links(struct walk *w, int dir, const char *name, const char *path, const struct plan_guard *g)
{
	return w->scan->links && !g->yields ? scan_links_note(w->scan->links, dir, name, path, g, w->err) : 0;
}

static unsigned char entry_type(int dir, const struct sys_entry *e)
{
	struct stat st;

	if (e->type != DT_UNKNOWN)
		return e->type;
	if (fstatat(dir, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_REG;
	return (unsigned char)IFTODT(st.st_mode);
}

/* LOOK_BOTH: a folder that is protected, and may hold what is hidden. */
enum { LOOK_ON, LOOK_ENTER, LOOK_FOUND, LOOK_BOTH };

static int too_many(const struct walk *w)
{
	(void)error_set(
		w->err, ERROR_INPUT,
		"%s has more than %llu entries, too many to look for denied names in; use a smaller work folder",
		w->root, (unsigned long long)w->scan->max_entries);
	w->err->code = EOVERFLOW;
	return -1;
}

static int add_step(struct walk *w, struct buf *path, struct buf *inside, const char *name)
{
	(void)buf_char(path, '/');
	(void)buf_char(inside, '/');
	if (buf_str(path, name) < 0 || buf_str(inside, name) < 0)
		return error_set(w->err, ERROR_INPUT, "%s: a path below it is too long", w->root);
	return 0;
}

static void cut(struct buf *b, size_t n)
{
	b->n = n;
	b->p[n] = '\0';
}

static bool is_near_list(const struct walk *w, const struct list *l, unsigned before, struct sv host, struct sv inside)
{
	const struct plan_guard *g;
	size_t i;

	for (i = 0; i < l->n; i++) {
		g = l->v[i];
		if (l == &w->floating && is_beside(&g->glob, before, inside))
			continue;
		if (is_on_way(w, &g->glob, host, inside) || glob_below_star(&g->glob, inside) ||
		    (!w->same && glob_below_star(&g->glob, host)))
			return true;
	}
	return false;
}

/* On the way of which patterns is the folder itself, so that any name in it may matter? before: of which the one above
 * was, or which its name begins. */
static unsigned is_near(const struct walk *w, unsigned before, struct sv host, struct sv inside)
{
	unsigned near = 0;

	if (before & NEAR_PLAIN && look_up(w, host, inside).way != GUARD_NONE)
		near |= NEAR_PLAIN;
	if (before & NEAR_ANCHORED && is_near_list(w, &w->anchored, before, host, inside))
		near |= NEAR_ANCHORED;
	if (before & (NEAR_FLOATING | NEAR_NAMED) && is_near_list(w, &w->floating, before, host, inside))
		near |= NEAR_FLOATING;
	return near;
}

struct place {
	unsigned depth;
	unsigned near; /* to which patterns the folder above was, or its name is */
	const struct plan_guard *cover; /* by which it, or a folder above, is protected; NULL: it is not */
	struct scan_seen *above;
};

/* The folder that is searched. */
struct here {
	int dir;
	struct buf *path, *inside;
	struct place place;
	struct scan_seen seen;
	uint32_t entries;
	bool clean; /* nothing in it was found */
	bool repository;
};

/* Looks at one entry. *ret: what decides about it, or NULL. */
static int look(struct walk *w, const struct here *h, const struct sys_entry *e, unsigned near,
		const struct plan_guard **ret)
{
	unsigned char type = entry_type(h->dir, e);
	bool on_way, covered = h->place.cover, order = h->repository && !covered && repository_is_order(sv_of(e->name));
	struct buf *path = h->path, *inside = h->inside;
	const struct plan_guard *g;
	size_t n = path->n, m = inside->n;
	int r = type == DT_DIR ? LOOK_ENTER : LOOK_ON, noted;

	*ret = NULL;
	near |= name_set_has(&w->first_names, sv_of(e->name)) ? NEAR_NAMED : 0;
	if (++w->entries > w->scan->max_entries)
		return too_many(w);
	if (type != DT_SOCK && type != DT_FIFO && !(covered && type == DT_LNK) && !near && !order && !w->always.n)
		return r;
	if (add_step(w, path, inside, e->name) < 0)
		return -1;
	g = judge(w, near, buf_view(path), buf_view(inside), type == DT_DIR, covered, &on_way);
	if (!g && order)
		g = &scan_repository;
	/* it leads out of what protects it */
	if (!g && covered && type == DT_LNK)
		g = h->place.cover;
	if ((!g || !g->hidden || on_way) && (type == DT_SOCK || type == DT_FIFO)) {
		g = &scan_foreign; /* that it is read-only would keep nobody out */
		on_way = false;
	}
	if (g) {
		r = type == DT_DIR && !g->hidden ? LOOK_BOTH : LOOK_FOUND;
		/* found, too, where its other names cannot be noted: it is to be covered first of all */
		noted = on_way ? 0 : note_links(w, h->dir, e->name, path->p, g);
		if (w->scan->found(w->scan->arg, inside->p, g, on_way) < 0 || noted < 0)
			r = -1;
	}
	cut(path, n);
	cut(inside, m);
	*ret = g;
	return r;
}

static int scan_folder(struct walk *w, int parent, const char *name, struct buf *path, struct buf *inside,
		       struct place at);

static bool may_go_on(const struct walk *w)
{
	return w->scan->lenient && w->entries <= w->scan->max_entries;
}

/* A folder that was not searched, or not to its end: why? */
static int tell_unsearched(const struct walk *w, const char *inside)
{
	return w->scan->found(w->scan->arg, inside, w->err->code == EAGAIN ? &scan_changed : &scan_not_searched, false);
}

static int enter(struct walk *w, struct here *h, const char *name, unsigned near, const struct plan_guard *cover)
{
	size_t n = h->path->n, m = h->inside->n;
	int r;

	if (add_step(w, h->path, h->inside, name) < 0)
		return -1;
	near |= name_set_has(&w->first_names, sv_of(name)) ? NEAR_NAMED : 0;
	r = scan_folder(w, h->dir, name, h->path, h->inside, (struct place){h->place.depth + 1, near, cover, &h->seen});
	if (r < 0 && may_go_on(w))
		r = tell_unsearched(w, h->inside->p);
	cut(h->path, n);
	cut(h->inside, m);
	return r;
}

/* Somebody renames while we look: what we missed could stand open. The caller looks again. */
static int changed_meanwhile(const struct walk *w)
{
	(void)error_set(w->err, ERROR_SYSTEM,
			"%s changes while it is searched for denied names; try again when it is quiet", w->root);
	w->err->code = EAGAIN;
	return -1;
}

/* A folder that is read in several pieces may give a name in none of them, where that is renamed between two. */
static int tell_pieces(const struct walk *w, const struct here *h, const struct stat *before)
{
	struct stat now;

	if (!w->scan->lenient || (fstat(h->dir, &now) == 0 && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
				  now.st_mtim.tv_nsec == before->st_mtim.tv_nsec))
		return 0;
	return w->scan->found(w->scan->arg, h->inside->p, &scan_changed, false);
}

static int read_entries(struct walk *w, struct here *h, unsigned near, char *room)
{
	const struct plan_guard *by;
	const struct sys_entry *e;
	struct stat before = {0};
	unsigned pieces = 0;
	long got, at;
	int r;

	if (w->scan->lenient && fstat(h->dir, &before) < 0)
		return error_sys(w->err, errno, "%s", h->path->p);
	while ((got = syscall(SYS_getdents64, h->dir, room, ENTRIES_ROOM)) > 0) {
		pieces++;
		for (at = 0; at < got; at += e->length) {
			e = (const struct sys_entry *)(const void *)(room + at);
			if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
				continue;
			h->entries++;
			r = look(w, h, e, near, &by);
			if (r == LOOK_FOUND || r == LOOK_BOTH)
				h->clean = false;
			if (r < 0 || ((r == LOOK_ENTER || r == LOOK_BOTH) &&
				      enter(w, h, e->name, near, r == LOOK_BOTH ? by : h->place.cover) < 0))
				return -1;
		}
	}
	if (got < 0 && errno == ENOENT)
		return changed_meanwhile(w); /* it was removed */
	if (got < 0)
		return error_sys(w->err, errno, "%s", h->path->p);
	return pieces > 1 ? tell_pieces(w, h, &before) : 0;
}

static void free_room(const struct walk *w, char *room)
{
	if (room != w->room)
		free(room);
}

static int scan_entries(struct walk *w, struct here *h, unsigned near)
{
	char *room = w->spare ? w->spare : malloc(ENTRIES_ROOM);
	int r;

	w->spare = NULL;
	if (!room)
		return error_set(w->err, ERROR_SYSTEM, "out of memory");
	r = read_entries(w, h, near, room);
	free_room(w, w->spare); /* of a folder in it */
	w->spare = room;
	return r;
}

/* Nothing changed in it since it was read: only its subfolders are of interest. */
static int scan_known(struct walk *w, struct here *h, unsigned near)
{
	const char *name;

	while ((name = scan_memory_next(&w->memory, &h->seen)))
		if (enter(w, h, name, near, h->place.cover) < 0)
			return -1;
	return 0;
}

/* Known from an earlier search: counts its entries. */
static bool is_known(struct walk *w, struct here *h, int fd, const char *name)
{
	if (!scan_memory_knows(&w->memory, &h->seen, fd, name, &h->entries))
		return false;
	w->entries += h->entries;
	return true;
}

/* One look is enough for nearly every folder. */
static bool is_repository(const struct here *h)
{
	unsigned i, parts = 0;
	struct stat st;

	for (i = 0; i < REPOSITORY_PARTS && (i == 0 || parts); i++)
		parts |= (unsigned)(fstatat(h->dir, repository_parts[i], &st, AT_SYMLINK_NOFOLLOW) == 0) << i;
	return repository_is(parts) && !repository_has_patterns(buf_view(h->path));
}

static int scan_opened(struct walk *w, struct here *h)
{
	unsigned near = is_near(w, h->place.near, buf_view(h->path), buf_view(h->inside));
	bool known = is_known(w, h, h->dir, "");
	int r;

	h->repository = !known && is_repository(h);
	r = known ? scan_known(w, h, near) : scan_entries(w, h, near);
	scan_memory_leave(&w->memory, &h->seen, h->clean, known, h->entries);
	return r;
}

/* Root reads what the sandbox's user, who is not root, could only read after a chmod. */
static bool owner_may_read(int dir)
{
	struct stat st;

	return geteuid() != 0 || (fstat(dir, &st) == 0 && (st.st_mode & 0500) == 0500);
}

/* By the sandbox's user, with its own rights alone. What he can neither read nor enter, and nobody here may read for
 * him, he has to open up first. */
static bool is_shut(const struct scan *s, int parent, const char *name)
{
	return s->lenient && faccessat(parent, name, X_OK, 0) < 0;
}

/* "": the parent itself. */
static int open_folder(int parent, const char *name)
{
	return !*name ? fcntl(parent, F_DUPFD_CLOEXEC, 3)
		      : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

static int scan_folder(struct walk *w, int parent, const char *name, struct buf *path, struct buf *inside,
		       struct place at)
{
	struct here h = {.dir = -1, .path = path, .inside = inside, .place = at, .clean = true};
	AUTO_FD dir = -1;

	scan_memory_enter(&w->memory, at.above, at.above ? name : "", &h.seen);
	if (scan_memory_was_leaf(&w->memory, &h.seen) && is_known(w, &h, parent, name)) {
		scan_memory_leave(&w->memory, &h.seen, true, true, h.entries);
		return w->entries > w->scan->max_entries ? too_many(w) : 0;
	}
	dir = open_folder(parent, name);
	if (dir < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return changed_meanwhile(w);
	if (dir < 0 && errno != EACCES)
		return error_sys(w->err, errno, "%s", path->p);
	if (dir < 0 && is_shut(w->scan, parent, name))
		return 0;
	/* What could not be searched is hidden as a whole: the workload may be the folder's owner, and could make it
	 * readable. */
	if (dir < 0 || at.depth > SCAN_DEPTH || !owner_may_read(dir)) {
		scan_memory_leave(&w->memory, &h.seen, false, false, 0);
		return at.depth == 0 ? error_sys(w->err, EACCES, "%s", path->p)
				     : w->scan->found(w->scan->arg, inside->p, &scan_not_searched, false);
	}
	h.dir = dir;
	return scan_opened(w, &h);
}

/* All that the verdict on a folder depends on, but the folder. */
static void add_key(const struct walk *w, struct sha256 *key)
{
	const struct scan *s = w->scan;
	uint64_t id[2] = {geteuid(), s->n_guards};
	size_t i;

	sha256_add(key, CORDON_VERSION, sizeof(CORDON_VERSION));
	sha256_add(key, id, sizeof(id));
	sha256_add(key, w->root, strlen(w->root) + 1);
	sha256_add(key, w->shown_as, strlen(w->shown_as) + 1);
	for (i = 0; i < s->n_guards; i++) {
		sha256_add(key, s->guards[i].glob.text, strlen(s->guards[i].glob.text) + 1);
		sha256_add(key, &s->guards[i].yields, sizeof(s->guards[i].yields));
		sha256_add(key, &s->guards[i].of_run, sizeof(s->guards[i].of_run));
	}
}

static void begin_at(struct buf *b, const char *path)
{
	buf_init(b, 65536);
	(void)buf_str(b, strcmp(path, "/") == 0 ? "" : path);
}

/* A guard that yields to this tree, which was named at it or below it, says nothing about it: with it every entry would
 * have to be judged. One that links led to is about a real name. */
static bool yields(const struct walk *w, const struct plan_guard *g)
{
	return g->yields &&
	       (glob_hit(&g->glob, sv_of(w->shown_as)) || (g->of_run && glob_hit(&g->glob, sv_of(w->root))));
}

static int choose_guards(struct walk *w)
{
	const struct scan *s = w->scan;
	size_t i;

	w->guards = s->n_guards <= GUARDS_FEW ? w->few : calloc(3 * s->n_guards, sizeof(*w->guards));
	if (!w->guards)
		return error_set(w->err, ERROR_SYSTEM, "out of memory");
	w->always.v = w->guards;
	w->floating.v = w->guards + s->n_guards;
	w->anchored.v = w->guards + 2 * s->n_guards;
	for (i = 0; i < s->n_guards; i++)
		if (!yields(w, &s->guards[i]) && sort_guard(w, &s->guards[i]) < 0)
			return -1;
	return 0;
}

static void free_guards(struct walk *w)
{
	if (w->guards != w->few)
		free(w->guards);
	guard_names_done(&w->plain);
}

static int scan_from(const struct scan *s, int dir, const char *name, const char *root, const char *shown_as,
		     uint64_t *ret_entries, struct error *err)
{
	struct walk w = {
		.scan = s, .root = root, .shown_as = shown_as, .same = strcmp(root, shown_as) == 0, .err = err};
	/* little of either is used: clearing all would cost more than a search of few names */
	const struct plan_guard *few[3 * GUARDS_FEW] __attribute__((uninitialized));
	_Alignas(8) char room[ENTRIES_ROOM] __attribute__((uninitialized));
	AUTO_BUF path = {0};
	AUTO_BUF inside = {0};
	struct sha256 key;
	int r;

	w.few = few;
	w.room = w.spare = room;
	if (choose_guards(&w) < 0) {
		free_guards(&w);
		return -1;
	}
	sha256_init(&key);
	add_key(&w, &key);
	scan_memory_init(&w.memory, s->memory_dir, &key, root);
	begin_at(&path, root);
	begin_at(&inside, shown_as);
	r = scan_folder(&w, dir, name, &path, &inside, (struct place){.near = NEAR_ALL});
	scan_memory_done(&w.memory, r == 0);
	free_room(&w, w.spare);
	free_guards(&w);
	*ret_entries += w.entries;
	return r;
}

int scan_tree(const struct scan *s, const char *root, const char *shown_as, uint64_t *ret_entries, struct error *err)
{
	return scan_from(s, AT_FDCWD, root, root, shown_as, ret_entries, err);
}

int scan_tree_at(const struct scan *s, int dir, const char *root, const char *shown_as, uint64_t *ret_entries,
		 struct error *err)
{
	return scan_from(s, dir, "", root, shown_as, ret_entries, err);
}

static int compare_file(const struct walk *w, const struct stat *st, const struct buf *inside)
{
	const struct plan_guard *g = scan_links_judge(w->scan->links, st);

	return g ? w->scan->found(w->scan->arg, inside->p, g, false) : 0;
}

static int compare_folder(struct walk *w, int parent, const char *name, struct buf *path, struct buf *inside,
			  unsigned depth);

static int compare_entry(struct walk *w, int dir, const char *name, struct buf *path, struct buf *inside,
			 unsigned depth)
{
	size_t n = path->n, m = inside->n;
	struct stat st;
	int r = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(w->err, errno, "%s", path->p);
	if (scan_links_is_own(w->scan->links, &st))
		return 0;
	if (add_step(w, path, inside, name) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		r = compare_folder(w, dir, name, path, inside, depth + 1);
	else
		r = compare_file(w, &st, inside);
	cut(path, n);
	cut(inside, m);
	return may_go_on(w) ? 0 : r;
}

static int compare_folder(struct walk *w, int parent, const char *name, struct buf *path, struct buf *inside,
			  unsigned depth)
{
	AUTO_FD fd = open_folder(parent, name);
	struct dirent *e;
	DIR *dir;
	int r = 0, more = 0;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return changed_meanwhile(w);
	if (fd < 0 && errno != EACCES)
		return error_sys(w->err, errno, "%s", path->p);
	if (fd < 0 || depth > SCAN_DEPTH || !owner_may_read(fd))
		return 0; /* hidden as a whole: scan_folder() */
	dir = fdopendir(fd);
	if (!dir)
		return error_sys(w->err, errno, "%s", path->p);
	(void)fd_take(&fd);
	while (r == 0 && (more = sys_next_name(dir, &e)) > 0)
		r = compare_entry(w, dirfd(dir), e->d_name, path, inside, depth);
	if (more < 0)
		r = error_sys(w->err, -more, "%s", path->p);
	(void)closedir(dir);
	return r;
}

static int compare_from(const struct scan *s, int dir, const char *name, const struct stat *st, const char *root,
			const char *shown_as, struct error *err)
{
	struct walk w = {.scan = s, .root = root, .shown_as = shown_as, .err = err};
	AUTO_BUF path = {0};
	AUTO_BUF inside = {0};

	begin_at(&path, root);
	begin_at(&inside, shown_as);
	if (scan_links_is_own(s->links, st))
		return 0;
	return S_ISDIR(st->st_mode) ? compare_folder(&w, dir, name, &path, &inside, 0) : compare_file(&w, st, &inside);
}

int scan_other_names(const struct scan *s, const char *root, const char *shown_as, struct error *err)
{
	struct stat st;

	if (!s->links->n)
		return 0;
	if (stat(root, &st) < 0)
		return error_sys(err, errno, "%s", root);
	return compare_from(s, AT_FDCWD, root, &st, root, shown_as, err);
}

int scan_other_names_at(const struct scan *s, int fd, const char *root, const char *shown_as, struct error *err)
{
	struct stat st;

	if (!s->links->n)
		return 0;
	return fstat(fd, &st) < 0 ? error_sys(err, errno, "%s", root)
				  : compare_from(s, fd, "", &st, root, shown_as, err);
}

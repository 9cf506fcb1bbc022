#include "plan/plan_exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/real_path.h"
#include "model/base_system.h"
#include "plan/plan_build.h"
#include "plan/plan_links.h"
#include "plan/plan_masks.h"
#include "plan/scan.h"
#include "sys/mounts.h"
#include "sys/names.h"

bool plan_exec_allows_all(const struct pol_list *allow)
{
	uint32_t i;

	for (i = 0; i < allow->n; i++)
		if (strcmp(allow->v[i].s, "**") == 0 || strcmp(allow->v[i].s, "/**") == 0)
			return true;
	return !allow->set && allow->n == 0;
}

int plan_exec_guards(struct draft *d)
{
	const struct pol_list *deny = &d->policy->process.deny_exec;
	struct plan_guard *g;
	uint32_t i;
	int r;

	d->exec_guards = d->plan->n_guards;
	for (i = 0; i < deny->n; i++) {
		g = draft_guard(d);
		if (!g)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		*g = (struct plan_guard){.hidden = true};
		g->rule = arena_printf(d->plan->arena, "process.deny_exec %s", deny->v[i].s);
		r = g->rule ? glob_init_in(&g->glob, sv_of(deny->v[i].s), d->plan->arena) : -ENOMEM;
		if (r < 0)
			return draft_no_pattern(d, r, g->rule);
		d->plan->n_guards++;
	}
	return 0;
}

/* What one pattern denies, on its way to be masked. */
struct denial {
	struct draft *d;
	const struct plan_guard *guard;
	struct scan_links *links;
};

static bool is_masked(const struct plan *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_MASK && path_is_in(path, p->ops[i].target))
			return true;
	return false;
}

static int add_mask(struct draft *d, const char *path, const char *why)
{
	struct plan_op op = {.kind = PLAN_MASK, .why = why, .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC | MOUNT_NO_DEV};

	if (is_masked(d->plan, path))
		return 0;
	op.target = arena_str(d->plan->arena, sv_of(path));
	return draft_add(d, &op);
}

/* Masks what a name leads to, wherever it is shown. Where it leads nowhere else, the search finds it. */
static int mask_behind(void *arg, const char *path)
{
	struct denial *m = arg;
	struct draft *d = m->d;
	AUTO_FREE char *real = real_path(path, NULL);
	size_t i, n = d->plan->n_ops;
	struct plan_op op;

	if (!real || strcmp(real, path) == 0)
		return 0;
	if (m->links && scan_links_note(m->links, AT_FDCWD, real, real, m->guard, d->err) < 0)
		return -1;
	for (i = 0; i < n; i++) {
		op = d->plan->ops[i]; /* a copy: the array grows below */
		if ((op.kind != PLAN_BIND && op.kind != PLAN_OVERLAY) || !path_is_in(real, op.source))
			continue;
		if (add_mask(d, arena_printf(d->plan->arena, "%s%s", op.target, real + strlen(op.source)),
			     m->guard->rule) < 0)
			return -1;
	}
	return 0;
}

static int mask_found(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct denial m = *(const struct denial *)arg;
	struct stat st;

	if (on_way)
		return 0;
	m.guard = guard;
	/* a link cannot be mounted over */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return mask_behind(&m, path);
	return add_mask(m.d, path, guard->rule);
}

/*
 * Masks in the base system. The search for denied names passes it over for patterns that float in filesystem.deny (they
 * are about the user's folders), but a program is denied wherever it is.
 */
static int search_base(struct denial *m, const struct scan *scan, size_t n)
{
	struct draft *d = m->d;
	struct plan_op op;
	uint64_t entries = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		op = d->plan->ops[i];
		if (op.kind != PLAN_BIND || op.host || stat(op.source, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (scan_tree(scan, op.source, op.target, &entries, d->err) < 0)
			return -1;
	}
	return 0;
}

static int mask_denied(struct draft *d, struct scan_links *links)
{
	size_t i, n = d->plan->n_ops, n_deny = d->policy->process.deny_exec.n;
	const struct plan_guard *deny = d->plan->guards + d->exec_guards;
	struct denial m = {.d = d, .links = links};
	struct scan scan = {.guards = deny,
			    .n_guards = n_deny,
			    .max_entries = PLAN_MAX_ENTRIES,
			    .found = mask_found,
			    .arg = &m,
			    .links = links,
			    .memory_dir = d->cache_dir};

	if (n_deny == 0)
		return 0;
	if (search_base(&m, &scan, n) < 0)
		return -1;
	for (i = 0; i < n_deny; i++) {
		m.guard = &deny[i];
		if (deny[i].glob.text[0] == '/' && draft_expand(&deny[i].glob, mask_behind, &m) < 0)
			return -1;
	}
	return plan_masks_other_names(d, links, n, false) < 0 ? -1 : plan_masks_other_names(d, links, n, true);
}

/* A program, and whether a name of some pattern leads to it. */
struct lead {
	const char *program;
	bool found;
};

static int compare_lead(void *arg, const char *path)
{
	struct lead *l = arg;
	AUTO_FREE char *real = real_path(path, NULL);

	l->found = l->found || (real && path_is_in(l->program, real));
	return l->found ? -1 : 0;
}

static void follow_pattern(const char *pattern, struct lead *l)
{
	struct glob g;

	if (glob_init(&g, sv_of(pattern)) < 0)
		return;
	(void)draft_expand(&g, compare_lead, l);
	glob_done(&g);
}

/* One that floats: below each folder of the base system. */
static void follow_floating(const char *pattern, struct lead *l)
{
	const struct base_path *row;
	char text[4096];
	struct stat st;

	for (row = base_paths; row->pattern && !l->found; row++)
		if (row->kind == BASE_READ && lstat(row->pattern, &st) == 0 && S_ISDIR(st.st_mode) &&
		    snprintf(text, sizeof(text), "%s/%s", row->pattern, pattern) < (int)sizeof(text))
			follow_pattern(text, l);
}

const struct pol_str *plan_exec_leads(const struct policy *p, const char *program)
{
	const struct pol_list *deny = &p->process.deny_exec;
	struct lead l = {.program = program};
	uint32_t i;

	for (i = 0; i < deny->n; i++) {
		if (deny->v[i].s[0] == '/')
			follow_pattern(deny->v[i].s, &l);
		else
			follow_floating(deny->v[i].s, &l);
		if (l.found)
			return &deny->v[i];
	}
	return NULL;
}

struct program_list {
	struct draft *d;
	const char **v;
	size_t n, room;
};

static int add_program(void *arg, const char *path)
{
	struct program_list *l = arg;
	struct plan_way way;
	const char **more;
	int r = plan_links_find(l->d->plan->arena, path, &way);

	if (r == -ENOMEM)
		return error_set(l->d->err, ERROR_SYSTEM, "out of memory");
	/* What a link leads to that others made is a program when it is listed itself. */
	if (r < 0 || !plan_links_trusts(l->d, &way))
		return 0;
	if (l->n + 1 >= l->room) {
		l->room = l->room ? 2 * l->room : 32;
		more = realloc(l->v, l->room * sizeof(*more));
		if (!more)
			return error_set(l->d->err, ERROR_SYSTEM, "out of memory");
		l->v = more;
	}
	l->v[l->n++] = way.real;
	return 0;
}

/* The loaders that a dynamic program needs: execve() opens them for execution too. */
static int add_loaders(struct program_list *l)
{
	static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
					      "/lib/ld-linux.so.2",	     "/lib/ld-musl-x86_64.so.1",
					      "/lib/ld-musl-aarch64.so.1",   NULL};
	size_t i;

	for (i = 0; loaders[i]; i++)
		if (add_program(l, loaders[i]) < 0)
			return -1;
	return 0;
}

static bool is_listed(const struct program_list *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (path_is_in(path, l->v[i]))
			return true;
	return false;
}

/* What cannot be read is taken for one. */
static bool is_program(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char head[4];

	return fd < 0 || (read(fd, head, sizeof(head)) == sizeof(head) && memcmp(head, "\177ELF", sizeof(head)) == 0);
}

/*
 * Programs among the libraries: `ld.so program` would map them. Shared objects are mostly not executable; those that
 * are, are named so. A script is nothing that could be mapped, and may be a module.
 */
static int mask_programs_below(struct program_list *l, const char *folder, unsigned depth)
{
	struct plan_op op = {.kind = PLAN_MASK, .why = "process.allow_exec", .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC};
	DIR *dir = depth > 32 ? NULL : opendir(folder);
	struct dirent *e;
	const char *path;
	struct stat st;
	int r = 0, more = 0;

	if (!dir)
		return 0;
	while (r == 0 && (more = sys_next_name(dir, &e)) > 0) {
		if (e->d_name[0] == '.' || (e->d_type != DT_REG && e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		path = arena_printf(l->d->plan->arena, "%s/%s", folder, e->d_name);
		if (!path || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			r = mask_programs_below(l, path, depth + 1);
		} else if (S_ISREG(st.st_mode) && (st.st_mode & 0111) && !strstr(e->d_name, ".so") &&
			   !is_listed(l, path) && is_program(path)) {
			op.target = path;
			r = draft_add(l->d, &op);
		}
	}
	if (more < 0)
		r = error_sys(l->d->err, -more, "%s", folder);
	(void)closedir(dir);
	return r;
}

static int add_library_folder(void *arg, const char *folder)
{
	struct program_list *l = arg;
	struct plan_op op = {.kind = PLAN_EXEC,
			     .why = "process.allow_exec: shared libraries",
			     .flags = MOUNT_READ_ONLY | MOUNT_NO_DEV};
	struct stat st;

	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	op.target = arena_str(l->d->plan->arena, sv_of(folder));
	return draft_add(l->d, &op) < 0 ? -1 : mask_programs_below(l, folder, 0);
}

/* Of the base system; and where its interpreters have their modules, which are libraries too. */
static int add_library_folders(struct program_list *l)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu",
					      "/usr/lib/aarch64-linux-gnu",
					      "/usr/lib64",
					      "/usr/local/lib",
					      "/usr/lib/python3*",
					      "/usr/lib/jvm",
					      "/usr/lib/R",
					      "/usr/lib/php",
					      "/usr/lib/ruby",
					      "/usr/lib/node_modules",
					      "/usr/share/nodejs"};
	struct glob g;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(folders); i++) {
		if (glob_init(&g, sv_of(folders[i])) < 0)
			return error_set(l->d->err, ERROR_SYSTEM, "out of memory");
		r = draft_expand(&g, add_library_folder, l);
		glob_done(&g);
	}
	return r;
}

static int find_listed_programs(struct program_list *l)
{
	const struct pol_list *allow = &l->d->policy->process.allow_exec;
	struct glob g;
	uint32_t i;
	int r;

	for (i = 0; i < allow->n; i++) {
		if (glob_init(&g, sv_of(allow->v[i].s)) < 0)
			return error_set(l->d->err, ERROR_INPUT, "process.allow_exec %s: not a path pattern",
					 allow->v[i].s);
		if (g.text[0] != '/') {
			glob_done(&g);
			return error_set(l->d->err, ERROR_INPUT,
					 "process.allow_exec %s: a list of programs needs full paths on the native "
					 "runtime (or \"**\" for all)",
					 allow->v[i].s);
		}
		r = draft_expand(&g, add_program, l);
		glob_done(&g);
		if (r < 0)
			return -1;
	}
	return add_loaders(l);
}

static int add_listed_programs(struct program_list *l)
{
	struct plan_op op = {.kind = PLAN_EXEC, .why = "process.allow_exec", .flags = MOUNT_READ_ONLY | MOUNT_NO_DEV};
	size_t i;

	for (i = 0; i < l->n; i++) {
		op.target = l->v[i];
		if (draft_add(l->d, &op) < 0)
			return -1;
	}
	return 0;
}

/* Everything that was laid out so far can no longer be executed... */
static void forbid_everywhere(struct draft *d)
{
	size_t i;

	for (i = 0; i < d->plan->n_ops; i++)
		d->plan->ops[i].flags |= MOUNT_NO_EXEC;
}

int plan_exec_add(struct draft *d)
{
	struct program_list l = {.d = d};
	struct scan_links links;
	size_t i;
	int r;

	scan_links_init(&links, PLAN_MAX_ENTRIES);
	links.own = &d->own_folders;
	r = mask_denied(d, &links);
	scan_links_done(&links);
	if (r < 0 || plan_exec_allows_all(&d->policy->process.allow_exec))
		return r;
	d->plan->restrict_exec = true;
	forbid_everywhere(d);
	/* ... but for what is listed, and libraries, which are mapped. */
	r = find_listed_programs(&l);
	if (r == 0)
		r = add_library_folders(&l);
	if (r == 0)
		r = add_listed_programs(&l);
	d->plan->executables = arena_array(d->plan->arena, l.n + 1, sizeof(char *));
	for (i = 0; d->plan->executables && i < l.n; i++)
		d->plan->executables[i] = l.v[i];
	free(l.v);
	return r;
}

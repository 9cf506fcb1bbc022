#include "plan/plan_exec.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/plan_build.h"
#include "plan/plan_masks.h"
#include "plan/scan.h"
#include "sys/mounts.h"

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

	for (i = 0; i < deny->n; i++) {
		g = draft_guard(d);
		if (!g)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		*g = (struct plan_guard){.hidden = true};
		g->rule = arena_printf(d->plan->arena, "process.deny_exec %s", deny->v[i].s);
		if (glob_init(&g->glob, sv_of(deny->v[i].s)) < 0)
			return error_set(d->err, ERROR_INPUT, "%s: not a path pattern", g->rule);
		d->plan->n_guards++;
	}
	return 0;
}

static int mask_found(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	struct draft *d = arg;
	struct plan_op op = {.kind = PLAN_MASK, .why = guard->rule, .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC | MOUNT_NO_DEV};

	if (on_way)
		return 0;
	op.target = arena_str(d->plan->arena, sv_of(path));
	return draft_add(d, &op);
}

/*
 * Masks in the base system. The search for denied names passes it over for patterns that float in filesystem.deny (they are about the user's folders), but a
 * program is denied wherever it is.
 */
static int mask_in_base(struct draft *d, struct scan_links *links)
{
	size_t i, n = d->plan->n_ops, from = d->plan->n_guards - d->policy->process.deny_exec.n;
	struct scan scan = {.guards = d->plan->guards + from, .n_guards = d->policy->process.deny_exec.n,
			    .max_entries = PLAN_MAX_ENTRIES, .found = mask_found, .arg = d, .links = links, .memory_dir = d->cache_dir};
	struct plan_op op;
	uint64_t entries = 0;
	struct stat st;

	if (scan.n_guards == 0)
		return 0;
	for (i = 0; i < n; i++) {
		op = d->plan->ops[i];
		if (op.kind != PLAN_BIND || op.host || stat(op.source, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (scan_tree(&scan, op.source, op.target, &entries, d->err) < 0)
			return -1;
	}
	return plan_masks_other_names(d, links, n, false) < 0 ? -1 : plan_masks_other_names(d, links, n, true);
}

struct program_list {
	struct draft *d;
	const char **v;
	size_t n, room;
};

static int add_program(void *arg, const char *path)
{
	struct program_list *l = arg;
	AUTO_FREE char *real = realpath(path, NULL);
	const char **more;

	if (!real)
		return 0;
	if (l->n + 1 >= l->room) {
		l->room = l->room ? 2 * l->room : 32;
		more = realloc(l->v, l->room * sizeof(*more));
		if (!more)
			return error_set(l->d->err, ERROR_SYSTEM, "out of memory");
		l->v = more;
	}
	l->v[l->n++] = arena_str(l->d->plan->arena, sv_of(real));
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
	size_t i, n;

	for (i = 0; i < l->n; i++) {
		n = strlen(l->v[i]);
		if (strncmp(path, l->v[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
			return true;
	}
	return false;
}

/* Programs among the libraries: `ld.so program` would map them. Shared objects are mostly not executable; those that are, are named so. */
static int mask_programs_below(struct program_list *l, const char *folder, unsigned depth)
{
	struct plan_op op = {.kind = PLAN_MASK, .why = "process.allow_exec", .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC};
	DIR *dir = depth > 32 ? NULL : opendir(folder);
	struct dirent *e;
	const char *path;
	struct stat st;
	int r = 0;

	if (!dir)
		return 0;
	while (r == 0 && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || (e->d_type != DT_REG && e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		path = arena_printf(l->d->plan->arena, "%s/%s", folder, e->d_name);
		if (!path || lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			r = mask_programs_below(l, path, depth + 1);
		} else if (S_ISREG(st.st_mode) && (st.st_mode & 0111) && !strstr(e->d_name, ".so") && !is_listed(l, path)) {
			op.target = path;
			r = draft_add(l->d, &op);
		}
	}
	(void)closedir(dir);
	return r;
}

static int add_library_folders(struct program_list *l)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
					      "/usr/local/lib", NULL};
	struct plan_op op = {.kind = PLAN_EXEC, .why = "process.allow_exec: shared libraries", .flags = MOUNT_READ_ONLY | MOUNT_NO_DEV};
	struct stat st;
	size_t i;

	for (i = 0; folders[i]; i++) {
		if (lstat(folders[i], &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		op.target = folders[i];
		if (draft_add(l->d, &op) < 0 || mask_programs_below(l, folders[i], 0) < 0)
			return -1;
	}
	return 0;
}

static int add_listed_programs(struct program_list *l)
{
	const struct pol_list *allow = &l->d->policy->process.allow_exec;
	struct plan_op op = {.kind = PLAN_EXEC, .why = "process.allow_exec", .flags = MOUNT_READ_ONLY | MOUNT_NO_DEV};
	struct glob g;
	uint32_t i;
	size_t k;
	int r;

	for (i = 0; i < allow->n; i++) {
		if (glob_init(&g, sv_of(allow->v[i].s)) < 0)
			return error_set(l->d->err, ERROR_INPUT, "process.allow_exec %s: not a path pattern", allow->v[i].s);
		if (g.text[0] != '/') {
			glob_done(&g);
			return error_set(l->d->err, ERROR_INPUT,
					 "process.allow_exec %s: a list of programs needs full paths on the native runtime (or \"**\" for all)",
					 allow->v[i].s);
		}
		r = draft_expand(&g, add_program, l);
		glob_done(&g);
		if (r < 0)
			return -1;
	}
	if (add_loaders(l) < 0)
		return -1;
	for (k = 0; k < l->n; k++) {
		op.target = l->v[k];
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
	r = mask_in_base(d, &links);
	scan_links_done(&links);
	if (r < 0 || plan_exec_allows_all(&d->policy->process.allow_exec))
		return r;
	d->plan->restrict_exec = true;
	forbid_everywhere(d);
	/* ... but for what is listed, and libraries, which are mapped. */
	r = add_library_folders(&l);
	if (r == 0)
		r = add_listed_programs(&l);
	d->plan->executables = arena_array(d->plan->arena, l.n + 1, sizeof(char *));
	for (i = 0; d->plan->executables && i < l.n; i++)
		d->plan->executables[i] = l.v[i];
	free(l.v);
	return r;
}

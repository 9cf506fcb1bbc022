/*
 * scan: finds, below one folder of the host, every path that a set of patterns denies or protects.
 *
 * Never follows a symbolic link. What a pattern covers is reported once, at its top, and not entered. Its files may
 * have other names (hard links): they are noted, and looked for by scan_other_names() when all trees were searched.
 * Folders that cannot be read, or are nested too deep, are reported as denied themselves. Bounded by max entries.
 */
#ifndef CORDON_PLAN_SCAN_H
#define CORDON_PLAN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/plan.h"
#include "plan/scan_links.h"

/* A socket or a FIFO: behind one of the host's stands a process of the host's, a way out of the sandbox. */
extern const struct plan_guard scan_foreign;
/* What git takes orders from in a repository that is not called .git, by model/repository.h. */
extern const struct plan_guard scan_repository;
/* A folder that could not be searched: it is hidden as a whole. */
extern const struct plan_guard scan_not_searched;
/* A folder that was moved or removed while it was searched. */
extern const struct plan_guard scan_changed;

/* on_way: not denied itself, but it stands where a denied path needs a folder, and is none. Return 0, or -1 to stop. */
typedef int scan_found(void *arg, const char *path, const struct plan_guard *guard, bool on_way);

struct scan {
	const struct plan_guard *guards;
	size_t n_guards;
	uint64_t max_entries;
	scan_found *found;
	void *arg;
	struct scan_links *links; /* where files with several names are noted; NULL: nowhere */
	const char *memory_dir; /* for plan/scan_memory.h; NULL: each folder is read */
	/*
	 * For a search that is repeated soon: a folder below the root that is gone or was moved is reported, by
	 * scan_changed, and one that cannot be searched for any other reason by scan_not_searched; one that may not be
	 * entered is passed over, until that changes. The rest is searched.
	 */
	bool lenient;
};

/* root: absolute, canonical, on the host. shown_as: the same folder's name inside, where patterns are tried as well.
 * The error's code is EAGAIN where it changes meanwhile, or is gone, and EOVERFLOW where it has more than max_entries.
 */
int scan_tree(const struct scan *s, const char *root, const char *shown_as, uint64_t *ret_entries, struct error *err);

/* The same for a folder by its descriptor, open for reading and not read yet, as if it were at root: the one that was
 * opened there, or, without memory_dir, a copy of it. */
int scan_tree_at(const struct scan *s, int dir, const char *root, const char *shown_as, uint64_t *ret_entries,
		 struct error *err);

/*
 * Reports what is below root (or root, a file) and one of the files in s->links, under the names that scan_tree()
 * reported too. Costs nothing where there are none, else a look at every entry. A folder was searched by scan_tree()
 * before: what could not be searched there is passed over here.
 */
int scan_other_names(const struct scan *s, const char *root, const char *shown_as, struct error *err);
int scan_other_names_at(const struct scan *s, int fd, const char *root, const char *shown_as, struct error *err);

#endif

/*
 * scan_links: the other names of files that are denied or protected.
 *
 * A file with several names (hard links) is denied under all of them, whether a pattern names the file itself or a
 * folder above it. scan_links_note() collects the identity of such files while trees are searched (scan.h), and all
 * that stand below a folder that was found; only files with more than one name are of interest, so mostly there are
 * none. Where there are, scan_other_names() of scan.h looks through what is shown once more.
 *
 * Nothing of the user's is linked from the folders that only Cordon fills (not that of its settings), and they change
 * all the time: they are hidden, and not looked into (struct scan_own).
 *
 * Fails closed: what cannot be read to its end is an error. A folder that its owner, another user, keeps to himself is
 * passed over: nobody here could have linked what is in it.
 *
 * Owns its memory; guards are borrowed.
 */
#ifndef CORDON_PLAN_SCAN_LINKS_H
#define CORDON_PLAN_SCAN_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "model/plan.h"

struct scan_linked {
	dev_t dev;
	ino_t ino;
	const struct plan_guard *guard;
};

/* Folders that are hidden whole and in which nothing is looked at, by what they are: Cordon's own. */
enum { SCAN_OWN_MAX = 8 };
struct scan_own {
	struct {
		dev_t dev;
		ino_t ino;
	} v[SCAN_OWN_MAX];
	size_t n;
};

struct scan_links {
	struct scan_linked *v;
	size_t n, room;
	uint64_t entries, max_entries; /* looked at below folders that were found */
	bool sorted;
	bool lenient; /* what cannot be read to its end is passed over: it may be a mask */
	const struct scan_own *own; /* passed over, wherever they stand; NULL: none */
};

void scan_links_init(struct scan_links *l, uint64_t max_entries);
void scan_links_done(struct scan_links *l);

/* Adds a folder, if there is one of that name. */
void scan_own_add(struct scan_own *o, const char *path);
bool scan_links_is_own(const struct scan_links *l, const struct stat *st);

/* name, in dir, was found: a file, or a folder with all that is below it. path: the same for messages. */
int scan_links_note(struct scan_links *l, int dir, const char *name, const char *path, const struct plan_guard *guard,
		    struct error *err);

/* A file with several names that was found otherwise. */
int scan_links_add(struct scan_links *l, dev_t dev, ino_t ino, const struct plan_guard *guard, struct error *err);

/* What decides about a file; NULL: it is none of those that were noted. One that hides comes before one that protects.
 */
const struct plan_guard *scan_links_judge(struct scan_links *l, const struct stat *st);

#endif

/*
 * changes: what a sandbox did to its copy-on-write view of the work folder, and which of it may come back.
 *
 * `lower` is the host's work folder, `upper` what the run left behind: the upper folder of an overlay mounted with
 * `userxattr`, or a whole copy. Upper is hostile: the workload wrote every name, byte, mode and attribute in it. It is
 * walked by file descriptor, one component at a time, links are never followed, and nothing in either tree is written.
 *
 * What counts: bytes, type, permissions, link targets. Not owners, attributes or which names share an inode, nor times
 * alone: what is new or changed comes with the times that it has, and as one file where it has several such names (see
 * changes_steps.h). A file that was copied up and is the same is no change; a folder that
 * is on both sides is one only where its permissions differ; its setuid, setgid and sticky bits are left as the host
 * has them, and other users get no right to it that they did not have. The work folder's own mode is not looked at.
 *
 * Overlay: a whiteout is a character device 0:0, or an empty file with user.overlay.whiteout in a folder with
 * user.overlay.opaque = "x"; a folder with user.overlay.opaque = "y" hides what is below it. The mount has redirects
 * and metacopy off, so an entry that carries either attribute was forged, and is refused. In a copy these attributes
 * mean nothing. A copy is expected to hold all of lower but what `deny` covers, what is neither file, folder nor link,
 * what we cannot read, and special permission bits: that such a thing is missing is no change. No extended attribute is
 * ever brought back.
 *
 * Every change has a verdict, from the first of these that applies: what is somebody else's, or in a folder that is; a
 * name that would not be shown as it is; denied, protected or to be read only; what makes a repository of a folder, or
 * what git takes orders from in one (model/repository.h, git_state.h); a special file; setuid, setgid or sticky on a
 * file; a link that is absolute or can lead out of the work folder, by its text or through other links, be they old,
 * new or yet to come; another file system; changed on the host since the run started. What is below a new folder shares
 * its fate; a folder goes only where everything in it may go; a change of type and what it removes stand or fall
 * together.
 *
 * Somebody else's, as root, is what has another owner or group than the work folder: what a native sandbox neither
 * changes, moves nor removes, does not come back either, nor does what was such a thing's copy (copy_given()). For an
 * ordinary user it is what the system would not let him change.
 *
 * "Changed on the host since" is told by ctime (a file that was born since and is missing in a copy is just not part of
 * it), and for folders, of which a copy says which ones it was made of, by identity: a folder that the host moved to
 * this place since is not part of the copy, and is neither removed nor entered. What a copy holds just as it was copied
 * is no change of the run's, whatever the host has there by now. What the host had when the run started and has no more
 * does not come back, changed or made anew: the names are known from `copied`.
 *
 * Limits: CHANGES_DEPTH folders deep and PATH_MAX long (what is beyond is refused, not entered), max_entries names in
 * all. An entry that cannot be read is refused; a folder of lower or upper that cannot be listed at all fails the scan.
 */
#ifndef CORDON_SUPERVISE_CHANGES_H
#define CORDON_SUPERVISE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/glob.h"
#include "model/plan.h"
#include "supervise/copied.h"

enum { CHANGES_DEPTH = 256, CHANGES_ENTRIES = 1000000 };

enum changes_kind { CHANGES_OVERLAY, CHANGES_COPY };

enum change_kind { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED, CHANGE_TYPE, CHANGE_MODE };

enum change_type { CHANGE_NONE, CHANGE_FILE, CHANGE_FOLDER, CHANGE_LINK, CHANGE_SPECIAL };

struct change_side {
	enum change_type type;
	mode_t mode;        /* permission bits, 07777 */
	uint64_t size;      /* of a file or of a link's target */
	const char *target; /* of a link */
	uid_t uid;
	gid_t gid;
	dev_t dev;          /* from here on: which object was judged, so that no other is applied */
	ino_t ino;
	nlink_t names; /* hard links */
	struct timespec mtime;
	struct timespec ctime;
};

struct change {
	const char *path; /* below the work folder, no leading slash; any byte but NUL */
	enum change_kind kind;
	struct change_side before; /* in lower */
	struct change_side after;  /* in the merged view */
	const char *refused;       /* NULL: may be applied; else why not, one phrase, already escaped */
	bool own;                  /* refused for its own sake, not for its folder's or its content's */
};

/* In the order of a walk: by path, '/' before every other byte, so a folder is followed by all that is below it. */
struct changes {
	struct change *v;
	size_t n;
	size_t n_refused;
	const char *root; /* of the rules that it was judged by */
	struct arena *arena;
};

struct changes_rules {
	const char *root; /* lower's absolute, canonical path: what the patterns are matched against */
	const struct glob *deny;
	size_t n_deny;
	const struct glob *protect;
	size_t n_protect;
	const struct glob *read; /* what stays read-only; one that covers root says nothing here */
	size_t n_read;
	struct timespec started; /* CLOCK_REALTIME, taken before the mount or the copy was made; 0: unknown, no conflict
				    is looked for */
	bool force;              /* let the run's version win over what changed on the host since */
	size_t max_entries;      /* 0: CHANGES_ENTRIES */
	struct copied *copied;   /* what the copy was made of; of an overlay, what was there; NULL: not known */
	const char *const *hidden; /* absolute paths, sorted by byte, of which the copy has nothing: as `deny` */
	size_t n_hidden;
};

/* lower_fd and upper_fd: folders, opened for reading. On success *ret is the caller's (changes_free()). */
int changes_scan(int lower_fd, int upper_fd, enum changes_kind kind, const struct changes_rules *rules,
		 struct changes **ret, struct error *err);
void changes_free(struct changes *c); /* NULL is fine */

/* The change at path, or NULL. */
const struct change *changes_find(const struct changes *c, const char *path);

/* Names of enum change_kind and enum change_type, for people. */
extern const char *const change_kind_names[];
extern const char *const change_type_names[];

/* Work folders hold the staging folders of changes_apply() for a moment; nobody else may make such names. */
#define CHANGES_STAGING PLAN_STAGING

#endif

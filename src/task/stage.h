/*
 * stage: a task folder becomes a private copy, or is refused.
 *
 * A task folder is hostile in every byte, and may change while it is looked at. So it is read once: every name is
 * opened below its folder without following links, what was opened is looked at by its descriptor, and copied from that
 * descriptor. Whoever comes later reads the copy, which nobody else can write to; what was checked is what is used.
 *
 * Copied: regular files (0644, or 0755 where their owner may execute them), folders (0755), symbolic links that stay
 * inside. Times are kept; owners, attributes and the other mode bits are not, but for a build, which copies files with
 * the modes that they had (image/modes.h). Names of one file inside the folder become files of their own.
 *
 * Refused, each with its path:
 *   - symbolic links that leave the folder or are absolute, followed name by name or read as text, whichever is
 * stricter; links in circles. A link to a name that does not exist stays inside or leaves like any other.
 *   - symbolic links that take too long to follow, all together (STAGE_LINK_WORK)
 *   - files that have a further name (hard link) outside the folder
 *   - FIFOs, sockets, devices; files with setuid or setgid
 *   - names and links with control characters, invisible or direction-changing characters, or bytes that are not UTF-8
 *   - files that belong neither to the caller nor to the owner of the task folder; what cannot be read
 *   - what exceeds the limits; what changes while it is copied
 *
 * All that is refused is listed, not only the first. After the first nothing more is copied.
 */
#ifndef CORDON_TASK_STAGE_H
#define CORDON_TASK_STAGE_H

#include <stdint.h>

#include "base/error.h"
#include "image/modes.h"
#include "task/problems.h"

struct stage_limits {
	uint64_t bytes;	     /* of all files; holes count */
	uint64_t file_bytes; /* of one */
	uint64_t entries;    /* files, folders and links */
	unsigned depth;	     /* of folders, at most 256 */
};

/* 4 GiB in all, 2 GiB a file, 100,000 entries, 64 levels. */
extern const struct stage_limits stage_default_limits;

struct stage_stats {
	uint64_t bytes, files, folders, links;
	uint64_t cloned; /* files that share their blocks with the original */
};

/*
 * Copies what is in the folder `from` (a descriptor for reading, which stays the caller's) to the empty folder `to`,
 * which only the caller may write to. modes: gets those that files and folders had, where they are others; NULL: nobody
 * builds of it. -1: refused (ERROR_INPUT; problems has all of it) or failed (ERROR_SYSTEM; problems may be empty); then
 * `to` is empty again.
 */
int stage_copy(int from, int to, const struct stage_limits *limits, struct stage_stats *ret_stats, struct modes *modes,
	       struct problems *problems, struct error *err);

#endif

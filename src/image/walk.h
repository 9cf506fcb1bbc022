/*
 * walk: a folder as a tar archive, always the same for the same tree: names in the order of their bytes, modes, owners,
 * times in seconds, user.* attributes, hard links to the first of their names.
 *
 * Nothing is followed out of the folder: links are written as links, other file systems below it are left out, as are
 * sockets and device nodes, and counted.
 */
#ifndef CORDON_IMAGE_WALK_H
#define CORDON_IMAGE_WALK_H

#include <stdbool.h>

#include "base/error.h"
#include "image/name.h"
#include "model/image.h"

struct walk_result {
	char digest[IMAGE_DIGEST];
	uint64_t bytes; /* in files */
	uint64_t left_out;
};

/*
 * Of an upper folder of overlayfs that belongs to these ids: whiteouts and opaque folders are written as an archive has
 * them. What makes a layer depend on others (a redirected folder, a file whose data is elsewhere) is refused. until_ms:
 * when it must have ended (ETIMEDOUT); 0: whenever it does.
 */
int image_walk_digest(const struct image_ids *ids, const char *path, int64_t until_ms, struct walk_result *ret,
		      struct error *err);

/*
 * Starts a child that writes the archive of a root folder to a pipe. Owners are what they are on this machine where we
 * are its root, else those that the ids make of them. Its pid, and in *ret_fd the pipe's end; what it has to say comes
 * by image_walk_end(), when the pipe has been read to its end.
 */
struct image_walk {
	int pid;
	int out, report;
};
int image_walk_start(const struct image_ids *ids, int folder, struct image_walk *ret, struct error *err);
int image_walk_end(struct image_walk *w, bool kill_it, struct walk_result *ret, struct error *err);

#endif

/*
 * tar: the places of a root (sandbox/common/places.h) as a tar archive: folders, links, and files without what is in
 * them, which is mounted. So its bytes depend on names and modes alone, and are the same for all runs that show the
 * same places: sorted, without times, owned by root.
 *
 * POSIX ustar; a name or a link's text that does not fit into a header's 100 bytes gets an extended header (pax). What
 * is neither folder nor file nor link is refused (-EINVAL).
 */
#ifndef CORDON_DOCKER_TAR_H
#define CORDON_DOCKER_TAR_H

#include "base/buf.h"

/* What is in the folder. out has a maximum: -EFBIG. 0 or -errno. */
int tar_places(int dir, struct buf *out);

#endif

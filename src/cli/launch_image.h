/*
 * launch_image: the host's side of a sandbox whose root is an image: who the workload is, and its folders before and
 * after.
 */
#ifndef CORDON_CLI_LAUNCH_IMAGE_H
#define CORDON_CLI_LAUNCH_IMAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "model/image.h"
#include "supervise/stdio.h"

/* Who it is on the host. */
uint32_t launch_image_uid(const struct image_root *r);

/* Files of the host that are standard input, output or error are replaced by pipes: the workload may be root of their
 * owner, and may make files setuid. fds: what it is given. *ret_feed: as stdio_feed_later() has
 * it, where that is needed. */
int launch_image_stdio(const struct image_root *r, struct stdio_collect *c, int fds[3], int *ret_feed,
		       struct error *err);

/* What an earlier run left in the work folder goes. */
int launch_image_prepare(const struct image_root *r, struct error *err);

/* The workload may shut its folders, or give them to others: for an ordinary user, not for root of its ids. A user
 * namespace to read them in, an fd; -1: root, no image (r is NULL), or none can be had. */
int launch_image_reader(const struct image_root *r);

/* Nobody is inside any more. Takes away the mount points that were made (INSIDE_PLACES of model/inside.h) and are empty
 * still, and empties the work folder. What cannot be removed stays. */
void launch_image_done(const struct image_root *r, const struct buf *places);

#endif

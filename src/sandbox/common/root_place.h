/*
 * root_place: places for mounts in a root that strangers filled.
 *
 * A place is looked up as if the root were the root folder: links are followed inside it, "..", absolute links and
 * /proc's magic links lead nowhere else. What is missing is made, and noted, so that it can be taken away again when
 * the sandbox has ended (cli/launch_image.h).
 */
#ifndef CORDON_SANDBOX_ROOT_PLACE_H
#define CORDON_SANDBOX_ROOT_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct root_places {
	int root;	  /* O_PATH */
	const char *base; /* its name from where we are, for what the kernel calls things in it */
	bool give;	  /* what is made is given to these, who are not who we are */
	uid_t uid;
	gid_t gid;
	struct buf *made; /* paths from the root, each with its NUL, in the order they were made; NULL: nobody takes
			     them away */
};

enum root_place_kind {
	ROOT_PLACE_FILE = 0,
	ROOT_PLACE_FOLDER = 1,
	ROOT_PLACE_FOLLOW = 2, /* the last name may be a link, too, be it to nothing yet */
};

/* An O_PATH fd, or -errno: -ELOOP for a link that must not be there, -ENOTDIR or -EISDIR where something else stands,
 * -EXDEV where it is the sandbox's own (/proc, /dev, /sys). */
int root_place(const struct root_places *p, const char *path, unsigned kind);

/* The same for what must stand in the root itself, as a folder, under this name, and made where it is missing. */
int root_place_top(const struct root_places *p, const char *name);

#endif

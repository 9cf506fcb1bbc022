/*
 * users: who a name is in an image: its own /etc/passwd and /etc/group, never the host's.
 *
 * Both are looked for in the layers from the top, as overlayfs would show them; what is not a regular file, or lies
 * behind a link, is refused. Read once, at most IMAGE_USERS_BYTES; lines that are not of the known form are passed
 * over.
 */
#ifndef CORDON_IMAGE_USERS_H
#define CORDON_IMAGE_USERS_H

#include <limits.h>

#include "base/error.h"
#include "model/image.h"

enum { IMAGE_USERS_BYTES = 1 << 20 };

struct image_user {
	uint32_t uid, gid;
	uint32_t groups[IMAGE_GROUPS_MAX]; /* that the image's table says a user is in whose group was not named; the
					      first of them */
	uint32_t n_groups;
	char home[256]; /* "/" where the image does not say; no controls */
};

/* "name", "uid", "name:group", "uid:gid"; "" is root. layers: topmost first, NULL-terminated. ERROR_INPUT where the
 * image knows no such name. */
int image_user_find(const char *const *layers, const char *user, struct image_user *ret, struct error *err);

/* Who the commands of this root are, whose ids are set: with the groups that it has ids for. */
void image_user_become(const struct image_user *u, struct image_root *root);

/* A group by its name or number. */
int image_group_find(const char *const *layers, const char *group, uint32_t *ret, struct error *err);

#endif

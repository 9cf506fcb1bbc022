/*
 * unpack_path: names in archives, as paths below a folder.
 *
 * What is meant is what is written: a name is taken as it is or refused, and never repaired, but for "./" in front and
 * "/" behind, which every tar of a folder has. Bytes may be any but NUL and the slash.
 */
#ifndef CORDON_IMAGE_UNPACK_PATH_H
#define CORDON_IMAGE_UNPACK_PATH_H

#include <stdbool.h>

#include "base/sv.h"

enum { UNPACK_PATH_MAX = 4096, UNPACK_DEPTH_MAX = 256 };

enum unpack_special {
	UNPACK_PLAIN,
	UNPACK_WHITEOUT, /* .wh.NAME: what lower layers have as NAME is gone */
	UNPACK_OPAQUE,	 /* .wh..wh..opq: all that lower layers have in this folder is gone */
	UNPACK_SKIP,	 /* other .wh..wh. names: the notes of a file system that once made such layers */
};

struct unpack_path {
	char path[UNPACK_PATH_MAX]; /* relative; "" is the folder itself */
	size_t parent;		    /* length of the part before the last slash; 0 where there is none */
	const char *last;	    /* the last component, without .wh. of a whiteout */
	enum unpack_special special;
};

/* NULL, or what is wrong with it (static text, to stand behind the name). */
const char *unpack_path_read(struct sv name, struct unpack_path *ret);

#endif

/*
 * volume_copy: what a volume holds at one moment, as part of the agent's changes; and what it holds at first.
 *
 * A volume is a folder of the host that several sandboxes have mounted, so what is in it is in nobody's upper folder,
 * and services write on while it is looked at. Copied below the agent's upper folder, at the place where the agent had
 * it, it is as everything else that the agent made: nobody writes to it any more, and the filter of carry.h, artifacts
 * and the diff know no difference.
 *
 * Files, folders and links are copied with owners, modes and times, names of one file stay names of one file, sockets
 * and FIFOs are made anew (carry.h says that they were there); no extended attributes, no devices. What vanishes or
 * becomes something else meanwhile is left out; what is deeper than VOLUME_DEPTH is, too. No link is ever followed. It
 * is done by a child that is the image's id 0.
 */
#ifndef CORDON_TASK_VOLUME_COPY_H
#define CORDON_TASK_VOLUME_COPY_H

#include "base/error.h"
#include "model/image.h"

enum { VOLUME_DEPTH = 300 };

struct volume_copy {
	int volume;		   /* the folder; O_PATH will do */
	int upper;		   /* the agent's; no sandbox has it any more */
	const char *target;	   /* inside, absolute and canonical */
	const char *const *layers; /* of the image, topmost first: whose the folders above the target are */
	const struct image_ids *ids;
	uint64_t limit; /* bytes on the disk, and 1024 for each name */
	const int *stop; /* readable where somebody wants it to end */
};

/* Puts it there, in the place of whatever the upper folder has there, opaque. */
enum volume_copied {
	VOLUME_COPIED,
	VOLUME_IN_THE_WAY, /* something on the way to the target is no folder: nothing was put there */
	VOLUME_TOO_LARGE,  /* it holds more than the limit: likewise */
};
int volume_copy(const struct volume_copy *v, struct error *err);

/*
 * A volume that is empty gets what the image has in its place, with owner and mode of that folder, as Docker does it.
 * It stays as it is where the image has no folder there, or a link. Layers, ids and limit as above. 0 or -1.
 */
int volume_fill(int volume, const char *target, const char *const *layers, const struct image_ids *ids, uint64_t limit,
		struct error *err);

/* Takes it away again. */
int volume_uncopy(int upper, const char *target, const struct image_ids *ids, struct error *err);

#endif

/*
 * layer: files of the stage as a layer of a sandbox's root: tests, a solution, an instruction.
 *
 * A folder of a layer that lies on top hides whatever the image or the agent has under that name: it is marked opaque,
 * so that nothing of theirs shows through, and belongs to the sandbox's root. The layer is an overlay's lower folder:
 * what a sandbox changes in it goes elsewhere.
 *
 * `layer` is an empty folder that only we can write to (image/store.h: image_work).
 */
#ifndef CORDON_TASK_LAYER_H
#define CORDON_TASK_LAYER_H

#include "base/error.h"
#include "model/image.h"

/* The files of the folder `from` at `target`, absolute and canonical, whose parents are made. */
int layer_add_folder(int layer, const struct image_ids *ids, const char *target, int from, struct error *err);

/* An empty one, which every user of the sandbox may write to. */
int layer_add_empty(int layer, const struct image_ids *ids, const char *target, struct error *err);

/* A folder through which what lies below it shows. */
int layer_add_open(int layer, const struct image_ids *ids, const char *target, struct error *err);

/* One file; target names it. */
int layer_add_file(int layer, const struct image_ids *ids, const char *target, int from, unsigned mode,
		   struct error *err);
int layer_add_text(int layer, const struct image_ids *ids, const char *target, const void *bytes, size_t n,
		   struct error *err);

/* The folder of a layer that a sandbox has written to, and whose owner and mode are therefore what it made of its root:
 * they are inside 0's again, and open to us. An fd, or -errno. */
int layer_open(const char *path, const struct image_ids *ids);

/* All of it belongs to the sandbox's root; or one name of a folder, with all below it. */
int layer_own(int layer, const struct image_ids *ids, struct error *err);
int layer_own_name(int dir, const char *name, const struct image_ids *ids, struct error *err);

/*
 * Where the layer is one that a sandbox has written to: whatever stands on the way to target, or there, and is no
 * folder (a file, a link, the mark of something deleted) becomes an empty one, which hides what lies below it. What is
 * missing is not made. 0 or -errno.
 */
int layer_clear_way(int layer, const struct image_ids *ids, const char *target);

#endif

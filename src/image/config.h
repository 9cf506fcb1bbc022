/*
 * config: struct image_config between processes, in the store, and as the JSON that an image's digest is of.
 *
 * Decoding checks everything that the struct promises, whoever wrote the bytes. Strings go into the arena.
 */
#ifndef CORDON_IMAGE_CONFIG_H
#define CORDON_IMAGE_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/image.h"
#include "wire/wire.h"

enum { IMAGE_CONFIG_MAX = 1 << 20, IMAGE_CONFIG_STRINGS = 4096 };

void image_config_put(struct buf *out, const struct image_config *c);
/* 0 or -EBADMSG, -ENOMEM. */
int image_config_get(struct wire_in *in, struct arena *a, struct image_config *ret);

/* As the OCI's image specification has it, in one form: equal configs and layers give equal bytes. layers: digests,
 * lowest first. */
void image_config_json(struct buf *out, const struct image_config *c, const char *const *layers, size_t n);

/* UTF-8 without controls but tab and newline? */
bool image_text_ok(struct sv s);

/* An absolute path without "." and "..", empty parts and a slash at its end; what goes above the root stays there.
 * NULL: no memory. */
char *image_path_clean(struct arena *a, struct sv path);

#endif

/*
 * compose_codec: the services of a task as bytes, and back.
 *
 * One table says which fields there are, how they are written and what they may be; encoding, decoding, comparing and
 * compose_wrong() walk it. Decoding trusts nothing: every count is held against the bytes that are left before memory
 * is taken, and the result has passed compose_wrong().
 */
#ifndef CORDON_MODEL_COMPOSE_CODEC_H
#define CORDON_MODEL_COMPOSE_CODEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/compose.h"
#include "wire/wire.h"

/* Appends. 0 or -errno. */
int compose_encode(const struct compose *c, struct buf *out);

/* Reads one from in; more may follow. 0, -EBADMSG or -ENOMEM. What *ret points to is in the arena. */
int compose_decode(struct wire_in *in, struct arena *a, const struct compose **ret);

#endif

/*
 * frames: what a client says in a websocket, searched for placeholders.
 *
 * Its frames are masked by four bytes that stand before each, so that no placeholder is seen in them as they pass. This
 * reads along, and holds nothing up: what is refused is the bytes with which a placeholder is complete. Not seen are
 * messages in frames that say of themselves that they are compressed.
 */
#ifndef CORDON_RELAY_FRAMES_H
#define CORDON_RELAY_FRAMES_H

#include "vault/placeholder_set.h"

struct frames;

struct frames *frames_new(struct placeholder_set *set); /* NULL: no memory */
void frames_free(struct frames *f);			 /* NULL is fine */

/* The next bytes that the client sends. PLACEHOLDER_NONE; else one was found, or -ENOMEM. */
int frames_feed(struct frames *f, struct sv bytes);

#endif

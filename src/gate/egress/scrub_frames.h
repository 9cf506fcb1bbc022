/*
 * scrub_frames: scrubbing of what comes through a websocket, which is cut into frames.
 *
 * To the scrubber (scrub.h) the payloads of all frames are one stream, so that a credential is found however it is
 * split over frames and messages. Frames keep their sizes and their order, since what is replaced keeps its length:
 * headers go out where they stood, behind the payload that came before them. What is held back depends on the payload's
 * alphabet alone, as there; a header waits only behind payload that does.
 *
 * A control frame may stand amid a message, which goes on behind it, or its payload may go on what the message before
 * said. So there are two ways through the frames, one after the other: first what all of them carry is one stream (of a
 * close its reason, not its status), then what data frames do, with control frames aside, each looked at by itself.
 * What is spread over control frames with messages between them is not found.
 *
 * What a server must not send ends the stream (-EPROTO), because nobody could say what it hides: masked frames,
 * reserved bits (no extension was agreed on), unknown opcodes, control frames in pieces or too long, lengths of more
 * than 63 bits; and more than SCRUB_FRAMES_WAIT bytes of headers behind payload that is held back. Failure besides:
 * -ENOMEM.
 */
#ifndef CORDON_GATE_EGRESS_SCRUB_FRAMES_H
#define CORDON_GATE_EGRESS_SCRUB_FRAMES_H

#include "gate/egress/scrub.h"

enum { SCRUB_FRAMES_WAIT = 512 * 1024 };

struct scrub_frames;

struct scrub_frames *scrub_frames_new(struct scrub *s); /* NULL: no memory */
void scrub_frames_free(struct scrub_frames *t);	       /* NULL is fine */

/* As their namesakes of scrub.h; ret is valid until the next call. 0, -EPROTO or -ENOMEM. */
int scrub_frames_feed(struct scrub_frames *t, char *p, size_t n, struct sv *ret);
int scrub_frames_renew(struct scrub_frames *t, struct scrub *s);
bool scrub_frames_waits(const struct scrub_frames *t);
/* Did the last byte end a message, or a control frame between messages? */
bool scrub_frames_are_between(const struct scrub_frames *t);
int scrub_frames_release(struct scrub_frames *t, struct sv *ret);
int scrub_frames_end(struct scrub_frames *t, struct sv *ret);
uint64_t scrub_frames_hits(const struct scrub_frames *t);

#endif

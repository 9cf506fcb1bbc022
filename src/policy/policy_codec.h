/*
 * policy_codec: an effective policy as bytes, and back.
 *
 * The encoding is canonical: equal policies (origins included) have equal bytes, and bytes that decode encode to
 * themselves again. Numbers are little-endian, seven bits a byte; a string is its length, its bytes and a NUL, so that
 * a decoded policy points into one copy of the bytes. It starts with a magic that holds the version. The mandatory
 * protections are one mark, not a list, where they are exactly this build's.
 *
 * Decoding trusts nothing: every count is checked against the bytes left before memory is taken, every enum and file
 * index against its bound, phases do not nest, and bytes left over are an error. It does not check what strings mean:
 * bytes from elsewhere than this user's own process are never to be decoded.
 */
#ifndef CORDON_POLICY_CODEC_H
#define CORDON_POLICY_CODEC_H

#include "base/buf.h"
#include "base/sha256.h"
#include "model/policy.h"

/* An encoding is at most this long. */
enum { POLICY_CODEC_MAX = 64 << 20 };

/* 0 or -errno. */
int policy_encode(const struct policy *p, struct buf *out);

/* 0; -EBADMSG; -ENOMEM. bytes need not outlive the call. */
int policy_decode(struct sv bytes, struct policy **ret);

/* The same from a file of ours (a memfd): read from its start, without moving its offset, which others may share. Also
 * -errno of reading. */
int policy_decode_fd(int fd, struct policy **ret);

/* SHA-256 of the encoding in hex. 0 or -errno. */
int policy_digest(const struct policy *p, char digest[SHA256_HEX]);

#endif

/*
 * sha256: FIPS 180-4, for digests and the audit chain.
 *
 * Ours, because libcrypto costs more to load than a whole sandbox costs to start. Never used with a secret
 * key, so no constant-time promise is needed (it has no data-dependent branches anyway).
 */
#ifndef CORDON_BASE_SHA256_H
#define CORDON_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

enum { SHA256_SIZE = 32, SHA256_HEX = 65 };

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_done(struct sha256 *s, unsigned char out[SHA256_SIZE]);

/* Lower-case hex and NUL. */
void sha256_hex(const unsigned char digest[SHA256_SIZE], char out[SHA256_HEX]);
void sha256_hex_of(struct sv bytes, char out[SHA256_HEX]);

#endif

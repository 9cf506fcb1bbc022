#include "base/sha256.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

#include "base/coding.h"

static const uint32_t K[64] = { /* FIPS 180-4, 4.2.2 */
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t ror(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

#ifdef __x86_64__
/*
 * The same with the processor's own instructions, about seven times as fast. They keep the eight words as (A B E F) and
 * (C D G H) and do two rounds at a time; four words of the message schedule follow from the sixteen before them.
 */
__attribute__((target("sha,sse4.1"))) static void compress_fast(uint32_t h[8], const unsigned char *p)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
	const __m128i abef_before = abef, cdgh_before = cdgh;
	__m128i w[4], t;
	unsigned i;

	for (i = 0; i < 16; i++) {
		if (i < 4) {
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), swap);
		} else {
			t = _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4);
			t = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]), t);
			w[i & 3] = _mm_sha256msg2_epu32(t, w[(i + 3) & 3]);
		}
		t = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, t);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(t, 0x0e));
	}
	abef = _mm_add_epi32(abef, abef_before);
	cdgh = _mm_add_epi32(cdgh, cdgh_before);
	low = _mm_shuffle_epi32(abef, 0x1b);
	high = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(high, low, 8));
}

/* A fact that does not change, asked for once: on a virtual machine each question is a trip to the host. Processors
 * with SHA have SSE 4.1. */
static bool has_fast(void)
{
	static atomic_int known;
	unsigned a, b = 0, c, d;

	if (!known)
		known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) ? 1 : -1;
	return known > 0;
}
#endif

static void compress_plain(uint32_t h[8], const unsigned char *p)
{
	uint32_t w[64], v[8], t1, t2;
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	for (; i < 64; i++)
		w[i] = (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10) + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 16];
	memcpy(v, h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] +
		     w[i];
		t2 = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += v[i];
}

static void compress(uint32_t h[8], const unsigned char *p, size_t blocks)
{
#ifdef __x86_64__
	if (has_fast()) {
		for (; blocks; blocks--, p += 64)
			compress_fast(h, p);
		return;
	}
#endif
	for (; blocks; blocks--, p += 64)
		compress_plain(h, p);
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(s->h, start, sizeof(start));
	s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t have = s->bytes % 64, take;

	s->bytes += n;
	if (have) {
		take = 64 - have < n ? 64 - have : n;
		memcpy(s->block + have, p, take);
		p += take;
		n -= take;
		if (have + take < 64)
			return;
		compress(s->h, s->block, 1);
	}
	compress(s->h, p, n / 64);
	p += n - n % 64;
	if (n % 64)
		memcpy(s->block, p, n % 64);
}

void sha256_done(struct sha256 *s, unsigned char out[SHA256_SIZE])
{
	static const unsigned char pad[64] = {0x80};
	uint64_t bits = s->bytes * 8;
	unsigned char len[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		len[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, pad, 1 + (119 - s->bytes % 64) % 64);
	sha256_add(s, len, 8);
	for (i = 0; i < SHA256_SIZE; i++)
		out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const unsigned char digest[SHA256_SIZE], char out[SHA256_HEX])
{
	hex_put(sv_n((const char *)digest, SHA256_SIZE), hex_lower, out);
	out[64] = '\0';
}

void sha256_hex_of(struct sv bytes, char out[SHA256_HEX])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, bytes.p, bytes.n);
	sha256_done(&s, digest);
	sha256_hex(digest, out);
}

/*
 * address: IP addresses, ranges of them, and the floor: the addresses that no name may lead to.
 *
 * Plain data, no heap, no resolver. An IPv4 address is kept as ::ffff:a.b.c.d, and so is what arrives in that form: to
 * the kernel they are the same place. Text is read strictly (four decimal numbers without leading zeros, or IPv6 as RFC
 * 4291 has it, no zone): the forms that only some readers take for an address (0x7f.1, 2130706433, 0177.0.0.1) are
 * refused here, and address_looks_numeric() finds them.
 *
 * The floor is everything that is not the public internet, and the places where clouds keep their metadata. An IPv6
 * address that carries an IPv4 address (NAT64, 6to4, ISATAP) is under the floor where that one is. What lies outside of
 * 2000::/3 is under it in any case, and so is Teredo (2001::/32, part of 2001::/23): nothing of the public internet is
 * reached by either.
 *
 * A machine's own addresses are under it as its loopback is, whatever they look like: what listens for its neighbours
 * is not for a sandbox. Only whoever dials can know them, and marks them (`own`).
 */
#ifndef CORDON_MODEL_ADDRESS_H
#define CORDON_MODEL_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

struct address {
	uint8_t b[16];
	bool is4; /* the last four bytes, behind ::ffff: */
	bool own; /* of this machine, as whoever asked the kernel knows; no part of what makes two addresses the same */
};

enum address_floor {
	FLOOR_NONE, /* the public internet */
	FLOOR_THIS_NETWORK,
	FLOOR_LOOPBACK,
	FLOOR_OWN,
	FLOOR_PRIVATE,
	FLOOR_SHARED, /* carrier-grade NAT */
	FLOOR_LINK_LOCAL,
	FLOOR_METADATA,
	FLOOR_MULTICAST,
	FLOOR_RESERVED, /* benchmarks, documentation, protocols, the future, broadcast */
};

/* The text of an address; "[...]" is fine around IPv6. False leaves *ret untouched. */
bool address_parse(struct sv text, struct address *ret);

/* From network order. */
struct address address_of4(const uint8_t b[4]);
struct address address_of6(const uint8_t b[16]);

bool address_same(const struct address *a, const struct address *b);

enum { ADDRESS_TEXT = 48 };

/* The one canonical text, without brackets. Returns out. */
const char *address_text(const struct address *a, char out[ADDRESS_TEXT]);

/* The last label begins with a digit: no top-level domain does, but addresses in odd forms do. */
bool address_looks_numeric(struct sv host);

enum address_floor address_floor(const struct address *a);

struct cidr;

/* The i-th of the ranges that lie under the floor as a whole, but for those inside of another. There is more below it
 * that is no range (what carries an IPv4 address). False: there are no more. */
bool address_floor_range(unsigned i, struct cidr *ret);

enum { ADDRESS_CARRIED = 8 };

/*
 * The IPv4 addresses that an IPv6 address stands for or leads to: by NAT64 (64:ff9b::/96, and below 64:ff9b:1::/48
 * wherever RFC 6052 may put it), 6to4, Teredo (server and client), ISATAP, and as IPv4-compatible or -translated. Who
 * denies one of them means these, too. Translators with prefixes of their own cannot be known. Returns how many; IPv4
 * carries none.
 */
unsigned address_carried(const struct address *a, struct address ret[ADDRESS_CARRIED]);

/* The one that DNS64 made an address of 64:ff9b::/96 of, which is reached by it and nothing else. False: it is of
 * another kind. */
bool address_translates(const struct address *a, struct address *ret);

/* 127.0.0.0/8 or ::1 itself: what is sent there stays on this machine. Forms that carry such an address (NAT64, 6to4)
 * lead elsewhere and are none. */
bool address_is_loopback(const struct address *a);

/* "a loopback address"; NULL for FLOOR_NONE. */
const char *address_floor_text(enum address_floor floor);

/* bits counts over all 16 bytes: 96 + 24 for an IPv4 /24. */
struct cidr {
	struct address net;
	uint8_t bits;
};

/* "10.1.2.0/24"; without a length it is one address. Bits behind the length are cleared. */
bool cidr_parse(struct sv text, struct cidr *ret);
/* A range of IPv6, however short its prefix, never holds an IPv4 address. */
bool cidr_has(const struct cidr *c, const struct address *a);
bool cidr_covers(const struct cidr *outer, const struct cidr *inner);
/* The address with all but its first bits (of 128) cleared. */
struct address address_prefix(const struct address *a, unsigned bits);

#endif

/*
 * door: how a stream through the door begins. The door is one UNIX socket for all that a sandbox without listeners of
 * its own wants from outside: cordon-init connects to it inside, once per stream, and the relay accepts outside.
 *
 *	0	4	magic
 *	4	1	version
 *	5	1	kind
 *	6	1	family: 4, 6; 0 where there is no destination
 *	7	1	0
 *	8	4	provider, big-endian; 0 but for DOOR_INFERENCE
 *	12	2	port, big-endian; 0 where there is no destination
 *	14	2	0
 *	16	16	address; the first four bytes of it for family 4, the rest 0
 *
 * What follows is the stream itself. The workload can speak to the door as well as cordon-init can: a header says what
 * is wanted, and proves nothing.
 */
#ifndef CORDON_BASE_DOOR_H
#define CORDON_BASE_DOOR_H

#include <stdint.h>

enum { DOOR_HEADER = 32, DOOR_VERSION = 1 };

enum door_kind {
	DOOR_PROXY = 1,	    /* HTTP proxy or SOCKS5 */
	DOOR_TRANSPARENT,   /* meant for the destination in the header */
	DOOR_DNS,	    /* queries, each behind two bytes of length */
	DOOR_DNS_DATAGRAMS, /* the same, but the answers must fit into datagrams */
	DOOR_INFERENCE,	    /* plain HTTP for the provider in the header */
};

struct door_header {
	enum door_kind kind;
	uint32_t provider;
	uint8_t family; /* 0, 4, 6 */
	uint16_t port;
	uint8_t address[16];
};

void door_put(const struct door_header *h, unsigned char out[DOOR_HEADER]);

/* 0 or -EBADMSG: there is one encoding of each header, and no other is taken. */
int door_get(const unsigned char in[DOOR_HEADER], struct door_header *ret);

#endif

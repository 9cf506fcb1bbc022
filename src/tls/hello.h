/*
 * hello: reads a TLS ClientHello before any TLS engine does: which name, which protocols, and is the true name hidden.
 *
 * Pure: bytes in, answer out, no state; called again with more bytes until it says something else than HELLO_MORE.
 * Strict, since a second parser (the upstream's, when the hello is tunnelled on) must not find another name in the same
 * bytes: a server name that is not exactly one host name, an extension that is there twice, bytes left over in the
 * message or in its last record, records of length 0 or other types in between, SSLv2 forms: HELLO_BAD.
 *
 * The hello may be split over records and reads in any way; with record headers it is at most HELLO_MAX bytes, or bad.
 */
#ifndef CORDON_TLS_HELLO_H
#define CORDON_TLS_HELLO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

enum { HELLO_MAX = 16 * 1024, HELLO_NAME_MAX = 253, HELLO_ALPN_MAX = 16, HELLO_ALPN_BYTES = 256 };

enum hello_status {
	HELLO_MORE,    /* a ClientHello so far */
	HELLO_OK,      /* hello is filled in */
	HELLO_NOT_TLS, /* the first byte (or the two after it) are of something else */
	HELLO_BAD      /* TLS, but not a ClientHello that can be judged */
};

struct hello {
	char name[HELLO_NAME_MAX +
		  1]; /* the server name: lower case, no trailing dot; "" where the client names none */
	bool ech;		       /* encrypted_client_hello is there: name may be a cover (or grease) */
	uint16_t version;	       /* the highest offered: 0x0303 is TLS 1.2, 0x0304 TLS 1.3 */
	uint8_t n_alpn;		       /* offered protocols, in order; past HELLO_ALPN_MAX they are checked, not kept */
	struct sv alpn[HELLO_ALPN_MAX]; /* borrow from alpn_bytes: a copied hello's would point into the old one */
	char alpn_bytes[HELLO_ALPN_BYTES];
};

/* Parses what has come so far, from the first byte of the connection. ret is written only with HELLO_OK. */
enum hello_status hello_parse(struct sv bytes, struct hello *ret);

/* Offered that protocol? */
bool hello_offers(const struct hello *hello, const char *protocol);

#endif

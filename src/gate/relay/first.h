/*
 * first: what a client's first bytes are, and whether the name in a ClientHello may go where the client wants to go.
 *
 * Pure but for the rules that are asked.
 */
#ifndef CORDON_RELAY_FIRST_H
#define CORDON_RELAY_FIRST_H

#include "base/sv.h"
#include "policy/net_rules.h"
#include "tls/hello.h"

enum first_kind {
	FIRST_MORE,  /* cannot be told yet */
	FIRST_TLS,   /* a whole ClientHello */
	FIRST_HTTP,  /* a letter as methods begin with; the reader of HTTP decides about the rest */
	FIRST_OTHER, /* something else */
	FIRST_BAD,   /* TLS, but no ClientHello that can be judged */
};

/* ret is written only with FIRST_TLS. */
enum first_kind first_look(struct sv bytes, struct hello *ret);

/*
 * NULL, or why not: a fixed phrase. A host that is a name must be the one in the ClientHello, which may then have an
 * encrypted one besides (most are dummies; the server of a true one is this name's). An address is no name to compare
 * with: the ClientHello may have none, or one that no rule denies or looks inside.
 */
const char *first_name_fault(const struct ruleset *rules, const struct hello *hello, const char *host, bool is_address,
			     uint16_t port, enum net_way way);

/* The phrase with the name that the ClientHello has, where it has one; for the log. Returns out. */
enum { FIRST_FAULT = HELLO_NAME_MAX + 128 };
const char *first_fault_words(const char *fault, const struct hello *hello, char out[FIRST_FAULT]);

#endif

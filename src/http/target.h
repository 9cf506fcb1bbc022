/*
 * target: where a request goes, in the one form that is judged and sent.
 *
 * Authorities. A host is a DNS name (letters, digits, hyphen, underscore; international names as A-labels) or an IP
 * address; it comes out in lower case, an address as address_text() writes it and without brackets. One trailing dot is
 * removed: it names the same host, and removing it makes rule, certificate, SNI and Host agree, whichever of them had
 * it. User names, zones, percent signs and numbers that only some resolvers take for an address (0x7f.1, 2130706433)
 * are refused.
 *
 * Paths. Whatever two servers may read as two different paths is refused: dot segments however written (".", "%2e",
 * "%252e", "..;x"), backslashes, encoded backslashes and control characters, overlong UTF-8, fragments, bytes that must
 * be encoded, percent signs without two digits. Percent triplets get upper-case digits, and those of unreserved
 * characters are decoded, in the query too. What browsers and fetch() leave as it is, and all servers take for itself,
 * is encoded: brackets, braces, "|", "^", "`", quotes, "<" and ">" in a path, and in a query percent signs without two
 * digits. Two forms have honest users, so they pass as they are, with a flag: "%2F" (npm's "/@scope%2Fname") and empty
 * segments ("//" in the keys of object stores). A judge lets them pass only where its rule does not restrict paths.
 *
 * Pure, no heap. Functions return NULL, or why not: a fixed English phrase.
 */
#ifndef CORDON_HTTP_TARGET_H
#define CORDON_HTTP_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

enum { HTTP_HOST_MAX = 253 };

struct http_authority {
	char host[HTTP_HOST_MAX + 3]; /* NUL-terminated */
	uint8_t n;
	bool v6; /* stands in brackets */
	uint16_t port; /* 0: none was given */
};

/* "host", "host:port", "[v6]", "[v6]:port". */
const char *http_authority(struct sv s, struct http_authority *ret);

static inline struct sv http_authority_host(const struct http_authority *a)
{
	return sv_n(a->host, a->n);
}

struct http_path {
	struct sv text; /* path and query, in out */
	bool ambiguous; /* "%2F" or an empty segment: see above */
};

/* How many bytes longer than s a canonical form may be. */
size_t http_target_growth(struct sv s);

/* A path that starts with "/", and its query. out has room for s.n + http_target_growth(s) bytes, and may be s.p itself
 * where that does not grow. */
const char *http_path(struct sv s, char *out, struct http_path *ret);

enum http_form {
	HTTP_FORM_ORIGIN,    /* /path?query */
	HTTP_FORM_ABSOLUTE,  /* http://host/path */
	HTTP_FORM_AUTHORITY, /* host:port, with CONNECT */
	HTTP_FORM_ASTERISK,  /* "*", with OPTIONS */
};

struct http_target {
	enum http_form form;
	bool tls;                        /* absolute: https */
	struct http_authority authority; /* absolute and authority; its port is never 0 */
	struct http_path path; /* "/" where an absolute target has none ("*" with OPTIONS); empty with CONNECT */
};

/* The target of a request line. out as with http_path(). */
const char *http_target(struct sv method, struct sv s, char *out, struct http_target *ret);

#endif

/*
 * fields: what header fields are made of, and which of them frame or route a message; for readers and writers of every
 * HTTP version.
 *
 * Pure, no heap.
 */
#ifndef CORDON_HTTP_FIELDS_H
#define CORDON_HTTP_FIELDS_H

#include <stdbool.h>

#include "base/sv.h"

/* Anything but FIELD_PLAIN is never in a struct http_fields; FIELD_TE alone may be, with the value "trailers". */
enum http_field_class {
	FIELD_PLAIN,
	FIELD_HOST,
	FIELD_LENGTH, /* content-length */
	FIELD_CODING, /* transfer-encoding */
	FIELD_CONNECTION,
	FIELD_UPGRADE,
	FIELD_SETTINGS, /* http2-settings */
	FIELD_EXPECT,
	FIELD_TE,
	FIELD_HOP, /* keep-alive, trailer, proxy-*: for one hop only */
};

/* name: lower case, in any spelling (field_name.h). An odd one that is not plain is an attempt to frame a message
 * behind our back. */
enum http_field_class http_field_class(struct sv name);

/* Does it ask for a part of an answer, in whatever name? Content-Range and those of copies are about what is sent. */
bool http_field_asks_part(struct sv name);

/* May it come after a body? Not unless it is plain, and not where it says how the body is to be read or who sent it. */
bool http_field_may_trail(struct sv name);

bool http_is_token(struct sv s);       /* not empty */
bool http_is_lower_token(struct sv s); /* the same, without upper case: a field's name */
bool http_make_name(
	char *p,
	size_t n); /* a token in any case becomes one in lower case; false: it is none, and its start may be changed */
bool http_is_value(struct sv s);       /* no control characters but tab; no blanks at the ends */
struct sv http_trim(struct sv s);      /* without blanks and tabs at the ends */
bool http_eq_nocase(struct sv s, const char *lower_case);

/* Cuts the next member of a comma-separated list off *list. False: none is left. Empty members are passed over. */
bool http_list_next(struct sv *list, struct sv *ret);

#endif

/*
 * h1_check: what a head means, or why it has no single meaning; for h1.c.
 *
 * Takes the start line and all fields; gives a struct http_request or http_response whose fields hold nothing that
 * frames or routes, and the framing of what follows. Works in place: the array of fields gets shorter, the target
 * becomes canonical.
 */
#ifndef CORDON_HTTP_H1_CHECK_H
#define CORDON_HTTP_H1_CHECK_H

#include "http/h1_head.h"
#include "http/target.h"

struct h1_framing {
	bool chunked;
	bool has_length; /* declared, and so is length */
	int64_t length;
	bool until_close; /* the body ends with the connection */
	bool tunnel;      /* what follows is no HTTP */
	bool keeps;       /* another message may follow */
};

/* target: the same bytes as start->target, to be changed; host: storage for the host's name. */
int h1_check_request(const struct h1_context *context, const struct h1_start *start, char *target,
		     struct http_fields *fields, struct http_authority *host, struct http_request *ret,
		     struct h1_framing *ret_framing, struct h1_fault *fault);

int h1_check_response(struct h1_asked asked, const struct h1_start *start, struct http_fields *fields,
		      struct http_response *ret, struct h1_framing *ret_framing, struct h1_fault *fault);

int h1_check_trailers(const struct http_fields *fields, struct h1_fault *fault);

#endif

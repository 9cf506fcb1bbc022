/*
 * form_watch: looks for a request for another method in a body (policy/net_form.h) as it came, and as it is unpacked.
 *
 * Whether a server undoes Content-Encoding is not known, so both are looked into; nor is what it takes for deflate, so
 * that is read with zlib's frame and without. A form that is packed in a way that
 * cannot be undone here, or that unfolds to more than FORM_WATCH_MAX, is illegible; what says to be no form passes.
 */
#ifndef CORDON_GATE_EGRESS_FORM_WATCH_H
#define CORDON_GATE_EGRESS_FORM_WATCH_H

#include "http/message.h"

enum { FORM_WATCH_MAX = 16 * 1024 * 1024 };

enum form_watch_result { FORM_FINE, FORM_ASKS, FORM_ILLEGIBLE };

struct form_watch;

struct form_watch *form_watch_new(const struct http_fields *head); /* NULL: no memory */
void form_watch_free(struct form_watch *w);			   /* NULL is fine */

/* The next bytes of the body. room, of n_room bytes, is only used meanwhile. */
enum form_watch_result form_watch_feed(struct form_watch *w, struct sv bytes, char *room, size_t n_room);

#endif

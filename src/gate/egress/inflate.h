/*
 * inflate: undoes gzip and deflate while a body passes, so that what is in it can be looked at.
 *
 * Works in windows that the caller gives: however much an answer unfolds to, no more than a window of it is here at a
 * time, and a slow reader slows it down.
 */
#ifndef CORDON_GATE_EGRESS_INFLATE_H
#define CORDON_GATE_EGRESS_INFLATE_H

#include <stdbool.h>

#include "base/sv.h"

struct inflater;

/* coding: the value of Content-Encoding. *ret is NULL for "identity". 0; -EOPNOTSUPP: another coding, or several;
 * -ENOMEM. */
int inflater_new(struct sv coding, struct inflater **ret);
/* The same for those who read deflate as bare whatever it begins with. *ret is NULL for other codings. */
int inflater_new_bare(struct sv coding, struct inflater **ret);
void inflater_free(struct inflater *i); /* NULL is fine */

/* Takes from the front of *in, fills out. Bytes made; 0: more input is needed; -EBADMSG: this is no such coding;
 * -ENOMEM. */
long inflater_run(struct inflater *i, struct sv *in, char *out, size_t max);

/* May there be more output without more input? */
bool inflater_has_more(const struct inflater *i);

/* Nothing is missing at the end. */
bool inflater_is_complete(const struct inflater *i);

#endif

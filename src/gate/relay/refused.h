/*
 * refused: connections that the kernel refused in the sandbox, because no rule could allow them (model/reach.h), come
 * to the log like those that are refused here.
 */
#ifndef CORDON_RELAY_REFUSED_H
#define CORDON_RELAY_REFUSED_H

#include "gate/relay/relay.h"

struct relay_refused *relay_refused_new(struct relay *r); /* NULL: no memory */
void relay_refused_free(struct relay_refused *f);	  /* closes its socket; NULL is fine */

/* A socket of refused_open(), taken: at most one. 0 or -errno. */
int relay_refused_listen(struct relay_refused *f, int fd);

/* What there is by now: for the end. */
void relay_refused_drain(struct relay_refused *f);

#endif

/*
 * pool: connections by where they lead, and those who wait for one.
 *
 * A site is where connections lead: host, port, TLS or not, for which domain, with which credential, and whether HTTP/2
 * will do. Domains do not share connections, since the addresses that they may dial differ; nor do credentials: a
 * server that loses count of requests and answers must not mix up those of two. A claim waits for a connection of its
 * site: a free one that passes its check of the addresses that it may lead to, or one that is dialled for it. Where a
 * server is known to speak HTTP/2, claims wait for one connection instead of dialling many; where it is not known yet
 * what it speaks, a few are dialled and the rest waits to see.
 *
 * Where a connection is free, `ready` comes from inside pool_claim(), so that a request goes out in the iteration that
 * brought it; else from the loop. Limits: POOL_MAX connections, POOL_SITE_MAX to a site; above them claims wait,
 * POOL_WAIT at most: then who asks is told, rather than kept waiting for a connection that may be in use for hours
 * (GATE_FAILURE_CROWDED). Idle ones are closed after a minute, those beyond POOL_SITE_IDLE of a site after two seconds.
 */
#ifndef CORDON_GATE_EGRESS_POOL_H
#define CORDON_GATE_EGRESS_POOL_H

#include "gate/egress/upstream.h"

enum { POOL_MAX = 2048, POOL_SITE_MAX = 512, POOL_SITE_IDLE = 64, POOL_WAIT = 10000 /* ms */ };

struct pool;

struct site_key {
	bool tls, inference, only_h1;
	uint16_t port;
	struct sv host;
	struct sv credential; /* its name; empty: none */
};

struct claim_events {
	enum gate_failure (*check)(struct claim *c, const struct address *a, bool fixed);
	void (*ready)(struct claim *c, struct upstream *u);
	void (*failed)(struct claim *c, enum gate_failure why);
};

struct claim {
	const struct claim_events *events;
	struct claim *next, *prev;
	struct site *site;    /* NULL: idle */
	struct upstream *own; /* dialled for it */
	int64_t since;	      /* it waits */
	bool patient;	      /* set by its owner: answers only from the loop */
};

struct pool *pool_new(struct egress *e); /* NULL: no memory */
void pool_free(struct pool *p);		 /* NULL is fine. Claims are forgotten, calls told. */

/* 0 or -ENOMEM. */
int pool_claim(struct pool *p, const struct site_key *key, struct claim *c);
void pool_unclaim(struct claim *c); /* an idle one is fine */

/* A policy has come: idle connections to where it does not lead are closed. */
void pool_review(struct pool *p);

/* For upstream.c. */
const struct site_key *site_key(const struct site *s);
void site_changed(struct site *s);				     /* one of its connections may take a call */
void site_learn(struct site *s, bool h2);			     /* what it speaks */
void site_dial_failed(struct upstream *u, enum gate_failure why); /* before it is killed */
void site_remove(struct upstream *u);
bool site_is_crowded(const struct site *s); /* more than POOL_SITE_IDLE of its connections are idle */

#endif

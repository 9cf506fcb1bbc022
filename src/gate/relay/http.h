/*
 * http: serves HTTP on connections from the workload.
 *
 * Each connection is a session: HTTP/2 where ALPN chose it, or where a plain connection that is no proxy's begins with
 * its preface; else HTTP/1.1. Each request is an exchange (exchange.h): judged, sent over the link to egress, and
 * answered as the answer comes. `Upgrade: h2c` is never followed.
 *
 * HTTP/1.1: kept alive; pipelined requests are answered in order, one at a time. A denial closes the connection.
 * HTTP/2: H2_MAX_STREAMS at once. Limits in time are those of session.h: for a head, between requests, for progress in
 * a body.
 */
#ifndef CORDON_RELAY_HTTP_H
#define CORDON_RELAY_HTTP_H

#include "gate/relay/relay.h"

/* Once, when r->now and r->placeholders are there: numbers of providers are those of this policy, whatever comes later.
 * 0, or -1: no memory. */
int http_open(struct relay *r);

/* Takes the stream over, plain or with TLS open, and reads at once. When it has ended the stream, it calls
 * relay_connection_over(). */
void http_serve(struct relay *r, struct stream *s, const struct http_origin *o);

/* A new policy is in force: requests that are on their way and that it forbids are ended. */
void http_judge_again(struct relay *r);

/* For link_new(); its user is the struct relay. */
extern const struct link_events http_link_events;

/* Ends all sessions, at once; before link_free(). Not opened: nothing happens. */
void http_done(struct relay *r);

/* Egress is gone: all sessions end, and the relay stops. */
void http_lost_link(struct relay *r);

#endif

/*
 * session_h1: a connection that carries HTTP/1.1.
 *
 * One request at a time: the next one is read when the answer to the last is complete and on its way. Bytes that came
 * too early wait, one read's worth of them. Answers are collected during one iteration of the loop and written by one
 * call at its end; large pieces of bodies are written at once, from where they are.
 *
 * A plain connection that is no proxy's and begins with the preface of HTTP/2 is handed on to session_h2.h.
 */
#ifndef CORDON_RELAY_SESSION_H1_H
#define CORDON_RELAY_SESSION_H1_H

#include "gate/relay/relay.h"

/* 0, or -1: no memory; the stream is still the caller's. */
int session_h1_start(struct relay *r, struct stream *s, const struct http_origin *o);

#endif

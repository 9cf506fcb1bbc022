/*
 * events: what egress tells the supervisor for the log, without letting the workload write that log's pages.
 *
 * The first event of a kind (same domain, verdict, subject, rule, detail) goes out at once, as long as there are not
 * too many kinds a second; its repetitions are counted and told once a second as one. What does not find a place is
 * counted as "(others)", what was allowed and what was denied apart. A supervisor that does not read is waited for:
 * nothing is lost but detail.
 *
 * Texts are escaped and cut here. Subjects never have a query.
 */
#ifndef CORDON_GATE_EGRESS_EVENTS_H
#define CORDON_GATE_EGRESS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/message.h"
#include "loop/loop.h"
#include "model/event.h"

enum { EVENTS_KINDS = 128, EVENTS_BURST = 32, EVENTS_TEXT = 400 };

struct events;

/* fd: the supervisor's socket, non-blocking; borrowed. NULL: no memory. */
struct events *events_new(struct loop *loop, int fd);
void events_free(struct events *e); /* NULL is fine */

/* rule and detail may be empty. */
void events_tell(struct events *e, enum event_domain domain, bool allowed, struct sv subject, struct sv rule,
		 struct sv detail);

/* Sends what was only counted so far; for the end. */
void events_flush(struct events *e);

/* "GET https://pypi.org/simple/": appended, without the query. */
void events_subject(struct buf *out, const struct http_request *r);

#endif

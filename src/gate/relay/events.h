/*
 * events: what the relay tells the supervisor, for the audit log and the report.
 *
 * Denials are told one by one, within bounds that keep one sort from hiding another (denials.h). What is allowed is
 * told once for its kind (who decides what is one kind says so: "GET pypi.org:443" and the rule), then counted and told
 * every second where the count grew, and at the end. That too is done for RELAY_EVENTS_ALLOWED kinds a second, new ones
 * first: the others wait for their turn. Of kinds that were told RELAY_EVENTS_KINDS are known, and those that have to
 * make room for newer ones are told as a number. One that was not told yet never makes room: while RELAY_EVENTS_NEW of
 * them wait, relay_events_has_room() is false for others, and what asks first and does not let them pass can be sure
 * that each kind is named once; so nobody buries a request in noise. Texts are escaped and cut here.
 *
 * Nothing is dropped but detail: what there is no memory for is counted, and told as "(others)". When the supervisor
 * does not read, relay_takes_new() turns false, and what is counted waits. So there is never more to tell than what was
 * already allowed.
 */
#ifndef CORDON_RELAY_EVENTS_H
#define CORDON_RELAY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"
#include "gate/relay/channel.h"
#include "model/event.h"

enum {
	RELAY_EVENTS_ALLOWED = 50,
	RELAY_EVENTS_KINDS = 1024,
	RELAY_EVENTS_NEW = 1024,
	RELAY_EVENTS_TEXT = 400
};

struct relay_events;

struct relay_event {
	enum event_domain domain;
	bool allow;
	bool lookup;	   /* of what is denied: a name was looked up, no more */
	struct sv kind;    /* of what is allowed: what is told only once; of what is denied: the place, else it is the
			      subject; at most RELAY_EVENTS_TEXT bytes count */
	struct sv subject; /* "GET https://pypi.org/simple/" or "pypi.org:443"; no query, no credential */
	struct sv rule;	   /* "network.allow pypi.org (policy.yaml:7)"; may be empty */
	struct sv detail;  /* why; may be empty */
};

/* Borrows both. NULL: no memory. */
struct relay_events *relay_events_new(struct loop *loop, struct channel *control);
void relay_events_free(struct relay_events *e); /* NULL is fine */

void relay_events_tell(struct relay_events *e, const struct relay_event *event);

/* Connections that were refused, of which nothing is known but how many they are. */
void relay_events_lost(struct relay_events *e, uint32_t n);

/* Are so many new kinds waiting to be told that a further one would have no place? Then ask for the kind, before
 * anything of it is let through. */
bool relay_events_full(const struct relay_events *e);
bool relay_events_has_room(const struct relay_events *e, enum event_domain domain, struct sv kind);

/* One more of an allowed kind that was told before: true, and it is counted. False: tell it in full. Spares making the
 * texts. */
bool relay_events_count(struct relay_events *e, enum event_domain domain, struct sv kind);

/* The same where egress may still refuse it, as beyond a budget: it counts as allowed when it is settled, or at the
 * end. */
bool relay_events_begin(struct relay_events *e, enum event_domain domain, struct sv kind);
void relay_events_settle(struct relay_events *e, enum event_domain domain, struct sv kind, bool refused);

/* Totals of the run. Requests are those that were judged, in tunnels the tunnel itself. */
void relay_events_bytes(struct relay_events *e, uint64_t out, uint64_t in);
void relay_events_request(struct relay_events *e, bool denied);

/* Tells all that is only counted so far; for the end. */
void relay_events_flush(struct relay_events *e);

#endif

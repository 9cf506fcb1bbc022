/*
 * tell: what became of requests, for the log (events.h): subject, rule and reason in words.
 */
#ifndef CORDON_RELAY_TELL_H
#define CORDON_RELAY_TELL_H

#include "gate/relay/exchange.h"
#include "gate/relay/relay.h"
#include "model/event.h"

/* A refusal by policy: also counted as a judged request. rule may be empty. */
void tell_denied(struct http_exchange *x, const char *rule, const char *detail);

/*
 * A refusal of what is no request, or none with a single meaning: that is what attacks look like. start and host: as
 * they came (h1_seen()), maybe empty. Nothing is said of what is not known.
 */
void tell_malformed(struct relay *r, const struct http_origin *o, struct sv start, struct sv host, const char *why);
/* The same where there is no HTTP yet; subject: what is known of where it was to go. */
void tell_refused(struct relay *r, enum event_domain domain, struct sv subject, const char *why);

/* Ask before what is allowed goes anywhere. False: so many new kinds are waiting to be told that this one could not be,
 * and must not pass. */
bool tell_has_room(const struct http_exchange *x, struct sv kind);
extern const char tell_no_room[]; /* ... in words */

/* What is allowed is told once for its kind. True: this one was told before, and is counted now; else tell_allowed()
 * follows with the same kind. */
bool tell_again(struct http_exchange *x, struct sv kind);
void tell_allowed(struct http_exchange *x, struct sv kind, const char *rule);

/* What was done to a request that passes; told for the first of its kind, then counted. */
void tell_note(struct http_exchange *x, const char *kind, const char *detail);

#endif

/*
 * grants: the credentials of this run, as the vault gave them last.
 *
 * The vault sends one message per grant and then says how many they are; until then the set before holds. What it sends
 * is decoded into guarded memory and the message wiped.
 *
 * A value that is replaced or withdrawn is no longer sent, but a host may still have it and say it: a page about
 * earlier requests, a log. So it is looked for as long as the run lasts; but only the newest of these are kept,
 * GRANTS_OLD grants and GRANTS_OLD_BYTES bytes of values, which is a day of tokens that are renewed every hour.
 */
#ifndef CORDON_GATE_EGRESS_GRANTS_H
#define CORDON_GATE_EGRESS_GRANTS_H

#include "gate/egress/scrub.h"
#include "vault/grant.h"
#include "wire/wire.h"

enum { GRANTS_MAX = 128, GRANTS_SCRUBS = 16, GRANTS_OLD = 64, GRANTS_OLD_BYTES = 32 * 1024 };

/* What finds the values of these grants; kept for the next answer of such a host. */
struct grants_scrub {
	struct scrub *scrub; /* NULL: none is here */
	bool has[GRANTS_MAX + GRANTS_OLD];
};

struct grants {
	struct grant *v[GRANTS_MAX];
	unsigned n;
	struct grant *coming[GRANTS_MAX];
	unsigned n_coming;
	struct grant *old[GRANTS_OLD]; /* no longer in force, the oldest first; none of them is the same as one in force
					  or another */
	unsigned n_old;
	bool complete; /* a set has come, be it an empty one */
	struct grants_scrub scrubs[GRANTS_SCRUBS];
	unsigned next_scrub; /* the oldest */
};

/* 0, or -errno: it is nothing that a vault sends, or there is no memory. Wipes the message's body. */
int grants_message(struct grants *g, struct wire_message *m);
void grants_done(struct grants *g);

/* NULL: there is none of that name. */
const struct grant *grants_find(const struct grants *g, const char *name);

/* Is one of them for S3, and bound to this host? Then its clients ask for objects there, be it without a signature. */
bool grants_sign_objects(const struct grants *g, struct sv host);

/*
 * What the answers of this host are scrubbed with, whatever was asked: the values that are bound to it, or were, and no
 * others, which it cannot know. (Were they looked for too, a host that sends back what it is told would say whether a
 * guess at another host's credential is right.) *ret is a reference of the caller's, or NULL where none is bound to it.
 * 0 or -ENOMEM.
 */
int grants_scrub_for(struct grants *g, struct sv host, struct scrub **ret);

#endif

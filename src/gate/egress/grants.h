/*
 * grants: the credentials of this run, as the vault gave them last.
 *
 * The vault sends one message per grant and then says how many they are; until then the set before holds. What it sends is decoded into guarded memory and the
 * message wiped.
 */
#ifndef CORDON_GATE_EGRESS_GRANTS_H
#define CORDON_GATE_EGRESS_GRANTS_H

#include "gate/egress/scrub.h"
#include "vault/grant.h"
#include "wire/wire.h"

enum { GRANTS_MAX = 128 };

struct grants {
	struct grant *v[GRANTS_MAX];
	unsigned n;
	struct grant *coming[GRANTS_MAX];
	unsigned n_coming;
	bool complete;	     /* a set has come, be it an empty one */
	struct scrub *scrub; /* finds all values of the set; NULL: there are none */
};

/* 0, or -errno: it is nothing that a vault sends, or there is no memory. Wipes the message's body. */
int grants_message(struct grants *g, struct wire_message *m);
void grants_done(struct grants *g);

/* NULL: there is none of that name. */
const struct grant *grants_find(const struct grants *g, const char *name);

/* Is any of them bound to this host? Then what it answers must be scrubbed, whatever was asked. */
bool grants_cover(const struct grants *g, struct sv host);

#endif

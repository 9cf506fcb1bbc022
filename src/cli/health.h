/*
 * health: whether a runtime works here, found out by starting a container of it as a run would.
 *
 * The container is Cordon's own, by the backend that runs use: its command looks at the network inside, which must be
 * empty, and knocks at the door. All of it happens in a child with HEALTH_MS to do it in (a platform of runsc's can
 * hang); what it leaves when it is killed is removed.
 *
 * What came out is kept below the user's cache folder, for this boot, this user, this very Cordon and this very runtime
 * (its program's path, device, inode, size and times; for Docker the engine's socket): success until one of them
 * changes, a failure for HEALTH_RETRY_MS. A cache that cannot be read or written only costs time.
 */
#ifndef CORDON_CLI_HEALTH_H
#define CORDON_CLI_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "cli/cli_policy.h"

enum { HEALTH_MS = 10000, HEALTH_RETRY_MS = 60000 };

enum health_step { HEALTH_FOUND, HEALTH_STARTED, HEALTH_RAN, HEALTH_NETWORK, HEALTH_DOOR, HEALTH_CLEAN, HEALTH_STEPS };

extern const char *const health_step_names[]; /* by enum health_step */

/* Plain bytes: it is kept as it is. */
struct health {
	enum runtime runtime;
	int failed;	   /* enum health_step, or HEALTH_STEPS: none */
	char what[400];	   /* what failed, in a line; escaped */
	char program[256]; /* or socket */
	char digest[SHA256_HEX]; /* of the program, when it was tried; "" for an engine */
	uint32_t start_ms; /* until the container's PID 1 was there */
	uint32_t total_ms;
	int64_t when_ms;   /* since boot */
	bool cached;	   /* it was not tried just now */
};

enum health_how {
	HEALTH_KEPT,  /* what is kept, where that holds; else it is tried */
	HEALTH_FRESH, /* it is tried */
	HEALTH_LOOK,  /* nothing is started: what is kept, else whether it is there at all */
};

/* ret->failed says how it went. */
void health_check(enum runtime runtime, const struct cli_folders *folders, enum health_how how, struct health *ret);

/* What is kept of a runtime turned out not to hold: it is tried anew the next time. */
void health_forget(enum runtime runtime, const struct cli_folders *folders);

static inline bool health_is_good(const struct health *h)
{
	return h->failed == HEALTH_STEPS;
}

/* Milliseconds since boot. */
int64_t health_now(void);

/* What a person can do about the step that failed; "": nothing in particular. */
const char *health_advice(const struct health *h);

#endif

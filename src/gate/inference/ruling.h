/*
 * ruling: what the inference domain and the body rules answer about a request: nothing, which allows it, or a no with
 * its reason.
 *
 * Plain data on the caller's stack. `status` is the HTTP status to refuse with: 403 is a policy denial (and only that),
 * 400, 413, 415 and 429 are requests that are malformed, too large, of another type or over budget, 503 says that
 * memory ran out. Text that came from outside is escaped before it gets here; what is too long is cut.
 */
#ifndef CORDON_GATE_INFERENCE_RULING_H
#define CORDON_GATE_INFERENCE_RULING_H

#include <stdint.h>

struct ruling {
	uint16_t status; /* 0: allowed */
	char detail[320];
	char hint[200];
	/* Of a model that only the provider's list keeps out, and that could stand there as it is; else empty. */
	char provider[128], model[257];
};

enum {
	RULING_MALFORMED = 400,
	RULING_DENIED = 403,
	RULING_TOO_LARGE = 413,
	RULING_TYPE = 415,
	RULING_BUDGET = 429,
	RULING_MEMORY = 503,
};

/* Fills all of it. Always returns -1, so that `return ruling_set(...)` reads well. */
int ruling_set(struct ruling *r, uint16_t status, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif

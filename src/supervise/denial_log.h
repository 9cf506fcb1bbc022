/*
 * denial_log: which denials of a sandbox are listed one by one.
 *
 * A workload makes denials as fast as it likes. The first DENIAL_LOG_LINES of each domain are listed, so that nobody
 * hides one domain's behind another's; behind them one a second, and the rest is counted: in a line before the next one
 * that is listed, and in a last one. Those that their source only counted are a line of the same kind.
 */
#ifndef CORDON_SUPERVISE_DENIAL_LOG_H
#define CORDON_SUPERVISE_DENIAL_LOG_H

#include <stdint.h>

#include "audit/audit.h"

enum { DENIAL_LOG_LINES = 10000, DENIAL_LOG_MS = 1000 };

struct denial_log {
	void (*log)(void *arg, const struct event *e);
	void *arg;
	uint64_t total; /* of all */
	uint64_t lines[DOMAIN_INFERENCE + 1];
	uint64_t left_out; /* since the last line that told of them */
	uint64_t next_at;  /* ms */
};

void denial_log_add(struct denial_log *d, const struct event *e, uint64_t now);
/* So many came too fast to be told one by one. */
void denial_log_untold(struct denial_log *d, uint64_t n);
void denial_log_end(struct denial_log *d);

#endif

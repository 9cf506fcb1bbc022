/*
 * landlock_log: what Landlock denied a run, from the kernel's audit (sys/kaudit.h) to the run's log. NULL stands for
 * one that there is not, as for ordinary users: then nothing is asked of the kernel, and nothing read.
 *
 * Whose a record is. It names a domain by a number that the kernel gave it, and the first of a domain is followed by
 * one that says who made it: the process's name and user at that moment. Each command's process takes on a name of this
 * run before it makes its domain (confine_record()), which nobody can guess and which is gone with its execve(); who
 * reads it in /proc in that moment has another user id. Other runs, and other programs with Landlock, are told apart by
 * that. Domains that the workload makes for itself are not recorded at all. Processes may have ended, and their numbers
 * be others', when a record is read: numbers of processes are not used.
 *
 * How much. As many a second are logged as of other denials (sandbox/common/tell.h), the rest is counted. When a domain
 * has ended the kernel says how many denials it had, so those that never arrived are counted, too. The supervisor reads
 * at most LANDLOCK_LOG_READS records in LANDLOCK_LOG_REST_MS, whoever makes them; the kernel drops what it has no room
 * for.
 */
#ifndef CORDON_SUPERVISE_LANDLOCK_LOG_H
#define CORDON_SUPERVISE_LANDLOCK_LOG_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/landlock_record.h"
#include "sys/kaudit.h"

enum {
	LANDLOCK_LOG_READS = 256,
	LANDLOCK_LOG_REST_MS = 100,
	LANDLOCK_LOG_PER_SECOND = 50,
	LANDLOCK_LOG_SENT_MS = 200,
	LANDLOCK_LOG_DRAIN_MS = 2,
	LANDLOCK_LOG_DRAIN_MAX_MS = 50,
	LANDLOCK_LOG_COUNT_MS = 300
};

struct landlock_log;

/* What it finds. */
struct landlock_log_sink {
	void (*denied)(void *arg, const struct landlock_access *a);
	void (*untold)(void *arg, uint64_t n); /* so many more */
	void (*lost)(void *arg);	       /* some may be missing; once */
	void *arg;
};

/* Ids of the run's commands on the host: first and how many; all of them, where they are not known. */
struct landlock_log_ids {
	uint32_t first, count;
};

/* NULL: it cannot be had here (kaudit_open() says why), or there is no memory. */
struct landlock_log *landlock_log_new(int landlock_abi, struct landlock_log_ids ids);
/* The same, of records that come from fd (taken over), for tests; lost: how many the kernel had lost by now. */
struct landlock_log *landlock_log_of(int fd, uint32_t lost, struct landlock_log_ids ids);
void landlock_log_free(struct landlock_log *l);

/* What commands are to be called when they make their domain. */
const char *landlock_log_name(const struct landlock_log *l);

/* What to poll for; and when to call landlock_log_serve() at the latest: milliseconds, UINT64_MAX: only with something
 * to read. */
struct pollfd landlock_log_poll(const struct landlock_log *l, uint64_t now);
uint64_t landlock_log_until(const struct landlock_log *l);
void landlock_log_serve(struct landlock_log *l, uint64_t now, const struct landlock_log_sink *sink);
/* One record's text, as kaudit_receive() gives it. */
void landlock_log_take(struct landlock_log *l, enum kaudit_record type, struct sv text, uint64_t now,
		       const struct landlock_log_sink *sink);

/*
 * The run has ended: records may be on their way still. Waits until the kernel has none to send, LANDLOCK_LOG_SENT_MS
 * at most, and none came for LANDLOCK_LOG_DRAIN_MS, at most LANDLOCK_LOG_DRAIN_MAX_MS; and where some were left out, up
 * to LANDLOCK_LOG_COUNT_MS for the kernel to say how many there were: its processes must be about to end. Where the
 * kernel lost records meanwhile, of whoever, that is said.
 */
void landlock_log_finish(struct landlock_log *l, int64_t (*now)(void), const struct landlock_log_sink *sink);

#endif

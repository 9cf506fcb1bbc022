/*
 * rescan: looks again, every now and then, for denied names that stand uncovered.
 *
 * Masks are laid over what the plan found. Another process of the host, or another sandbox in the same folder, may have
 * moved something meanwhile, or makes a file with a denied name later, in a folder that nobody watches. A child of PID
 * 1 searches all that is shown of the host again, a moment after the start and then every few seconds (less often in
 * large trees: it takes at most a tenth of the time), and covers what it finds. So such a name stands open for seconds
 * at most. Folders that the workload moves or removes meanwhile are passed over until the next search; the others are
 * searched. Where that goes on, or no process can be had for it, PID 1 searches by itself, and renames wait.
 *
 * Sockets and FIFOs are covered whatever their names are, but for the workload's own (own_files.h).
 *
 * Modes of folders do not keep it out: PID 1 gives it CAP_DAC_READ_SEARCH, which the kernel grants where owner and
 * group of a folder are known to the sandbox. What it cannot search all the same, though the workload may enter it (a
 * folder of another group of the user's, one that is nested too deep), is looked at again soon, and ends the run where
 * that stays so; a shown folder with too many entries ends it at once. The guard's give_up() says why.
 *
 * Where Landlock does not keep signals apart (before its sixth version) the workload can stop that child, or kill it,
 * as it may all of its own. It is continued, or started again; where that goes on, PID 1 searches by itself, and the
 * workload waits for it.
 */
#ifndef CORDON_NATIVE_RESCAN_H
#define CORDON_NATIVE_RESCAN_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/native/guard.h"

struct rescan {
	uint64_t at_ms; /* when to look next, CLOCK_MONOTONIC; 0: never */
	uint64_t began_ms;
	pid_t child; /* looking now; 0: nobody */
	unsigned hindered; /* how often others stopped or killed it since all was searched last */
	unsigned changed;    /* how often in a row something changed under it */
	unsigned unsearched; /* how often in a row something could not be searched */
};

void rescan_init(struct rescan *r, const struct guard *g);
/* For poll(): milliseconds until rescan_start() should be called; -1: no need. */
int rescan_wait(const struct rescan *r);
/* Looks, where it is time. Ends the process where the masks were taken away. */
void rescan_start(struct rescan *r, const struct guard *g);
/* A child of PID 1 has ended, or stopped, with this wait status. */
void rescan_reaped(struct rescan *r, pid_t pid, int status);

#endif

/*
 * changes_apply: brings the changes of a scan into the work folder, all or nothing.
 *
 * Order of calls: changes_recover(), changes_scan(), changes_apply(), with the same lower_fd and state_fd. state_fd is
 * the run's state folder (owner only, never visible in a sandbox): the journal lies there. The work folder holds a
 * staging folder (CHANGES_STAGING*, mode 0700) meanwhile.
 *
 * How: everything new is made in the staging folder and synced; the journal is written; then every topmost change is
 * one rename (exchange where something is replaced), so that what is replaced or deleted is kept aside until all is
 * done. Before and after its rename each thing must be the very object that the scan judged, whole folders with all
 * they hold; else (err->code ESTALE: a new scan may do), and on any other failure, every step is undone and the work
 * folder is as it was (but for ctimes, and for what the host itself did since: see changes_journal.h). A process killed
 * in between leaves the journal, from which changes_recover() goes back or, where all was done, tidies up.
 *
 * Refused changes: nothing is applied (ERROR_DENIED), unless skip_refused.
 *
 * Where undoing fails too (a disk that fails) the error says so, and staging folder and journal stay: nothing is lost,
 * and changes_recover() tries again. Two applies on one work folder exclude each other by a lock (err->code EAGAIN:
 * another is at work). Staging folders of which no journal is known are nobody's business here, and in nobody's way.
 * File systems without RENAME_EXCHANGE (NFS) get two renames in its place, with an instant in which neither version is
 * there.
 */
#ifndef CORDON_SUPERVISE_CHANGES_APPLY_H
#define CORDON_SUPERVISE_CHANGES_APPLY_H

#include "supervise/changes.h"

struct changes_apply_options {
	bool skip_refused; /* apply what may be applied, leave the rest */
	/*
	 * The folder's name, as it was judged by: where another folder has it when all is done, that is undone
	 * (ESTALE). NULL: whatever it is called.
	 */
	const char *name;
	/* Called behind every durable step, undoing included; -errno makes the apply fail there. For tests; may be
	 * NULL. */
	int (*step)(void *ctx);
	void *ctx;
};

/* *ret_applied: how many changes of the list are in the work folder now. */
int changes_apply(int lower_fd, int upper_fd, int state_fd, const struct changes *list,
		  const struct changes_apply_options *options, size_t *ret_applied, struct error *err);

enum changes_recovered {
	RECOVERED_NOTHING,
	RECOVERED_BACK,
	RECOVERED_KEPT, /* back, but something has another name now (KEPT_NAME), for the host changed it since */
	RECOVERED_FORWARD,
	RECOVERED_LOST /* the folder is gone, or another stands at its path: there is nothing that could be done */
};

/* Ends an apply that was interrupted; *ret says what was found. */
int changes_recover(int lower_fd, int state_fd, enum changes_recovered *ret, struct error *err);
/* The same in whatever folder the journal speaks of. */
int changes_recover_any(int state_fd, enum changes_recovered *ret, struct error *err);

struct changes_others {
	size_t back, kept, forward; /* applies that were ended */
	size_t failed;		    /* that could not be */
	size_t unknown;		    /* staging folders that no run of the user's knows of; left alone */
	char name[64];		    /* of one of those, escaped */
};

/* Ends the interrupted applies of all runs in this folder. root: of their state (state.h). -1: not even looked. */
int changes_recover_others(int lower_fd, const char *root, struct changes_others *ret, struct error *err);

#endif

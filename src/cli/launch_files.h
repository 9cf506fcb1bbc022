/*
 * launch_files: the files that `cordon run` writes for whoever called it. They may lie where the sandbox can write, so
 * nothing that a run made there is followed, waited for or written to.
 */
#ifndef CORDON_CLI_LAUNCH_FILES_H
#define CORDON_CLI_LAUNCH_FILES_H

#include "base/error.h"
#include "base/place.h"

struct launch_outputs {
	struct place report, learned; /* --report, --learn: the folder -1 where there is none */
	int events; /* --json-events, to be appended to: a regular file, a FIFO or a device; -1: none */
	const char *paths[4]; /* of those that there are, borrowed; events come first */
};

/* Before the plan: what is there when a sandbox is made is covered in it. A path may be NULL; *o says that there is
 * none. */
int launch_outputs_open(struct launch_outputs *o, const char *report, const char *learn, const char *events,
			struct error *err);

/* When no file is opened to look at it any more: a lock is lost when this process closes any descriptor of the file.
 * Fails where another run took it meanwhile. */
int launch_outputs_hold(const struct launch_outputs *o, struct error *err);
void launch_outputs_done(struct launch_outputs *o);

#endif

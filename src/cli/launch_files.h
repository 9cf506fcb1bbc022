/*
 * launch_files: the files that `cordon run` writes for whoever called it. They may lie where the sandbox can write, so nothing that a run made there is followed, waited for or written to.
 */
#ifndef CORDON_CLI_LAUNCH_FILES_H
#define CORDON_CLI_LAUNCH_FILES_H

#include "base/error.h"
#include "base/place.h"

/* Before the run, for what is written after it. path NULL: *ret is left as it is. */
int launch_place(const char *option, const char *path, struct place *ret, struct error *err);

/* --json-events, to be appended to: an fd, or -1. A regular file. */
int launch_events_file(const char *path, struct error *err);

#endif

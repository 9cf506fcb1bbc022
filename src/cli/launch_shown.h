/*
 * launch_shown: a digest of what a run would be shown of this machine now: which folders they are, not only what they
 * are called, and which names in them are covered. Two runs with the same policy and the same digest may share a
 * sandbox.
 */
#ifndef CORDON_CLI_LAUNCH_SHOWN_H
#define CORDON_CLI_LAUNCH_SHOWN_H

#include "base/sha256.h"
#include "cli/launch.h"

/* 0 or -1. */
int launch_shown(const struct launch_request *req, char ret[SHA256_HEX], struct error *err);

#endif

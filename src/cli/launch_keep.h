/*
 * launch_keep: `cordon run` whose sandbox does not end with its command: kept for further ones (--keep), for those of
 * one owner (--owner), or prepared beforehand (--warm).
 *
 * The supervisor of such a sandbox is a child that leads its own session; we are its first client, as `cordon exec`
 * would be. With --warm the sandbox is for one command, as without; what is prepared for the next runs is prepared
 * after the command has ended, by a child of its own, so nobody waits for it.
 */
#ifndef CORDON_CLI_LAUNCH_KEEP_H
#define CORDON_CLI_LAUNCH_KEEP_H

#include "cli/launch.h"

enum { KEEP_WARM_MAX = 256 };

struct launch_keep {
	bool keep;
	const char *owner; /* NULL: nobody's in particular */
	uint64_t idle_ms, grace_ms;
	uint64_t warm; /* how many shall stand ready; 0: none are used */
	bool prepared; /* this is one of them */
};

/* From --keep, --owner, --lifecycle, --idle, --grace and --warm. True in *ret_asked where any was given. */
int launch_keep_options(const struct call *call, struct launch_keep *ret, bool *ret_asked, struct error *err);

/* As launch(). */
int launch_keep(const struct launch_request *req, const struct launch_keep *k, struct error *err);

#endif

/*
 * kept: sandboxes that outlive the command line that started them: which belongs to whom, and which stand ready for
 * anybody's next run.
 *
 * Below the state folder, beside the runs: `owned/KEY` holds the ids of an owner's sandboxes, and of which parts KEY is
 * made; `warm/KEY/ID` says that ID is prepared and nobody's. KEY is a digest of all that such a sandbox was made from:
 * the effective policy, runtime, work folder, variables, what is shown and covered of the machine by now
 * (launch_shown.h), and for `owned` the owner: another policy or owner never gets in, nor does a run whose folders were
 * replaced, or hold other denied names. Taking a prepared one is removing its name: one of those who try succeeds. It
 * is never put back. Whoever got an id here asks the sandbox itself whether the policy is still the key's, for a file
 * of it may have been saved meanwhile, and whether it has the credentials and the gateway.yaml that the asker has now
 * (client_take()). Of these nothing is in a key, or on disk: a digest would let guesses at a value be tried. So an
 * owner may have up to KEPT_SLOTS sandboxes with one key, and a prepared one that has others is nobody's any more.
 */
#ifndef CORDON_CLI_KEPT_H
#define CORDON_CLI_KEPT_H

#include "base/error.h"
#include "base/sha256.h"
#include "cli/launch.h"
#include "supervise/state.h"

enum kept_part { KEPT_OWNER, KEPT_POLICY, KEPT_RUNTIME, KEPT_WORKDIR, KEPT_VARIABLES, KEPT_SHOWN, KEPT_PARTS };

struct kept {
	char *folder; /* the state folder: runs/, owned/, warm/ are in it */
	char parts[KEPT_PARTS][SHA256_HEX]; /* a digest of each */
	char key[SHA256_HEX];		    /* of all */
};

/* owner "": prepared ones, which are nobody's yet. */
int kept_init(struct kept *k, const struct launch_request *req, const char *owner, struct error *err);
void kept_done(struct kept *k);

enum { KEPT_SLOTS = 8 };

/* The owner's sandboxes, locked against others who would start one for the same owner until the lock's fd is closed.
 * That, or -1. */
int kept_lock(const struct kept *k, struct error *err);
/* The sandbox in one of the slots of what is locked; "": there is none. */
void kept_id(int lock, size_t slot, char ret_id[STATE_ID]);
int kept_save(const struct kept *k, int lock, size_t slot, const char *id, struct error *err);

/* The sandbox is nobody's any more: it is to have another policy than the one that its key was made of. Waits while it
 * is being handed out (kept_lock()). */
int kept_disown(const char *id, struct error *err);

/* Another sandbox of the same owner that is there, and what is different about it ("set of variables"); NULL: there is
 * none. */
const char *kept_other(const struct kept *k, char ret_id[STATE_ID]);

/* Prepared ones. */
int kept_offer(const struct kept *k, const char *id, struct error *err);
/* A connection to one that is now the caller's, or -1: there is none. */
int kept_take(const struct kept *k, char ret_id[STATE_ID]);
/* How many stand ready; no more than enough are counted. */
size_t kept_count(const struct kept *k, size_t enough);
/* An fd that keeps others from filling up at the same time; -1: somebody does already. */
int kept_fill(const struct kept *k);
/* Is whoever holds that still to fill up? */
bool kept_is_wanted(int lock);
/* Nobody is, of those who do so now. */
void kept_halt(const char *runs);

#endif

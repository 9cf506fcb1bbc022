/*
 * placeholder_set: finding a run's placeholders in what the workload sends, in all the forms of vault/needle.h.
 *
 * A placeholder that goes anywhere but into the header of a request to a bound host means that something tries to carry
 * a credential out; such a request is refused, or goes without it. The relay scans targets, headers and bodies. Holds
 * no credential.
 */
#ifndef CORDON_VAULT_PLACEHOLDER_SET_H
#define CORDON_VAULT_PLACEHOLDER_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

struct placeholder_set;
struct placeholder_scan;

enum { PLACEHOLDER_NONE = -1 };

/* owners: whose they are, by name. 0; -EINVAL: one is shorter than NEEDLE_MIN, or there are too many; -ENOMEM. Copies.
 */
int placeholder_set_new(const struct sv *placeholders, const struct sv *owners, size_t n, struct placeholder_set **ret);
void placeholder_set_free(struct placeholder_set *set); /* NULL is fine; scans in progress go on */

/* A whole text: the position of the first placeholder that ends in it, PLACEHOLDER_NONE, or -ENOMEM. */
int placeholder_find(struct placeholder_set *set, struct sv bytes);

/* Does it have one whose owner is none of those that may be there? True also for want of memory. */
typedef bool placeholder_owner_fn(void *arg, struct sv owner);
bool placeholder_find_other(struct placeholder_set *set, struct sv bytes, placeholder_owner_fn *may, void *arg);

/*
 * Overwrites with `x` what of a JSON text is a placeholder in any form, where that leaves it JSON: not with a quote or
 * a backslash in it, nor behind a backslash that begins an escape with it. So a text may still have one after this. How
 * many were overwritten, or -ENOMEM.
 */
int placeholder_mask_json(struct placeholder_set *set, char *text, size_t n);

/* A stream, in pieces. Answers as placeholder_find() for all bytes so far; once found, always found. */
struct placeholder_scan *placeholder_scan_new(struct placeholder_set *set); /* NULL: no memory */
int placeholder_scan_feed(struct placeholder_scan *s, struct sv bytes);
/* How many of the last bytes may be the start of a placeholder: forward no more than the rest. */
size_t placeholder_scan_held(const struct placeholder_scan *s);
int placeholder_scan_end(struct placeholder_scan *s);
void placeholder_scan_free(struct placeholder_scan *s);

#endif

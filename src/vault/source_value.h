/*
 * source_value: what a source's bytes mean: the parts of a value, and how long they are good.
 *
 * Plain text is the value itself. With sigv4, two or three lines are key id, secret key and session token. Text that
 * starts with "{" is JSON where it comes from a command, and with sigv4 always:
 *  - the value is `access_token`, `token` or `value`; with sigv4 `AccessKeyId`, `SecretAccessKey` and `SessionToken`,
 * as `aws configure export-credentials
 *    --format process` prints them;
 *  - `refresh_after` or `ttl` (seconds from now), `expires_in` (seconds), or `Expiration`, `expires_at` or `expiry`
 * (RFC 3339, or seconds since 1970). Other members are passed over. Duplicate ones are errors.
 *
 * A part is 6 to 8192 printable ASCII bytes without a blank at the ends: less cannot be told from ordinary text in an
 * answer, and a control character would split a header. No error holds a byte of a value.
 */
#ifndef CORDON_VAULT_SOURCE_VALUE_H
#define CORDON_VAULT_SOURCE_VALUE_H

#include <stdint.h>

#include "base/error.h"
#include "vault/grant.h"

struct source_value {
	struct secret *parts[GRANT_PARTS];
	int64_t good_for; /* seconds from now, at least 1; 0: for ever */
};

/* now: seconds since 1970. On failure *ret is untouched. */
int source_value_parse(const struct credential *c, struct sv bytes, int64_t now, struct source_value *ret,
		       struct error *err);
void source_value_done(struct source_value *v);

/* How many seconds before it should be fetched again: a fifth of its life before the end, or a minute where that is
 * less; at least 1. */
int64_t source_value_refresh(int64_t good_for);

#endif

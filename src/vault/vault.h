/*
 * vault: the role that holds a run's credentials and its CA key. One per run.
 *
 * | process		| parses		| secrets			| powers after start-up
 * | cordon-vault	| fetched values, host	| all of the run; the CA	| four sockets and its own memory: no
 * |			| names			| key				| file, no net, no exec
 * | its source runner	| nothing		| values pass through it, one	| the user's own: it reads the files
 * |			|			| by one; the operator's	| and variables and runs the commands
 * |			|			| variables			| that credentials.yaml names, and
 * |			|			|				| nothing that anybody tells it but a
 * |			|			|				| position in that file
 *
 * The runner is a child of the vault, forked before a value is there: the vault can be confined from the start and
 * still have an expiring value fetched again. A vault that was taken over could let the configured commands run again,
 * and no other. A peer speaks only its own messages; any other ends it.
 *
 * Messages (src/wire, SOCK_SEQPACKET; numbers are u32, texts are strings):
 *	PEER	    supervisor -> vault   which (enum vault_peer), one fd: egress's or the relay's socket, the first or
 *					  a new one
 *	LOAD	    supervisor -> vault   count, names: what this run needs, all of it, each time
 *	COMMIT	    supervisor -> vault   nothing: what the last LOAD asked for is in force, also where its values are
 *					  not there yet. Each is given to egress when it is; one that cannot be fetched
 *					  is STALE, and tried again. LOADED answers it, where neither that nor FAILED
 *					  has answered the LOAD
 *	TRUST	    vault -> supervisor   three fds (vault/trust.h); once, at the start
 *	LOADED	    vault -> supervisor   the CA's certificate (PEM), count, and per placeholder: credential, variable
 *					  (may be empty), placeholder
 *	FAILED	    vault -> supervisor   text: the run must not start, or the change not take place
 *	STALE	    vault -> supervisor   credential, text: it could not be fetched again; the old value stays, and it
 *					  will be tried again
 *	GRANT	    vault -> egress	  one grant (vault/grant.h)
 *	GRANTS	    vault -> egress	  count: the grants since the last such message are the whole set from now on
 *	MINT	    relay -> vault	  id, host
 *	MINTED	    vault -> relay	  id, certificate, private key (DER; both empty: refused)
 *	FETCH	    vault -> runner	  position in the credentials
 *	FETCHED	    runner -> vault	  position, 1 and the bytes, or 0 and a text
 *	COMPARE	    supervisor -> vault   question (u64), nonce, bytes about the run, a digest: are the credentials in
 *					  force those that it is of (vault/likeness.h)?
 *	COMPARED    vault -> supervisor   question, 1 or 0
 *	WITNESS	    whoever asks -> a witness (vault/witness.h)   nonce, bytes about the run, names
 *	WITNESSED   the witness's answer   the digest; or FAILED
 */
#ifndef CORDON_VAULT_H
#define CORDON_VAULT_H

#include "base/error.h"
#include "vault/credential.h"
#include "vault/likeness.h"
#include "vault/mint.h"

enum vault_message {
	VAULT_PEER = 1,
	VAULT_LOAD,
	VAULT_LOADED,
	VAULT_FAILED,
	VAULT_STALE,
	VAULT_GRANT,
	VAULT_GRANTS,
	VAULT_MINT,
	VAULT_MINTED,
	VAULT_FETCH,
	VAULT_FETCHED,
	VAULT_TRUST,
	VAULT_COMMIT,
	VAULT_WITNESS,
	VAULT_WITNESSED,
	VAULT_COMPARE,
	VAULT_COMPARED,
};

enum vault_peer { VAULT_SUPERVISOR, VAULT_RUNNER, VAULT_EGRESS, VAULT_RELAY, VAULT_PEERS };

struct vault;

/* Takes both sockets; borrows credentials, mint and base until vault_free(). NULL: no memory. */
struct vault *vault_new(const struct credentials *credentials, struct mint *mint, const struct likeness_base *base,
			int supervisor, int runner);
/* Serves until the supervisor is gone. 0, or -1: the runner is gone, or no memory. */
int vault_serve(struct vault *v, struct error *err);
void vault_free(struct vault *v);

#endif

/*
 * credentials_file: reading the operator's credentials.yaml (man/cordon-credentials.5).
 *
 *	version: 1
 *	credentials:
 *	  NAME:
 *	    from: {env: NAME}			# or {file: PATH}, or {command: [PROGRAM, ARGUMENT...]};
 *						# with sigv4 also {env: [KEY_ID, SECRET]} and {env: [KEY_ID, SECRET,
 *						# TOKEN]}
 *	    hosts: [api.example.com, "*.example.org"]
 *	    inject: {header: NAME, format: "{}"}	# or {bearer: true}, {basic: {user: NAME}}, {query: NAME},
 *						# {sigv4: {region: NAME, service: NAME}}
 *	    env: NAME				# default: the name under from.env; not with sigv4, which has names of
 *						# its own
 *	    verifier_env: NAME
 *
 * Errors read "file:line:column: key: what is wrong; what to do". A host list is required: a credential that may go
 * anywhere does not exist. Headers that frame or route a message cannot be injected. The file holds no values, only
 * where they are.
 */
#ifndef CORDON_VAULT_CREDENTIALS_FILE_H
#define CORDON_VAULT_CREDENTIALS_FILE_H

#include "base/error.h"
#include "vault/credential.h"

enum { CREDENTIALS_MAX = 128 };

/* name is for messages. On success *ret is the caller's (credentials_free()). */
struct credentials *credentials_none(void); /* of a file that is not there; NULL: no memory */
int credentials_parse(const char *name, struct sv bytes, struct credentials **ret, struct error *err);

#endif

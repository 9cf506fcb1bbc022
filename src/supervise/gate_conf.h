/*
 * gate_conf: what a gateway is started with besides its policy, read from the operator's folder: gateway.yaml, and
 * where credentials.yaml and the certificates of ca_file are. For gate.c and gate_likeness.c only.
 */
#ifndef CORDON_SUPERVISE_GATE_CONF_H
#define CORDON_SUPERVISE_GATE_CONF_H

#include "base/error.h"
#include "base/sha256.h"
#include "conf/gateway_file.h"
#include "model/policy.h"
#include "supervise/gate.h"

struct gate_conf {
	struct gateway_conf *file; /* NULL: there is none */
	char *credentials;	   /* path */
	char *ca_file;		   /* "": none */
};

/* On success *ret is the caller's (gate_conf_done()). */
int gate_conf_read(const struct gate_request *req, struct gate_conf *ret, struct error *err);
void gate_conf_done(struct gate_conf *c); /* of zeros too */

/* Of what gateway.yaml says, but for the bytes of ca_file, which are the vault's to read. */
void gate_conf_digest(const struct gate_conf *c, unsigned char ret[SHA256_SIZE]);

/* Names of credentials that the policy uses, as VAULT_LOAD has them. */
int gate_conf_put_names(const struct policy *p, struct buf *out, struct error *err);

#endif

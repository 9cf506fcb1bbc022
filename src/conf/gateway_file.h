/*
 * gateway_file: reading the operator's gateway.yaml: how this host reaches the outside (man/cordon-credentials.5).
 * Never read from a task.
 *
 *	version: 1
 *	resolve: {"api.example.test": ["127.0.0.1"]}	# fixed answers, exempt from the floor for private addresses
 *	ca_file: /etc/corp-ca.pem			# trusted for upstream TLS besides the system's
 *	upstream_proxy: http://proxy.corp:3128
 *
 * Errors read "file:line:column: key: what is wrong; what to do".
 */
#ifndef CORDON_CONF_GATEWAY_FILE_H
#define CORDON_CONF_GATEWAY_FILE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct gateway_answer {
	const char *host;	/* exact, canonical */
	const char **addresses; /* canonical text, at least one */
	uint32_t n;
};

struct gateway_conf {
	struct arena *arena;
	struct gateway_answer *resolve;
	uint32_t n_resolve;
	const char *ca_file;	    /* absolute, or from ~/; NULL: none */
	const char *upstream_proxy; /* canonical URL; NULL: none */
};

int gateway_parse(const char *name, struct sv bytes, struct gateway_conf **ret, struct error *err);
void gateway_conf_free(struct gateway_conf *c); /* NULL is fine */

/* The fixed answer for a host (lower case, no trailing dot), or NULL. */
const struct gateway_answer *gateway_answer_for(const struct gateway_conf *c, struct sv host);

#endif

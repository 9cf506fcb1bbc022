/*
 * ca: a certificate authority for one run, and the leaves it mints. Only the vault role has it.
 *
 * "Cordon run CA": EC P-256, CA:TRUE with pathlen 0, key usage certSign only; it begins an hour ago (clocks differ) and
 * is short-lived. Leaves: EC P-256 with a key of their own, a subject alternative name and no other name, serverAuth, a
 * random serial, and the key identifiers that strict verifiers ask for. A leaf never outlives its CA. Two CAs never
 * have the same key identifier, so one run's leaf is no other's.
 *
 * DER out is appended to a buf; private keys are PKCS #8. The caller wipes what holds keys.
 */
#ifndef CORDON_TLS_CA_H
#define CORDON_TLS_CA_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

struct tls_ca;

enum { TLS_CA_DAYS = 30, TLS_LEAF_DAYS = 7 };

int tls_ca_new(struct tls_ca **ret, struct error *err);
void tls_ca_free(struct tls_ca *ca); /* NULL is fine. The key is wiped. */

/* The certificate, for trust stores. */
int tls_ca_pem(const struct tls_ca *ca, struct buf *out, struct error *err);
int tls_ca_der(const struct tls_ca *ca, struct buf *out, struct error *err);

/*
 * Mints for a host name (lower case, also "*.name" where the caller has allowed it) or an address in text form, IPv6
 * without brackets. A host that is neither is refused, so that nothing else gets into a certificate.
 */
int tls_ca_mint(const struct tls_ca *ca, struct sv host, struct buf *cert_der, struct buf *key_der, struct error *err);

/* A CA that lives on in a restarted role: certificate and key as DER, out and in again. */
int tls_ca_export(const struct tls_ca *ca, struct buf *cert_der, struct buf *key_der, struct error *err);
int tls_ca_import(struct sv cert_der, struct sv key_der, struct tls_ca **ret, struct error *err);

#endif

/*
 * roots: trusted certificates for an X509_STORE, kept as DER and made into objects one by one, when a chain asks for
 * their name. Of no use outside tls/.
 */
#ifndef CORDON_TLS_ROOTS_H
#define CORDON_TLS_ROOTS_H

#include <openssl/x509_vfy.h>

#include "base/error.h"
#include "base/sv.h"

struct roots;

int roots_new(struct sv pem, struct roots **ret, struct error *err);
void roots_free(struct roots *roots); /* after the stores that use it. NULL is fine */
int roots_serve(struct roots *roots, X509_STORE *store); /* 0 or -1 */

#endif

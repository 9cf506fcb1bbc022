/*
 * bundle: the certificates that programs inside the sandbox trust, in the forms that they read: one PEM file
 * (SSL_CERT_FILE and its like) and a Java trust store. Only blocks that say CERTIFICATE pass: a key that lies in an
 * operator's file never gets into a sandbox.
 */
#ifndef CORDON_TLS_BUNDLE_H
#define CORDON_TLS_BUNDLE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

enum { BUNDLE_MAX = 8 * 1024 * 1024 };

/* Reads the system's bundle from where distributions keep it, of which the first that exists counts. None: an error of
 * kind ERROR_MISSING. */
int bundle_read_system(struct buf *out, struct error *err);

/*
 * Appends the certificates of pem to out, each block written anew, and nothing else. Returns how many, or -1: a block
 * that does not end or is not base64. name is for the message. No certificate at all is not an error here.
 */
int bundle_add(struct buf *out, struct sv pem, const char *name, struct error *err);

/* Calls fn with the DER of each certificate of pem, until it returns other than 0. Returns how many, or what fn
 * returned (below 0), or -1. */
typedef int bundle_fn(void *arg, struct sv der, struct error *err);
int bundle_each(struct sv pem, const char *name, bundle_fn *fn, void *arg, struct error *err);

/* The same certificates as a Java trust store (PKCS #12, password "changeit", no keys): for -Djavax.net.ssl.trustStore.
 */
int bundle_java(struct sv pem, struct buf *out, struct error *err);

#endif

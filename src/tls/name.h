/*
 * name: is that a host name, or an address? The one answer for server names in hellos, for certificates that are minted
 * and for those that are verified.
 */
#ifndef CORDON_TLS_NAME_H
#define CORDON_TLS_NAME_H

#include <stdbool.h>

#include "base/sv.h"

enum { NAME_MAX_BYTES = 253 };

/*
 * A host name in lower case: labels of letters, digits, '-' and '_', none empty or longer than 63, none that begins or
 * ends with '-'. The last one is not a number in any notation, since some readers would take the whole for an address.
 */
bool name_is_host(struct sv s);

/* The length of the address in s (4 or 16, written to out), or 0. IPv6 without brackets and zone. */
int name_address(struct sv s, unsigned char out[16]);

#endif

/*
 * method: names of HTTP methods. Pure, no heap.
 */
#ifndef CORDON_BASE_METHOD_H
#define CORDON_BASE_METHOD_H

#include <stdbool.h>

#include "base/sv.h"

/*
 * At most 32 capitals, digits and hyphens, a capital first: what a policy can name, and what readers let in. Others may
 * be taken by a server for one of these (get), and a long one would push the host out of a log line.
 */
bool method_is_sound(struct sv method);

/* One of HTTP's, of WebDAV's or of their like. What any other does is known to its server alone. */
bool method_is_known(struct sv method);

#endif

/*
 * net_parameter: is the name of a parameter, in a query or a form, one that some server takes for a given name?
 *
 * PHP leaves out leading blanks, has "_" for ".", blanks and a bracket that is not closed, and takes "a[b]" for a part
 * of "a". Rack leaves out leading brackets and those that close behind a name; qs (of Express) takes "[a]" for "a".
 * ASP.NET reads %uXXXX and does not look at case; others cut at a NUL, a dot or a colon. All who look for a parameter
 * ask here: what any of them reads as the name is that name. So signs before it are left out, what comes behind it
 * after a sign does not count, all signs within are one, and so are the cases.
 *
 * Pure; a name stands as in a query, percent-encoding and all.
 */
#ifndef CORDON_POLICY_NET_PARAMETER_H
#define CORDON_POLICY_NET_PARAMETER_H

#include <stdbool.h>

#include "base/sv.h"

bool net_parameter_is(struct sv raw, const char *name);

/* What it starts with behind what is left out: in lower case; 0: there is nothing. */
char net_parameter_first(struct sv raw);

/*
 * Of a name that is still being read: how many bytes at its start change nothing any more. All that is left out, but
 * for the last sign, which may be one of the name (".method").
 */
size_t net_parameter_spare(struct sv raw);

#endif

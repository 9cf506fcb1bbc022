/*
 * oci_said: what a runtime reported last, from its log (JSON lines) or else from what it printed.
 */
#ifndef CORDON_OCI_SAID_H
#define CORDON_OCI_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

/* The message of the last line of a log that is an error, in one escaped line; false: there is none. */
bool oci_said_log(struct sv log, char *out, size_t size);
/* The last line that is not empty, nor a warning of gVisor's, escaped. */
bool oci_said_output(struct sv output, char *out, size_t size);

/* Of the box's files in the folder dir. */
bool oci_said(int dir, char *out, size_t size);

#endif

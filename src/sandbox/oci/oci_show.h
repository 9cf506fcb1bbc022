/*
 * oci_show: paths of the host that were judged by their names, for a runtime with a kernel of its own.
 *
 * A runtime looks up the names that it is given, and follows links. Where the container's files are the host kernel's,
 * what it found is looked at afterwards (box_check_mounts()); gVisor's have numbers of their own. So what was judged is
 * opened here (plan/plan_source.h) and bound to names in the box's folder, in the mount namespace that the runtime is
 * started in, and these are the names that it is given. Nobody else can change what stands there.
 */
#ifndef CORDON_OCI_SHOW_H
#define CORDON_OCI_SHOW_H

#include <stdbool.h>

#include "base/error.h"
#include "sandbox/common/box.h"
#include "sandbox/oci/oci_runtime.h"

/* The runtime cannot mount on that: it is done before it is started. */
bool oci_covers_itself(const struct oci_runtime *r, const struct box_mount *m);

/* The name that the runtime is given for the i-th mount, in the box's arena. NULL: no memory. */
const char *oci_show_source(const struct box *b, const struct oci_runtime *r, size_t i);

/* Is there anything to do, which needs a mount namespace of its own? */
bool oci_show_needed(const struct box *b, const struct oci_runtime *r);
int oci_show(const struct box *b, const struct oci_runtime *r, struct error *err);

#endif

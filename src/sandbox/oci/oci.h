/*
 * oci: sandboxes made by runsc (gVisor), runc and crun, from a bundle that is the box's folder (sandbox/common/box.h).
 *
 * One process of the runtime stands for a container: `RUNTIME run` in the foreground. All that it keeps lies in the
 * box's folder, all that it starts are its descendants, and cgroups are none of its business (it is in ours before it
 * runs): so killing its descendants and removing the folder is a complete clean-up, whatever state it was in. Nothing
 * of a command, its environment or its standard files reaches it.
 *
 * In the box's folder: config.json, state/ (the runtime's), log (what it reports), output (what it and nobody else
 * prints), process (who it is: for those who find the box without a supervisor).
 */
#ifndef CORDON_OCI_H
#define CORDON_OCI_H

#include "sandbox/common/box.h"

extern const struct box_backend oci_gvisor, oci_runc, oci_crun;

/* The path of a runtime's program, looked for in the system's folders only; NULL: it is not installed. Constant for the
 * life of the process. */
const char *oci_program(const struct box_backend *backend);

#endif

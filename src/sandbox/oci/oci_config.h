/*
 * oci_config: the container as the OCI runtime specification writes it down (config.json), made from a box.
 *
 * PID 1 is cordon-init, told nothing but where its control socket is. Pure but for one look at each source's mount
 * flags. A path that JSON cannot hold (its strings are UTF-8) is refused: it must not be another one in the container.
 */
#ifndef CORDON_OCI_CONFIG_H
#define CORDON_OCI_CONFIG_H

#include "base/buf.h"
#include "base/error.h"
#include "sandbox/common/box.h"
#include "sandbox/oci/oci_runtime.h"

enum { OCI_CONFIG_MAX = 16 * 1024 * 1024 };

/* In the box's folder, as the runtime sees it: the network namespace of a member's leader (oci_start.h). */
#define OCI_NETWORK "network"

int oci_config_write(const struct box *b, const struct oci_runtime *r, struct buf *out, struct error *err);

#endif

/*
 * docker: containers of Docker Engine as sandboxes, by its API on a UNIX socket of this machine (engine.h). The docker
 * command is not used.
 *
 * A run is one container, "cordon-ID", made with the box's places as its image and all else mounted (create.h); its PID
 * 1 is cordon-init. The engine removes it when it ends. What the engine could not remove, because it or Cordon was
 * killed, is removed by the next sweep, at the engine that made it: its socket is named in the file `docker` of the
 * box's folder.
 *
 * The engine runs as root and obeys whoever reaches its socket: nothing inside sees that, and nothing of a task or
 * policy says where it is (where.h).
 */
#ifndef CORDON_DOCKER_H
#define CORDON_DOCKER_H

#include "sandbox/common/box.h"

extern const struct box_backend docker_backend;

/* Does an engine that Cordon understands answer at this socket? 0, or -1 and what to do. */
int docker_ping(const char *path, struct error *err);

#endif

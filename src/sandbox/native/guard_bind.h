/*
 * guard_bind: a socket's name.
 *
 * The kernel keeps the address as bind() was given it: getsockname() tells it, and whoever gets a datagram answers to
 * it. So PID 1 binds with the caller's own bytes, standing where the caller stands. Its root is the caller's, and what
 * moves names in this sandbox waits for it; but the host or another sandbox in the same folder may lead the name
 * elsewhere meanwhile. So the file that was made must be the name in the folder that was judged, and only that; else it
 * is taken back, and the call fails as if the name were denied.
 */
#ifndef CORDON_NATIVE_GUARD_BIND_H
#define CORDON_NATIVE_GUARD_BIND_H

#include "sandbox/native/guard_job.h"

/* bind(): 0 or -errno. Other addresses than paths have no name in the file system and are bound as asked. */
int guard_bind(const struct job *j);

#endif

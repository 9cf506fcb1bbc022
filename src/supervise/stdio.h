/*
 * stdio: what may be passed into a sandbox as standard input, output or error.
 */
#ifndef CORDON_SUPERVISE_STDIO_H
#define CORDON_SUPERVISE_STDIO_H

#include <stdbool.h>

/* A connected UNIX stream has one other end, and keeps it. Other sockets can be connected anew, or send anywhere, in the network namespace they were made in. */
bool stdio_socket_is_harmless(int fd);

/*
 * A pipe through which a child of ours feeds what is in a file: for commands that join a sandbox later, where the file can no longer be passed on read-only (see sandbox/native/shield.h). The
 * pipe's reading end, or -errno.
 */
int stdio_feed(int file);

#endif

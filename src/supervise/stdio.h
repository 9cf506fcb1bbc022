/*
 * stdio: what may be passed into a sandbox as standard input, output or error.
 */
#ifndef CORDON_SUPERVISE_STDIO_H
#define CORDON_SUPERVISE_STDIO_H

#include <stdbool.h>
#include <sys/types.h>

/* A connected UNIX stream has one other end, and keeps it. Other sockets can be connected anew, or send anywhere, in
 * the network namespace they were made in. */
bool stdio_socket_is_harmless(int fd);

/*
 * A pipe through which a child of ours feeds what is in a file: for commands that join a sandbox later, where the file
 * can no longer be passed on read-only (see sandbox/native/shield.h). The pipe's reading end, or -errno.
 */
int stdio_feed(int file);

/* The same for a start that may still fail and be tried anew: nothing is read before stdio_feed_begin(), so that the
 * next try finds the file as it was. Where *ret_begin is closed instead, the child ends. */
int stdio_feed_later(int file, int *ret_begin);
void stdio_feed_begin(int *begin); /* -1: nothing */

/*
 * The other way: files that are standard output or error, where a sandbox cannot write to them as we would. gVisor
 * keeps an offset of its own for a file, and would write over what is there. fds[1] and fds[2] are replaced by pipes,
 * one for both where they are the same file, which children of ours empty into the files.
 */
struct stdio_collect {
	pid_t children[2]; /* 0: none */
	int pipes[2];	   /* for the sandbox; stdio_collect_given() closes ours. -1: none */
};

int stdio_collect_start(struct stdio_collect *c, int fds[3]); /* 0 or -errno */
/* Has been passed on. */
void stdio_collect_given(struct stdio_collect *c);
/* The command has ended: what it wrote is in the files when this returns. */
void stdio_collect_end(struct stdio_collect *c);

#endif

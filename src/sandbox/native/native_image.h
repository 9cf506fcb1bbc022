/*
 * native_image: what the supervisor does for a sandbox whose root is an image, after PID 1 was forked: its ids, and
 * what the root is made of where PID 1, who is nobody on the host, could not open it.
 *
 * In PID 1's user namespace the image's ids are one higher than in the image: there is no 0 in it, so the parts of
 * /proc/sys that belong to a namespace's root belong to nobody inside. The workload has a namespace of its own in that
 * one, in which the ids are the image's (pid1_image.h).
 */
#ifndef CORDON_NATIVE_IMAGE_H
#define CORDON_NATIVE_IMAGE_H

#include "sandbox/native/native.h"

enum { NATIVE_IMAGE_SHIFT = 1 };

/* Are the image's files those of others than we are, so that PID 1 can be given them only? */
bool native_image_of_others(const struct plan *p);

/* joined: the user namespace is another's, and has its ids. */
int native_image_prepare(const struct plan *p, struct native *n, bool joined, struct error *err);

/*
 * As sys_fork_into() with these namespaces, into a user and a network namespace that exist: who enters them cannot come
 * back, so another child does, and makes our child from there. In the child 0.
 */
pid_t native_image_join(const int spaces[2], uint64_t namespaces, int *ret_pidfd);

#endif

/*
 * cover_again: lays a mask over a name in a container that runs already.
 *
 * The name is one of a folder that the container sees and cannot write to. A child of ours enters the mount namespace
 * that shows it: that of the container, or of whoever serves its files where it has a kernel of its own. What it finds
 * there is covered if it is what the caller saw on the host, and nothing else: neither the workload, by links or moved
 * folders, nor the host, by one more rename, can make it cover another thing and take that for the one that was meant.
 */
#ifndef CORDON_SANDBOX_COVER_AGAIN_H
#define CORDON_SANDBOX_COVER_AGAIN_H

#include <sys/stat.h>
#include <sys/types.h>

#include "sys/names.h"

/* Where masks are laid. Plain data; the fds are O_CLOEXEC. */
struct cover_place {
	int pidfd;            /* of a process in that mount namespace; -1: it cannot be entered */
	int user;             /* the user namespace to enter before; -1: none, we are root */
	int root;             /* its root folder */
	struct stat masks[2]; /* of a file and of a folder, as the runtime laid them */
};

/* pid: whose root is the sandbox's. masks: the folder of the host that the runtime took its masks from. 0, or -errno,
 * with all fds -1: we may not enter, or there is no such process. */
int cover_place_open(pid_t pid, const char *masks, struct cover_place *ret);
void cover_place_close(struct cover_place *p);

enum cover_result {
	COVER_DONE,
	COVER_STANDS,  /* it was covered */
	COVER_CHANGED, /* something else stands there by now: look again */
	COVER_FAILED,
};

/* target: absolute, inside. is: what stands there, as the host sees it. */
enum cover_result cover_again(const struct cover_place *p, const char *target, const struct sys_facts *is);

#endif

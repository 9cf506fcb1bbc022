/*
 * guard_path: arguments of a waiting call, and the folders they name.
 */
#ifndef CORDON_NATIVE_GUARD_PATH_H
#define CORDON_NATIVE_GUARD_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/native/guard_origin.h"

/*
 * Whose /proc we look through: the sandbox's own, or, where no fresh one can be mounted, the one of the container
 * around it, in which processes have other numbers.
 */
struct eyes {
	int proc; /* O_PATH */
	int fds;  /* self/fd in it: PID 1's, and of no use in a child. O_PATH */
	bool outer;
	struct origins origins; /* none, until origins_init() */
};

/* Copies a string of the process. 0, -EFAULT, -ENAMETOOLONG. */
int guard_read_path(pid_t pid, uint64_t address, char to[PATH_MAX]);
/* Copies n bytes. */
int guard_read_bytes(pid_t pid, uint64_t address, void *to, size_t n);

/* The folder that a relative path of the caller starts from: its dirfd argument, or its current folder for AT_FDCWD. An
 * fd, or -errno. */
int guard_base(const struct eyes *e, pid_t pid, int dirfd);

/* A copy of an fd of the caller's, to be closed as an AUTO_SHARED_FD is (sys/close_socket.h). */
int guard_fd_of(const struct eyes *e, pid_t pid, int fd);

/*
 * A name to be made, or that was found: its folder, the folder's canonical path with the name behind it, and the name;
 * and what the host calls that by now.
 */
struct place {
	int dir;
	bool slash;    /* the path ended in "/" */
	bool own_proc; /* the folder is the caller's own /proc/self/fd */
	bool in_repository; /* the folder was a repository before anything was made; for guard.c */
	const char *name;
	char path[PATH_MAX + NAME_MAX + 2];
	bool lost; /* the host has it where we know no name for it: nothing may be made or written there */
	char other[PATH_MAX + NAME_MAX + 2]; /* another name than path; "": none */
};

/* Resolves all but the last component. -EEXIST for "/", "." and "..": there is no name to make. */
int guard_place(const struct eyes *e, pid_t pid, int base, const char *path, struct place *ret);
void guard_place_done(struct place *p);

/*
 * The same of what one of our own fds is of, in ret->path and ret->other; there is no folder then. -ENOENT: it has no
 * path, or none any more.
 */
int guard_place_opened(const struct eyes *e, int fd, struct place *ret);

/*
 * Somebody else may have moved the folder: brings its names up to date. 1: it has another one now; 0: the same; -errno:
 * it is nowhere that we know.
 */
int guard_place_again(const struct eyes *e, struct place *p);

/* Opens the sandbox's /proc or, with outer, a /proc that was opened before the root was entered (taken over). */
int eyes_init(struct eyes *e, int outer_proc);

/* N where path is the caller's /proc/self/fd/N (in one of its spellings), else -1. */
int guard_own_fd(pid_t pid, const char *path);
/* The same where path is below that. */
int guard_through_fd(pid_t pid, const char *path);

/* What a path of the caller's leads to, as an O_PATH fd; follow: also where a link stands at its end. Nothing of /proc
 * but what the caller has open, which is closed as above; else -EPERM. */
int guard_find(const struct eyes *e, pid_t pid, int base, const char *path, bool follow);

/* The canonical path of what one of our own fds is of. -ENOENT: it has none, or none any more. */
int guard_path_of(const struct eyes *e, int fd, char to[PATH_MAX]);

/* A signal waits for the caller, whose call cannot hear of it: what the call is to end with, so that it does, or 0.
 * With one thread the kernel may start it again, as the signal's handler wants. */
int guard_signalled(const struct eyes *e, pid_t pid);

mode_t guard_umask(const struct eyes *e, pid_t pid);

/* The caller's controlling terminal as a number of /dev/pts, or -1. */
int guard_terminal(const struct eyes *e, pid_t pid);

#endif

/*
 * lookup: opening paths that somebody else may be changing meanwhile. >= 0 (O_CLOEXEC is added) or -errno.
 */
#ifndef CORDON_SYS_LOOKUP_H
#define CORDON_SYS_LOOKUP_H

/* path as it would be with root as the root folder: absolute links and ".." stay inside. Magic links are refused. Where
 * openat2 is missing, links are refused altogether. */
int sys_open_in_root(int root, const char *path, int flags);

/* An absolute path without following any link at all: -ELOOP where there is one. */
int sys_open_no_links(const char *path, int flags);

/* As openat(), but -ELOOP for magic links (/proc/PID/fd/N and their like). Where openat2 is missing they are followed,
 * as the caller: hold no fd that must not be reached so. */
int sys_open_no_magic(int dir, const char *path, int flags);

#endif

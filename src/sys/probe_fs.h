/*
 * probe_fs: what the file system of a folder can do. Attempts as in probe.h; files are made without a name where the
 * file system can do that, and removed otherwise, also after a time-out.
 */
#ifndef CORDON_SYS_PROBE_FS_H
#define CORDON_SYS_PROBE_FS_H

/* An overlay in a user namespace, its changes kept in folder's file system (userxattr): 0 or -errno. */
int probe_overlay(const char *folder);

/* Copies that share their blocks (FICLONE): 0 or -errno, -EOPNOTSUPP for most file systems. */
int probe_reflink(const char *folder);

#endif

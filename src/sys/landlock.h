/*
 * landlock: a ruleset at the highest ABI that the kernel has.
 *
 * A ruleset handles everything the kernel knows: what no rule grants is denied. Rights are given by name (LL_*) and
 * translated to what this kernel handles. Covers file opens, exec, creation and removal, TCP, and (ABI 6) signals and
 * abstract sockets across domains; not stat, chmod or UDP, which is why it is never the only wall.
 */
#ifndef CORDON_SYS_LANDLOCK_H
#define CORDON_SYS_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum landlock_right {
	LL_EXEC = 1,
	LL_READ = 2,	 /* files and folders */
	LL_WRITE = 4,	 /* write, truncate, make and remove files, folders, links, FIFOs, sockets; refer */
	LL_DEVICES = 8,	 /* ioctl on devices, write to them */
	LL_WHITEOUTS = 16 /* make character devices: without CAP_MKNOD only overlayfs's 0:0 */
};

enum { LANDLOCK_ABI_RECORDS = 7 }; /* from here on denials can be recorded */

/* The ABI (>= 1), or -ENOSYS, -EOPNOTSUPP (built in, not enabled at boot). */
int landlock_abi(void);

/* A ruleset fd (O_CLOEXEC). */
int landlock_new(int abi);
/* at: an fd of the folder or file (O_PATH is enough). */
int landlock_allow(int ruleset, int abi, int at, unsigned rights, int is_folder);
/*
 * Confines the calling thread. no_new_privs must be set. record: denials are to be in the kernel's audit also after the
 * next execve() (ABI 7, sys/kaudit.h), but not those of domains that are made within this one.
 */
int landlock_enforce(int ruleset, bool record);

#endif

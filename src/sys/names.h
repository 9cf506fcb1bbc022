/*
 * names: calls on names in folders that not every libc has. 0 or -errno.
 */
#ifndef CORDON_SYS_NAMES_H
#define CORDON_SYS_NAMES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { SYS_RENAME_NOREPLACE = 1, SYS_RENAME_EXCHANGE = 2 };

/* renameat2(). -EINVAL: also where the file system lacks the flag. */
int sys_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned how);

struct sys_facts {
	dev_t dev;
	uint64_t inode;
	struct timespec changed;
	struct timespec born; /* tv_sec 0: not known */
	bool folder;
	bool encrypted; /* its names may change with a key */
	bool mount_root; /* of a file system, or of what is bound there; as far as the kernel tells (5.8) */
};

/* Of name in dir, without following a link; "": of dir itself. */
int sys_facts_at(int dir, const char *name, struct sys_facts *ret);

/* The next name, without "." and "..": 1; 0 at the end; -errno where the rest cannot be read, which is not the end. */
int sys_next_name(DIR *d, struct dirent **ret);

#endif

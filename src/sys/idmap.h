/*
 * idmap: the ids of a user namespace.
 *
 * A map has at most two parts: inside 0 is `zero` outside, inside 1 and further are `first` and further; count ids in
 * all. With a shift all of them have numbers inside that are that much higher.
 */
#ifndef CORDON_SYS_IDMAP_H
#define CORDON_SYS_IDMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sys_idmap {
	uint32_t count;
	uint32_t zero, first;
	uint32_t shift;
};

/* A range of ids that /etc/subuid or /etc/subgid gives to that user. */
struct sys_subids {
	uint32_t first, count;
};
/* The largest one for the user (by name where it is not NULL, or by number). 0, or -ENOENT. */
int sys_subids_read(const char *path, const char *name, uid_t uid, struct sys_subids *ret);

/* Does our own user namespace have these ids? */
bool sys_ids_exist(const char *map_path, uint32_t first, uint32_t count);

/* Are newuidmap and newgidmap there? */
bool sys_idmap_tools(void);

/*
 * Writes the maps of pid's user namespace, which has none yet. As root, or for one id that is our own, directly
 * (setgroups is denied where the kernel wants it so); else by newuidmap and newgidmap, executed by their full paths
 * with an empty environment. 0 or -errno; -EPERM where the tools refuse, -ENOENT where they are missing.
 */
int sys_idmap_write(pid_t pid, const struct sys_idmap *uids, const struct sys_idmap *gids);

#endif

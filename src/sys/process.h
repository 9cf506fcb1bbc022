/*
 * process: creating processes and holding on to them. Thin wrappers: >= 0 or -errno, nothing printed, nothing kept.
 */
#ifndef CORDON_SYS_PROCESS_H
#define CORDON_SYS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * As fork() with namespace flags (CLONE_NEW*). *ret_pidfd is set in the parent (O_CLOEXEC) where ret_pidfd is not NULL.
 * Where the kernel or a container's filter answers ENOSYS to clone3, clone(2) is used. cgroup_fd: the child starts in
 * that v2 cgroup; -1: in ours. *ret_in_cgroup, where not NULL, is set before the child starts: false where clone3 is
 * missing.
 */
pid_t sys_fork_into(uint64_t namespaces, int cgroup_fd, bool *ret_in_cgroup, int *ret_pidfd);

/* The same, and the new process is our parent's child, which hears of its end as of ours. */
pid_t sys_fork_sibling(uint64_t namespaces, int cgroup_fd, bool *ret_in_cgroup, int *ret_pidfd);

/* Leaves for the network namespace that fd is of. */
int sys_enter_net(int fd);
/* Leaves for the user namespace that fd is of, and has all its capabilities. Not for one of several that share a
 * current folder. Leaves errno alone. */
int sys_enter_user(int fd);

/* Leaves for the mount namespace that a process is in: its root is ours then. */
int sys_enter_mounts(int pidfd);

int sys_pidfd_open(pid_t pid);
/* Of a process, or of any thread (Linux 6.9). */
int sys_pidfd_open_thread(pid_t tid);
int sys_pidfd_signal(int pidfd, int sig);
int sys_pidfd_getfd(int pidfd, int fd);

/*
 * A child of ours that stands still goes on. Who stops our job just when a child leaves it stops the child too, in its
 * new session, and does not reach it any more when the job is continued: whoever waits for such a child asks for this
 * now and then.
 */
void sys_continue_stopped(pid_t child);

/*
 * Waits for a child of ours, for so long at most. One that takes longer is killed, and one that others of its user stop
 * at once: we wait for no such. False: it does not even end by that in as long again, as where a file system does not
 * answer; whoever reaps all hears of it later.
 */
bool sys_wait_for(pid_t child, int ms, int *ret_status);

/* Whether two threads have one table of open files. False also where it cannot be told. */
bool sys_shares_files(pid_t a, pid_t b);

/* Writes the file of that name in /proc/PID, in one go as its maps of ids want it. */
int sys_proc_write(pid_t pid, const char *name, const char *text);

/* Closes every fd from first on. */
int sys_close_from(unsigned first);

/*
 * Of all that is open, a child that goes on by itself keeps these (-1: none there), which are moved: *own[i] is 3 + i
 * then, or -1. Standard input, output and error are /dev/null.
 */
void sys_keep_only(int *const *own, unsigned n);

/* Leaves for new namespaces (CLONE_NEW*). */
int sys_unshare(uint64_t namespaces);

/*
 * What the linker lets nobody write to once addresses are filled in (RELRO). glibc does this before main(); for a
 * static executable musl leaves it to us. Best effort, as there.
 */
void sys_protect_relocations(void);

int sys_pivot_root(const char *new_root, const char *put_old);

/* Brings "lo" up in our network namespace. */
int sys_loopback_up(void);

/* Lowers a resource limit, soft and hard; a lower hard limit that is there already stays. 0 or -errno. */
int sys_lower_limit(int resource, uint64_t value);

/* Empties the capability sets, keeping those in the mask keep (bit = CAP_ number) as permitted and effective. Leaves
 * errno alone. */
int sys_drop_caps(uint64_t keep);

/*
 * Before that, and for good: empties the bounding set and locks "no capabilities through uid 0" (SECBIT_NOROOT and its
 * kin). A kernel that has no such bits (gVisor) is held by the empty bounding set alone, and where that is empty
 * already, nothing is left to lock. gone: those that are known not to be in that set; 0 where nobody knows. Leaves
 * errno alone.
 */
int sys_lock_caps(uint64_t gone);

/* What is missing in our bounding set, as the kernel shows it; 0: it does not. */
uint64_t sys_caps_gone(void);

/* The same for what we have of keep. */
int sys_keep_caps(uint64_t keep);

/* Keeps those, which we have, and no others, also in a program that is executed (ambient). */
int sys_pass_caps(uint64_t keep);

/* Of those that are permitted to us, only these are in effect from now on; the others can be put in effect again. 0 or
 * -errno. */
int sys_wear_caps(uint64_t effective);

/* Takes all others out of the bounding set. Leaves errno alone. */
int sys_bound_caps(uint64_t keep);

enum {
	SYS_CAP_CHOWN = 0,
	SYS_CAP_DAC_OVERRIDE = 1,
	SYS_CAP_DAC_READ_SEARCH = 2,
	SYS_CAP_FOWNER = 3,
	SYS_CAP_FSETID = 4,
	SYS_CAP_SYS_CHROOT = 18
};
enum {
	SYS_CAP_KILL = 5,
	SYS_CAP_SETGID = 6,
	SYS_CAP_SETUID = 7,
	SYS_CAP_SETPCAP = 8,
	SYS_CAP_NET_ADMIN = 12,
	SYS_CAP_SYS_PTRACE = 19,
	SYS_CAP_SYS_ADMIN = 21,
	SYS_CAP_SETFCAP = 31
};

/* We are these from now on, with the n further groups and no others. Of this thread only: safe in a child of
 * sys_spawn_shared(). */
int sys_set_ids(uid_t uid, gid_t gid, const gid_t *groups, size_t n);
/* The same, with the groups we have, which a namespace with one id cannot change. */
int sys_set_ids_only(uid_t uid, gid_t gid);

#endif

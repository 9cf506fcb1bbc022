/*
 * cgroup: one cgroup for one run, on v2, v1 and hybrid hosts.
 *
 * cgroup_new() makes a folder "cordon-ID" and sets the limits that were asked for. It returns a mask of the limits that
 * the kernel now enforces; a controller that is missing, or that this process may not use, is simply not in the mask
 * and the caller falls back (RLIMITs, affinity, supervise/watch). No cgroup file system at all is mask 0, not an error.
 * The struct owns its fds (all close-on-exec) and cgroup_free() closes them; the folders stay until cgroup_remove().
 *
 * Where the folder goes:
 *  - v1: below our own cgroup, in each of the hierarchies memory, pids and cpu that a limit needs.
 *  - v2: processes and controllers do not share a cgroup ("no internal processes"), so the folder is a sibling of
 *    ours or higher: the nearest ancestor that is writable for us and whose subtree_control has, or can be given, every
 *    controller that is wanted; where none has all, the nearest of those with most. Nearest, so that limits which
 *    somebody set on the cgroups around us go on holding.
 *
 * How a process gets in matters more than all the rest: writing a pid into cgroup.procs waits for an RCU grace period
 * (5 to 15 ms on an idle machine). Cheap ways are CLONE_INTO_CGROUP with cgroup_fd_v2(), and cgroup_join_self() in the
 * fresh, single-threaded child, which writes "0" to the v1 `tasks` files (about 20 us each). The child needs no right
 * of its own for it: the files were opened by cgroup_new().
 *
 * Not thread-safe. cgroup_join_self() is async-signal-safe and allocates nothing, so it may be called between clone and
 * exec.
 */
#ifndef CORDON_SYS_CGROUP_H
#define CORDON_SYS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CGROUP_MEMORY = 1,
	CGROUP_PIDS = 2,
	CGROUP_CPU = 4,
	CGROUP_SWAP = 8, /* only in masks: the memory limit holds for swap, too, or there is none. Without it a workload
			    may have all of the swap beyond its limit */
};

/* 0: no limit. */
struct cgroup_limits {
	uint64_t memory;    /* bytes; swap is included */
	uint64_t processes; /* and threads */
	uint64_t cpu;       /* thousandths of a CPU; all CPUs of the machine or more count as enforced */
	bool track;         /* make a v2 folder even if no limit needs it, for cgroup_kill() */
};

/* Where to look. NULL members (or no env at all) mean the host's own; tests give others. */
struct cgroup_env {
	const char *root; /* "/sys/fs/cgroup" */
	const char *self; /* "/proc/self/cgroup" */
	const char *swaps; /* "/proc/swaps" */
};

struct cgroup;

enum { CGROUP_ID_MAX = 64, CGROUP_FOLDER_MAX = 96 };

/* id: letters, digits, "_", "-" and ".". A mask (>= 0), or -EINVAL (id), -EEXIST, -ENOMEM. *ret is set whenever the
 * result is not negative. */
int cgroup_new(const struct cgroup_env *env, const char *id, const struct cgroup_limits *limits, struct cgroup **ret);

/* The cgroups named "cordon-ID" that a running process is in (env->self: its /proc/PID/cgroup), to join, kill or ask
 * them. -ENOENT: it is in none. */
int cgroup_open(const struct cgroup_env *env, const char *id, struct cgroup **ret);

/* The same by the name of the folder, whoever made it: only to ask it (cgroup_stats()). */
int cgroup_open_folder(const struct cgroup_env *env, const char *folder, struct cgroup **ret);

/* Closes; NULL is fine. */
void cgroup_free(struct cgroup *cg);

/* For struct clone_args.cgroup; -1: there is none. Owned by cg. */
int cgroup_fd_v2(const struct cgroup *cg);

/* The caller joins. v2_done: it was made with CLONE_INTO_CGROUP. 0 or -errno. */
int cgroup_join_self(const struct cgroup *cg, bool v2_done);

/* Puts another process in; slow, see above. 0 or -errno. */
int cgroup_join(const struct cgroup *cg, pid_t pid);

/* Kills all that is in it. Bounded to about 2 s: 0, or -EBUSY when something is still there, or -errno. */
int cgroup_kill(const struct cgroup *cg);

/* Has the machine swap that a workload could use? */
bool cgroup_host_swaps(const struct cgroup_env *env);

struct cgroup_stats {
	unsigned known; /* CGROUP_ bits: which of the members below were there to read */
	uint64_t memory_peak;
	uint64_t oom_kills;
	uint64_t pids_refused; /* forks that the limit stopped */
	uint64_t cpu_usec;
};

void cgroup_stats(const struct cgroup *cg, struct cgroup_stats *ret);

/* The TCP buffers that a v1 cgroup counts apart from the rest; 0 where none does. The kernel goes over their limit for
 * the first data of each connection. */
uint64_t cgroup_tcp_bytes(const struct cgroup *cg);

/*
 * Removes the folders, waiting up to about 2 s for the last process to be gone. 0 or -errno (-EBUSY). Removing twice is
 * fine. Also removes the empty folders beside them that runs left whose supervisor was killed with -9.
 */
int cgroup_remove(struct cgroup *cg);

/* Removes the folders of a run whose supervisor was killed, in the places where this process would make them, where
 * nothing is in them. */
void cgroup_remove_left(const struct cgroup_env *env, const char *id);

/* Removes such folders where the next run's would be; those that are not just being filled, which takes some seconds to
 * be sure of. */
void cgroup_tidy(const struct cgroup_env *env);

#endif

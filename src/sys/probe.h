/*
 * probe: does the kernel do it, here, for this user?
 *
 * Every answer is a real attempt (in a child with a time limit, see probe_child.h, wherever it could leave a trace);
 * kernel versions are never compared. Functions return >= 0 when it works, else -errno: -ENOSYS the call is missing,
 * -EPERM or -EACCES it is forbidden here, -ETIMEDOUT it hung. Nothing stays behind: no mount, file, process or
 * namespace.
 */
#ifndef CORDON_SYS_PROBE_H
#define CORDON_SYS_PROBE_H

/* Namespaces. The first is what all others stand on: a user namespace with mapped ids, in which capabilities are worth
 * something. */
int probe_userns(void);
int probe_mount_ns(void); /* with a mount made in it */
int probe_pid_ns(void);
int probe_net_ns(void); /* with its loopback brought up */
int probe_ipc_ns(void);
int probe_uts_ns(void); /* with its host name changed */
int probe_cgroup_ns(void);
int probe_fresh_proc(
	void); /* mounting /proc of a new pid namespace; refused where parts of the present /proc are covered */
int probe_redirect(void); /* TCP redirected by nftables in a new network namespace */
int probe_refusal(void);  /* TCP reset there before it connects, and heard of */

/* System calls. */
int probe_clone3(void);
int probe_openat2(void);
int probe_open_tree(void);
int probe_move_mount(void);
int probe_mount_setattr(void);
int probe_idmapped_mount(void); /* of the current folder; needs root */
int probe_pidfd_open(void);
int probe_close_range(void);
int probe_memfd(void);

/* Landlock: the ABI, after a ruleset was enforced and held. -EPROTO: it was enforced and did not hold. */
int probe_landlock(void);

/* seccomp */
int probe_seccomp(void);
int probe_seccomp_tsync(void);
int probe_seccomp_notify(void); /* a call answered by another process, with a file descriptor put in */

/* Devices and sockets */
int probe_kvm(void);   /* the API version */
int probe_vsock(void); /* a socket of that family can be made */

/* cgroups: which are mounted at /sys/fs/cgroup. */
enum probe_cgroups { PROBE_CGROUP_NONE, PROBE_CGROUP_V1, PROBE_CGROUP_HYBRID, PROBE_CGROUP_V2 };
int probe_cgroups(void);

#endif

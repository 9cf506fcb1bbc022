/*
 * beside: a child that works beside us in our own memory, with our own fds, until it execs or ends.
 *
 * It is no thread: namespaces, credentials, limits, session and working folder are its own. errno is ours, so while
 * both run it calls only functions that say here or in their headers that they leave errno alone, and nothing of libc
 * that might. >= 0 or -errno.
 */
#ifndef CORDON_SYS_BESIDE_H
#define CORDON_SYS_BESIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sys_beside {
	pid_t pid;
	int alive; /* a futex: the kernel makes it 0 when the child has left our memory */
	int placed; /* a turn: it has a CPU, and begins */
	pid_t parent;
	int (*fn)(void *);
	void *arg;
	char *stack;
	size_t size;
};

/* Runs fn(arg) in such a child, which execs or returns its exit status; on another CPU than ours for a start, where
 * there is one. b must stay where it is until sys_beside_wait(). */
int sys_beside_start(struct sys_beside *b, int (*fn)(void *), void *arg);
/* The same for a child in a user namespace of its own, with a stack that is large enough to go on with for good: for
 * one that forks. */
int sys_beside_start_user(struct sys_beside *b, int (*fn)(void *), void *arg);
/* For what such a child forks, with memory of its own: the sanitizer takes the stack for foreign else. */
void sys_beside_own_stack(const struct sys_beside *b);
/* Until the child has left our memory, by exec or by its end, of which SIGCHLD tells. Others of its user may stop it
 * meanwhile: it is killed then, for we must not wait for them. */
void sys_beside_wait(struct sys_beside *b);

/*
 * The same with fds of its own, and we do nothing but wait until it has left our memory, so errno is its: a posix_spawn
 * whose steps are ours. fn must not touch stdio or the heap. It is born into new namespaces (CLONE_NEW*, 0: none). Not
 * CLONE_VFORK: nothing could end that wait where others stop the child.
 */
pid_t sys_spawn_shared(int (*fn)(void *), void *arg, int namespaces);

/* For a child with memory of its own, at once when it was forked: it begins on another CPU than ours, where there is
 * one, and may then run wherever we may. Not for one that binds itself to some. */
void sys_begin_elsewhere(pid_t child);

/* All that follows leaves errno alone. */

/* A number that only grows, to wait for each other. */
void sys_turn_reach(int *turn, int value);
void sys_turn_wait(int *turn, int value); /* until it is at least value */
/* For the parent: false where the child has left, and will never reach it; or was stopped, and is killed. */
bool sys_beside_reaches(struct sys_beside *b, int *turn, int value);
bool sys_beside_is_there(const struct sys_beside *b);
/* For the parent, while the child waits: whether it is scheduled as we are. Others of its user may have changed that.
 * pinned: it has CPUs of its own, which nobody can change. */
bool sys_beside_is_scheduled_alike(const struct sys_beside *b, bool pinned);

/* We are killed when this process ends, whose child in its own PID namespace we are. -ESRCH: it has ended, and we are
 * to go: nothing else would end us. */
int sys_die_with(pid_t parent);
/* Leaves for a new network namespace, with its "lo" up or not. An fd of it (O_CLOEXEC). */
int sys_net_make(bool loopback);
/* Leaves for new namespaces, with the "lo" of a new network up or not; and dies with that parent, as sys_die_with() has
 * it. Nothing else ends it, nor what it forks: all signals are blocked, for what is sent to a shell's job is the
 * parent's to hear. */
int sys_spaces_make(int namespaces, bool loopback, pid_t parent);
/* Writes text to a file that is there, at once. */
int sys_file_put(const char *path, const char *text);
/* The number that a file begins with (0: with none), or -errno. */
long sys_file_number(const char *path);
int sys_new_session(void);
/* Nothing blocked, and SIGPIPE as it was before we caught it. */
int sys_reset_signals(void);
/* Both soft and hard. A lower hard limit that is there already stays. */
int sys_set_limit(int resource, uint64_t value);
/* Binds the caller to as many CPUs, the first of those it may use. */
int sys_pin_cpus(uint64_t n);
int sys_no_new_privileges(void);

#endif

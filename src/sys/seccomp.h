/*
 * seccomp: installing a filter and answering its notifications.
 */
#ifndef CORDON_SYS_SECCOMP_H
#define CORDON_SYS_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_filter;

/* Where no filter could be installed: what is probably lacking, for a message. Within a sandbox, Cordon's or another's,
 * a filter is at work already, or even the question is refused. */
const char *seccomp_lack(void);

/* Installs the program for this thread. With listener: returns the notification fd (O_CLOEXEC), else 0. Leaves errno
 * alone. */
int seccomp_install(const struct sock_filter *program, size_t n, bool listener);
/* Whoever is answered goes on where the answer was given (Linux 6.6). For the one who answers. */
void seccomp_prefer_same_cpu(int listener);

struct seccomp_call {
	uint64_t id;
	pid_t pid;
	int nr;
	uint64_t args[6];
	uint64_t ip;
};

/* The next call that waits for an answer. -ENOENT: its process is gone, try the next; -EAGAIN. */
int seccomp_receive(int listener, struct seccomp_call *ret);
/* Is the call still waiting? Ask after reading anything of its process, before trusting what was read. */
bool seccomp_alive(int listener, uint64_t id);
/* Ends the call with value, or with -errno where error < 0. */
int seccomp_answer(int listener, uint64_t id, int64_t value, int error);
/* Gives the waiting process a copy of fd. The number it has there, or -errno; the call still waits for its answer. */
int seccomp_give_fd(int listener, uint64_t id, int fd, bool cloexec);

/* Is the user notification there, with the passing of fds? */
bool seccomp_notify_works(void);

#endif

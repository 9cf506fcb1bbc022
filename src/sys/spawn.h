/*
 * spawn: starts one of our own programs as a role: with the descriptors it is to have and nothing else of ours.
 */
#ifndef CORDON_SYS_SPAWN_H
#define CORDON_SYS_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

enum { SPAWN_FIRST_FD = 3, SPAWN_MAX_FDS = 8 };

/* An O_PATH fd of our program cordon-NAME: beside our own executable, or in ../libexec/cordon from there. -ENOENT: it
 * is in neither. */
int sys_find_program(const char *name);

/*
 * program: an fd (O_PATH will do) of the executable. fds[i] becomes descriptor SPAWN_FIRST_FD + i there; -1 leaves that
 * one closed. Standard input and output are /dev/null, standard error is ours. The program dies with us, has a session
 * of its own, and hears no signal that somebody sends, but SIGKILL and SIGSTOP: those are ours. The child's pid, or
 * -errno, also where the program cannot be executed.
 */
pid_t sys_spawn(int program, char *const *argv, char *const *env, const int *fds, size_t n);

/* The same in place of ourselves, with signals as a fresh program expects them: only a failure comes back, and then our
 * fds are in disorder. */
int sys_become(int program, char *const *argv, char *const *env, const int *fds, size_t n);

#endif

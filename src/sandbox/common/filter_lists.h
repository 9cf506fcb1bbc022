/*
 * filter_lists: system calls of which an argument says which of many things is meant. Each function writes what is
 * judged by that number, up to an answer in every case.
 */
#ifndef CORDON_SANDBOX_FILTER_LISTS_H
#define CORDON_SANDBOX_FILTER_LISTS_H

#include "sandbox/common/filter_program.h"

void filter_list_socket(struct program *p);
void filter_list_socketpair(struct program *p);
void filter_list_sockopt(struct program *p);
void filter_list_sockopt_read(struct program *p);
void filter_list_flags(struct program *p, unsigned arg); /* of sending and receiving: the argument that has them */
void filter_list_ioctl(struct program *p);
void filter_list_personality(struct program *p);
void filter_list_map(struct program *p);
void filter_list_advice(struct program *p);
void filter_list_barrier(struct program *p);
void filter_list_pipe(struct program *p);
void filter_list_prctl(struct program *p);
void filter_list_fcntl(struct program *p);

#endif

/*
 * rank: how urgent a process is to the kernel.
 *
 * What a caller has above others (a real-time class, a negative nice value, real-time I/O) would be handed down to all
 * that runs in a sandbox. What it has below others stays as it is.
 */
#ifndef CORDON_SYS_RANK_H
#define CORDON_SYS_RANK_H

/* From here on the calling thread, and what it starts, is as urgent as an ordinary program, or less. 0 or -errno. */
int sys_rank_give_up(void);

#endif

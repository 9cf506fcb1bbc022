/*
 * signals: all of them. A libc leaves out of its full set those that it keeps to itself: glibc 32 and 33, musl 32 to
 * 34, of which the last is the SIGRTMIN of everybody else.
 */
#ifndef CORDON_SYS_SIGNALS_H
#define CORDON_SYS_SIGNALS_H

#include <signal.h>

void sys_signals_all(sigset_t *set);

/*
 * All that somebody can send to a command; but what says something of our own process: it has a child that ended, wrote
 * where nobody reads, or to a terminal that is not its own, did what no program may, or reached a limit of the
 * system's.
 */
void sys_signals_sent(sigset_t *set);

/* Blocks these too, those that a libc keeps among them. 0 or -errno. */
int sys_signals_block_more(const sigset_t *set);

/* Blocks all. *ret_before, where not NULL: what was blocked. 0 or -errno. */
int sys_signals_block(sigset_t *ret_before);

#endif

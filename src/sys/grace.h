/*
 * grace: sparing a program the kernel's grace periods (RCU). A process of several threads waits for one, ten
 * milliseconds and more, when its table of descriptors grows, and when it registers for expedited memory barriers.
 *
 * What is lost where that cannot be had is time alone.
 */
#ifndef CORDON_SYS_GRACE_H
#define CORDON_SYS_GRACE_H

/*
 * For a process of one thread that executes a program next. That, and all that it starts, has a large table from the
 * beginning: a second name of standard input, whatever it is, keeps it so. It cannot register for those barriers
 * (EINVAL, as on kernels without), which is for programs that do without; all others are there. Whoever is not root may
 * gain no privileges from here on.
 */
void sys_grace_spare(void);

#endif

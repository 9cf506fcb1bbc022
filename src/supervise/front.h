/*
 * front: who stands in the shell's job in place of the supervisor.
 *
 * ^Z gives the terminal back to the shell when the job's process has stopped. A supervisor that stopped would watch nothing: no limit would hold, no event be logged, and what is inside can
 * continue itself (a timer may send SIGCONT). So where there is a terminal to have job control, the process that was started becomes the front and a child of it goes on as the supervisor. The
 * front holds nothing and does three things: it is stopped and continued, passes on the signals that are sent to it alone, and ends as the supervisor does. When it is killed, so are the supervisor and the sandbox.
 */
#ifndef CORDON_SUPERVISE_FRONT_H
#define CORDON_SUPERVISE_FRONT_H

#include <sys/types.h>

#include "base/error.h"

/* Returns in the process that goes on. *ret: the front, its parent; 0: there is no terminal, and none was made. */
int front_stand(pid_t *ret, struct error *err);

#endif

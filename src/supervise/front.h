/*
 * front: who stands in the shell's job in place of the supervisor.
 *
 * ^Z gives the terminal back to the shell when the job's process has stopped. A supervisor that stopped would watch
 * nothing: no limit would hold, no event be logged, and what is inside can continue itself (a timer may send SIGCONT).
 * So where there is a terminal to have job control, the process that was started becomes the front and a child of it
 * goes on as the supervisor. The front holds nothing and does three things: it is stopped and continued, passes on the
 * signals that are sent to it (but SIGTTIN and SIGTTOU, which are about a terminal that it does not use), and ends as
 * the supervisor does. When it is killed, so are the supervisor and the sandbox.
 *
 * Who sends a signal to the whole job sends it to both, and nobody can tell that from one that was sent to the front
 * alone. So what is passed on says who sent it, and the supervisor hears it once (front_heard()).
 *
 * A SIGTSTP stays pending while the supervisor has everything inside stopped and gives the terminal back, and is let
 * through when that has told so (FRONT_MAY_STOP). A SIGCONT that comes before takes it back: the kernel sees to that,
 * and there is no moment in which it could be missed.
 */
#ifndef CORDON_SUPERVISE_FRONT_H
#define CORDON_SUPERVISE_FRONT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Returns in the process that goes on. *ret: the front, its parent; 0: there is no terminal, and none was made. */
int front_stand(pid_t *ret, struct error *err);

/* From the supervisor to the front. */
enum { FRONT_MAY_STOP = SIGURG };

/* What was heard last of each signal. Zero it. */
struct front_ear {
	struct front_last {
		int64_t sender;
		bool passed_on;
		uint32_t n;	/* so many can still come on the other way, */
		uint64_t until; /* ms */
	} last[NSIG];
};

struct signalfd_siginfo;

/* A signal that has come on the other way a moment ago. front: 0 where there is none. */
bool front_heard(struct front_ear *e, pid_t front, const struct signalfd_siginfo *info, uint64_t now);

/*
 * The shells that the job is of, from its parent up to the one that has the terminal. One that is told to end, or whose
 * terminal is gone, sends SIGHUP to its jobs and ends; a person who types kill there sends the same, and it goes on.
 * Which of them it was is seen a moment later.
 */
enum { FRONT_SHELLS = 16, FRONT_LOOK_MS = 50 };
struct front_shells {
	pid_t front; /* 0: there is none, and no shell */
	pid_t v[FRONT_SHELLS];
	size_t n;
	pid_t sender;	/* the one that sent it last, */
	uint64_t until; /* looked after until then, ms, each FRONT_LOOK_MS; 0: none is */
};

/* While they all are there: when the job begins. */
void front_shells_note(struct front_shells *s, pid_t front);

/* A SIGHUP is a person's, or a program's; not the kernel's, nor that of a shell whose terminal is gone. One of a shell
 * is looked after. */
bool front_is_sent(struct front_shells *s, const struct signalfd_siginfo *info, uint64_t now);

/* The shell that is looked after has ended, or its terminal has: that was no wish of anybody's but that the job ends,
 * too. Told once. */
bool front_shell_ended(struct front_shells *s, uint64_t now);

#endif

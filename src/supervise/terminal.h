/*
 * terminal: the user's terminal while a sandbox has one of its own.
 *
 * Ours goes to raw mode and bytes are carried both ways; the sandbox's line discipline does the rest.
 * terminal_restore() puts ours back, and must be called before we stop or end; it is safe to call twice. Whether
 * anybody reads our terminal is up to others: it is never waited for but at the end.
 */
#ifndef CORDON_SUPERVISE_TERMINAL_H
#define CORDON_SUPERVISE_TERMINAL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "supervise/calm.h"
#include "sys/pen.h"

struct terminal {
	int in, out;  /* ours; -1: that side is not a terminal and is not carried */
	struct sys_pen pen; /* for out */
	int master;   /* the sandbox's, or a stream through which it is carried; -1: none (yet) */
	bool raw;
	bool hung; /* nobody inside has it open just now */
	bool in_ended;
	bool suspend_typed; /* ^Z was the last that came from ours */
	bool (*keys)(void *arg, const char *p,
		     size_t n); /* may take what was typed before it goes in; NULL: nobody wants it */
	bool quiet; /* what comes from inside has to wait */
	void *keys_arg;
	void (*resized)(void *arg, unsigned rows,
			unsigned columns); /* passes our size on where the master is a stream; NULL: nobody can */
	void *resized_arg;
	struct calm calm; /* what was written on ours */
	struct termios saved;
	size_t n_up, at_up, n_down, at_down;
	char up[4096], down[16384]; /* ours to theirs, theirs to ours */
};

void terminal_init(struct terminal *t);
/* Takes the master and goes to raw mode. */
void terminal_start(struct terminal *t, int in, int out, int master);
void terminal_raw(struct terminal *t);
void terminal_restore(struct terminal *t);
/* Tells the sandbox our size. */
void terminal_resize(struct terminal *t);
/* Has what is inside draw its screen again: others wrote on it. */
void terminal_redraw(struct terminal *t);
/* Ours is as it was, and what those inside wrote there changes nothing of what is said next. */
void terminal_done(struct terminal *t);

/*
 * Ours stood still with what is inside, as ^Z does it: who typed that means the whole job, a pipeline's other programs
 * and the script that called us too. What stops by itself inside stops none of them. False: it was not typed. We are
 * told as they are, by SIGTSTP.
 */
bool terminal_stop_job(struct terminal *t);

/* How long a poll() may wait for the terminal's sake, in milliseconds; -1: for ever. */
int terminal_wait(const struct terminal *t);
/* A job that comes to the foreground without having been stopped is not told: this looks, and takes the terminal. Fills
 * up to 3 entries for poll(); returns how many. terminal_carry() is called with the same entries afterwards. */
size_t terminal_poll(struct terminal *t, struct pollfd *p);
/*
 * A command that leads its own session cannot be stopped by the terminal's ^Z: the kernel sees nobody who could
 * continue it. We could: where the suspend character is typed to such a command, and it does not ignore that, it is
 * stopped with SIGSTOP, of which PID 1 tells us.
 */
void terminal_carry(struct terminal *t, const struct pollfd *p, size_t n);
/* Carries what is still in the master after everything inside has ended; bounded, and as long as somebody takes it. */
void terminal_drain(struct terminal *t);

#endif

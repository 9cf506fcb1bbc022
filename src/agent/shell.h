/*
 * shell: runs one command of the model's with /bin/sh, within a time and with bounded output.
 *
 * It is over when the shell is, though what it left in the background may go on; that gets no reader for its output any
 * more. When its time is up, its whole session's first group is ended: politely, and two seconds later not. The caller
 * has blocked SIGCHLD; the mask from before is what the command gets.
 */
#ifndef CORDON_AGENT_SHELL_H
#define CORDON_AGENT_SHELL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/clip.h"
#include "base/error.h"

/* One argument of a program has at most this, its NUL included (MAX_ARG_STRLEN). */
enum { SHELL_COMMAND_MAX = 128 * 1024 - 1 };

struct shell_limits {
	int64_t timeout_ms;
	size_t output; /* bytes that are kept */
};

struct shell_result {
	struct clip output;
	int status; /* exit code, or 128 + signal */
	bool timed_out;
	int64_t ms;
};

/* On success *ret is the caller's: clip_done(&ret->output). */
int shell_run(const char *command, const struct shell_limits *limits, const sigset_t *mask, struct shell_result *ret,
	      struct error *err);

#endif

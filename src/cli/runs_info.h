/*
 * runs_info: what a run's log says about it. Reads the first line and, where it does not run any more, the last.
 */
#ifndef CORDON_CLI_RUNS_INFO_H
#define CORDON_CLI_RUNS_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "supervise/state.h"

struct run_info {
	bool running;
	bool ended;	   /* it has an exit event; neither running nor ended: it was killed */
	int64_t started_ms; /* since the epoch */
	int64_t ended_ms;
	int exit;
	int pid; /* of the supervisor */
	char policy[128];
	char workdir[4096];
	char workdir_mode[16];
	char runtime[16]; /* "" in logs of versions that had one only */
	char image[80];	  /* its topmost layer, where the root is one; else "" */
	char kind[16];	  /* "kept", "owned", "warm"; "" where it ends with its command */
	char owner[256];
	struct buf command; /* the words, escaped, separated by blanks */
};

int run_info_read(const struct state *s, bool running, struct run_info *ret, struct error *err);
void run_info_done(struct run_info *info);

/* A sandbox that was kept, and failed at its end: what it changed did not all come back, or it was lost. Its log says
 * what. */
bool run_info_failed(const char *root, const char *id);

/* "running", "exited 0", "killed". */
const char *run_info_status(const struct run_info *info, char room[32]);

/* "59s", "3m", "2h", "10d". */
const char *run_age(char room[32], int64_t ms);

#endif

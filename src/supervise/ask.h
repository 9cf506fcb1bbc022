/*
 * ask: questions of the gateway to the person at the terminal (network.ask). One at a time, ASK_SECONDS for each, and no is the answer of whoever says nothing.
 *
 * Where the sandbox has the terminal, the person's next key is the answer and does not go in; else /dev/tty is asked. Where there is no terminal nobody is asked, and the answer is no at once. What is shown is
 * escaped: a name cannot write on the terminal.
 *
 * A workload can make a terminal type: it answers queries (its version, its modes) as if they came from the keyboard, and some of these answers end in a "y". So while a question stands nothing of the
 * workload's is written to the terminal, keys of the first ASK_QUIET_MS are not taken for an answer, and an answer is one key that comes alone.
 */
#ifndef CORDON_SUPERVISE_ASK_H
#define CORDON_SUPERVISE_ASK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

enum { ASK_SECONDS = 30, ASK_MAX = 16, ASK_QUIET_MS = 400 };

struct ask {
	int tty;      /* /dev/tty, opened by us; -1: not (yet) */
	int carried;  /* the terminal that the sandbox has, and we write to; -1: none */
	bool nobody;  /* no terminal can be had */
	struct {
		uint64_t id;
		char what[300];
	} waiting[ASK_MAX]; /* the first one is shown */
	size_t n;
	uint64_t until; /* ms: of the one that is shown */
	void (*answer)(void *arg, uint64_t id, const char *what, bool yes);
	void *arg;
};

void ask_init(struct ask *a, int carried, void (*answer)(void *arg, uint64_t id, const char *what, bool yes), void *arg);
void ask_done(struct ask *a);

/* Is there a terminal at all? */
bool ask_somebody(struct ask *a);

/* what: "host:port". Too many at once: no. */
void ask_add(struct ask *a, uint64_t id, struct sv what, uint64_t now);

/* A key that came alone from the carried terminal. True: it was an answer. */
bool ask_key(void *ask, char c, uint64_t now);
bool ask_stands(const struct ask *a);

/* One entry for poll(); the next deadline (0: none); and what to do about both. */
struct pollfd ask_poll(const struct ask *a);
uint64_t ask_until(const struct ask *a);
void ask_serve(struct ask *a, const struct pollfd *p, uint64_t now);

#endif
